package vector

import "slices"

// A Model is an embedding model that the engines here can run.
type Model struct {
	Name       string // as the configuration and the commands have it
	Repository string // on the Hugging Face hub, or the address of a directory
	Revision   string // the commit that Files are of; empty if none is pinned
	Dim        int
	Licence    string // an SPDX expression
	Engine     string // native or static
	Speed      string // fast: thousands of chunks a second; slow: tens
	Languages  string // en, or multi
	About      string
	Options    Options // what the model's own files do not say
	Files      []ModelFile
}

// A ModelFile is a file of a model. Size and SHA256 are there only if somebody
// published them; the first download of any other is what later ones are
// compared with.
type ModelFile struct {
	Path   string // below the model's directory
	From   string // below the repository, if that differs
	Size   int64
	SHA256 string // 64 hexadecimal digits
}

// DefaultModel is the name of the model to recommend.
const DefaultModel = "bge-small-en-v1.5"

// bgeQuery is what the authors of the bge models put before queries.
const bgeQuery = "Represent this sentence for searching relevant passages: "

// m2vFixture is where its repository keeps the smallest model.
const m2vFixture = "tests/fixtures/test-model-vocab-quantized/"

// Models returns the models that are known by name, the default one first.
func Models() []Model {
	return []Model{
		{
			Name: DefaultModel, Repository: "BAAI/bge-small-en-v1.5", Dim: 384, Licence: "MIT", Engine: "native", Speed: "slow", Languages: "en",
			About: "good quality at 133 MB", Options: Options{Pooling: "cls", QueryPrefix: bgeQuery}, Files: encoderFiles(),
		},
		{
			Name: "bge-base-en-v1.5", Repository: "BAAI/bge-base-en-v1.5", Dim: 768, Licence: "MIT", Engine: "native", Speed: "slow", Languages: "en",
			About: "better, and a third as fast", Options: Options{Pooling: "cls", QueryPrefix: bgeQuery}, Files: encoderFiles(),
		},
		{
			Name: "all-MiniLM-L6-v2", Repository: "sentence-transformers/all-MiniLM-L6-v2", Dim: 384, Licence: "Apache-2.0", Engine: "native", Speed: "slow", Languages: "en",
			About: "half the layers of bge-small", Options: Options{Pooling: "mean"}, Files: encoderFiles(),
		},
		{
			Name: "potion-retrieval-32M", Repository: "minishlab/potion-retrieval-32M", Dim: 512, Licence: "MIT", Engine: "static", Speed: "fast", Languages: "en",
			About: "a table of word vectors made for search", Files: tableFiles(),
		},
		{
			Name: "potion-base-8M", Repository: "minishlab/potion-base-8M", Dim: 256, Licence: "MIT", Engine: "static", Speed: "fast", Languages: "en",
			About: "a small table of word vectors", Files: tableFiles(),
		},
		{
			Name: "multilingual-e5-small", Repository: "intfloat/multilingual-e5-small", Dim: 384, Licence: "MIT", Engine: "native", Speed: "slow", Languages: "multi",
			About: "about a hundred languages", Options: Options{Pooling: "mean", QueryPrefix: "query: ", PassagePrefix: "passage: "}, Files: encoderFiles(),
		},
		{
			Name: "potion-multilingual-128M", Repository: "minishlab/potion-multilingual-128M", Dim: 256, Licence: "MIT", Engine: "static", Speed: "fast", Languages: "multi",
			About: "a large table of word vectors, about a hundred languages", Files: tableFiles(),
		},
		{
			Name: "m2v-bge64-vq128", Repository: "https://raw.githubusercontent.com/MinishLab/model2vec-rs", Revision: "c75c126fe7aeeea34714f1cc36cef74b3c489f19",
			Dim: 64, Licence: "MIT", Engine: "static", Speed: "fast", Languages: "en",
			About: "the smallest there is, for tests: 29,524 words share 128 vectors",
			Files: []ModelFile{
				{"model.safetensors", m2vFixture + "model.safetensors", 387288, "7a415c0ab3cad0547b9ba5fbcb3493ddca8137d6fed53324df47bfce7cf74371"},
				{"tokenizer.json", m2vFixture + "tokenizer.json", 973875, "301e45388fe49df38bdaab8e9d6a35bbb56ca920ec237a7d2cd953c6476712b3"},
				{Path: "config.json", From: m2vFixture + "config.json"},
			},
		},
	}
}

func encoderFiles() []ModelFile {
	return []ModelFile{{Path: "onnx/model.onnx"}, {Path: "tokenizer.json"}, {Path: "config.json"}, {Path: "1_Pooling/config.json"}, {Path: "sentence_bert_config.json"}}
}

func tableFiles() []ModelFile {
	return []ModelFile{{Path: "model.safetensors"}, {Path: "tokenizer.json"}, {Path: "config.json"}}
}

// ModelByName returns the model with a name.
func ModelByName(name string) (m Model, found bool) {
	all := Models()
	i := slices.IndexFunc(all, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return m, false
	}
	return all[i], true
}

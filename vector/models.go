package vector

import "slices"

// A Model is an embedding model that the engines here can run.
type Model struct {
	Name       string // as the configuration and the commands have it
	Repository string // on the Hugging Face hub, or the address of a directory
	Revision   string // the commit that Files are of
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

var models = []Model{
	{
		Name: DefaultModel, Repository: "BAAI/bge-small-en-v1.5", Revision: "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
		Dim: 384, Licence: "MIT", Engine: "native", Speed: "slow", Languages: "en",
		About: "good quality", Options: Options{Pooling: "cls", MaxTokens: 512, QueryPrefix: bgeQuery},
		Files: []ModelFile{
			{Path: "onnx/model.onnx", Size: 133093490, SHA256: "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35"},
			{Path: "tokenizer.json", Size: 711396, SHA256: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"},
			{Path: "config.json", Size: 743, SHA256: "094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750"},
			{Path: "1_Pooling/config.json"},
		},
	},
	{
		Name: "bge-base-en-v1.5", Repository: "BAAI/bge-base-en-v1.5", Revision: "a5beb1e3e68b9ab74eb54cfd186867f64f240e1a",
		Dim: 768, Licence: "MIT", Engine: "native", Speed: "slow", Languages: "en",
		About: "better, and a third as fast", Options: Options{Pooling: "cls", MaxTokens: 512, QueryPrefix: bgeQuery},
		Files: []ModelFile{{Path: "onnx/model.onnx"}, {Path: "tokenizer.json"}, {Path: "config.json"}, {Path: "1_Pooling/config.json"}},
	},
	{
		Name: "all-MiniLM-L6-v2", Repository: "sentence-transformers/all-MiniLM-L6-v2", Revision: "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
		Dim: 384, Licence: "Apache-2.0", Engine: "native", Speed: "slow", Languages: "en",
		About: "half the layers of bge-small", Options: Options{Pooling: "mean", MaxTokens: 256},
		Files: []ModelFile{
			{Path: "onnx/model.onnx", Size: 90405214, SHA256: "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452"},
			{Path: "tokenizer.json", Size: 466247, SHA256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"},
			{Path: "config.json", Size: 612, SHA256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"},
			{Path: "1_Pooling/config.json", Size: 190, SHA256: "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"},
			{Path: "sentence_bert_config.json", SHA256: "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"},
		},
	},
	{
		Name: "potion-retrieval-32M", Repository: "minishlab/potion-retrieval-32M", Revision: "6fc8051fab2a1e0ee76689cf08c853792ac285e7",
		Dim: 512, Licence: "MIT", Engine: "static", Speed: "fast", Languages: "en",
		About: "a table of word vectors made for search",
		Files: []ModelFile{
			{Path: "model.safetensors", Size: 129210456, SHA256: "07609e5bd33aad37900b3fd62f4ec96f6daec88ca4d46b9d8b928bfababf6ea0"},
			{Path: "tokenizer.json", Size: 1493150, SHA256: "7d75cbc54318138807c401b0f0c9721117c628b39de8e8e0edb6cb17e0ee7d18"},
			{Path: "config.json", Size: 202, SHA256: "63c00d90824c832c04ec1d02b6a983fb90489bf049f29fbff15ba481b8a432ee"},
		},
	},
	{
		Name: "potion-base-8M", Repository: "minishlab/potion-base-8M", Revision: "bf8b056651a2c21b8d2565580b8569da283cab23",
		Dim: 256, Licence: "MIT", Engine: "static", Speed: "fast", Languages: "en",
		About: "a small table of word vectors",
		Files: []ModelFile{
			{Path: "model.safetensors", Size: 30236760, SHA256: "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2"},
			{Path: "tokenizer.json", Size: 683666, SHA256: "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50"},
			{Path: "config.json", Size: 202, SHA256: "2a6ac0e9aaa356a68a5688070db78fc3a464fefe85d2f06a1905ce3718687553"},
		},
	},
	{
		Name: "multilingual-e5-small", Repository: "intfloat/multilingual-e5-small", Revision: "614241f622f53c4eeff9890bdc4f31cfecc418b3",
		Dim: 384, Licence: "MIT", Engine: "native", Speed: "slow", Languages: "multi",
		About: "about a hundred languages", Options: Options{Pooling: "mean", MaxTokens: 512, QueryPrefix: "query: ", PassagePrefix: "passage: "},
		Files: []ModelFile{
			{Path: "onnx/model.onnx", Size: 470268510, SHA256: "ca456c06b3a9505ddfd9131408916dd79290368331e7d76bb621f1cba6bc8665"},
			{Path: "tokenizer.json", Size: 17082730, SHA256: "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39"},
			{Path: "config.json", Size: 655, SHA256: "69137736cab8b8903a07fe8afaafdda25aac55415a12a55d1bffa9f581abf959"},
			{Path: "1_Pooling/config.json", Size: 200, SHA256: "987f7a67a38fa564c849bb5d277c52ab9088a84368fc0be31a354125aebb12a0"},
		},
	},
	{
		Name: "potion-multilingual-128M", Repository: "minishlab/potion-multilingual-128M", Revision: "a28f4eebecd4dc585034f605e52d414878a0417c",
		Dim: 256, Licence: "MIT", Engine: "static", Speed: "fast", Languages: "multi",
		About: "a large table of word vectors, about a hundred languages",
		Files: []ModelFile{
			{Path: "model.safetensors", Size: 512361560, SHA256: "14b5eb39cb4ce5666da8ad1f3dc6be4346e9b2d601c073302fa0a31bf7943397"},
			{Path: "tokenizer.json", Size: 18616131, SHA256: "19f1909063da3cfe3bd83a782381f040dccea475f4816de11116444a73e1b6a1"},
			{Path: "config.json"},
		},
	},
	{
		Name: "m2v-bge64-vq128", Repository: "https://raw.githubusercontent.com/MinishLab/model2vec-rs", Revision: "c75c126fe7aeeea34714f1cc36cef74b3c489f19",
		Dim: 64, Licence: "MIT", Engine: "static", Speed: "fast", Languages: "en",
		About: "the smallest there is, for tests: 29,524 words share 128 vectors",
		Files: []ModelFile{
			{"model.safetensors", m2vFixture + "model.safetensors", 387288, "7a415c0ab3cad0547b9ba5fbcb3493ddca8137d6fed53324df47bfce7cf74371"},
			{"tokenizer.json", m2vFixture + "tokenizer.json", 973875, "301e45388fe49df38bdaab8e9d6a35bbb56ca920ec237a7d2cd953c6476712b3"},
			{"config.json", m2vFixture + "config.json", 280, "910c70b90feb4163f6bcccbb79fa0f48ba9b9dbfcda6e5cba5981d1cbb62a3fb"},
		},
	},
}

// Size is how many bytes the files of m have, as far as that was published.
func (m Model) Size() (total int64) {
	for _, f := range m.Files {
		total += f.Size
	}
	return total
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

// Models returns the models that are known by name, the default one first.
//
// Revisions, sizes and hashes are those that several others publish who pin the
// same files; see docs/guides/models.md. The files without one are compared with
// the hub's own hash of them.
func Models() []Model { return slices.Clone(models) }

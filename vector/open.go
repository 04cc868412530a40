package vector

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Options adjust an embedder. All of them but Workers are part of its
// fingerprint. The zero value takes what the model's own files say.
type Options struct {
	MaxTokens     int    // of a text that count, with the frame
	Pooling       string // "cls" or "mean": how an encoder's states become a vector
	QueryPrefix   string // put before queries
	PassagePrefix string // put before passages
	Engine        string // "native" or "hugot" for an encoder; default: what runs it
	Workers       int    // texts embedded at a time; default: a processor each
}

func (o Options) prefix(kind Kind) string {
	if kind == Query {
		return o.QueryPrefix
	}
	return o.PassagePrefix
}

// Limits of the files of a model, so that a wrong file cannot fill the memory.
const (
	maxModelFile  = 4 << 30
	maxTokenizer  = 128 << 20
	maxConfigFile = 4 << 20
)

// Open loads the model in dir. The directory is as the authors publish it:
//
//   - model.safetensors with a table of vectors, and tokenizer.json: the static engine;
//   - model.onnx or onnx/model.onnx, config.json and tokenizer.json: the native engine,
//     which also reads 1_Pooling/config.json, sentence_bert_config.json and
//     config_sentence_transformers.json if they are there; or, for a graph that it
//     does not know, the general engine.
//
// LockName in the directory may name the engine.
//
// An error wraps [ErrModel] if the files are damaged, incomplete or not of one
// model, [ErrUnsupported] if no engine can run it, and [fs.ErrNotExist] if there
// is no model.
func Open(dir string, opts Options) (Embedder, error) {
	e, err := open(modelFiles{dir}, opts)
	if err != nil {
		return nil, fmt.Errorf("open model %s: %w", dir, err)
	}
	return e, nil
}

func open(f modelFiles, opts Options) (Embedder, error) {
	src, err := f.read("model.safetensors", maxModelFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	missing := err
	if missing == nil {
		tensors, err := parseSafetensors(src)
		if err != nil {
			return nil, fmt.Errorf("%w: model.safetensors: %w", ErrModel, err)
		}
		if _, ok := staticRows(tensors); ok {
			return openStatic(f, tensors, sha256.Sum256(src), opts)
		}
	}
	graph, err := f.openONNX()
	switch {
	case err != nil:
		return nil, err
	case graph != nil:
		defer graph.Close()
		return openGraph(f, graph, opts)
	case missing != nil:
		return nil, fmt.Errorf("neither model.safetensors nor model.onnx: %w", missing)
	}
	return nil, fmt.Errorf("%w: model.safetensors holds no table of vectors, and there is no model.onnx", ErrUnsupported)
}

// LockName is the file of an installed model that says where it is from. Open
// takes the field "engine" of it for an encoder when the options leave it open.
const LockName = "model.lock"

// openGraph runs a graph with our own encoder if it is of the family, else with
// the general engine.
func openGraph(f modelFiles, src *modelFile, opts Options) (Embedder, error) {
	var lock struct {
		Engine string `json:"engine"`
	}
	if _, err := f.config(LockName, &lock); err != nil {
		return nil, err
	}
	switch engine := cmp.Or(opts.Engine, lock.Engine); engine {
	case "native":
		return openNative(f, src, opts)
	case "hugot":
		return openHugot(f, src, opts)
	case "", "static": // what a lock says of another model than this
	default:
		return nil, fmt.Errorf("%w: there is no engine %q", ErrUnsupported, engine)
	}
	e, err := openNative(f, src, opts)
	if !errors.Is(err, ErrUnsupported) {
		return e, err
	}
	general, err2 := openHugot(f, src, opts)
	if err2 != nil {
		return nil, fmt.Errorf("%w; nor can the general engine: %w", err, err2)
	}
	return general, nil
}

// modelFiles reads the files of a model directory.
type modelFiles struct{ dir string }

// A modelFile is an open file of a model.
type modelFile struct {
	*os.File
	size int64
}

// open opens a regular file of at most limit bytes.
func (f modelFiles) open(name string, limit int64) (*modelFile, error) {
	file, err := os.Open(filepath.Join(f.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%w: %s is not a file", ErrModel, name)
	case info.Size() > limit:
		err = fmt.Errorf("%w: %s has %d bytes, more than %d", ErrModel, name, info.Size(), limit)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &modelFile{file, info.Size()}, nil
}

// all is the whole file.
func (f *modelFile) all() section { return section{f.File, 0, f.size} }

// read returns the bytes of the file.
func (f *modelFile) read() ([]byte, error) {
	src := make([]byte, f.size)
	if err := f.all().read(src, 0); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrModel, f.Name(), err)
	}
	return src, nil
}

// hash returns the SHA-256 of the file.
func (f *modelFile) hash() ([]byte, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, f.size)); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

// read returns the bytes of a regular file of at most limit bytes.
func (f modelFiles) read(name string, limit int64) ([]byte, error) {
	file, err := f.open(name, limit)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.read()
}

func (f modelFiles) tokenizer() (*tokenizer, error) {
	src, err := f.read("tokenizer.json", maxTokenizer)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: tokenizer.json is missing", ErrModel)
	} else if err != nil {
		return nil, err
	}
	return parseTokenizer(src)
}

// config reads an optional JSON file into v and reports whether it is there.
func (f modelFiles) config(name string, v any) (found bool, err error) {
	src, err := f.read(name, maxConfigFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if err := json.Unmarshal(src, v); err != nil {
		return false, fmt.Errorf("%w: %s: %w", ErrModel, name, err)
	}
	return true, nil
}

// EngineOf returns the name of the engine that an embedder is: "native",
// "static" or "hugot", or "" of one that is not from Open.
func EngineOf(e Embedder) string {
	switch e.(type) {
	case *native:
		return "native"
	case *static:
		return "static"
	case *hugot:
		return "hugot"
	}
	return ""
}

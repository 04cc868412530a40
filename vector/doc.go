// Package vector knows texts, vectors and nearest neighbours. It knows nothing
// of notes, of git, or of where vectors are kept.
//
// # Embedders
//
// An [Embedder] turns texts into unit vectors. [Open] reads a model directory
// as the model's authors publish it and chooses the engine by what it finds:
//
//   - native: an encoder of the BERT family (bge, MiniLM, gte, e5) in Go, from
//     the model's own ONNX file;
//   - static: a Model2Vec table (potion and its kin) in safetensors;
//   - hugot: the library of that name, for any other graph of floats; [Compare] holds the
//     native engine against it.
//
// All tokenize with code of our own that reads tokenizer.json. A text's vector
// depends on the text, its [Kind] and the embedder's fingerprint alone: not on
// the other texts of the call, the number of workers, or the processor, unless
// the fingerprint says so. Vectors with different fingerprints must never meet.
//
// # Neighbours
//
// A [Pack] is an immutable set of vectors by key, in memory and as a file. Its
// search is exact: rows are scanned as int8, and every row that the error of
// doing so leaves in doubt is scored again with [Dot]. Equal scores are ordered
// by key, so that an answer is a function of the vectors alone. [Approximate]
// walks a graph instead, if it finds enough.
//
// # Fusion
//
// [Centered] makes cosines comparable between texts, [Fuse] joins the scores of
// words and of vectors, [FuseRanks] joins rankings, [Diversify] trades score
// against repetition. They are pure functions.
package vector

// Package embed keeps the vectors of notes and finds notes by meaning.
//
// What is embedded of a note are the [Texts] of its chunks. They depend on its
// bytes alone, and a vector is stored under the hash of exactly the text and the
// fingerprint of the [Model]: whatever has been embedded once - at any path, in
// any commit, in any note - never is again, and models never mix.
//
// A [View] is a set of notes whose every chunk is settled. Its answers are a
// function of the notes and the recipes, not of what else is embedded, in which
// order, or how vectors are divided among files.
package embed

// Package models keeps embedding models in a directory, each in one of its name:
// it downloads them from where they are published, takes them from files, checks
// what is there and removes it. It is the one place from which kb opens a
// connection that nobody configured, and it does so only when a [Hub] is asked
// for a model.
//
// A model appears whole or not at all. Beside its files lies model.lock, which
// says where they are from and what they must hash to. What a broken download
// has got so far waits in a directory that begins with a dot, for the next one.
package models

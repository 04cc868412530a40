//go:build tools

package main

import _ "github.com/blevesearch/snowballstem" // whose source is translated

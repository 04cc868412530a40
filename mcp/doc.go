// Package mcp offers a vault's operations over the Model Context Protocol: each
// becomes a tool with both schemas, annotations, structured output that equals
// the command's JSON, and a compact text for reading.
//
// The package is the only one that knows the protocol and its SDK. It knows
// nothing of git, search or files: it calls [vault.Service].
package mcp

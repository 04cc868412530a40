// Package fetch is the one door to the web through which sources come: it gets a
// URL, within limits of size, time and redirects, as its host allows robots to, and
// only from public addresses unless a person says otherwise. It knows nothing of
// what it fetches.
//
// The address of a host is looked at when the connection is made, for each request
// and each redirect: no name can mean another address by then. No proxy is used, no
// cookie kept, no password sent.
package fetch

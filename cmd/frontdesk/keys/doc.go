// Package keys makes, rotates, ends and lists the api_keys of a configuration. A key that has
// a file of its own is written anew with that file, once the loader that serve uses has judged
// the new text; what to write into any other file, the operator is told.
// It knows nothing of sessions, or of what becomes of a key once the configuration is read
// again, which is package desk's.
package keys

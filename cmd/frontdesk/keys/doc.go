// Package keys makes, rotates, ends and lists the api_keys of a configuration. A change
// is made in the text of its file, by config/keyedit, and only once the loader that serve
// uses has found that it means what was meant. It knows nothing of sessions, or of what
// becomes of a key once the configuration is read again, which is package desk's.
package keys

// Package keys makes, rotates, ends and lists the api_keys of a configuration. If a key has a file
// of its own, the package rewrites that file, after the loader that serve uses has judged the new
// text; otherwise it prints what the operator has to write.
// It does not deal with sessions, or with what becomes of a key once the configuration is read
// again: package desk does.
package keys

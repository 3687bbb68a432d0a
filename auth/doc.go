// Package auth knows who is calling: the users of the administration and how they log in,
// the sessions that a login opens, and the api_keys with what each of them may call, from
// where, and how often.
//
// Several gateways have to agree on Sessions, GuessCounter (wrong credentials) and Limits
// (what api_keys have used). The implementations here are for one process; package
// auth/redis has the shared ones. Both pass the suites of authtest.
//
// HTTP is the gateway's. Users are stored by a backend, which implements Verifier, and
// Accounts if it lets passwords be reset. This package only says which user is calling;
// which records that user sees follows from the backend's client rules.
//
// Secrets are stored as hashes only: a session by the SHA-256 of its token, an api_key
// by the SHA-256 of its text, a reset by the SHA-256 of its link's token, a password by
// argon2id. None of them appears in an error or a log. An existing administration hashes
// passwords in its own way: ForeignHashes.
package auth

// Package auth knows who is asking: the users of the administration and how
// they log in, the sessions a login opens, and the api_keys with what each of
// them may call, from where, and how often.
//
// What several gateways have to agree on are Sessions, GuessCounter (wrong credentials)
// and Limits (what api_keys have used). Those here are for one process; package
// auth/redis has those that are shared. authtest holds both to the same.
//
// It is not for HTTP, which is the gateway's, nor for where users are kept:
// a backend implements Verifier, and Accounts where it lets passwords be reset.
// It does not decide which records a user sees either; it only says whose user
// it is, and the backend's client rules follow from that.
//
// Secrets are stored as hashes only: a session by the SHA-256 of its token, an api_key
// by the SHA-256 of its text, a reset by the SHA-256 of its link's token, a password by
// argon2id. None of them appears in an error or a log. An existing administration hashes
// passwords in its own way: ForeignHashes.
package auth

// Package allowlist answers questions about the allowlists of a configuration: what becomes of a
// request and why, which list a key needs for what it did, what a list grants and nobody
// used, what another configuration would refuse, and what is allowed but unwise. It asks a
// gateway without a backend, which decides as the serving one does, and reads access logs
// with package accesslog. It does not decide about requests of clients, which the gateway
// does, and changes no configuration.
package allowlist

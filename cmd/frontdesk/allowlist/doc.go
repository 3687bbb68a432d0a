// Package allowlist tells of the allowlists of a configuration: what becomes of a request
// and why, what a key's list would have to be to let it do what it did, what a list
// grants and nobody used, what another configuration would refuse, and what is allowed
// but unwise. It asks a gateway that has nothing behind it, which judges as the one that
// serves does, and knows of access logs what package accesslog reads. It judges no
// requests for clients, which is the gateway's, and changes no configuration.
package allowlist

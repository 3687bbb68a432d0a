// Package mapping is the vocabulary of the documented interface: its error
// rows, its datatypes, its resources and the stateless checks that follow from
// them.
//
// It says what a record is, what may be wrong with it, and in which words. It knows no
// HTTP server, no database and no session: the gateway, every backend and every tool use
// it, and it imports none of them.
package mapping

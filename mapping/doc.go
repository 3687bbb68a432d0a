// Package mapping is the vocabulary of the documented interface: its error
// rows, its datatypes, its resources and the stateless checks that follow from
// them.
//
// It says what a record is and what may be wrong with it, and it words what is
// wrong. It knows no HTTP server, no database and no session: the gateway, every
// backend and every tool speak through it, and it imports none of them.
package mapping

// Package check compares a mapping sheet with the system that it describes
// (frontdesk-kit map check): the tables, columns and procedures of a database, and
// some of its rows; or the answers of an HTTP service. It only reads, unless it is
// given a client to write in.
//
// What it finds has a rule, which never changes its name, a severity, a place in
// the sheet, what was seen and what to do. An error will fail for
// clients, a warning may, a note is worth knowing.
package check

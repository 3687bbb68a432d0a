// Package draft drafts a first mapping sheet (frontdesk-kit map init) out of the schema of an SQL
// database, or out of the OpenAPI description of an HTTP service. It takes what is certain: tables
// and paths, columns and members that are called as the interface calls them, keys, foreign keys
// and types. What is uncertain is a comment for whoever knows the system. It does not guess: no
// word is translated, and no value is looked at but to see whether a column has the interface's
// own words.
//
// A draft always loads: what a sheet's reader refuses is left out with a question (settle.go). And
// it is closed: records that nothing tells the client of are shown to nobody.
package draft

// Package adopt drafts a first mapping sheet (frontdesk-kit map init) out of the schema of an SQL
// database, or out of the OpenAPI description of an HTTP service, and writes all that is needed to
// write the rest of it into one file (map brief). A draft has what is certain: tables and paths,
// columns and members that are called as the interface calls them, keys, foreign keys and types.
// What is uncertain is a comment for whoever knows the system. It does not guess: no word is
// translated. The forms of values are examined, but no value is shown.
//
// A draft always loads: what a sheet's reader refuses is left out with a question (settle.go). And
// it is closed: records without a known client are shown to nobody.
package adopt

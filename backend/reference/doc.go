// Package reference is the built-in administration: a dealer and workshop
// administration in an embedded SQLite database or in PostgreSQL. It keeps what
// is derived from records right (numbers, totals, sizes), the users and their
// passwords, the answers under idempotency keys, an address book, and it makes
// the sample data of the demo.
//
// It is not the place for business rules, which package backend keeps in front
// of every administration, nor for the storing of records as such, which is
// package sqlrecord's. What it derives it derives for every write, also those
// that no rule has judged.
package reference

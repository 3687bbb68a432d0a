// Package reference is the built-in administration: a dealer and workshop
// administration in an embedded SQLite database or in PostgreSQL. It keeps the
// fields that are derived from records (numbers, totals, sizes), the users and their
// passwords, the answers under idempotency keys, and an address book, and it makes
// the sample data of the demo.
//
// It is not the place for business rules, which package backend applies to every administration,
// nor for the storage of records as such, which is package sqlrecord's. It derives fields for
// every write, also for those that no rule has judged.
package reference

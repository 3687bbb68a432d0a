// Package legacy is the driver for an existing SQL database, as a mapping sheet describes it:
// PostgreSQL, MariaDB, MySQL or SQLite. The database belongs to a vendor, whose own programs
// work in it at the same time.
//
// It makes a sqlrecord.Table of each resource: a field is a column or an SQL expression of the
// sheet, and lists, filters, sorts and totals are those of package sqlrecord. What it knows
// itself is how a sheet's fields are compared and written, whose a row is, which IDs are given
// out for keys, and what the database's errors mean.
//
// It only ever reads and writes rows and runs the sheet's statements. Every value is a
// parameter, and every statement on records is bound to the client that asks.
//
// Every write is one transaction at SERIALIZABLE, on every engine: a vendor's table often lacks
// the unique index or the foreign key that a rule would need, and then only that level keeps
// two clients from both being right.
package legacy

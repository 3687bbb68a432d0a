// Package legacy is the driver for an existing SQL database: PostgreSQL,
// MySQL, MariaDB or SQLite, as a mapping sheet (mapping/sheet)
// describes it. The database belongs to a vendor, whose own programs work in it
// at the same time.
//
// It only ever reads and writes rows and calls procedures: no statement of it
// creates, alters or drops anything. Names of tables and columns come from the
// sheet and are quoted; every value is a parameter. Every statement that reads or
// writes records is bound to the client that asks.
//
// What the sheet converts is not known here: rows become sheet.Raws and records
// become assignments of them. Our own tables are the business of
// backend/sqlrecord and backend/reference.
//
// # Transactions
//
// Every write is one transaction at SERIALIZABLE, on every engine: a vendor's
// table often lacks the unique index or the foreign key that a rule would need,
// and then only that level keeps two clients from both being right. Records to
// be changed are locked when they are read (FOR UPDATE). A transaction
// that the engine ends because of another one (SQLSTATE 40001 and 40P01, MySQL's
// 1213 and 1205, SQLite's busy) is undone and run
// again, a bounded number of times and never once a commit was asked for without
// an answer. The vendor's own programs may run at any level: their locks and the
// database's constraints hold for us like for them. Reads run outside of
// transactions, except a backup, which reads one snapshot.
//
// # Times
//
// A column with a zone (timestamptz) is an instant. All others
// are what a clock on the wall showed in the field's time_zone. MySQL's TIMESTAMP
// is one of these: it comes in the time zone of the session, which is the server's
// unless the sheet's session says otherwise, and must be the field's: see judgeZones.
package legacy

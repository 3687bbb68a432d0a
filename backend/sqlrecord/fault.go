package sqlrecord

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"zombiezen.com/go/sqlite"

	"frontdesk/backend"
)

// Fault is an error of an engine, in its own terms. What the engine does not say is "".
type Fault struct {
	Class    FaultClass
	SQLState string // SQLite has none
	Code     string // the engine's number; of PostgreSQL the SQLState
	// Constraint is the constraint, index or key that was violated. SQLite names the columns of a
	// key in its place, and of a check that has no name its text. Of FaultNull it is the column.
	Constraint string
	Message    string
	// Table and Column of a refused value, if the engine names them.
	Table, Column string
}

// FaultClass says what a fault means.
type FaultClass int

const (
	FaultOther     FaultClass = iota
	FaultCollision            // the transaction was ended because of another one: run it again
	FaultUnique               // a unique value that another row has
	FaultReference            // a reference, to or from another row
	FaultDown                 // the engine cannot work, or ended the connection
	FaultSchema               // what the statement names is not there, is of another type, or is not allowed
	FaultCharset              // a text with letters that the column or the database cannot have
	FaultValue                // a value that a column cannot hold
	FaultNull                 // null in a column that must have a value
	FaultCheck                // a condition of the row, which Constraint names
)

// IsOfValue reports whether a value was refused by itself, whatever other rows hold.
func (f Fault) IsOfValue() bool { return f.Class >= FaultCharset }

// FaultOf parses the error of a statement of a foreign database; false if the error does not come
// from the engine, as when a connection broke.
func FaultOf(err error) (Fault, bool) {
	if _, ok := errors.AsType[retypedError](err); ok {
		return Fault{Class: FaultSchema}, true
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return postgresFault(pg), true
	}
	if my, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return mysqlFault(my), true
	}
	code := sqlite.ErrCode(err)
	if own, ok := errors.AsType[sqliteError](err); ok || err != nil && code != sqlite.ResultError {
		if ok {
			err = own
		}
		return sqliteFault(code, innermost(err).Error()), true
	}
	return Fault{}, false
}

// collided reports whether an engine ended a statement or a transaction because of another one, so
// that a second attempt may succeed.
func collided(err error) bool {
	f, ok := FaultOf(err)
	return ok && f.Class == FaultCollision
}

// asCollision adds that an error is a collision.
func asCollision(err error) error {
	if collided(err) && !errors.Is(err, backend.ErrCollision) {
		err = fmt.Errorf("%w: %w", backend.ErrCollision, err)
	}
	return err
}

func postgresFault(pg *pgconn.PgError) Fault {
	f := Fault{SQLState: pg.Code, Code: pg.Code, Constraint: pg.ConstraintName, Message: pg.Message}
	switch pg.Code {
	case "40001", "40P01", "55P03": // serialization failure, deadlock, lock not available
		f.Class = FaultCollision
	case "23505", "23P01": // unique, exclusion
		f.Class = FaultUnique
	case "23503":
		f.Class = FaultReference
	case "22021", "22P05": // not in the repertoire, no equivalent
		f.Class = FaultCharset
	case "23502":
		f.Class, f.Constraint = FaultNull, pg.ColumnName
	case "23514":
		f.Class = FaultCheck
	case "22001", "22003", "22007", "22008", "22026", "22P02": // too long, out of range, no date, a date out of range, not so many bits, not of the type
		f.Class = FaultValue
	case stalePlan:
		f.Class = FaultSchema
	default:
		switch pg.Code[:min(2, len(pg.Code))] {
		case "08", "53", "57", "58", "F0", "XX": // connection, resources, operator, system, config file, internal
			f.Class = FaultDown
		case "3F", "42": // no such schema, no such name or no right
			f.Class = FaultSchema
		}
	}
	if f.IsOfValue() { // names that come with such an error are those of a program in the database
		f.Table, f.Column = pg.TableName, pg.ColumnName
	}
	return f
}

func mysqlFault(my *mysql.MySQLError) Fault {
	f := Fault{SQLState: string(my.SQLState[:]), Code: strconv.Itoa(int(my.Number)), Message: my.Message}
	switch my.Number {
	case 1213, 1205, 1020, 1412: // deadlock, waited too long for a lock, the row or the table has changed since the snapshot
		f.Class = FaultCollision
	case 1062, 1586: // duplicate entry
		f.Class, f.Constraint = FaultUnique, constraintInWords(f.Message)
	case 1216, 1217, 1451, 1452: // no parent row, child rows
		f.Class, f.Constraint = FaultReference, constraintInWords(f.Message)
	case 1267, 1270, 1271, 3854: // collations that do not mix, no conversion
		f.Class = FaultCharset
	case 1264, 1265, 1292, 1366, 1406: // out of range, truncated, incorrect, too long
		f.Class = FaultValue
		f.Table, f.Column = columnInWords(f.Message)
	case 1048, 1364: // null, no default
		f.Class, f.Constraint = FaultNull, constraintInWords(f.Message)
		f.Column = f.Constraint
	case 3819, 4025: // check, of MySQL and of MariaDB
		f.Class, f.Constraint, f.Table = FaultCheck, constraintInWords(f.Message), tableInWords(f.Message)
	case 1021, 1037, 1040, 1041, 1053, 1077, 1152, 1184, 1203, 1226, 1290, 1317, 1836, 1927, 3024: // full, shutting down, killed, …
		f.Class = FaultDown
	case 1044, 1051, 1054, 1064, 1109, 1136, 1142, 1143, 1146, 1305, 1318, 1356, 1370: // no right, no such name, not so many columns or parameters
		f.Class = FaultSchema
	}
	return f
}

// sqliteError is an error of a statement of another program's file. zombiezen's package has no type for
// SQLite's errors of number 1.
type sqliteError struct{ error }

func (e sqliteError) Unwrap() error { return e.error }

func sqliteFault(code sqlite.ResultCode, message string) Fault {
	f := Fault{Code: strconv.Itoa(int(code)), Message: message}
	switch code {
	case sqlite.ResultConstraintUnique, sqlite.ResultConstraintPrimaryKey, sqlite.ResultConstraintRowID:
		f.Class = FaultUnique
		_, f.Constraint, _ = strings.Cut(message, "UNIQUE constraint failed: ")
	case sqlite.ResultConstraintForeignKey: // SQLite does not name the key
		f.Class = FaultReference
	case sqlite.ResultConstraint | 12<<8: // the type in a strict table, for which the package has no name
		f.Class = FaultValue
		f.Table, f.Column = columnInWords(message)
	case sqlite.ResultConstraintCheck:
		f.Class = FaultCheck
		_, f.Constraint, _ = strings.Cut(message, "CHECK constraint failed: ")
	case sqlite.ResultConstraintNotNull:
		f.Class, f.Constraint = FaultNull, constraintInWords(message)
		f.Table, f.Column = columnInWords(message)
	}
	switch code.ToPrimary() {
	case sqlite.ResultBusy, sqlite.ResultLocked:
		f.Class = FaultCollision
	case sqlite.ResultNoMem, sqlite.ResultReadOnly, sqlite.ResultInterrupt, sqlite.ResultIOErr, sqlite.ResultCorrupt, sqlite.ResultFull, sqlite.ResultCantOpen, sqlite.ResultNotADB:
		f.Class = FaultDown
	case sqlite.ResultError:
		if nameless.MatchString(message) {
			f.Class = FaultSchema
		}
	}
	return f
}

// innermost is the error that all others wrap; of several, the last.
func innermost(err error) error {
	for {
		var next error
		switch x := err.(type) {
		case interface{ Unwrap() error }:
			next = x.Unwrap()
		case interface{ Unwrap() []error }:
			if all := x.Unwrap(); len(all) > 0 {
				next = all[len(all)-1]
			}
		}
		if next == nil {
			return err
		}
		err = next
	}
}

package legacy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping/sheet"
)

// postgres is PostgreSQL 11 and later.
type postgres struct{ common }

func (postgres) engine() string { return "postgres" }

func (postgres) connector(dsn string, session []string) (driver.Connector, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the DSN of the database is not one of PostgreSQL")
	}
	return sessionConnector{stdlib.GetConnector(*config), session}, nil
}

func (postgres) session(lockWait time.Duration) []string {
	return []string{
		"SET lock_timeout = " + strconv.FormatInt(lockWait.Milliseconds(), 10),
		// Else the letters of a database in LATIN1 come, and are written, byte by byte.
		"SELECT set_config('client_encoding', 'UTF8', false) WHERE current_setting('server_encoding') <> 'SQL_ASCII'",
	}
}

func (postgres) placeholder(text []byte, n int) []byte {
	return strconv.AppendInt(append(text, '$'), int64(n), 10)
}

// order says where nulls come only if there may be some, because no index has that order.
func (postgres) order(expr string, descending, nullable bool) string {
	return sqlrecord.OrderBy(expr, descending, nullable)
}

// arg passes values as text, which the server reads as the type of the column that they are
// compared with: 1 for a SMALLINT as well as for a CHAR(6) or a BOOLEAN.
func (postgres) arg(v sheet.Raw) any {
	switch v.Kind {
	case sheet.RawBool, sheet.RawInt:
		return strconv.FormatInt(v.Int, 10)
	case sheet.RawTime:
		return timeOf(v).Format("2006-01-02 15:04:05.999Z")
	default:
		return common{}.arg(v)
	}
}

// contains does not use LOWER, which depends on the locale of the database.
func (postgres) contains(b *statement, text func(), part string) {
	b.add("CAST(")
	text()
	b.add(" AS text) ~ ").arg(textRaw(sqlrecord.RegexPattern(part)))
}

func (postgres) raw(kind string, v any) sheet.Raw {
	switch v := v.(type) {
	case string:
		if kind == "NUMERIC" {
			return decimalRaw(v)
		}
	case float64:
		if kind == "FLOAT4" {
			return floatRaw(v, 32)
		}
	case time.Time:
		if kind == "TIMESTAMPTZ" {
			return instantRaw(v)
		}
	case []byte:
		if kind == "JSON" || kind == "JSONB" || kind == "XML" {
			return textRaw(string(v))
		}
	}
	return plainRaw(v)
}

func (postgres) shown(b *statement, at sheet.Raw) bool {
	b.add("CAST(to_timestamp(CAST(").arg(at).add(" AS double precision)) AS timestamp)")
	return true
}

func (postgres) nextOf(b *statement, quoted string) {
	b.add("SELECT nextval(").arg(textRaw(quoted)).add("::regclass)")
}

// tries casts the value to the column's type and to the letters of the database, since
// PostgreSQL does not say which column a refused value was for.
func (d postgres) tries(ctx context.Context, c conn, table, column string, v sheet.Raw) error {
	_, err := queryOne(ctx, c, newStatement(d).add("SELECT COALESCE(", column, ", ").arg(v).add(") FROM ", table, " WHERE 1 = 0"))
	return err
}

// call selects from a function, and calls a procedure; its result has the out parameters.
func (d postgres) call(ctx context.Context, c conn, p call) (result, error) {
	s := newStatement(d)
	s.add(p.verb(), p.name, "(").list(p.args)
	if !p.function {
		for i := range p.out {
			if p.from[i] < 0 {
				s.add(comma(len(s.args)+i), "NULL")
			}
		}
	}
	answer, err := queryAll(ctx, c, s.add(")"))
	if !p.function && len(answer.names) == len(p.out) {
		answer.names = p.inOrder() // not as the procedure calls its parameters
	}
	return answer, err
}

// inOrder are the names of the out parameters in the procedure's order.
func (p call) inOrder() []string {
	order := make([]int, len(p.out))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { // those that stand last are -1
		return cmp.Compare(uint(p.from[a]), uint(p.from[b]))
	})
	names := make([]string, len(order))
	for i, at := range order {
		names[i] = p.out[at]
	}
	return names
}

func (p call) verb() string {
	if p.function {
		return "SELECT * FROM "
	}
	return "CALL "
}

func (d postgres) tryLock(ctx context.Context, c conn, name string) (bool, func(context.Context, conn) error, error) {
	sum := sha256.Sum256([]byte(name))
	s := newStatement(d).add("SELECT pg_try_advisory_xact_lock(CAST(").arg(intRaw(int64(binary.BigEndian.Uint64(sum[:])))).add(" AS bigint))")
	row, err := queryOne(ctx, c, s)
	return len(row) == 1 && row[0].Int == 1, nil, err
}

func (postgres) fault(err error) (f fault, ok bool) {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return f, false
	}
	f.SQLState, f.Code, f.Constraint, f.Message = pg.Code, pg.Code, pg.ConstraintName, pg.Message
	if f.Constraint == "" {
		f.Constraint = pg.ColumnName // of 23502
	}
	switch pg.Code {
	case "40001", "40P01", "55P03": // serialization failure, deadlock, lock not available
		f.class = faultCollision
	case "23505", "23P01": // unique, exclusion
		f.class = faultUnique
	case "23503":
		f.class = faultForeign
	case "22021", "22P05": // not in the repertoire, no equivalent
		f.class = faultCharset
	case "23502":
		f.class, f.table, f.column = faultNull, pg.TableName, pg.ColumnName
	case "23514":
		f.class, f.table = faultCheck, pg.TableName
	case "22001", "22003", "22007", "22008", "22P02": // too long, out of range, no date, a date out of range, not of the type
		f.class = faultValue
		if pg.ColumnName != "" { // a program says so: of what it finds itself the server tells none
			f.table, f.column = pg.TableName, pg.ColumnName
		}
	default:
		switch pg.Code[:min(2, len(pg.Code))] {
		case "08", "53", "57", "58", "F0", "XX": // connection, resources, operator, system, config file, internal
			f.class = faultDown
		}
	}
	return f, true
}

package sqlrecord

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"frontdesk/mapping"
)

const beginSerializable = "begin isolation level serializable"

// textsAsUTF8 has a database in LATIN1 or the like convert texts to and from UTF-8. A database in
// SQL_ASCII cannot convert: it does not know what its bytes mean.
const textsAsUTF8 = "SELECT set_config('client_encoding', 'UTF8', false) WHERE current_setting('server_encoding') <> 'SQL_ASCII'"

func openForeignPostgres(ctx context.Context, d *Dialect, o ForeignOptions) (DB, error) {
	return openPostgresDB(ctx, o.DSN, Options{Readers: o.Connections, LockWait: o.LockWait, Log: o.Log, foreign: d, session: append([]string{textsAsUTF8}, o.Session...)})
}

// beginSession runs the statements that a connection begins with.
func (o Options) beginSession(ctx context.Context, conn *pgx.Conn) error {
	for i, text := range o.session {
		if _, err := conn.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("statement %d of a new connection: %w", i+1, err)
		}
	}
	return nil
}

// connect opens a connection outside of the pools.
func (d *postgresDB) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, d.alone)
	if err != nil {
		return nil, err
	}
	if err := d.options.beginSession(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

// replanned reports whether a statement may have failed because a table was altered after the connection
// prepared it: the result, or a parameter, had another type then. The connection has dropped the
// prepared statement now; outside of a transaction it can be run again.
func (c *postgresConn) replanned(err error) bool {
	if c.db.options.foreign == nil || c.conn.PgConn().TxStatus() != 'I' {
		return false
	}
	f, ok := FaultOf(err)
	return ok && f.Class == FaultSchema
}

// replanning returns a function that reports, of a transaction's error, whether the transaction is run
// again because a table may have been altered after its connection prepared a statement. With
// stalePlan it always is; another error of the schema may be true, so it is run again once.
func (d *postgresDB) replanning() func(error) bool {
	retried := false
	return func(err error) bool {
		f, ok := FaultOf(err)
		if !ok || f.Class != FaultSchema || d.options.foreign == nil {
			return false
		}
		once := !retried
		retried = retried || f.Code != stalePlan
		return once || f.Code == stalePlan
	}
}

// stalePlan is the SQLState of a plan whose result has another type by now.
const stalePlan = "0A000"

// foreignArg makes an argument that the server reads as the type of what it is compared with or written to.
func foreignArg(v mapping.Value) any {
	switch v.Kind() {
	case mapping.KindInt:
		return strconv.FormatInt(v.Int(), 10)
	case mapping.KindFloat:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	case mapping.KindTime:
		return v.Time().Format("2006-01-02 15:04:05.999Z")
	default:
		return postgresArg(v)
	}
}

func postgresForeign() Foreign {
	return Foreign{
		Catalogue:   postgresCatalogue(),
		StrictTypes: true, NamesConstraints: true,
		InUse:    Fault{SQLState: "23503", Code: "23503"},
		open:     openForeignPostgres,
		judge:    JudgePostgres,
		readOnly: "SET default_transaction_read_only = on",
		Explain:  "EXPLAIN (FORMAT JSON) ",
		Clock:    "CAST(to_timestamp(%d) AS timestamp)",
		SetZone:  "SET TIME ZONE '%s'",
		Round: func(e Expr, s Sort, scale int) Expr {
			if s == Singles || s == Floats { // the shortest decimal that is the same float
				e = Wrap("CAST(", e, " AS text)")
			}
			return Wrap("ROUND(CAST(", e, " AS numeric), "+strconv.Itoa(scale)+")")
		},
		Millis: func(e Expr) Expr { return Wrap("date_trunc('milliseconds', ", e, ")") },
		Differ: func(a, b Expr, areTexts bool) Expr {
			if areTexts {
				b = Wrap(b, ` COLLATE "C"`)
			}
			return Wrap(a, " IS DISTINCT FROM ", b)
		},
		StoredAs: func(name string, s Sort) string {
			if s == Padded {
				return "bpchar" // without a length character is that of one letter
			}
			return name
		},
		Try: tryPostgres,
		casts: map[Sort]string{
			Integers: "bigint", Decimals: "numeric", Singles: "double precision", Floats: "double precision", Booleans: "boolean", Texts: "text",
			Padded: "bpchar", Days: "timestamp", Clocks: "timestamp", Instants: "timestamptz", GUIDs: "uuid", Others: "text",
		},
		sorts: map[string]Sort{"bit": Others, "enum": Others, "real": Singles, "float4": Singles, "character": Padded, "bpchar": Padded, "char": Padded, "uuid": GUIDs},
	}
}

func tryPostgres(column string, v mapping.Value) (set, take string) {
	as := "text"
	switch v.Kind() {
	case mapping.KindBytes: // bytea has no length
		return "", ""
	case mapping.KindDecimal: // the value is rounded
		as = "numeric"
	}
	return "SELECT set_config('frontdesk.value', $1, true)",
		"DO $frontdesk$ DECLARE held " + column + "%TYPE := CAST(current_setting('frontdesk.value') AS " + as + "); BEGIN END $frontdesk$"
}

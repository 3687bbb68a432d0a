package legacy

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/golang-sql/civil"
	mssql "github.com/microsoft/go-mssqldb"

	"frontdesk/mapping/sheet"
)

// sqlserver is SQL Server 2012 and later: see Unproven.
type sqlserver struct{ common }

// Unproven is the warning about an engine whose dialect was never run against a server; "" for
// the others. The documentation has the same words.
func Unproven(engine string) string {
	if engine == "sqlserver" {
		return "the dialect of SQL Server is held to golden texts, and no SQL Server has seen it yet"
	}
	return ""
}

func (sqlserver) engine() string { return "sqlserver" }

func (sqlserver) connector(dsn string, session []string) (driver.Connector, error) {
	c, err := mssql.NewConnector(dsn)
	if err != nil {
		return nil, errors.New("the DSN of the database is not one of SQL Server")
	}
	// The driver resets a connection that is used again, and then runs this.
	c.SessionInitSQL = strings.Join(session, "; ")
	return c, nil
}

func (sqlserver) session(lockWait time.Duration) []string {
	return []string{"SET LOCK_TIMEOUT " + strconv.FormatInt(lockWait.Milliseconds(), 10), "SET XACT_ABORT ON"}
}

func (sqlserver) quote(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

func (sqlserver) placeholder(text []byte, n int) []byte {
	return strconv.AppendInt(append(text, "@p"...), int64(n), 10)
}

func (sqlserver) page(b *statement, limit, offset int) {
	if limit <= 0 && offset <= 0 {
		return
	}
	b.add(" OFFSET ").arg(intRaw(int64(offset))).add(" ROWS")
	if limit > 0 {
		b.add(" FETCH NEXT ").arg(intRaw(int64(limit))).add(" ROWS ONLY")
	}
}

func (sqlserver) lockHint() string   { return " WITH (UPDLOCK, ROWLOCK)" }
func (sqlserver) lockClause() string { return "" }

func (sqlserver) lockRange() (hint, clause string) { return " WITH (UPDLOCK, HOLDLOCK)", "" }

// arg gives text as VARCHAR where it is ASCII: an NVARCHAR would keep an index
// on a VARCHAR column from being used.
func (sqlserver) arg(v sheet.Raw) any {
	switch v.Kind {
	case sheet.RawNumber, sheet.RawText:
		if !strings.ContainsFunc(v.Text, func(r rune) bool { return r > unicode.MaxASCII }) {
			return mssql.VarChar(v.Text)
		}
		return v.Text
	case sheet.RawTime:
		return timeOf(v)
	case sheet.RawWall:
		return civil.DateTimeOf(timeOf(v))
	default:
		return common{}.arg(v)
	}
}

func (sqlserver) raw(kind string, v any) sheet.Raw {
	if t, ok := v.(time.Time); ok && kind == "DATETIMEOFFSET" {
		return instantRaw(t)
	}
	b, ok := v.([]byte)
	if !ok {
		return plainRaw(v)
	}
	switch kind {
	case "DECIMAL", "NUMERIC", "MONEY", "SMALLMONEY":
		return decimalRaw(string(b))
	case "UNIQUEIDENTIFIER":
		return guidRaw(b)
	default:
		return bytesRaw(b)
	}
}

func (sqlserver) shown(*statement, sheet.Raw) bool { return false }

// insert returns the key in a table variable: SQL Server refuses a bare OUTPUT on a table with
// triggers.
func (sqlserver) insert(b *statement, table string, columns []string, values []sheet.Raw, keys []string) bool {
	b.add("SET NOCOUNT ON; DECLARE @key TABLE (")
	for i, k := range keys {
		b.add(comma(i), k, " nvarchar(450)")
	}
	b.add("); INSERT INTO ", table, " (", strings.Join(columns, ", "), ") OUTPUT INSERTED.", strings.Join(keys, ", INSERTED."))
	b.add(" INTO @key VALUES (").list(values).add("); SELECT ", strings.Join(keys, ", "), " FROM @key")
	return true
}

// change asks for the number of rows of the statement itself: the driver's count includes rows
// that triggers changed.
func (d sqlserver) change(ctx context.Context, c conn, s *statement) (int64, error) {
	counted := &statement{d: d, args: s.args}
	counted.add("SET NOCOUNT ON; ", s.String(), "; SELECT @@ROWCOUNT")
	row, err := queryOne(ctx, c, counted)
	if err != nil || len(row) == 0 {
		return 0, err
	}
	return row[0].Int, nil
}

func (d sqlserver) call(ctx context.Context, c conn, p call) (result, error) {
	return queryAll(ctx, c, d.callText(p))
}

// callText passes out parameters as variables and selects them last. They are texts: numbers
// and texts come through unchanged, other types in their usual form.
func (d sqlserver) callText(p call) *statement {
	s := newStatement(d).add("SET NOCOUNT ON; ")
	for i, at := range p.from {
		s.add("DECLARE ", sqlserverVariable(i), " nvarchar(4000)")
		if at >= 0 {
			s.add(" = ").arg(p.args[at])
		}
		s.add("; ")
	}
	p.arguments(s.add("EXEC ", p.name, " "), func(i int) string { return sqlserverVariable(i) + " OUTPUT" })
	for i, name := range p.out {
		s.add([]string{"; SELECT ", ", "}[min(i, 1)], sqlserverVariable(i), " AS ", d.quote(name))
	}
	return s
}

func sqlserverVariable(i int) string { return "@out" + strconv.Itoa(i+1) }

// snapshot needs ALLOW_SNAPSHOT_ISOLATION of the database.
func (sqlserver) snapshot() *sql.TxOptions { return &sql.TxOptions{Isolation: sql.LevelSnapshot} }

func (d sqlserver) tryLock(ctx context.Context, c conn, name string) (bool, func(context.Context, conn) error, error) {
	sum := sha256.Sum256([]byte(name))
	s := newStatement(d).add("DECLARE @taken int; EXEC @taken = sp_getapplock @Resource = ").
		arg(textRaw("frontdesk:" + hex.EncodeToString(sum[:16]))).
		add(", @LockMode = 'Exclusive', @LockOwner = 'Transaction', @LockTimeout = 0; SELECT @taken")
	row, err := queryOne(ctx, c, s)
	return len(row) == 1 && row[0].Int >= 0, nil, err
}

func (sqlserver) fault(err error) (f fault, ok bool) {
	var ms mssql.Error
	if !errors.As(err, &ms) {
		return f, false
	}
	f.Code, f.Message = strconv.Itoa(int(ms.Number)), ms.Message
	switch ms.Number {
	case 1205, 1222, 3960: // deadlock, waited too long for a lock, snapshot conflict
		f.class = faultCollision
	case 2627, 2601: // unique constraint, unique index
		f.class = faultUnique
	case 547: // foreign key, or check
		f.class = faultForeign
		if strings.Contains(f.Message, " CHECK constraint ") {
			f.class = faultCheck
		}
	case 220, 241, 242, 245, 8114, 8115, 8152, 2628: // overflow, no date, a date out of range, conversions, overflow, truncated
		f.class = faultValue
		f.table, f.column = columnInWords(f.Message)
		return f, true
	case 515: // null
		f.class = faultNull
		f.table, f.column = columnInWords(f.Message)
	case 701, 1105, 4060, 6005, 9001, 9002, 17142, 18456, 40197, 40501, 40613: // memory, log, shutting down, no log-on, …
		f.class = faultDown
		return f, true
	default:
		return f, true
	}
	f.Constraint = constraintInWords(f.Message)
	return f, true
}

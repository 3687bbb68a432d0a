package sqlrecord

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"frontdesk/mapping"
)

const beginSerializable = "begin isolation level serializable"

// textsAsUTF8 is for a database in LATIN1 or the like, whose letters would otherwise come, and be
// written, byte by byte. One in SQL_ASCII does not know what its bytes mean.
const textsAsUTF8 = "SELECT set_config('client_encoding', 'UTF8', false) WHERE current_setting('server_encoding') <> 'SQL_ASCII'"

func openForeignPostgres(ctx context.Context, o ForeignOptions) (DB, error) {
	return openPostgresDB(ctx, o.DSN, Options{Readers: o.Connections, LockWait: o.LockWait, Log: o.Log, foreign: true, session: append([]string{textsAsUTF8}, o.Session...)})
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

// connect opens a connection beside the pools.
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

// foreignFormats are the types that are read in PostgreSQL's binary form. All others come as
// texts, which need not be known here.
var foreignFormats = pgx.QueryResultFormatsByOID{
	pgtype.BoolOID: pgx.BinaryFormatCode, pgtype.ByteaOID: pgx.BinaryFormatCode, pgtype.DateOID: pgx.BinaryFormatCode,
	pgtype.Float4OID: pgx.BinaryFormatCode, pgtype.Float8OID: pgx.BinaryFormatCode, pgtype.Int2OID: pgx.BinaryFormatCode,
	pgtype.Int4OID: pgx.BinaryFormatCode, pgtype.Int8OID: pgx.BinaryFormatCode, pgtype.OIDOID: pgx.BinaryFormatCode,
	pgtype.TimestampOID: pgx.BinaryFormatCode, pgtype.TimestamptzOID: pgx.BinaryFormatCode,
}

// replanned tells whether a table may have been altered since the connection prepared the
// statement, which it has forgotten now: the result, or a parameter, had another type then. Only a
// statement outside of a transaction can be run again.
func (c *postgresConn) replanned(err error) bool {
	if !c.db.options.foreign || c.conn.PgConn().TxStatus() != 'I' {
		return false
	}
	f, ok := FaultOf(err)
	return ok && f.Class == FaultSchema
}

// replanning tells of the error of a transaction whether it is run again since a table may have
// been altered after its connection had prepared a statement. Any further statement of it may
// say so by itself; what it says otherwise may be true, and is asked once more.
func (d *postgresDB) replanning() func(error) bool {
	asked := false
	return func(err error) bool {
		f, ok := FaultOf(err)
		if !ok || f.Class != FaultSchema || !d.options.foreign {
			return false
		}
		once := !asked
		asked = asked || f.Code != stalePlan
		return once || f.Code == stalePlan
	}
}

// stalePlan is the SQLState of a plan whose result has another type by now.
const stalePlan = "0A000"

// foreignArg makes an argument that the server reads as the type of what it stands beside.
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

// postgresStored takes a value as it was sent. Infinity is a text.
func postgresStored(rows pgx.Rows, of *pgconn.FieldDescription, raw []byte) (s stored, err error) {
	switch _, known := foreignFormats[of.DataTypeOID]; {
	case of.Format == pgx.TextFormatCode:
		return textStored(of.DataTypeOID, raw), nil
	case known:
		return binaryStored(of.DataTypeOID, raw), nil
	default:
		var text string
		err = rows.Conn().TypeMap().Scan(of.DataTypeOID, of.Format, raw, &text)
		return textStored(of.DataTypeOID, []byte(text)), err
	}
}

// binaryStored takes one of foreignFormats.
func binaryStored(oid uint32, raw []byte) stored {
	switch oid {
	case pgtype.BoolOID:
		return stored{form: formBoolean, num: int64(raw[0])}
	case pgtype.Int2OID:
		return stored{form: formInteger, num: int64(int16(binary.BigEndian.Uint16(raw)))}
	case pgtype.Int4OID:
		return stored{form: formInteger, num: int64(int32(binary.BigEndian.Uint32(raw)))}
	case pgtype.OIDOID:
		return stored{form: formInteger, num: int64(binary.BigEndian.Uint32(raw))}
	case pgtype.Int8OID:
		return stored{form: formInteger, num: int64(binary.BigEndian.Uint64(raw))}
	case pgtype.Float4OID:
		return stored{form: formSingle, real: float64(math.Float32frombits(binary.BigEndian.Uint32(raw)))}
	case pgtype.Float8OID:
		return stored{form: formDouble, real: math.Float64frombits(binary.BigEndian.Uint64(raw))}
	case pgtype.DateOID:
		days := int64(int32(binary.BigEndian.Uint32(raw)))
		return finite(formOf(oid), days, math.MinInt32, math.MaxInt32, days*24*time.Hour.Milliseconds())
	case pgtype.TimestampOID, pgtype.TimestamptzOID:
		micros := int64(binary.BigEndian.Uint64(raw))
		return finite(formOf(oid), micros, math.MinInt64, math.MaxInt64, time.UnixMicro(micros).UnixMilli()) // down to the millisecond, also before 1970
	default:
		return stored{form: formBytes, text: raw}
	}
}

// formOf is the form of floating-point numbers and of moments.
func formOf(oid uint32) form {
	switch oid {
	case pgtype.Float4OID:
		return formSingle
	case pgtype.Float8OID:
		return formDouble
	case pgtype.DateOID:
		return formDay
	case pgtype.TimestampOID:
		return formWall
	default:
		return formInstant
	}
}

// finite is a moment of so many milliseconds, unless n is PostgreSQL's number for infinity.
func finite(f form, n, least, most, ms int64) stored {
	switch n {
	case least:
		return stored{text: []byte("-infinity")}
	case most:
		return stored{text: []byte("infinity")}
	default:
		return stored{form: f, num: postgresEpoch + ms}
	}
}

// textStored takes a value that came as a text: of a type that is not asked for otherwise, or
// through a pooler's protocol, which has texts only.
func textStored(oid uint32, raw []byte) stored {
	switch oid {
	case pgtype.BoolOID:
		if string(raw) == "t" {
			return stored{form: formBoolean, num: 1}
		}
		return stored{form: formBoolean}
	case pgtype.ByteaOID:
		if read, err := hex.AppendDecode(nil, bytes.TrimPrefix(raw, []byte(`\x`))); err == nil {
			return stored{form: formBytes, text: read}
		}
	case pgtype.BPCharOID: // char(n), without its padding
		return stored{text: bytes.TrimRight(raw, " ")}
	case pgtype.Float4OID, pgtype.Float8OID:
		if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
			return stored{form: formOf(oid), real: f}
		}
	case pgtype.DateOID, pgtype.TimestampOID, pgtype.TimestamptzOID:
		if ms, _, ok := parseMoment(raw); ok {
			return stored{form: formOf(oid), num: ms}
		}
	}
	return stored{text: raw}
}

// postgresSort is the sort of a type.
func postgresSort(oid uint32) ResultSort {
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.NumericOID, pgtype.Float4OID, pgtype.Float8OID:
		return SortNumbers
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID:
		return SortTexts
	case pgtype.DateOID, pgtype.TimestampOID, pgtype.TimestamptzOID:
		return SortMoments
	default:
		return 0
	}
}

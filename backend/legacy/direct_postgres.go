package legacy

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"frontdesk/backend"
	"frontdesk/mapping/sheet"
)

// binaryTypes are read in the server's binary form, as the driver of database/sql reads
// them. Every other type comes as text.
var binaryTypes = pgx.QueryResultFormatsByOID{
	pgtype.BoolOID: pgx.BinaryFormatCode, pgtype.ByteaOID: pgx.BinaryFormatCode, pgtype.CIDOID: pgx.BinaryFormatCode, pgtype.DateOID: pgx.BinaryFormatCode,
	pgtype.Float4OID: pgx.BinaryFormatCode, pgtype.Float8OID: pgx.BinaryFormatCode, pgtype.Int2OID: pgx.BinaryFormatCode, pgtype.Int4OID: pgx.BinaryFormatCode,
	pgtype.Int8OID: pgx.BinaryFormatCode, pgtype.OIDOID: pgx.BinaryFormatCode, pgtype.TimestampOID: pgx.BinaryFormatCode, pgtype.TimestamptzOID: pgx.BinaryFormatCode,
	pgtype.XIDOID: pgx.BinaryFormatCode,
}

// asksInBinary tells whether connections of a DSN can choose the form of a column: those
// that say simple_protocol or exec, for a pooler's sake, get texts only.
func asksInBinary(dsn string) bool {
	config, err := pgx.ParseConfig(dsn)
	return err == nil && config.DefaultQueryExecMode < pgx.QueryExecModeExec
}

// postgresRows runs a statement on a connection of the pool and reads what the server sent.
// By database/sql each statement makes a dozen functions for its columns and puts every
// value into an interface.
func postgresRows(ctx context.Context, db *sql.DB, of *shape, args []any, each func([]sheet.Raw) error) error {
	backend.Asking(ctx, of.text)
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // gives it back
	return conn.Raw(func(driver any) error {
		asked := append(make([]any, 0, 1+len(args)), binaryTypes)
		rows, err := driver.(*stdlib.Conn).Conn().Query(ctx, of.text, append(asked, args...)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		var room room
		var read postgresRow
		for rows.Next() {
			if len(rows.RawValues()) != len(of.kinds) {
				return fmt.Errorf("%d columns where there were %d", len(rows.RawValues()), len(of.kinds))
			}
			row := room.next(len(of.kinds))
			read.scan(row, of.kinds, rows.FieldDescriptions(), rows.RawValues())
			if err := each(row); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// postgresRow is the space into which the texts of a row are gathered: all of them become
// one string, which the values share.
type postgresRow struct {
	text []byte
	room [512]byte
}

func (r *postgresRow) scan(row []sheet.Raw, kinds []string, fields []pgconn.FieldDescription, values [][]byte) {
	if r.text == nil {
		r.text = r.room[:0]
	}
	r.text = r.text[:0]
	for i, v := range values {
		if v != nil && isPostgresText(&fields[i]) {
			r.text = append(r.text, v...)
		}
	}
	text := string(r.text)
	for i, v := range values {
		switch {
		case v == nil:
			row[i] = sheet.Raw{Kind: sheet.RawNull}
		case isPostgresText(&fields[i]):
			row[i] = postgresText(kinds[i], text[:len(v)])
			text = text[len(v):]
		default:
			row[i] = postgresRaw(fields[i].DataTypeOID, v)
		}
	}
}

func isPostgresText(f *pgconn.FieldDescription) bool { return f.Format == pgx.TextFormatCode }

func postgresText(kind, text string) sheet.Raw {
	if kind == "NUMERIC" {
		return decimalRaw(text)
	}
	return textRaw(text)
}

// postgresRaw is a value of one of binaryTypes.
func postgresRaw(oid uint32, v []byte) sheet.Raw {
	switch oid {
	case pgtype.BoolOID:
		return boolRaw(v[0] != 0)
	case pgtype.Int2OID:
		return intRaw(int64(int16(binary.BigEndian.Uint16(v))))
	case pgtype.Int4OID:
		return intRaw(int64(int32(binary.BigEndian.Uint32(v))))
	case pgtype.Int8OID:
		return intRaw(int64(binary.BigEndian.Uint64(v)))
	case pgtype.CIDOID, pgtype.OIDOID, pgtype.XIDOID:
		return intRaw(int64(binary.BigEndian.Uint32(v)))
	case pgtype.Float4OID:
		return floatRaw(float64(math.Float32frombits(binary.BigEndian.Uint32(v))), 32)
	case pgtype.Float8OID:
		return floatRaw(math.Float64frombits(binary.BigEndian.Uint64(v)), 64)
	case pgtype.DateOID:
		switch days := int32(binary.BigEndian.Uint32(v)); days {
		case math.MaxInt32:
			return textRaw("infinity")
		case math.MinInt32:
			return textRaw("-infinity")
		default:
			return sheet.Raw{Kind: sheet.RawWall, Int: postgresEpoch + int64(days)*millisecondsOfDay}
		}
	case pgtype.TimestampOID, pgtype.TimestamptzOID:
		kind := sheet.RawWall
		if oid == pgtype.TimestamptzOID {
			kind = sheet.RawTime
		}
		switch micros := int64(binary.BigEndian.Uint64(v)); micros {
		case math.MaxInt64:
			return textRaw("infinity")
		case math.MinInt64:
			return textRaw("-infinity")
		default: // down to the millisecond, also before the epoch
			return sheet.Raw{Kind: kind, Int: postgresEpoch + time.UnixMicro(micros).UnixMilli()}
		}
	default:
		return bytesRaw(v)
	}
}

// postgresEpoch is the first moment of 2000, from which PostgreSQL counts, as Unix does.
const (
	postgresEpoch     = 946_684_800_000
	millisecondsOfDay = 86_400_000
)

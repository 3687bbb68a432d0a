package sqlrecord

import (
	"bytes"
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

// resultFormats are the types that are read in PostgreSQL's binary form. All others come as
// texts.
var resultFormats = pgx.QueryResultFormatsByOID{
	pgtype.BoolOID: pgx.BinaryFormatCode, pgtype.ByteaOID: pgx.BinaryFormatCode, pgtype.DateOID: pgx.BinaryFormatCode,
	pgtype.Float4OID: pgx.BinaryFormatCode, pgtype.Float8OID: pgx.BinaryFormatCode, pgtype.Int2OID: pgx.BinaryFormatCode,
	pgtype.Int4OID: pgx.BinaryFormatCode, pgtype.Int8OID: pgx.BinaryFormatCode, pgtype.OIDOID: pgx.BinaryFormatCode,
	pgtype.TimestampOID: pgx.BinaryFormatCode, pgtype.TimestamptzOID: pgx.BinaryFormatCode,
}

// scanPostgres reads the current row.
func (r *rowSpace) scanPostgres(rows pgx.Rows, columns []Column) error {
	text, raw, fields := r.beginRow(len(columns)), rows.RawValues(), rows.FieldDescriptions()
	if len(raw) != len(columns) {
		return fmt.Errorf("%d columns where there are to be %d", len(raw), len(columns))
	}
	for i := range columns {
		col := &columns[i]
		if raw[i] == nil {
			r.set(i, mapping.NullValue(), text)
			continue
		}
		s, err := postgresStored(rows, &fields[i], raw[i])
		var v mapping.Value
		if v, text = s.read(col, text); err == nil && v.IsAbsent() && !col.Foreign {
			err = errors.New("a value that is none of the column")
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", fields[i].Name, err)
		}
		r.set(i, v, text)
	}
	r.endRow(text)
	return nil
}

// postgresEpoch is where PostgreSQL counts from, in milliseconds since 1970.
const postgresEpoch = 946684800000

// postgresStored takes a value as it was sent. Infinity is a text.
func postgresStored(rows pgx.Rows, of *pgconn.FieldDescription, raw []byte) (s stored, err error) {
	switch _, known := resultFormats[of.DataTypeOID]; {
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

// binaryStored takes one of resultFormats.
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

// textStored takes a value that came as a text: of a type without a binary form here, or in the simple
// protocol of a pooler, which has only texts.
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
func postgresSort(oid uint32) Sort {
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.NumericOID, pgtype.Float4OID, pgtype.Float8OID:
		return Decimals
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID:
		return Texts
	case pgtype.DateOID, pgtype.TimestampOID, pgtype.TimestamptzOID:
		return Clocks
	default:
		return ""
	}
}

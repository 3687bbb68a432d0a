package sqlrecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"frontdesk/mapping"
)

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
		v, ok := mapping.Value{}, false
		if !col.Foreign {
			v, text, ok = ownValue(&fields[i], raw[i], col, text)
		}
		if !ok {
			s, err := postgresStored(rows, &fields[i], raw[i])
			if v, text = s.read(col, text); err == nil && v.IsAbsent() && !col.Foreign {
				err = errors.New("a value that is none of the column")
			}
			if err != nil {
				return fmt.Errorf("column %s: %w", fields[i].Name, err)
			}
		}
		r.set(i, v, text)
	}
	r.endRow(text)
	return nil
}

// postgresEpoch is where PostgreSQL counts from, in milliseconds since 1970.
const postgresEpoch = 946684800000

// ownValue reads the types of our own tables, as the server sends them there. A text is appended.
func ownValue(fd *pgconn.FieldDescription, raw []byte, col *Column, text []byte) (v mapping.Value, _ []byte, ok bool) {
	oid := fd.DataTypeOID
	switch {
	case col.isText():
		if ok = oid == pgtype.TextOID || oid == pgtype.VarcharOID || oid == pgtype.NameOID; ok {
			return mapping.TextValue(""), append(text, raw...), true
		}
	case fd.Format != pgx.BinaryFormatCode:
	case oid == pgtype.Int4OID && col.Type == mapping.Int4:
		return mapping.IntValue(int64(int32(binary.BigEndian.Uint32(raw)))), text, true
	case oid == pgtype.Int8OID && col.Type == mapping.Int4:
		return mapping.IntValue(int64(binary.BigEndian.Uint64(raw))), text, true
	case oid == pgtype.TimestamptzOID && col.Type == mapping.Timestamp:
		µs := int64(binary.BigEndian.Uint64(raw))
		if µs != math.MaxInt64 && µs != math.MinInt64 { // infinity
			return mapping.MilliValue(postgresEpoch + time.UnixMicro(µs).UnixMilli()), text, true
		}
	case oid == pgtype.NumericOID && col.Type == mapping.Float8 && col.Scale >= 0:
		v, ok = ownDecimal(raw, col.Scale)
	case oid == pgtype.Float8OID && col.Type == mapping.Float8 && col.Scale < 0:
		return mapping.FloatValue(math.Float64frombits(binary.BigEndian.Uint64(raw))), text, true
	case oid == pgtype.ByteaOID && col.Type == mapping.Bytea:
		return mapping.BytesValue(raw), text, true
	}
	return v, text, ok
}

// ownDecimal reads a numeric's binary form: how many digits to the base of
// 10,000, the weight of the first, the sign, the scale, the digits. It is false
// for what does not fit without care.
func ownDecimal(raw []byte, scale int) (mapping.Value, bool) {
	digits, weight := int(binary.BigEndian.Uint16(raw)), int(int16(binary.BigEndian.Uint16(raw[2:])))
	sign := binary.BigEndian.Uint16(raw[4:])
	if 4*(weight+1)+scale > 18 || sign != 0 && sign != 0x4000 {
		return mapping.Value{}, false
	}
	var unscaled int64
	for i := range digits {
		digit := int64(binary.BigEndian.Uint16(raw[8+2*i:]))
		shift := 4*(weight-i) + scale
		if shift < 0 {
			if shift <= -4 || digit%pow10[-shift] != 0 {
				return mapping.Value{}, false
			}
			unscaled += digit / pow10[-shift]
			continue
		}
		unscaled += digit * pow10[shift]
	}
	if sign != 0 {
		unscaled = -unscaled
	}
	return mapping.DecimalValue(unscaled, scale), true
}

var pow10 = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

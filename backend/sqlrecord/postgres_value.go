package sqlrecord

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"frontdesk/mapping"
)

// postgresRow is the space into which rows are read.
type postgresRow struct {
	values  []mapping.Value
	scratch []byte
	ends    []int
}

// scan reads the current row. All of its text becomes one string, which the
// values share.
func (r *postgresRow) scan(rows pgx.Rows, columns []Column) error {
	if cap(r.values) < len(columns) {
		r.values = make([]mapping.Value, len(columns))
	}
	r.values = r.values[:len(columns)]
	r.ends = r.ends[:0]
	text, raw, fields := r.scratch[:0], rows.RawValues(), rows.FieldDescriptions()
	if len(raw) != len(columns) {
		return fmt.Errorf("%d columns where there are to be %d", len(raw), len(columns))
	}
	for i := range columns {
		col := &columns[i]
		if raw[i] == nil {
			r.values[i] = mapping.NullValue()
			continue
		}
		if col.Foreign {
			if r.values[i], text = foreignValue(col, &fields[i], raw[i], text); r.values[i].Kind() == mapping.KindText {
				r.ends = append(r.ends, len(text))
			}
			continue
		}
		if col.isText() {
			var err error
			if text, err = appendText(text, rows, &fields[i], raw[i]); err != nil {
				return err
			}
			r.ends = append(r.ends, len(text))
			r.values[i] = mapping.TextValue("")
			continue
		}
		v, err := postgresValue(rows, &fields[i], raw[i], col)
		if err != nil {
			return fmt.Errorf("column %s: %w", fields[i].Name, err)
		}
		r.values[i] = v
	}
	shareText(r.values, text, r.ends)
	if cap(text) <= largeValue {
		r.scratch = text
	}
	return nil
}

// appendText appends a text as it is, and char(n) without its padding.
func appendText(dst []byte, rows pgx.Rows, fd *pgconn.FieldDescription, raw []byte) ([]byte, error) {
	switch fd.DataTypeOID {
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.NameOID:
		return append(dst, raw...), nil
	case pgtype.BPCharOID:
		return append(dst, strings.TrimRight(string(raw), " ")...), nil
	}
	var s string
	if err := rows.Conn().TypeMap().Scan(fd.DataTypeOID, fd.Format, raw, &s); err != nil {
		return dst, fmt.Errorf("column %s: %w", fd.Name, err)
	}
	return append(dst, s...), nil
}

// postgresValue reads what is no text. The types of our own tables are read
// here, in PostgreSQL's binary form; others by pgx.
func postgresValue(rows pgx.Rows, fd *pgconn.FieldDescription, raw []byte, col *Column) (mapping.Value, error) {
	if fd.Format == pgx.BinaryFormatCode {
		if v, ok := ownValue(fd.DataTypeOID, raw, col); ok {
			return v, nil
		}
	}
	scan := func(dst any) error { return rows.Conn().TypeMap().Scan(fd.DataTypeOID, fd.Format, raw, dst) }
	switch col.Type {
	case mapping.Int4:
		var n int64
		err := scan(&n)
		return mapping.IntValue(n), err
	case mapping.Timestamp:
		var t time.Time
		err := scan(&t)
		return mapping.TimeValue(t), err
	case mapping.Bytea:
		var b []byte
		err := scan(&b)
		return mapping.BytesValue(b), err
	default:
		if col.Scale < 0 {
			var f float64
			err := scan(&f)
			return mapping.FloatValue(f), err
		}
		return scanDecimal(scan, fd.DataTypeOID, col.Scale)
	}
}

// scanDecimal reads any kind of number as a decimal of that scale.
func scanDecimal(scan func(any) error, oid uint32, scale int) (mapping.Value, error) {
	var d apd.Decimal
	if oid == pgtype.Float8OID || oid == pgtype.Float4OID {
		var f float64
		if err := scan(&f); err != nil {
			return mapping.Value{}, err
		}
		if _, _, err := d.SetString(strconv.FormatFloat(f, 'g', -1, 64)); err != nil {
			return mapping.Value{}, err
		}
	} else {
		var n pgtype.Numeric
		if err := scan(&n); err != nil {
			return mapping.Value{}, err
		}
		if n.NaN || n.InfinityModifier != pgtype.Finite {
			return mapping.Value{}, fmt.Errorf("not a finite number")
		}
		d.Coeff.SetMathBigInt(n.Int)
		d.Exponent = n.Exp
		d.Negative = n.Int.Sign() < 0
		d.Coeff.Abs(&d.Coeff)
	}
	v, ok := mapping.DecimalOf(&d, scale)
	if !ok {
		return mapping.Value{}, fmt.Errorf("number does not fit")
	}
	return v, nil
}

// postgresEpoch is where PostgreSQL counts from, in milliseconds since 1970.
const postgresEpoch = 946684800000

func ownValue(oid uint32, raw []byte, col *Column) (mapping.Value, bool) {
	switch {
	case oid == pgtype.Int4OID && col.Type == mapping.Int4:
		return mapping.IntValue(int64(int32(binary.BigEndian.Uint32(raw)))), true
	case oid == pgtype.Int8OID && col.Type == mapping.Int4:
		return mapping.IntValue(int64(binary.BigEndian.Uint64(raw))), true
	case oid == pgtype.TimestamptzOID && col.Type == mapping.Timestamp:
		µs := int64(binary.BigEndian.Uint64(raw))
		if µs == math.MaxInt64 || µs == math.MinInt64 {
			return mapping.Value{}, false // infinity
		}
		return mapping.MilliValue(postgresEpoch + time.UnixMicro(µs).UnixMilli()), true
	case oid == pgtype.NumericOID && col.Type == mapping.Float8 && col.Scale >= 0:
		return ownDecimal(raw, col.Scale)
	case oid == pgtype.Float8OID && col.Type == mapping.Float8 && col.Scale < 0:
		return mapping.FloatValue(math.Float64frombits(binary.BigEndian.Uint64(raw))), true
	case oid == pgtype.ByteaOID && col.Type == mapping.Bytea:
		return mapping.BytesValue(raw), true
	}
	return mapping.Value{}, false
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

package sqlrecord

import (
	"database/sql/driver"
	"fmt"
	"io"
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// mysqlArgs turns values into arguments for the driver. Decimals are sent as text, and times as
// the text of a clock in UTC.
func mysqlArgs(args []mapping.Value) []driver.NamedValue {
	sent := make([]driver.NamedValue, len(args))
	for i, v := range args {
		sent[i].Ordinal = i + 1
		switch v.Kind() {
		case mapping.KindInt:
			sent[i].Value = v.Int()
		case mapping.KindDecimal:
			sent[i].Value = v.String()
		case mapping.KindFloat:
			sent[i].Value = v.Float()
		case mapping.KindText:
			sent[i].Value = v.Text()
		case mapping.KindTime:
			sent[i].Value = v.Time().Format("2006-01-02 15:04:05.999")
		case mapping.KindBytes:
			sent[i].Value = []byte(v.Text())
		}
	}
	return sent
}

// next reads the next row; false after the last one.
func (l *mysqlLink) next(rows driver.Rows, columns []Column) (bool, error) {
	switch sent := len(rows.Columns()); {
	case sent == 0:
		return false, nil // the statement has no result
	case sent != len(columns):
		return false, fmt.Errorf("%d columns where there are to be %d", sent, len(columns))
	}
	if cap(l.cells) < len(columns) {
		l.cells = make([]driver.Value, len(columns))
	}
	cells, text := l.cells[:len(columns)], l.beginRow(len(columns))
	if err := rows.Next(cells); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, err
	}
	for i, cell := range cells {
		v := mapping.NullValue()
		if cell != nil {
			s := mysqlStored(rows, i, cell)
			v, text = s.read(&columns[i], text)
		}
		l.set(i, v, text)
	}
	l.endRow(text)
	return true, nil
}

// mysqlStored takes a value as the driver has read it: dates are texts, and 0000-00-00 is one.
func mysqlStored(rows driver.Rows, i int, v driver.Value) stored {
	switch v := v.(type) {
	case int64:
		return stored{form: formInteger, num: v}
	case uint64:
		return stored{text: strconv.AppendUint(nil, v, 10)}
	case float32:
		return stored{form: formSingle, real: float64(v)}
	case float64:
		return stored{form: formDouble, real: v}
	case string:
		return stored{text: []byte(v)}
	case []byte:
		switch rows.(driver.RowsColumnTypeDatabaseTypeName).ColumnTypeDatabaseTypeName(i) {
		case "BIT":
			return bitStored(v)
		case "BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "GEOMETRY", "VECTOR":
			return stored{form: formBytes, text: v}
		default:
			return stored{text: v}
		}
	default:
		return stored{text: fmt.Append(nil, v)}
	}
}

// bitStored is a BIT(n) as a number.
func bitStored(b []byte) stored {
	n := uint64(0)
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	if n>>63 != 0 {
		return stored{text: strconv.AppendUint(nil, n, 10)}
	}
	return stored{form: formInteger, num: int64(n)}
}

// mysqlSort is the sort of a type, as the driver names it.
func mysqlSort(name string) Sort {
	switch strings.TrimPrefix(name, "UNSIGNED ") {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE", "YEAR":
		return Decimals
	case "CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET":
		return Texts
	case "DATE", "DATETIME", "TIMESTAMP":
		return Clocks
	default:
		return ""
	}
}

package sqlrecord

import (
	"slices"

	"zombiezen.com/go/sqlite"

	"frontdesk/mapping"
)

// bind sets all parameters of a statement. It reports whether any is so large
// that it should be released after use.
func (c *sqliteConn) bind(st *sqlite.Stmt, args []mapping.Value) (large bool) {
	for i, v := range args {
		n := i + 1
		switch v.Kind() {
		case mapping.KindInt, mapping.KindDecimal, mapping.KindTime:
			if c.foreign {
				bindForeign(st, n, v)
			} else {
				st.BindInt64(n, v.Int())
			}
		case mapping.KindFloat:
			st.BindFloat(n, v.Float())
		case mapping.KindText:
			st.BindText(n, v.Text())
			large = large || len(v.Text()) > largeValue
		case mapping.KindBytes:
			st.BindBytes(n, []byte(v.Text()))
			large = large || len(v.Text()) > largeValue
		default:
			st.BindNull(n)
		}
	}
	return large
}

// scan reads the current row. Only a value that reads as 0 or empty is tested for null.
func (c *sqliteConn) scan(st *sqlite.Stmt, columns []Column) {
	text := c.beginRow(len(columns))
	for i := range columns {
		col := &columns[i]
		var v mapping.Value
		if col.Foreign {
			v, text = scanForeign(st, i, col, text)
			c.set(i, v, text)
			continue
		}
		var empty bool
		switch col.Type {
		case mapping.Varchar, mapping.Text:
			from := len(text)
			text = appendColumn(text, st, i)
			empty, v = len(text) == from, mapping.TextValue("")
		case mapping.Bytea:
			read := appendColumn(nil, st, i)
			empty, v = len(read) == 0, mapping.BytesValue(read)
		case mapping.Float8:
			if col.Scale < 0 {
				f := st.ColumnFloat(i)
				empty, v = f == 0, mapping.FloatValue(f)
				break
			}
			n := st.ColumnInt64(i)
			empty, v = n == 0, mapping.DecimalValue(n, col.Scale)
		case mapping.Timestamp:
			n := st.ColumnInt64(i)
			empty, v = n == 0, mapping.MilliValue(n)
		default:
			n := st.ColumnInt64(i)
			empty, v = n == 0, mapping.IntValue(n)
		}
		if empty && st.ColumnType(i) == sqlite.TypeNull {
			v = mapping.NullValue()
		}
		c.set(i, v, text)
	}
	c.endRow(text)
}

// appendColumn appends a column to dst. It asks for the column's length only
// if dst may have had too little room.
func appendColumn(dst []byte, st *sqlite.Stmt, i int) []byte {
	start := len(dst)
	if cap(dst)-start < 64 {
		dst = slices.Grow(dst, 512)
	}
	room := dst[start:cap(dst)]
	n := st.ColumnBytes(i, room)
	if n < len(room) {
		return dst[:start+n]
	}
	n = st.ColumnLen(i)
	dst = slices.Grow(dst, n)[:start+n]
	st.ColumnBytes(i, dst[start:])
	return dst
}

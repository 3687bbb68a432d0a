package legacy

import (
	"context"
	"strings"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// directReaders read a SQLite file without database/sql, which puts every value into an
// interface. They are nil if the DSN has settings of the driver that they do not know, or
// names no file.
func directReaders(dsn string, session []string, most int) *sqlrecord.SQLiteReaders {
	uri, values, err := sqliteURI(dsn)
	if err != nil || values.Get("mode") == "memory" || strings.Contains(uri, ":memory:") {
		return nil
	}
	var statements []string
	for key, all := range values {
		switch {
		case key == "_pragma":
			for _, text := range all {
				statements = append(statements, "PRAGMA "+text)
			}
		case strings.HasPrefix(key, "_") && key != "_txlock" && key != "_dqs":
			return nil
		}
	}
	return sqlrecord.OpenSQLiteReaders(uri, most, append(statements, session...)...)
}

// sqliteError is an error of a direct reader.
type sqliteError struct{ error }

func (e sqliteError) Unwrap() error { return e.error }

// rows runs a statement that reads records, and gives every row to each, which may keep it.
// The first time, the engine's driver tells the types of its columns.
func (s session) rows(ctx context.Context, b *statement, each func([]sheet.Raw) error) error {
	of := s.shapes.get(b)
	if of == nil || s.conn != conn(s.db) {
		return s.shapes.query(ctx, s.conn, b, each)
	}
	if s.binary {
		return postgresRows(ctx, s.db, of, b.args, each)
	}
	if s.direct == nil {
		return s.shapes.query(ctx, s.conn, b, each)
	}
	return s.direct.Read(ctx, func(c sqlrecord.Conn) error {
		var room room
		var refused error
		err := c.Query(ctx, of.text, of.columns, sqliteArgs(b.args), func(values []mapping.Value) error {
			row := room.next(len(values))
			for i, v := range values {
				row[i] = sqliteRaw(of.kinds[i], v)
			}
			refused = each(row)
			return refused
		})
		if err != nil && refused == nil && ctx.Err() == nil {
			return sqliteError{err}
		}
		return err
	})
}

func sqliteArgs(args []any) []mapping.Value {
	values := make([]mapping.Value, len(args))
	for i, v := range args {
		switch v := v.(type) {
		case int64:
			values[i] = mapping.IntValue(v)
		case float64:
			values[i] = mapping.FloatValue(v)
		case string:
			values[i] = mapping.TextValue(v)
		case []byte:
			values[i] = mapping.BytesValue(v)
		default:
			values[i] = mapping.NullValue()
		}
	}
	return values
}

// sqliteRaw is a value as the driver of transactions reads it, since sums over both are
// compared.
func sqliteRaw(kind string, v mapping.Value) sheet.Raw {
	switch v.Kind() {
	case mapping.KindInt:
		return sqliteInt(kind, v.Int())
	case mapping.KindFloat:
		return floatRaw(v.Float(), 64)
	case mapping.KindText:
		if kind == "DATE" || kind == "DATETIME" || kind == "TIMESTAMP" {
			return sqliteTime(v.Text())
		}
		return textRaw(v.Text())
	case mapping.KindBytes:
		return sheet.Raw{Kind: sheet.RawBytes, Text: v.Text()}
	default:
		return sheet.Raw{Kind: sheet.RawNull}
	}
}

// sqliteTimes are the forms of text that the driver of transactions takes for a time, in its
// order.
var sqliteTimes = [...]string{
	"2006-01-02 15:04:05.999999999 -0700 MST", "2006-01-02 15:04:05.999999999-07:00", "2006-01-02T15:04:05.999999999-07:00",
	"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly,
}

// sqliteTime is a text in a column of times. It tries only the forms that the text can have: a
// failed try costs as much as the rest of the row.
func sqliteTime(s string) sheet.Raw {
	trimmed, text := strings.TrimSpace(s), strings.TrimSuffix(s, "Z")
	if len(trimmed) < len(time.DateOnly) || trimmed[4] != '-' || trimmed[7] != '-' {
		return textRaw(s)
	}
	clock := trimmed[len(time.DateOnly):]
	for i, layout := range sqliteTimes {
		of := text
		if i == 0 { // as time.Time prints itself
			of, _, _ = strings.Cut(s, "m=")
			of = strings.TrimSpace(of)
		}
		form := layout[len(time.DateOnly):]
		if trimmed == s && (len(text) == len(time.DateOnly)) != (form == "") || len(form) > 0 && clock != "" && form[0] != clock[0] || i < 3 && !strings.ContainsAny(clock, "+-") {
			continue
		}
		if t, err := time.Parse(layout, of); err == nil {
			return wallRaw(t)
		}
	}
	return textRaw(s)
}

package legacy

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping/sheet"
)

// TestDirectReadersReadAlike: what is read outside of a transaction must be what is read
// in one, to the last sum, or If-Match would never hold.
func TestDirectReadersReadAlike(t *testing.T) {
	x := open(t, "sqlite")
	_, err := x.db.ExecContext(t.Context(), `CREATE TABLE odd (nr INTEGER PRIMARY KEY, b BOOLEAN, d DATE, dt DATETIME, ts TIMESTAMP, v VARCHAR(10), n DECIMAL(9,2), x)`)
	require.NoError(t, err)
	for _, v := range []any{
		nil, int64(0), int64(1), int64(1)<<62 + 1, 0.1, 12.75, "", " ", "12.50", "2026-11-22", "2026-11-22Z", "2026-11-22-", "2026-11-22 10:11", "2026-11-22T10:11Z", "2026-11-22x10:11", "2026-11-22 10:11:12 +0100 CET", " 2026-11-22 10:11:12 +0100 CET", "m=2026-11-22", "2026-11-22T10:11:12", "2026-11-22 10:11:12.25", "2026-11-22T10:11:12Z",
		"2026-11-22 10:11:12+02:00", "2026-11-22T10:11:12.5-07:00", "2026-13-22", "0000-00-00", "20261122", " 2026-11-22", "2026-11-22 ", "ëé’", []byte{0, 1, 255}, []byte("2026-11-22"),
		time.Date(2026, 11, 22, 10, 11, 12, 0, time.UTC).String(), time.Date(2026, 11, 22, 10, 11, 12, 0, time.UTC).String() + " m=+0.1",
	} {
		_, err := x.db.ExecContext(t.Context(), `INSERT INTO odd (b, d, dt, ts, v, n, x) VALUES (?1, ?1, ?1, ?1, ?1, ?1, ?1)`, v)
		require.NoError(t, err)
	}
	read := func(on session) (rows [][]sheet.Raw) {
		b := newStatement(x.d).add(`SELECT b, d, dt, ts, v, n, x, (d), (SELECT y.b FROM odd y WHERE y.nr = odd.nr) FROM odd WHERE nr > `).arg(intRaw(0)).add(" ORDER BY nr")
		require.NoError(t, on.rows(t.Context(), b, func(row []sheet.Raw) error {
			rows = append(rows, row)
			return nil
		}))
		return rows
	}
	outside := session{Store: x.Store, conn: x.db}
	first, direct := read(outside), read(outside)
	require.Len(t, first, 33)
	for i := range first {
		require.Equal(t, first[i], direct[i], "row %d", i+1)
	}
}

// TestDirectReadersOfOthersFiles are opened as the DSN says, end with their context, and
// tell an error of the sheet from one of the database.
func TestDirectReadersOfOthersFiles(t *testing.T) {
	require.Nil(t, directReaders("file:x.db?_texttotime=1", nil, 1), "which reads other values")
	x := open(t, "sqlite")
	require.NotNil(t, x.direct)
	vehicle := x.all(one, "vehicle")[0]
	read := func(ctx context.Context) error {
		_, err := x.Get(ctx, vehicle.Resource, backend.Query{Client: one, ID: vehicle.ID()})
		return err
	}
	require.NoError(t, read(t.Context()))
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, read(ended), context.Canceled)
	require.NoError(t, read(t.Context()))
	_, err := x.db.ExecContext(t.Context(), "ALTER TABLE VTG RENAME COLUMN MERK TO MERK2")
	require.NoError(t, err)
	require.ErrorIs(t, read(t.Context()), backend.ErrUnexpected)
}

// TestPostgresRowsReadAlike: what the server sent is read as database/sql reads it, whatever
// the type of the column.
func TestPostgresRowsReadAlike(t *testing.T) {
	x := open(t, "postgres")
	columns := []string{
		"boolean", "smallint", "integer", "bigint", "oid", "xid", "real", "double precision", "numeric", "numeric(12,3)", "money", "text", "varchar(40)", "char(40)", "name", `"char"`, "uuid", "bytea", "json", "jsonb", "xml",
		"date", "timestamp", "timestamptz", "time", "timetz", "interval", "inet", "integer[]", "text[]", "bit(3)", "int4range", "point",
	}
	values := []string{
		"t", "f", "0", "1", "-1", "32767", "-32768", "2147483647", "-2147483648", "9223372036854775807", "-9223372036854775808", "4294967295", "0.1", "-12.750", "1e300", "3.4e38", "1e-45", "NaN", "Infinity", "-Infinity", "123456789.123", "", " ", "a ", "ëé’\u00a0", "12.50",
		"7b8d0c44-9e2a-4b57-8e0a-0e6d7a3f1c2b", `\x0001ff`, `{"a": 1}`, "[]", "<a>é</a>", "1999-12-31", "2000-01-01", "2026-02-28", "0001-01-01", "4713-01-01 BC", "infinity", "-infinity", "1969-12-31 23:59:59.9995", "2026-03-29 02:30:00.123456", "2026-11-22 10:11:12.25+02:00", "1899-12-31 23:59:59.999999",
		"10:11:12.5", "24:00:00", "1 year 2 days", "10.0.0.1/8", "{1,NULL,3}", "{a,\"b c\"}", "101", "[1,5)", "(1,2)",
	}
	table := "CREATE TABLE odd (nr serial PRIMARY KEY"
	selected := newStatement(x.d).add("SELECT nr")
	for i, kind := range columns {
		table += fmt.Sprintf(", c%d %s", i, kind)
		selected.add(fmt.Sprintf(", c%d", i))
	}
	_, err := x.db.ExecContext(t.Context(), table+")")
	require.NoError(t, err)
	kept := make([]int, len(columns))
	for i, kind := range columns {
		for _, v := range values {
			if _, err := x.db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO odd (c%d) VALUES ($1::text::%s)", i, kind), v); err == nil {
				kept[i]++
			}
		}
		require.NotZero(t, kept[i], "no value is a %s", kind)
	}
	selected.add(" FROM odd WHERE nr > ").arg(intRaw(0)).add(" ORDER BY nr")
	read := func() (rows [][]sheet.Raw) {
		require.NoError(t, x.read(t.Context(), func(on session) error {
			rows = nil
			return on.rows(t.Context(), selected, func(row []sheet.Raw) error {
				rows = append(rows, row)
				return nil
			})
		}))
		return rows
	}
	require.True(t, x.binary)
	bySQL, sent := read(), read() // the first asks what the columns are
	require.Greater(t, len(bySQL), 300)
	for i := range bySQL {
		require.Equal(t, bySQL[i], sent[i], "row %d", i+1)
	}

	_, err = x.db.ExecContext(t.Context(), "ALTER TABLE odd ALTER c2 TYPE text")
	require.NoError(t, err)
	require.Equal(t, textRaw("2147483647"), findText(read(), 3, "2147483647"), "read by what the column is now")
}

// findText is the first value of a column that is that text.
func findText(rows [][]sheet.Raw, column int, text string) sheet.Raw {
	for _, row := range rows {
		if row[column].String() == text {
			return row[column]
		}
	}
	return sheet.Raw{}
}

// TestPostgresRowsByPooler: with a pooler between, and no statement kept, everything comes
// as text, and database/sql's driver reads it.
func TestPostgresRowsByPooler(t *testing.T) {
	for mode, binary := range map[string]bool{"cache_statement": true, "cache_describe": true, "describe_exec": true, "exec": false, "simple_protocol": false} {
		require.Equal(t, binary, asksInBinary("postgres://localhost/x?default_query_exec_mode="+mode), mode)
	}
}

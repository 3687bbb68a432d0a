package legacy

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
)

const exportedSheet = `client: adm
rules: backend
resources:
  country: {table: x_land, key: {columns: id}, client: "", shared: true, operations: {only: [get, list]},
    fields: {code: code, name: {constant: a country}}}
  contact: {table: x_rel, key: {columns: id, generated: max+1}, system_client: "0", where: weg = 0,
    fields: {kind: {column: soort, codes: {P: person}}, name: naam}}
`

// TestExport writes all records of a client and nobody else's, of a snapshot: what is written
// meanwhile is not in it. A record that cannot be shown is an error, and not left out.
func TestExport(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onTables(t, engine, exportedSheet,
			"CREATE TABLE x_land (id integer PRIMARY KEY, code varchar(2))", "INSERT INTO x_land VALUES (1, 'NL')",
			"CREATE TABLE x_rel (id integer PRIMARY KEY, adm integer NOT NULL, naam varchar(20) NOT NULL, soort char(1) NOT NULL, weg integer NOT NULL)",
			"INSERT INTO x_rel VALUES (1, 0, 'of all', 'P', 0), (2, 2, 'theirs', 'P', 0), (3, 1, 'gone', 'P', 1)")
		for i := range exportRows/10 + 1 {
			var rows []string
			for k := range 10 {
				rows = append(rows, fmt.Sprintf("(%d, 1, 'N%d', 'P', 0)", 100+10*i+k, 10*i+k))
			}
			x.exec("INSERT INTO x_rel VALUES " + strings.Join(rows, ", "))
		}
		var file bytes.Buffer
		m, err := x.Export(t.Context(), one, &file)
		require.NoError(t, err)
		require.Len(t, m.Parts, 1)
		require.Equal(t, exportRows+10, int(m.Parts[0].Count))
		z, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.NoError(t, err)
		for _, f := range z.File {
			r, err := f.Open()
			require.NoError(t, err)
			text, err := io.ReadAll(r)
			require.NoError(t, err)
			for _, other := range []string{"theirs", "of all", "gone"} {
				require.NotContains(t, string(text), other)
			}
		}
		x.exec("UPDATE x_rel SET soort = '?' WHERE id = 200")
		_, err = x.Export(t.Context(), one, io.Discard)
		require.ErrorIs(t, err, backend.ErrUnexpected)
		require.ErrorContains(t, err, "kind of a record")
	})
}

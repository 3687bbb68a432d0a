package legacy

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
)

// TestSorts: before, a check took the bits of PostgreSQL for yes and no.
func TestSorts(t *testing.T) {
	for _, c := range []struct{ engine, column, sort string }{
		{"postgres", "bit", ""}, {"postgres", "timestamp", "datetime"},
		{"postgres", "timestamp with time zone", "timestamp"}, {"mysql", "tinyint", "integer"}, {"postgres", "point", ""}, {"postgres", "money", ""}, {"mysql", "set", "text"},
		{"postgres", "double precision", "decimal"}, {"mysql", "longblob", "bytes"}, {"sqlite", "", ""},
	} {
		require.Equal(t, c.sort, Column{Type: c.column}.Sort(c.engine), "%s of %s", c.column, c.engine)
	}
}

// TestDomainsAndDocuments: before, what a domain of PostgreSQL or a column of bits refuses was 500, and so was every
// filter and sort by a column of a type that has no operators.
func TestDomainsAndDocuments(t *testing.T) {
	x, _, _ := onTables(t, "postgres", `
format: 1
source: {sql: {engine: postgres, dsn: "${DEALERPAK_DSN}"}}
time_zone: UTC
accounts: {users: []}
without_rules: []
resources:
  article:
    table: w_typed
    key: {columns: nr, generated: max+1}
    client: ""
    fields: {number: code, description: spec, ean: feed, article_kind: {constant: part}, unit_type: bits, price: amount, turnover_group_id: {absent: true}}
`,
		"CREATE DOMAIN w_code AS varchar(5) CONSTRAINT w_no_x CHECK (value <> 'x')", "CREATE DOMAIN w_amount AS numeric(4,2) NOT NULL",
		"CREATE TABLE w_typed (nr integer PRIMARY KEY, code w_code, spec json, feed xml, amount w_amount, bits bit(3))",
		`INSERT INTO w_typed VALUES (1, 'a', '{"b": 1}', '<b/>', 1, '101'), (2, 'b', '{"a": 1}', '<a/>', 2, '101')`)
	for fields, want := range map[string]string{
		`number=abcdef`: "varchar_too_long: number, 6, 5", `number=x`: "varchar_invalid: number, x", `price=100`: "float8_invalid: price, 100", `unit_type=1010`: "varchar_invalid: unit_type, 1010",
	} {
		name, value, _ := strings.Cut(fields, "=")
		pairs := map[string]string{"number": "c", "description": "{}", "price": "3", "unit_type": "101"}
		pairs[name] = value
		_, err := x.tryCreate(one, x.record("article", "number", pairs["number"], "description", pairs["description"], "price", pairs["price"], "unit_type", pairs["unit_type"]))
		require.ErrorContains(t, err, want)
	}
	made := x.create(one, x.record("article", "number", "c", "description", `{"c": 1}`, "price", "99.99"))
	for name, value := range map[string]string{"description": `{"c": 1}`, "ean": "<a/>", "price": "99.99"} {
		f := x.model.Resource("article").Field(name)
		v, bad := f.Parse(value, time.UTC)
		require.Nil(t, bad)
		found := x.list(backend.Query{Client: one, Filters: []backend.Filter{{Field: f, Value: v}}}, "article").Records
		require.Len(t, found, 1, name)
		require.Equal(t, name == "ean", found[0].ID() != made.ID())
		sorted := x.list(backend.Query{Client: one, Sort: []backend.Order{{Field: f, Descending: true}}}, "article").Records
		require.Equal(t, value == "<a/>", sorted[0].ID() != made.ID(), name)
	}
}

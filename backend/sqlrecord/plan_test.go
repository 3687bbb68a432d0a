package sqlrecord

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestPlans makes sure that SQLite, which has no statistics here, uses the index that
// narrows most.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openSQLite(t))
	for _, c := range []struct{ resource, filters, want string }{
		{"order", "", "order_list_idx (client_id=?)"},
		{"order", "after", "order_list_idx (client_id=? AND rowid>?)"},
		{"order", "since", "order_modified_idx (client_id=? AND modified_at>?)"},
		{"order", "number", "order_number_idx (client_id=? AND number=?)"},
		{"order", "order_status", "order_list_idx (client_id=?)"},
		{"order", "contact_id", "order_contact_id_ref_idx (contact_id=?)"},
		{"order", "contact_id after", "order_contact_id_ref_idx (contact_id=? AND rowid>?)"},
		{"order", "vehicle_id", "order_vehicle_id_ref_idx (vehicle_id=?)"},
		{"orderline", "order_id", "orderline_order_id_ref_idx (order_id=?)"},
		{"flatrateline", "flatrate_id", "flatrateline_sort_order_idx (flatrate_id=?)"},
		{"flatrateline", "flatrate_id sort_order", "flatrateline_sort_order_idx (flatrate_id=? AND sort_order=?)"},
		{"vehicle", "license_plate", "vehicle_license_plate_idx (client_id=? AND <expr>=?)"},
		{"document", "resource resource_id", "document_resource_id_idx (resource_id=? AND resource=?)"},
	} {
		q := backend.Query{Client: alice, Limit: 50}
		r := s.model.Resource(c.resource)
		for _, name := range strings.Fields(c.filters) {
			switch f := r.Field(name); {
			case name == "after":
				q.After = 7
			case name == "since":
				q.ModifiedSince = mapping.MilliValue(7)
			case f.Type == mapping.Int4:
				q.Filters = append(q.Filters, backend.Filter{Field: f, Value: mapping.IntValue(1)})
			default:
				q.Filters = append(q.Filters, backend.Filter{Field: f, Value: mapping.TextValue("x")})
			}
		}
		l := s.listing(s.tables[r], q)
		require.Contains(t, s.plan(t, l.text, l.args), c.want, c.resource+" "+c.filters)
	}
}

// TestPlansOfUnequalClients makes sure that PostgreSQL does not read all clients' records
// for the list of a client with few, and does not sort all of a client's records for the
// first page of an order that an index has. It tests generic plans, and plans for given
// values where the best plan depends on them.
func TestPlansOfUnequalClients(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openPostgres(t))
	change(t, s.DB(), `INSERT INTO "order" (client_id, row_version, number, created_at, modified_at)
		SELECT CASE WHEN n > 9990 THEN 1 ELSE 2 END, 1, n::text, to_timestamp(n), to_timestamp(n) FROM generate_series(1, 10000) n`)
	change(t, s.DB(), `ANALYZE "order"`)
	since := func(n int64) backend.Query { return backend.Query{ModifiedSince: mapping.MilliValue(n * 1000)} }
	sorted := func(name string, descending bool) backend.Query {
		return backend.Query{Sort: []backend.Order{{Field: s.model.Resource("order").Field(name), Descending: descending}}}
	}
	for name, c := range map[string]struct {
		q      backend.Query
		client auth.Client
		want   string
	}{
		"plain":             {backend.Query{}, alice, "Index Scan using order_list_idx"},
		"after":             {backend.Query{After: 5}, alice, "Index Cond: ((ROW(client_id, id) > ROW($1, $2)) AND (client_id <= $1))"},
		"newest":            {sorted("id", true), alice, "Index Scan Backward using order_list_idx"},
		"deep":              {backend.Query{Offset: 5}, alice, "Index Only Scan using order_list_idx"},
		"changed last":      {sorted("modified_at", true), bob, "Index Scan Backward using order_modified_idx"},
		"changed lately":    {since(9985), bob, "order_modified_idx"},
		"changed some time": {since(1), bob, "order_pkey"},
	} {
		c.q.Client, c.q.Limit = c.client, 50
		require.Contains(t, s.explain(t, c.q), c.want, name)
	}
}

// explain returns PostgreSQL's plan of a list of orders.
func (s *fixture) explain(t *testing.T, q backend.Query) string {
	t.Helper()
	l := s.listing(s.tables[s.model.Resource("order")], q)
	mode := "force_generic_plan"
	if l.varied {
		mode = "force_custom_plan"
	}
	var values []string
	for _, v := range l.args {
		values = append(values, "'"+v.String()+"'")
	}
	var lines []string
	require.NoError(t, s.DB().Write(t.Context(), func(c Conn) error {
		conn := c.(*postgresConn).conn
		for _, text := range []string{"DEALLOCATE ALL", "SET LOCAL plan_cache_mode = " + mode, "PREPARE list AS " + l.text} {
			if _, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE list ("+strings.Join(values, ", ")+")", pgx.QueryExecModeSimpleProtocol)
		if err == nil {
			lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	}))
	return strings.Join(lines, "\n")
}

func (s *fixture) plan(t *testing.T, text string, args []mapping.Value) string {
	t.Helper()
	columns := []Column{{Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Text}}
	var lines []string
	err := s.DB().Read(t.Context(), func(c Conn) error {
		return c.Query(t.Context(), "EXPLAIN QUERY PLAN "+text, columns, args, func(row []mapping.Value) error {
			lines = append(lines, row[3].Text())
			return nil
		})
	})
	require.NoError(t, err)
	return strings.Join(lines, "\n")
}

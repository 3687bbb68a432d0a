package sqlrecord

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestPlans keeps SQLite, which has no statistics here, on the index that
// narrows most.
func TestPlans(t *testing.T) {
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

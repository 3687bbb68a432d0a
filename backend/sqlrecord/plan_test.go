package sqlrecord

import (
	"testing"

	"frontdesk/backend"
	"frontdesk/mapping"
)

func TestPlanX(t *testing.T) {
	s := newFixture(t, openSQLite(t))
	plan := func(name, res string, q backend.Query) {
		tb := s.tables[s.model.Resource(res)]
		q.Client = alice
		q.Limit = 50
		l := s.listing(tb, q)
		err := s.DB().Read(t.Context(), func(c Conn) error {
			return c.Query(t.Context(), "EXPLAIN QUERY PLAN "+l.text, []Column{{Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Text}}, l.args, func(row []mapping.Value) error {
				t.Log(name, row[3].Text())
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	o := s.model.Resource("order")
	plan("plain", "order", backend.Query{})
	plan("offset", "order", backend.Query{Offset: 1000})
	plan("after", "order", backend.Query{After: 1000})
	plan("total", "order", backend.Query{Offset: 1000, Total: true})
	plan("since", "order", backend.Query{ModifiedSince: mapping.MilliValue(1)})
	plan("since sort", "order", backend.Query{ModifiedSince: mapping.MilliValue(1), Sort: []backend.Order{{Field: o.Field("modified_at")}}})
	plan("since desc", "order", backend.Query{Sort: []backend.Order{{Field: o.Field("modified_at"), Descending: true}}})
	plan("id desc", "order", backend.Query{Sort: []backend.Order{{Field: o.Field("id"), Descending: true}}})
	plan("number", "order", backend.Query{Filters: []backend.Filter{{Field: o.Field("number"), Value: mapping.TextValue("x")}}})
	plan("contact", "order", backend.Query{Filters: []backend.Filter{{Field: o.Field("contact_id"), Value: mapping.IntValue(1)}}})
	plan("vehicle", "order", backend.Query{Filters: []backend.Filter{{Field: o.Field("vehicle_id"), Value: mapping.IntValue(1)}}})
	plan("status", "order", backend.Query{Filters: []backend.Filter{{Field: o.Field("order_status"), Value: mapping.TextValue("open")}}})
	l := s.model.Resource("orderline")
	plan("lines", "orderline", backend.Query{Filters: []backend.Filter{{Field: l.Field("order_id"), Value: mapping.IntValue(1)}}})
	l = s.model.Resource("flatrateline")
	plan("frlines", "flatrateline", backend.Query{Filters: []backend.Filter{{Field: l.Field("flatrate_id"), Value: mapping.IntValue(1)}}})
	plan("frlines so", "flatrateline", backend.Query{Filters: []backend.Filter{{Field: l.Field("flatrate_id"), Value: mapping.IntValue(1)}, {Field: l.Field("sort_order"), Value: mapping.IntValue(1)}}})
	l = s.model.Resource("vehicle")
	plan("plate", "vehicle", backend.Query{Filters: []backend.Filter{{Field: l.Field("license_plate"), Value: mapping.TextValue("1")}}})
	l = s.model.Resource("contactcommunication")
	plan("mail", "contactcommunication", backend.Query{Filters: []backend.Filter{{Field: l.Field("contact_id"), Value: mapping.IntValue(1)}, {Field: l.Field("is_prefered_email"), Value: mapping.IntValue(1)}}})
	l = s.model.Resource("document")
	plan("doc", "document", backend.Query{Filters: []backend.Filter{{Field: l.Field("resource"), Value: mapping.TextValue("x")}, {Field: l.Field("resource_id"), Value: mapping.IntValue(1)}}})
	plan("country", "country", backend.Query{})
}

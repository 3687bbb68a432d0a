package reference

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestSeedPassesTheRules makes the sample data a second time, through the
// interface's own way in: JSON, every check of a new record, and the rules. The
// same must come of it.
func TestSeedPassesTheRules(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		demo, _ := x.seeded(260) // more than the data has
		again := open(t, sqliteDSN(t))
		client := again.client(DemoClient)
		for _, name := range sampleResources {
			if name == "orderline" || name == "flatrateline" {
				continue // created with their record
			}
			for _, rec := range x.whole(demo, name) {
				again.replay(client, rec)
			}
		}
		for _, v := range x.all(demo, "vehicle") {
			if v.Get("publish_status").Text() == "published" {
				_, err := again.front.PublishStart(bg(), client, v.ID(), false, backend.Write{})
				require.NoError(t, err)
			}
		}
		for _, name := range sampleResources {
			mine, theirs := x.all(demo, name), again.all(client, name)
			require.Len(t, theirs, len(mine), name)
			for i := range mine {
				requireSame(t, mine[i], theirs[i])
			}
		}
	})
}

// whole lists the records of a resource with their elements.
func (x *fixture) whole(client auth.Client, resource string) []mapping.Record {
	x.t.Helper()
	r := x.model.Resource(resource)
	fields := r.RecordFields()
	for i := range r.Fields {
		if r.Fields[i].Type == mapping.Array {
			fields = append(fields[:len(fields):len(fields)], i)
		}
	}
	var all []mapping.Record
	for _, rec := range x.all(client, resource) {
		rec, err := x.Get(bg(), r, backend.Query{Client: client, ID: rec.ID(), Fields: fields})
		require.NoError(x.t, err)
		all = append(all, rec)
	}
	return all
}

// replay creates a record from what a client of the interface could have sent.
// A closed order is created open and closed afterwards.
func (x *fixture) replay(client auth.Client, rec mapping.Record) {
	x.t.Helper()
	status := ""
	if rec.Resource.Name == "order" {
		status = rec.Get("order_status").Text()
		rec = rec.Clone()
		rec.Set("order_status", mapping.TextValue("open"))
	}
	body, err := mapping.DecodeBody(rec.Resource, sendable(nil, rec, nil), time.UTC)
	require.NoError(x.t, err)
	require.Empty(x.t, body.CheckCreate(), "%s %d", rec.Resource.Name, rec.ID())
	stored, err := x.front.Create(x.t.Context(), client, body, backend.Write{})
	require.NoError(x.t, err, "%s %d", rec.Resource.Name, rec.ID())
	require.Empty(x.t, body.CheckMerged(stored), "%s %d", rec.Resource.Name, rec.ID())
	require.Equal(x.t, rec.ID(), stored.ID())
	if status != "" && status != "open" {
		x.update(client, stored.ID(), x.record("order", "order_status", status))
	}
}

// sendable writes the fields of a record that a request may set.
func sendable(dst []byte, rec mapping.Record, parent *mapping.Field) []byte {
	dst = append(dst, '{')
	for i := range rec.Resource.Fields {
		f := &rec.Resource.Fields[i]
		if f.Primary || f.Readonly || f == parent || !rec.Values[i].IsSet() || f.Type == mapping.Array && len(rec.Children[i]) == 0 {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = mapping.AppendJSONString(dst, f.Name)
		dst = append(dst, ':')
		if f.Type != mapping.Array {
			dst = rec.Values[i].AppendJSON(dst)
			continue
		}
		dst = append(dst, '[')
		for n, child := range rec.Children[i] {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = sendable(dst, child, f.Target().Field(f.ArrayKey))
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// requireSame compares all that does not tell when a record was made, nor what
// only the administration sets.
func requireSame(t *testing.T, want, got mapping.Record) {
	t.Helper()
	for i := range want.Resource.Fields {
		switch f := &want.Resource.Fields[i]; f.Name {
		case "created_at", "modified_at", "published_at", "stock":
		default:
			require.Equal(t, want.Values[i], got.Values[i], "%s of %s %d", f.Name, want.Resource.Name, want.ID())
		}
	}
}

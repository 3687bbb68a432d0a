package reference

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// seeded makes sample data and returns its clients.
func (x *fixture) seeded(orders int) (demo, other auth.Client) {
	x.t.Helper()
	require.NoError(x.t, Seed(bg(), x.Store, SeedOptions{Records: orders}))
	return x.client(DemoClient), x.client(OtherClient)
}

func clientsOf(demo, other auth.Client) []auth.Client { return []auth.Client{demo, other} }

// sum is the SHA-256 of every record of all resources that the clients see, with
// its version.
func (x *fixture) sum(s *Store, clients ...auth.Client) string {
	x.t.Helper()
	hash := sha256.New()
	for _, c := range clients {
		for _, r := range x.model.Resources {
			page := must.Have(s.List(bg(), r, backend.Query{Client: c, Fields: r.RecordFields()}))(x.t)
			for _, rec := range page.Records {
				fmt.Fprintf(hash, "%s %d %s\n", r.Name, rec.Version, rec.AppendJSON(nil, r.RecordFields()))
			}
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func TestSeedIsTheSameEverywhere(t *testing.T) {
	var first string
	onSample(t, func(t *testing.T, x *fixture, demo, other auth.Client) {
		sum := x.sum(x.Store, demo, other)
		if first == "" {
			first = sum
		}
		require.Equal(t, first, sum)
		require.NoError(t, Seed(bg(), x.Store, SeedOptions{Records: sampleOrders, Progress: func(int, int) { t.Error("made again") }}))
		require.Equal(t, first, x.sum(x.Store, demo, other))
		require.ErrorIs(t, Seed(bg(), x.Store, SeedOptions{Records: sampleOrders + 1}), ErrSampleData)

		require.NoError(t, x.Store.Close())
		x.Store = x.reopen()
		x.Single.Driver = x.Store
		require.Equal(t, first, x.sum(x.Store, demo, other), "a restart keeps all")
		for name, client := range map[string]auth.Client{"demo": demo, "other": other, "external": demo, "noemail": demo, "bademail": demo} {
			user := must.Have(x.Verify(bg(), auth.Credentials{Username: name, Password: name}))(t)
			require.Equal(t, client, user.Client)
			require.Equal(t, name == "external", user.External)
			require.Equal(t, name == "noemail", user.Email == "")
			require.Equal(t, name != "noemail" && name != "bademail", mapping.IsEmail(user.Email))
		}
	})
}

func TestSeedRefusesRecords(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		x.client("Somebody")
		require.ErrorIs(t, Seed(bg(), x.Store, SeedOptions{Records: 10}), ErrSampleData)
		require.ErrorIs(t, Seed(bg(), x.Store, SeedOptions{}), ErrSampleData)
	})
}

// TestInterruptedSeedIsFinished: on PostgreSQL, which takes its time, between the records of one
// kind and those of another alone.
func TestInterruptedSeedIsFinished(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		orders := sampleBatch + 10
		if x.postgres() {
			orders = sampleOrders
		}
		whole := open(t, sqliteDSN(t))
		want := whole.sum(whole.Store, clientsOf(whole.seeded(orders))...)
		for stop := 3; ; stop += 4 {
			ctx, cancel := context.WithCancel(bg())
			made := 0
			err := Seed(ctx, x.Store, SeedOptions{Records: orders, Progress: func(done, total int) {
				if made++; made == stop {
					cancel()
				}
				require.LessOrEqual(t, done, total)
			}})
			cancel()
			if err == nil {
				break
			}
			require.ErrorIs(t, err, context.Canceled)
		}
		require.Equal(t, want, x.sum(x.Store, x.client(DemoClient), x.client(OtherClient)))
	})
}

// TestDemoOrders judges what outside benchmarks rely on: the IDs of the demo
// client's orders are 1 to N, whatever N.
func TestDemoOrders(t *testing.T) {
	for _, orders := range []int{1, 3, 40, 1001} {
		x := open(t, sqliteDSN(t))
		demo, other := x.seeded(orders)
		mine := x.all(demo, "order")
		require.Len(t, mine, orders)
		for i, o := range mine {
			require.EqualValues(t, i+1, o.ID())
			require.Equal(t, fmt.Sprintf("O%06d", i+1), o.Get("number").Text())
		}
		theirs := x.all(other, "order")
		require.Len(t, theirs, otherOrders)
		require.Greater(t, theirs[0].ID(), int32(orders))
	}
}

// TestSeedIsBelievable looks for some of everything.
func TestSeedIsBelievable(t *testing.T) {
	x := open(t, sqliteDSN(t))
	demo, _ := x.seeded(200)
	kinds, states, vat, lines, published := map[string]int{}, map[string]int{}, map[string]int{}, map[int64]int{}, 0
	for _, g := range x.all(demo, "turnovergroup") {
		vat[g.Get("vat_kind").Text()]++
	}
	require.Len(t, vat, 5, "every kind of VAT is there")
	for _, o := range x.all(demo, "order") {
		kinds[o.Get("kind").Text()]++
		states[o.Get("order_status").Text()]++
		require.Equal(t, o.Get("order_status").Text() == "invoiced", o.Get("invoice_number").IsSet())
	}
	require.Len(t, kinds, 4)
	require.Len(t, states, 6)
	for _, l := range x.all(demo, "orderline") {
		lines[l.Get("order_id").Int()]++
	}
	require.Len(t, lines, 200)
	for _, n := range lines {
		require.LessOrEqual(t, n, 4)
	}
	offered := map[int64]bool{}
	for _, a := range x.all(demo, "vehicleadvertisementsite") {
		offered[a.Get("vehicle_id").Int()] = true
	}
	for _, v := range x.all(demo, "vehicle") {
		plate, ok := mapping.DutchPlate(v.Get("license_plate").Text())
		require.True(t, ok)
		require.Equal(t, plate, v.Get("license_plate").Text())
		if v.Get("publish_status").Text() == "published" {
			published++
			require.True(t, v.Get("tax_kind").IsSet())
			require.True(t, v.Get("published_at").IsSet())
			require.True(t, offered[int64(v.ID())])
		}
	}
	require.Greater(t, published, 2)
	urls := 0
	for _, d := range x.all(demo, "document") {
		if d.Get("external_url").IsSet() {
			urls++
		}
		require.Equal(t, d.Get("content").IsSet(), d.Get("sha256").IsSet())
	}
	require.Greater(t, urls, 2)

	for _, r := range sampleResources { // each dated by the sample itself
		for _, rec := range x.all(demo, r) {
			made := rec.Get("created_at").Time()
			require.False(t, made.After(sampleEnd), r)
			require.True(t, made.After(sampleEnd.AddDate(-5, 0, 0)), r)
			require.Equal(t, rec.Get("created_at"), rec.Get("modified_at"), r)
		}
	}
	o := x.create(demo, x.record("order", "contact_id", "50", "kind", "parts", "order_status", "open", "order_date", "2026-11-20"))
	require.Equal(t, x.clock.Now(), o.Get("created_at").Time().In(time.UTC))
	require.Equal(t, "O000201", o.Get("number").Text())
}

// TestPlates: what is made of the sample's plates for further copies of it are other ones of the
// same series.
func TestPlates(t *testing.T) {
	for _, first := range []string{"JPG-53-T", "12-XDB-3", "9-XXX-99", "GB-123-Z", "B-131-KL"} {
		seen := map[string]bool{}
		for n := range 50_000 {
			p := plateAfter(first, n)
			if dutch, ok := mapping.DutchPlate(p); seen[p] || !ok || dutch != p {
				t.Fatalf("plate %d after %s: %s", n, first, p)
			}
			seen[p] = true
		}
		require.True(t, seen[first])
		require.NotEqual(t, first, plateAfter(first, 1_999_999))
	}
}

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
				must.Have(again.front.PublishStart(bg(), client, v.ID(), false, backend.Write{}))(t)
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
		all = append(all, must.Have(x.Get(bg(), r, backend.Query{Client: client, ID: rec.ID(), Fields: fields}))(x.t))
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
	body := must.Have(mapping.DecodeBody(rec.Resource, sendable(nil, rec, nil), time.UTC))(x.t)
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

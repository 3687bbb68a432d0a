package remote

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// TestForeignCopiesThroughFaults puts a proxy that fails in drawn ways before services that nobody
// here wrote: a list has what the service has or fails, a write that is said to be done is, and nothing
// is told gone that is there.
func TestForeignCopiesThroughFaults(t *testing.T) {
	for _, name := range []string{"json-server", "pocketbase"} {
		t.Run(name, func(t *testing.T) {
			of := foreignCopies(t)[name]
			s := of.start(t)
			proxy := must.Have(remotetest.NewFaultProxy(strings.TrimPrefix(s.URL, "http://")))(t)
			t.Cleanup(func() { require.NoError(t, proxy.Close()) })
			f := &inFront{foreignCopy: &of, System: s}
			f.d, f.ids = of.open(t, proxy.URL())
			article := f.d.Sheet.Model.Resource("article")
			c := must.Have(backend.NewClient(fresh{f.d, t}, f.d.Sheet.Model, backend.Options{Timeout: ample}))(t)
			must.Have(c.List(bg(), article, backend.Query{Client: foreignClients[0], Limit: 1000}))(t)
			start, err := f.d.Changes(bg(), backend.ChangesQuery{Client: foreignClients[0], Begin: true, Resources: []*mapping.Resource{article}})
			require.NoError(t, err)
			drawn, rounds, failed := rand.New(rand.NewPCG(11, 3)), 150, 0
			if sqltest.Soak() {
				drawn, rounds = rand.New(rand.NewPCG(rand.Uint64(), 3)), 1500
			}
			for n := range rounds {
				proxy.Next(drawnFault(drawn))
				who := foreignClients[drawn.IntN(2)]
				if n%3 > 0 {
					if page, err := c.List(bg(), article, backend.Query{Client: who, Limit: 1000}); err != nil {
						require.NotErrorIs(t, err, backend.ErrNotFound)
					} else {
						f.holds(t, article, who, page.Records)
					}
					continue
				}
				page, err := f.d.copy.records.List(bg(), article, backend.Query{Client: who, Limit: 1000})
				require.NoError(t, err)
				rec, text := page.Records[drawn.IntN(len(page.Records))], fmt.Sprint("changed ", n)
				if _, err = c.Update(bg(), who, rec.ID(), patch(t, article, fmt.Sprintf(`{"description":%q}`, text)), backend.Write{}); err == nil {
					rows := must.Have(f.Rows(bg(), "article"))(t)
					done := 0
					for _, row := range rows {
						if row.Fields["description"] == text {
							done++
						}
					}
					require.Equal(t, 1, done)
				} else {
					failed++
				}
			}
			t.Logf("%d of %d writes failed", failed, rounds/3)
			require.Positive(t, failed)
			require.NoError(t, proxy.Set(remotetest.Fault{}))
			for _, who := range foreignClients {
				f.holds(t, article, who, must.Have(c.List(bg(), article, backend.Query{Client: who, Limit: 1000}))(t).Records)
			}
			told, err := f.d.Changes(bg(), backend.ChangesQuery{Client: foreignClients[0], After: start.Cursor, Resources: []*mapping.Resource{article}, Limit: 1000})
			require.NoError(t, err)
			for _, of := range told.Changes {
				require.NotEqual(t, backend.RecordDeleted, of.Kind)
			}
		})
	}
}

// holds holds a list to what the service says.
func (f *inFront) holds(t *testing.T, r *mapping.Resource, who auth.Client, records []mapping.Record) {
	t.Helper()
	rows := must.Have(f.Rows(bg(), r.Name))(t)
	var want, got []string
	for _, row := range rows {
		if !row.Hidden && row.Client == who.ID {
			want = append(want, fmt.Sprint(row.Fields["number"], row.Fields["description"]))
		}
	}
	for _, rec := range records {
		got = append(got, rec.Get("number").Text()+rec.Get("description").Text())
	}
	require.Equal(t, want, got)
}

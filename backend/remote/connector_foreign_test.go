package remote

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// foreignDesk is a service that nobody here wrote, behind the connector.
type foreignDesk struct {
	start func(testing.TB) *foreigntest.System
	sheet string
	// rows are where the service has all records of a resource, and at which path of the answer.
	rows   map[string][2]string
	hidden string // the member that hides a record
	client string // whose it is
	draft  string // a new article
	member map[string]string
}

var foreignDesks = map[string]foreignDesk{
	"pocketbase": {foreigntest.PocketBase, "pocketbase.yaml", map[string][2]string{
		"turnovergroup": {"/api/collections/groups/records?perPage=500", "items"}, "contact": {"/api/collections/contacts/records?perPage=500", "items"}, "article": {"/api/collections/parts/records?perPage=500", "items"},
	}, "gone", "org", `{"number":"X%d","description":"y","turnover_group_id":%d,"price":1.25}`, map[string]string{"number": "nr", "description": "title", "price": "price"}},
	"json-server": {foreigntest.JSONServer, "jsonserver.yaml", map[string][2]string{"turnovergroup": {"/groups", ""}, "contact": {"/contacts", ""}, "article": {"/parts", ""}},
		"gone", "tenant", `{"number":"X%d","description":"y","turnover_group_id":%d,"price":1.25,"article_kind":"part","unit_type":"piece"}`, map[string]string{"number": "nr", "description": "title", "price": "price"}},
	"loopback": {foreigntest.LoopBack, "loopback.yaml", map[string][2]string{"turnovergroup": {"/groups", ""}, "article": {"/parts", ""}},
		"deleted", "tenant", `{"number":"X%d","description":"y","turnover_group_id":%d,"price":1.25,"article_kind":"part","unit_type":"piece"}`, map[string]string{"number": "sku", "description": "label", "price": "list"}},
}

// TestForeignConnector walks services that nobody here wrote, and makes, changes and deletes records
// there; each is compared with what the service itself says. It takes as long as the services take
// to start.
func TestForeignConnector(t *testing.T) {
	for name, desk := range foreignDesks {
		t.Run(name, func(t *testing.T) {
			s := desk.start(t)
			c := connecting(t, loadSheet(t, desk.sheet, s.URL))
			for resource, at := range desk.rows {
				rows, err := s.Rows(at[0], at[1])
				require.NoError(t, err)
				desk.compare(t, c, resource, rows)
			}
			groups, err := c.walked(bg(), "turnovergroup", auth.Client{})
			require.NoError(t, err)
			desk.write(t, s, c, groups)
			if c.of("article").Service.Walk.Since != nil {
				changedSince(t, c)
			}
		})
	}
}

// compare compares a walk with the rows that the service has.
func (d *foreignDesk) compare(t *testing.T, c *connector, resource string, rows []foreigntest.Object) {
	t.Helper()
	all, err := c.walked(bg(), resource, auth.Client{})
	require.NoError(t, err)
	require.Len(t, all, len(rows), resource)
	for _, row := range rows {
		i := slices.IndexFunc(all, func(of taken) bool { return c.keyOf(of) == fmt.Sprint(row["id"]) })
		require.GreaterOrEqual(t, i, 0, "%v", row)
		require.NoError(t, all[i].err)
		require.Equal(t, row[d.hidden] == true, all[i].hidden)
		if resource != "turnovergroup" {
			require.Equal(t, fmt.Sprint(row[d.client]), fmt.Sprint(all[i].client))
		}
		if resource == "article" {
			d.same(t, row, all[i].rec)
		}
	}
}

func (d *foreignDesk) same(t *testing.T, row foreigntest.Object, rec mapping.Record) {
	t.Helper()
	if row[d.hidden] == true {
		return
	}
	for field, member := range d.member {
		require.Equal(t, fmt.Sprint(row[member]), rec.Get(field).String(), field)
	}
}

// write makes drawn changes to articles.
func (d *foreignDesk) write(t *testing.T, s *foreigntest.System, c *connector, groups []taken) {
	t.Helper()
	r, drawn := c.of("article"), rand.New(rand.NewPCG(7, 7))
	var there []taken
	for n := range 60 {
		switch op := drawn.IntN(4); {
		case op == 0 || len(there) < 3:
			made, err := c.create(bg(), nil, r, noord, c.record(t, "article", fmt.Sprintf(d.draft, n, groups[n%len(groups)].rec.ID())))
			require.NoError(t, err)
			require.Equal(t, noord.ID, made.client)
			there = append(there, made)
		case op == 1:
			i := drawn.IntN(len(there))
			require.NoError(t, c.delete(bg(), nil, r, noord, there[i]))
			_, err := c.get(bg(), r, noord, c.keyOf(there[i]))
			require.ErrorIs(t, err, backend.ErrNotFound)
			require.ErrorIs(t, c.delete(bg(), nil, r, noord, there[i]), backend.ErrNotFound)
			there = slices.Delete(there, i, i+1)
		default:
			i := drawn.IntN(len(there))
			change := fmt.Sprintf(`{"description":%q,"price":%d.%02d}`, foreigntest.Name(n), drawn.IntN(9999), drawn.IntN(100))
			after, err := c.update(bg(), nil, r, noord, there[i], c.record(t, "article", change))
			require.NoError(t, err)
			require.Equal(t, foreigntest.Name(n), after.rec.Get("description").Text())
			require.Equal(t, there[i].rec.ID(), after.rec.ID())
			require.NotEqual(t, there[i].rec.Version, after.rec.Version)
			there[i] = after
		}
		if len(there) == 0 {
			continue
		}
		one := there[drawn.IntN(len(there))]
		row, err := c.get(bg(), r, noord, c.keyOf(one))
		require.NoError(t, err)
		again, err := c.take(bg(), r, noord, []sheet.JSON{row})
		require.NoError(t, err)
		require.NoError(t, again[0].err)
		require.Equal(t, one.rec, again[0].rec, "an answer to a write is the record")
		_, err = c.get(bg(), r, zuid, c.keyOf(one))
		require.ErrorIs(t, err, backend.ErrNotFound, "another's is not there")
	}
	at := d.rows["article"]
	rows, err := s.Rows(at[0], at[1])
	require.NoError(t, err)
	d.compare(t, c, "article", rows)
}

// changedSince asks what has changed since the newest record, which a change of another then is.
func changedSince(t *testing.T, c *connector) {
	t.Helper()
	all, err := c.walked(bg(), "article", auth.Client{})
	require.NoError(t, err)
	all = slices.DeleteFunc(all, func(of taken) bool { return of.hidden || of.client != noord.ID })
	newest := slices.MaxFunc(all, func(a, b taken) int { return int(a.rec.Get("modified_at").Int() - b.rec.Get("modified_at").Int()) })
	since := func() (keys []string) {
		t.Helper()
		moment := newest.rec.Get("modified_at").String()
		_, err := c.walk(bg(), c.of("article"), auth.Client{}, &moment, func(rows []sheet.JSON) error {
			for _, row := range rows {
				keys = append(keys, fmt.Sprint(row.Object()["id"]))
			}
			return nil
		})
		require.NoError(t, err)
		return keys
	}
	require.Contains(t, since(), c.keyOf(newest))
	require.NotContains(t, since(), c.keyOf(all[0]))
	_, err = c.update(bg(), nil, c.of("article"), noord, all[0], c.record(t, "article", `{"description":"changed"}`))
	require.NoError(t, err)
	require.Contains(t, since(), c.keyOf(all[0]))
}

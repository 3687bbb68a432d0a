package legacy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// alike compares values as databases do: without regard to case where the
// collation says so.
func alike(f *mapping.Field, a, b mapping.Value) bool {
	if f.IgnoreDashes {
		return mapping.BarePlate(a.Text()) == mapping.BarePlate(b.Text())
	}
	return a == b || a.Kind() == mapping.KindText && strings.EqualFold(a.Text(), b.Text())
}

func TestEveryFilterFindsWhatIsShown(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		for _, r := range x.model.Resources {
			all := x.all(one, r.Name)
			for i := range r.Fields {
				f := &r.Fields[i]
				if !f.Filterable() {
					continue
				}
				seen := map[string]bool{}
				for _, rec := range all {
					v := rec.Values[i]
					if seen[v.String()] || len(seen) > 5 || f.Name == "unit_type" && !v.IsSet() {
						continue // one code is in no list, and so null, which no filter finds
					}
					seen[v.String()] = true
					q := backend.Query{Client: one, Total: true, Filters: []backend.Filter{{Field: f, Value: v}}}
					if f.ReferenceBy != "" {
						by := r.Field(f.ReferenceBy)
						q.Filters = append(q.Filters, backend.Filter{Field: by, Value: rec.Values[by.Index]})
					}
					want := 0
					for _, other := range all {
						if alike(f, other.Values[i], v) && (f.ReferenceBy == "" || other.Get(f.ReferenceBy) == rec.Get(f.ReferenceBy)) {
							want++
						}
					}
					page := x.list(q, r.Name)
					require.EqualValues(t, want, page.Total, "%s.%s = %s", r.Name, f.Name, v)
					require.Len(t, page.Records, want, "%s.%s = %s", r.Name, f.Name, v)
				}
			}
		}
	})
}

func TestListWithoutVersions(t *testing.T) {
	x := openOn(t, "sqlite", engines["sqlite"](t))
	for _, r := range x.model.Resources {
		all, bare := x.all(one, r.Name), x.list(backend.Query{Client: one, Unversioned: true}, r.Name).Records
		require.Len(t, bare, len(all))
		for i, rec := range bare {
			require.NotZero(t, all[i].Version)
			require.Zero(t, rec.Version)
			rec.Version = all[i].Version
			require.Equal(t, all[i], rec)
		}
	}
}

func TestEverySortIsTotalAndPages(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		for _, r := range x.model.Resources {
			all := x.all(one, r.Name)
			for i := range r.Fields {
				f := &r.Fields[i]
				if f.Type == mapping.Array || f.Type == mapping.Bytea || f.Unsortable {
					continue
				}
				for _, descending := range []bool{false, true} {
					q := backend.Query{Client: one, Sort: []backend.Order{{Field: f, Descending: descending}}}
					whole := x.list(q, r.Name).Records
					require.Len(t, whole, len(all))
					if !f.Primary && f.Reference != "turnovergroup" { // of kept IDs the order is that of their keys
						requireSorted(t, whole, f, descending)
					}
					requirePages(t, x, r.Name, q, whole)
				}
			}
		}
	})
}

func requireSorted(t *testing.T, records []mapping.Record, f *mapping.Field, descending bool) {
	t.Helper()
	for n := 1; n < len(records); n++ {
		a, b := records[n-1].Values[f.Index], records[n].Values[f.Index]
		if descending {
			a, b = b, a
		}
		if !b.IsSet() {
			require.False(t, a.IsSet(), "%s.%s: null is below every value", records[0].Resource.Name, f.Name)
		}
		if a.IsSet() && b.IsSet() && a.Kind() != mapping.KindText { // texts follow the collation
			require.LessOrEqual(t, compareValues(a, b), 0, "%s.%s: %s, %s", records[0].Resource.Name, f.Name, a, b)
		}
	}
}

// requirePages puts a list together of its pages, which are four in the short form.
func requirePages(t *testing.T, x *fixture, resource string, q backend.Query, whole []mapping.Record) {
	t.Helper()
	var ids, want []int32
	q.Limit = 7
	if !sqltest.Soak() {
		q.Limit = max(q.Limit, (len(whole)+3)/4)
	}
	for more := true; more; q.Offset += q.Limit {
		page := x.list(q, resource)
		for _, rec := range page.Records {
			ids = append(ids, rec.ID())
		}
		more = page.More
	}
	for _, rec := range whole {
		want = append(want, rec.ID())
	}
	require.Equal(t, want, ids, "%s by %s", resource, q.Sort[0].Field.Name)
}

// TestListsEndWhereThereIsNoRoom: a page by ID ends before, and another one is refused.
func TestListsEndWhereThereIsNoRoom(t *testing.T) {
	errFull := errors.New("no room")
	onEngines(t, func(t *testing.T, x *fixture) {
		contacts := x.model.Resource("contact")
		q := backend.Query{Client: one, Keyset: true, Limit: 1000, Room: func(bytes, _ int) error {
			if bytes > 300 {
				return errFull
			}
			return nil
		}}
		var got []int32
		for pages := 1; ; pages++ {
			page := x.list(q, "contact")
			for _, rec := range page.Records {
				got = append(got, rec.ID())
			}
			if !page.More {
				require.Greater(t, pages, 5)
				break
			}
			q.After = got[len(got)-1]
		}
		require.Equal(t, ids(x.all(one, "contact")), got)
		q.Keyset, q.After = false, 0
		_, err := x.front.List(t.Context(), contacts, q)
		require.ErrorIs(t, err, errFull)
	})
}

func TestModifiedSince(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		for _, name := range []string{"contact", "vehicle", "order"} {
			all := x.all(one, name)
			at := mapping.TimeValue(time.Date(2025, time.June, 3, 7, 30, 0, 0, time.UTC))
			modified := x.model.Resource(name).ModifiedAt
			want := 0
			for _, rec := range all {
				if rec.Values[modified].IsSet() {
					at = rec.Values[modified] // inclusive: of one that there is
				}
			}
			for _, rec := range all {
				if v := rec.Values[modified]; v.IsSet() && v.Int() >= at.Int() {
					want++
				}
			}
			require.Positive(t, want, name)
			page := x.list(backend.Query{Client: one, ModifiedSince: at, Total: true}, name)
			require.Len(t, page.Records, want, name)
			require.EqualValues(t, want, page.Total)
		}
		article := x.model.Resource("article")
		_, err := x.front.List(t.Context(), article, backend.Query{Client: one, ModifiedSince: mapping.MilliValue(0), Limit: 1})
		require.True(t, mapping.Is(err, mapping.QueryUnsupported), "nothing tells when: %v", err)
	})
}

// TestTiesOfNull: before, those that the sheet reads as null came behind null itself, or
// among the values, and not by ID.
func TestTiesOfNull(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x, _, _ := strict(t, engine, "gateway", "")
		for i, row := range []string{"'', '20000101'", "NULL, '00000000'", "'', '19560000'", "'nl', NULL", "NULL, '19550101'", "'', NULL"} {
			_, err := x.db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO r_rel (id, adm, naam, land, geb) VALUES (%d, 2, 'x', %s)", 10+i, row))
			require.NoError(t, err)
		}
		for field, want := range map[string][2][]int32{
			"language":   {{4, 10, 11, 12, 14, 15, 13}, {13, 4, 10, 11, 12, 14, 15}},
			"birth_date": {{4, 11, 12, 13, 15, 14, 10}, {10, 14, 4, 11, 12, 13, 15}},
		} {
			for i, descending := range []bool{false, true} {
				f := x.model.Resource("contact").Field(field)
				page := x.list(backend.Query{Client: two, Sort: []backend.Order{{Field: f, Descending: descending}}}, "contact")
				require.Equal(t, want[i], ids(page.Records), field)
			}
		}
	})
}

// TestListGoesByTheKeysIndex: before, a list said where null keys come, of which there
// are none, and PostgreSQL sorted all rows for each page.
func TestListGoesByTheKeysIndex(t *testing.T) {
	x := open(t, "postgres")
	tx, err := x.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback()) }()
	for _, off := range []string{"seqscan", "bitmapscan", "sort", "incremental_sort"} { // where it can do without
		_, err := tx.ExecContext(t.Context(), "SET LOCAL enable_"+off+" = off")
		require.NoError(t, err)
	}
	code := backend.Order{Field: x.model.Resource("vehicle").Field("id"), Descending: true}
	for resource, q := range map[string]backend.Query{
		"order": {Client: one}, "orderline": {Client: one}, "vehicle": {Client: one, Sort: []backend.Order{code}}, "article": {Client: one, Keyset: true, After: 3},
	} {
		table := x.tables[x.model.Resource(resource)]
		b := newStatement(x.d).add("EXPLAIN ")
		table.selected(b, q.Client, false)
		after, _, err := table.afterKey(q, nil)
		require.NoError(t, err)
		_, err = table.match(b, q, nil, after)
		require.NoError(t, err)
		table.sorted(b, q)
		x.d.page(b, 101, 0)
		plan := ""
		require.NoError(t, query(t.Context(), tx, b, func(row []sheet.Raw) error {
			plan += row[0].Text + "\n"
			return nil
		}))
		require.NotContains(t, plan, "Sort", "%s: %s", resource, b)
	}
}

// TestFilterByWhatNoColumnHolds: before, PostgreSQL's refusal to read abc as a UUID was
// Internal server error, and of several values one such hid what the others find. What fails on
// the rows themselves still is an error.
func TestFilterByWhatNoColumnHolds(t *testing.T) {
	dsn := engines["postgres"](t)
	base := openOn(t, "postgres", dsn)
	for _, statement := range []string{
		"CREATE TYPE n_soort AS ENUM ('auto', 'fiets')",
		"CREATE TABLE n_art (id integer NOT NULL PRIMARY KEY, oms varchar(20) NOT NULL, nr uuid, merk n_soort, plek inet, sinds date)",
		"INSERT INTO n_art VALUES (1, 'bolt', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'auto', '192.0.2.1', '2026-01-02')",
	} {
		_, err := base.db.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}
	require.NoError(t, base.Close())
	found := func(fields, field string, values ...string) (int, error) {
		x, _, _ := onMade(t, "postgres", dsn, fmt.Sprintf(`
format: 1
source: {sql: {engine: postgres, dsn: "${DEALERPAK_DSN}"}}
without_rules: []
accounts: {users: []}
resources:
  article:
    table: n_art
    key: {columns: id, generated: supplied}
    client: ""
    fields: {number: nr, description: plek, %s, article_kind: {constant: part}, unit_type: {constant: piece}, turnover_group_id: {absent: true}}
    operations: {only: [get, list]}
`, fields))
		article := x.model.Resource("article")
		filter := backend.Filter{Field: article.Field(field), Value: mapping.TextValue(values[0])}
		if len(values) > 1 {
			filter = backend.Filter{Field: filter.Field, Op: mapping.AnyOf}
			for _, v := range values {
				filter.Values = append(filter.Values, mapping.TextValue(v))
			}
		}
		page, err := x.front.List(t.Context(), article, backend.Query{Client: one, Limit: 10, Total: true, Filters: []backend.Filter{filter}})
		require.Len(t, page.Records, int(page.Total))
		return len(page.Records), err
	}
	for _, c := range []struct {
		fields, field, value string
		found                int
	}{
		{"ean: merk", "number", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", 1},
		{"ean: merk", "number", "abc", 0},
		{"ean: merk", "description", "192.0.2.1", 1},
		{"ean: merk", "description", "here", 0},
		{"ean: merk", "ean", "auto", 1},
		{"ean: merk", "ean", "trein", 0},
		{"ean: {from: sinds, type: text}", "ean", "2026-13-45", 0},
		{"ean: {from: sinds, type: text}", "ean", "yesteryear", 0},
		{"ean: merk", "number", "abc A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11 def", 1},
		{"ean: merk", "ean", "trein auto", 1},
		{"ean: merk", "ean", "trein boot", 0},
	} {
		n, err := found(c.fields, c.field, strings.Fields(c.value)...)
		require.NoError(t, err, c)
		require.Equal(t, c.found, n, c)
	}
	_, err := found("stock: {sql: 'CAST(oms AS numeric)', readonly: true}", "description", "192.0.2.1")
	require.True(t, mapping.Is(err, mapping.InternalError), "%v", err)
}

package drivertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// Injection tries every filter and every order that a sheet has with texts that would be more than
// values if they were not escaped: conditions, comments and wildcards of the languages of systems. It
// filters for texts equal to them, and by the other operators in turn. A filter must find what has the
// text and nothing else, an order must have each record once, and nothing may fail. The plain list is
// what there is; if there is an Oracle, the list is compared with it first.
//
// In the short form each field meets some of the texts, and each text some of the fields; in the
// soak all meet all.
type Injection struct {
	Client  *backend.Client
	Clients []auth.Client
	Oracle  Oracle                   // nil: lists are compared with nothing
	Weigh   func(text string) string // what texts are compared by; nil for their letters

	texts []string
	each  int // how many of them a field meets
	next  int // of texts
	// operator is the last one that was tried.
	operator int
	ids      map[string][]int64
}

// fewestTexts is how many texts, at least, a field of texts meets in the short form.
const fewestTexts = 3

// Run tries everything as every client.
func (i Injection) Run(t *testing.T) {
	t.Helper()
	i.texts = slices.Concat(Texts, attacks())
	if i.each = len(i.texts); !sqltest.Soak() {
		i.each = max(fewestTexts, len(i.texts)/max(1, i.fields())+1)
	}
	queries, begun := 0, time.Now()
	for _, who := range i.Clients {
		i.ids = map[string][]int64{}
		resources := slices.Clone(i.Client.Model().Resources)
		slices.SortStableFunc(resources, func(a, b *mapping.Resource) int { return len(a.ListRequires) - len(b.ListRequires) })
		for _, r := range resources {
			if i.Client.Offer().Has(r, mapping.OpList) {
				queries += i.resource(t, r, who)
			}
		}
	}
	require.Positive(t, queries)
	t.Logf("%d lists in %s", queries, time.Since(begun).Round(time.Millisecond))
}

// fields is how many fields of texts can be filtered by, by all clients.
func (i *Injection) fields() (n int) {
	for _, r := range i.Client.Model().Resources {
		for k := range r.Fields {
			if f := &r.Fields[k]; f.Filterable() && f.IsText() && i.Client.Offer().Has(r, mapping.OpList) {
				n += len(i.Clients)
			}
		}
	}
	return n
}

// attacks are texts by the language that they are of.
func attacks() []string {
	all := []string{
		"' OR 1=1 --", "'; DELETE FROM contact; --", `" OR ""="`, "') OR ('1'='1", "1 OR 1=1", "1; SELECT pg_sleep(5)", "/* */", "--", "#", `\' OR 1=1 -- `, "_%", "[a-z]%", "?", "x'||'y", // SQL
		":client", "@p1", "$1", "N'x'", "0x27", "CHAR(39)", // its parameters and values
		"' && name~'%' && ''='", "x') || org!='' //", "' or name ne '", "name==*", ";name==*", ",name==*", `\") or (1=1`, "(a|b)", // PocketBase, OData, RSQL, JQL
		`{"neq":null}`, "[neq]=x", "$ne", `"},"x":{"y":"`, // LoopBack, JSON
		"a&org=2", "a?b=c", "../../etc", "..%2f", "%27%20or%201=1", "\r\nX-Org: 2", "a\nb", "\t", "%0d%0a", // HTTP
		"]]><x/>", "<!ENTITY x>", "&lt;", `"/><x y="`, // XML
		"{client.id}", "{filter.name}", "row.gone", "true || true", // sheets, CEL
		"ʼ", "＇", "\u2028", "\u0000", "🙂", strings.Repeat("'", 40), // letters
	}
	return all
}

func (i *Injection) resource(t *testing.T, r *mapping.Resource, who auth.Client) (queries int) {
	base, all := i.plain(t, r, who)
	for _, rec := range all {
		i.ids[r.Name] = append(i.ids[r.Name], int64(rec.ID()))
	}
	if i.Oracle != nil && len(r.ListRequires) == 0 {
		rows, err := i.Oracle.Rows(t.Context(), r.Name)
		require.NoError(t, err)
		seen := slices.DeleteFunc(rows, func(row Row) bool { return !row.sees(who) })
		require.Len(t, all, len(seen), "%s of %s", r.Name, who.Name)
	}
	for _, f := range mapping.Each(r.Fields) {
		if f.Filterable() && !slices.ContainsFunc(base, func(b backend.Filter) bool { return b.Field == f }) {
			queries += i.filters(t, r, who, f, base, all)
		}
		if f.Sortable() {
			queries += i.sorts(t, r, who, f, base, all)
		}
	}
	return queries
}

// plain is the whole list of a client, with the filters that the list requires.
func (i *Injection) plain(t *testing.T, r *mapping.Resource, who auth.Client) (base []backend.Filter, all []mapping.Record) {
	for _, base = range i.bases(r) {
		page, err := i.Client.List(t.Context(), r, backend.Query{Client: who, Filters: base, Limit: 5000})
		require.NoError(t, err, "%s of %s", r.Name, who.Name)
		require.False(t, page.More, "the lists are to be short")
		if all = page.Records; len(all) > 0 {
			break
		}
	}
	return base, all
}

// bases are the possible values of the filters that a list requires.
func (i *Injection) bases(r *mapping.Resource) (bases [][]backend.Filter) {
	bases = [][]backend.Filter{nil}
	for _, name := range r.ListRequires {
		f := r.Field(name)
		var values []mapping.Value
		switch {
		case f.Check == "resource":
			values = append(values, mapping.TextValue("contact"))
		case f.ReferenceBy != "":
			values = idsOf(i.ids["contact"])
		default:
			values = idsOf(i.ids[f.Reference])
		}
		if len(values) == 0 {
			values = idsOf([]int64{1})
		}
		var longer [][]backend.Filter
		for _, base := range bases {
			for _, v := range values {
				longer = append(longer, append(slices.Clone(base), backend.Filter{Field: f, Value: v}))
			}
		}
		bases = longer
	}
	return bases
}

func idsOf(ids []int64) (values []mapping.Value) {
	for _, id := range ids[:min(len(ids), 20)] {
		values = append(values, mapping.IntValue(id))
	}
	return values
}

// filters filters by a field for each of the texts that is a value of it.
func (i *Injection) filters(t *testing.T, r *mapping.Resource, who auth.Client, f *mapping.Field, base []backend.Filter, all []mapping.Record) (queries int) {
	texts := i.texts
	if f.IsText() {
		texts = nil
		for range i.each {
			texts = append(texts, i.texts[i.next%len(i.texts)])
			i.next++
		}
	}
	for _, text := range texts {
		v, bad := f.Parse(text, time.UTC)
		if bad != nil {
			continue
		}
		query := fmt.Sprintf("%s of %s by %s %q", r.Name, who.Name, f.Name, text)
		page, err := i.Client.List(t.Context(), r, backend.Query{Client: who, Filters: append(slices.Clone(base), backend.Filter{Field: f, Value: v}), Limit: len(all) + 1, Total: true})
		if queries++; err != nil {
			requireRefused(t, err, query)
			continue
		}
		require.EqualValues(t, len(page.Records), page.Total, query)
		var came []int32
		for _, rec := range page.Records {
			require.True(t, slices.ContainsFunc(all, func(known mapping.Record) bool { return known.ID() == rec.ID() }), "%s: %d is none of the client's", query, rec.ID())
			require.True(t, i.alike(rec.Values[f.Index], v), "%s: came %s", query, rec.Values[f.Index])
			came = append(came, rec.ID())
		}
		for _, rec := range all {
			require.True(t, rec.Values[f.Index] != v || slices.Contains(came, rec.ID()), "%s: %d did not come", query, rec.ID())
		}
		queries += i.operators(t, r, who, f, base, all, text)
	}
	return queries
}

// operators filters by a field and a text with one of the other operators, the next one each time.
// Systems differ in how they order texts and find parts; but nothing may fail, and no other
// client's record may come.
func (i *Injection) operators(t *testing.T, r *mapping.Resource, who auth.Client, f *mapping.Field, base []backend.Filter, all []mapping.Record, text string) (queries int) {
	for range mapping.AllOperators {
		i.operator++
		o := mapping.AllOperators[i.operator%len(mapping.AllOperators)]
		v, none, bad := f.ParseOperand(o, text, time.UTC)
		if o == mapping.IsNull || !f.FilterableBy(o) || none || bad != nil {
			continue
		}
		by := backend.Filter{Field: f, Op: o, Value: v}
		if o == mapping.AnyOf {
			by = backend.Filter{Field: f, Op: o, Values: []mapping.Value{v}}
		}
		query := fmt.Sprintf("%s of %s by %s %q", r.Name, who.Name, o.Param(f.Name), text)
		page, err := i.Client.List(t.Context(), r, backend.Query{Client: who, Filters: append(slices.Clone(base), by), Limit: len(all) + 1, Total: true})
		if err != nil {
			requireRefused(t, err, query)
			return 1
		}
		require.EqualValues(t, len(page.Records), page.Total, query)
		known := idsIn(all)
		for _, rec := range page.Records {
			require.Contains(t, known, rec.ID(), "%s: it is none of the client's", query)
			require.True(t, o != mapping.AnyOf || i.alike(rec.Values[f.Index], v), "%s: came %s", query, rec.Values[f.Index])
		}
		return 1
	}
	return 0
}

// alike reports whether a filter by one value may find another.
func (i *Injection) alike(v, by mapping.Value) bool {
	if v.Kind() != mapping.KindText || by.Kind() != mapping.KindText {
		return v == by
	}
	a, b := strings.TrimSpace(v.Text()), strings.TrimSpace(by.Text())
	return strings.EqualFold(a, b) || i.Weigh != nil && i.Weigh(a) == i.Weigh(b)
}

// requireRefused requires a violation that a client can see.
func requireRefused(t *testing.T, err error, query string) {
	t.Helper()
	violations, ok := mapping.AsViolations(err)
	require.True(t, ok, "%s: %v", query, err)
	for _, v := range violations {
		require.NotContains(t, []mapping.Reason{mapping.InternalError, mapping.BackendUnavailable, mapping.BackendTimeout}, v.Reason, "%s: %v", query, err)
	}
}

// sorts lists in an order, both ways, and requires each record once.
func (i *Injection) sorts(t *testing.T, r *mapping.Resource, who auth.Client, f *mapping.Field, base []backend.Filter, all []mapping.Record) (queries int) {
	for _, down := range []bool{false, true} {
		query := fmt.Sprintf("%s of %s sorted by %s", r.Name, who.Name, f.Name)
		page, err := i.Client.List(t.Context(), r, backend.Query{Client: who, Filters: base, Sort: []backend.Order{{Field: f, Descending: down}}, Limit: len(all) + 1})
		require.NoError(t, err, query)
		require.ElementsMatch(t, idsIn(all), idsIn(page.Records), query)
		queries++
	}
	return queries
}

func idsIn(records []mapping.Record) (ids []int32) {
	for _, rec := range records {
		ids = append(ids, rec.ID())
	}
	return ids
}

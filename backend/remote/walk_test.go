package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/mapping"
)

// walkedSheet has a field for each way in which one is kept over HTTP. GET, LIST, SEND and WHOLE differ
// from service to service.
const walkedSheet = `
resources:
  contact:
    key: {columns: nr}
    client: org
    operations:
      GET/contacts/{key}"}
      list: {path: /contacts, query: {LIST, kind: "{filter.kind}", kind.in: "{filter.kind.in}", name: "{filter.name}", name.in: "{filter.name.in}", lang: "{filter.language}", lang.in: "{filter.language.in}", vat: "{filter.vat_number}", vat.in: "{filter.vat_number.in}", town: "{filter.first_name}", town.in: "{filter.first_name.in}",
        born: "{filter.birth_date}", credit.days: "{filter.payment_days}", credit.days.in: "{filter.payment_days.in}", odd: "{filter.is_supplier}", odd.in: "{filter.is_supplier.in}", memo: "{filter.note}", made: "{filter.created_at}", MADE}}
      update: {path: "/contacts/{key}", SEND}
    fields:
      kind: {from: kind, codes: {P: person, C: company, CO: company}, unknown: {value: company}}
      name: name
      language: {from: lang, codes: {D: nl, E: en}, unknown: "null", null_as: "-"}
      vat_number: {from: vat, case: upper}
      first_name: {from: town, trim: both}
      birth_date: {from: born, type: date}
      payment_days: credit.days
      is_customer: {from: roles, has: customer}
      is_supplier: {cel: "row.flags % 2", set: {flags: "(value == null ? 0 : value) + (has(row.flags) ? int(row.flags) / 2 * 2 : 0)"}}
      note: {from: memo, empty: "null"}
      created_at: {from: made, type: timestamp}
  article:
    key: {columns: nr, id: kept}
    client: org
    operations:
      GET/articles/{key}"}
      list: {path: /articles, query: {LIST, code: "{filter.number}", code.in: "{filter.number.in}", price: "{filter.price}", supplier.nr: "{filter.supplier_id}", supplier.nr.in: "{filter.supplier_id.in}"}}
      update: {path: "/articles/{key}", SEND}
    fields:
      number: code
      description: text
      article_kind: {constant: part}
      unit_type: {constant: piece}
      turnover_group_id: {absent: true}
      price: {from: price, scale: 2}
      purchase_price: {from: cost, type: text, decimal_comma: true}
      supplier_id: {from: supplier.nr, zero: "0"}
  order:
    key: {columns: nr}
    client: {through: contact_id}
    operations:
      GET/orders/{key}"}
      list: {path: /orders, query: {LIST, contact: "{filter.contact_id}", text: "{filter.description}"}}
      update: {path: "/orders/{key}", WHOLE}
    fields: {contact_id: contact, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, description: text}
`

// walkedPlaces are the places of the sheet's fields.
var walkedPlaces = map[string]string{
	"contact.kind": "kind", "contact.name": "name", "contact.language": "lang", "contact.vat_number": "vat", "contact.first_name": "town", "contact.birth_date": "born", "contact.payment_days": "credit.days", "contact.is_customer": "roles",
	"contact.is_supplier": "flags", "contact.note": "memo", "contact.created_at": "made", "article.number": "code", "article.description": "text", "article.price": "price", "article.purchase_price": "cost",
	"article.supplier_id": "supplier.nr", "order.contact_id": "contact", "order.description": "text",
}

// cabinet is a service that keeps what it is given, of several clients, and compares what it is
// asked for by letter, as a number or as a time.
type cabinet struct {
	mu     sync.Mutex
	send   string
	drawer map[string][]fields
}

// at is what a record has at a path.
func (c *cabinet) at(rec fields, path string) any {
	var v any = rec
	for step := range strings.SplitSeq(path, ".") {
		inner, _ := v.(fields)
		v = inner[step]
	}
	return v
}

// holds tells whether a record has one of the values that a parameter names.
func (c *cabinet) holds(rec fields, name string, values []string) bool {
	path := strings.TrimSuffix(name, ".in")
	path, operator, _ := strings.Cut(path, "!")
	has := c.at(rec, path)
	if path == "odd" {
		flags, _ := strconv.Atoi(fmt.Sprint(rec["flags"]))
		has = flags % 2
	}
	return slices.ContainsFunc(values, func(v string) bool {
		text := fmt.Sprint(has)
		if is, err := time.Parse(time.RFC3339Nano, text); err == nil {
			by, _ := time.Parse(time.RFC3339Nano, v)
			return map[string]bool{"": is.Equal(by), "gte": !is.Before(by), "lt": is.Before(by)}[operator]
		}
		if is, ok := has.(json.Number); ok {
			x, _ := is.Float64()
			by, err := strconv.ParseFloat(v, 64)
			return err == nil && x == by
		}
		return has != nil && text == v
	})
}

// ServeHTTP implements http.Handler.
func (c *cabinet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	steps := strings.Split(r.URL.Path, "/")
	all := c.drawer[steps[1]]
	if len(steps) == 2 {
		found := []fields{}
		for _, rec := range all {
			matches := true
			for name, values := range r.URL.Query() {
				matches = matches && (name == "every" || name == "from" || name == "most" || c.holds(rec, name, values))
			}
			if matches {
				found = append(found, rec)
			}
		}
		if from := r.FormValue("from"); from != "" {
			from, _ := strconv.Atoi(from)
			most, _ := strconv.Atoi(r.FormValue("most"))
			found = found[min(from, len(found)):min(from+most, len(found))]
		}
		_ = json.NewEncoder(w).Encode(found)
		return
	}
	i := slices.IndexFunc(all, func(rec fields) bool { return fmt.Sprint(rec["nr"]) == steps[2] })
	if i < 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet {
		body, _ := io.ReadAll(r.Body)
		all[i] = c.put(all[i], asKept(body))
	}
	_ = json.NewEncoder(w).Encode(all[i])
}

// put is a record after a write: replaced whole, or member by member, or deeply.
func (c *cabinet) put(before, sent fields) fields {
	after := maps.Clone(before)
	if strings.Contains(c.send, "all") {
		after = fields{"nr": before["nr"]}
		if org, of := before["org"]; of {
			after["org"] = org
		}
	}
	for name, v := range sent {
		inner, deep := v.(fields)
		if object, had := after[name].(fields); had && deep && strings.Contains(c.send, "changed") {
			v = maps.Clone(object)
			maps.Copy(v.(fields), inner)
		}
		after[name] = v
	}
	return after
}

// asKept is an object, whose numbers stay as they are written.
func asKept(text []byte) (out fields) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&out)
	return out
}

// fill draws what the cabinet has: of two clients that the gateway knows, of another, and of
// nobody.
func (c *cabinet) fill(t *rapid.T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drawer = map[string][]fields{}
	pick := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "value") }
	for n := range rapid.IntRange(3, 6).Draw(t, "contacts") {
		c.drawer["contacts"] = append(c.drawer["contacts"], asKept([]byte(fmt.Sprintf(`{"nr":%d,"org":%s,"kind":%s,"name":%s,"lang":%s,"vat":%s,"town":%s,"born":%s,"credit":{"days":%s,"limit":%d},"roles":%s,"flags":%d,"memo":%s,"made":%s}`,
			n+1, pick("1", "1", "1", "2", "3", "null"), pick(`"P"`, `"C"`, `"CO"`, `"X"`), pick(`"A"`, `"a b"`, `"O'Neil & Co"`, `"é"`), pick(`"D"`, `"E"`, `"F"`, `"-"`, `null`), pick(`"NL1"`, `"nl2"`, `null`), pick(`"X"`, `" X "`, `"Y "`, `null`), pick(`"1980-02-29"`, `"2000-01-01"`, `null`),
			pick("0", "14", "30", "null"), n, pick(`[]`, `["customer"]`, `["agent","customer"]`, `["agent"]`), rapid.IntRange(0, 7).Draw(t, "flags"), pick(`""`, `"x"`, `null`), pick(`"2026-07-01T10:00:00Z"`, `"2026-07-01T10:00:00.123456Z"`, `"2026-07-01T10:00:00.123Z"`, `null`)))))
	}
	nr := func() int { return rapid.IntRange(0, 7).Draw(t, "of") }
	for n := range rapid.IntRange(2, 5).Draw(t, "articles") {
		c.drawer["articles"] = append(c.drawer["articles"], asKept([]byte(fmt.Sprintf(`{"nr":"K%d","org":%s,"code":%s,"text":%s,"price":%s,"cost":%s,"supplier":{"nr":%d},"more":%d}`,
			n, pick("1", "1", "2", "3"), pick(`"7"`, `"A-1"`, `"a/b"`), pick(`"x"`, `"y"`), pick("1.500", "0", "12.35", "12.349"), pick(`"012,50"`, `"1"`), nr(), n))))
	}
	for n := range rapid.IntRange(2, 5).Draw(t, "orders") {
		c.drawer["orders"] = append(c.drawer["orders"], asKept([]byte(fmt.Sprintf(`{"nr":%d,"contact":%d,"text":%s}`, n+1, nr(), pick(`"one"`, `"two"`, `null`)))))
	}
}

// whole is all that the cabinet has, record by record.
func (c *cabinet) whole() map[string]fields {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]fields{}
	for name, all := range c.drawer {
		for _, rec := range all {
			out[fmt.Sprint(name, " ", rec["nr"])] = rec
		}
	}
	return out
}

// findsWhatItShows holds the filters of a resource to what lists show: by each value that a
// record has, the records that have it are found, and no others.
func findsWhatItShows(t require.TestingT, c *backend.Client, who auth.Client, r *mapping.Resource) {
	list := func(by ...backend.Filter) []mapping.Record {
		page, err := c.List(bg(), r, backend.Query{Client: who, Limit: 1000, Total: true, Filters: by})
		require.NoError(t, err, "%s %v", r.Name, by)
		require.EqualValues(t, len(page.Records), page.Total, "%s %v", r.Name, by)
		return page.Records
	}
	all := list()
	for i := range r.Fields {
		f := &r.Fields[i]
		if !f.InLists() || !f.Filterable() || f.IgnoreDashes || slices.Contains(r.ListRequires, f.Name) || f.ReferenceBy != "" {
			continue
		}
		shown := map[mapping.Value][]int32{}
		for _, rec := range all {
			v := rec.Values[i]
			if v.IsAbsent() {
				v = mapping.NullValue()
			}
			shown[v] = append(shown[v], rec.ID())
		}
		for v, want := range shown {
			filters := []backend.Filter{{Field: f, Value: v}}
			if v.IsSet() && f.FilterableBy(mapping.AnyOf) {
				filters = append(filters, backend.Filter{Field: f, Op: mapping.AnyOf, Values: []mapping.Value{v}})
			}
			for _, by := range filters {
				var found []int32
				for _, rec := range list(by) {
					if got := rec.Values[i]; got == v || !v.IsSet() && !got.IsSet() { // of texts a service may list what is alike
						found = append(found, rec.ID())
					}
				}
				require.Equal(t, want, found, "%s of client %d by %s: %q", r.Name, who.ID, by.Op.Param(f.Name), v.String())
			}
		}
	}
}

// changes draws a change of one field.
func changes(t *rapid.T, resource string) (field, text string) {
	values := map[string][]string{
		"contact.kind": {`"person"`, `"company"`}, "contact.name": {`"B"`, `"A"`}, "contact.language": {`"nl"`, `"en"`, "null"}, "contact.vat_number": {`"NL9"`, "null"}, "contact.first_name": {`"Z"`, "null"}, "contact.birth_date": {`"1999-12-31"`, "null"},
		"contact.payment_days": {"7", "14", "null"}, "contact.is_customer": {"0", "1"}, "contact.is_supplier": {"0", "1"}, "contact.note": {`"new"`, "null"},
		"article.number": {`"N"`}, "article.description": {`"new"`}, "article.price": {"9.99", "1.5"}, "article.purchase_price": {"3", "12.5"}, "article.supplier_id": {"null"}, "order.description": {`"new"`, "null"},
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(values)), func(name string) bool { return !strings.HasPrefix(name, resource+".") })
	name := rapid.SampledFrom(names).Draw(t, "field")
	return name, fmt.Sprintf(`{%q: %s}`, strings.TrimPrefix(name, resource+"."), rapid.SampledFrom(values[name]).Draw(t, "value"))
}

// TestServicesOfManyRecords walks services with several records of several clients, however one
// of them is read and written. A filter by what is shown finds what shows it. A write leaves
// every other record as it is, and every other value of its own: before, a service without get
// was sent the values of another, and filters by what is computed found nothing.
func TestServicesOfManyRecords(t *testing.T) {
	drivertest.Cases(t, 10) // for each of nine services
	ways := map[string]string{"get": `get: {path: "`, "list": `# get: {path: "`, "pages": `# get: {path: "`}
	for way, get := range ways {
		for _, send := range []string{"send: changed", "send: all", "send: siblings"} {
			t.Run(way+", "+send, func(t *testing.T) {
				list := map[string]string{"get": `nr: "{filter.id}"`, "list": `every: "1"`, "pages": `from: "{offset}", most: "{limit}"`}[way]
				text := strings.NewReplacer("GET", get, "LIST", list, "SEND", send, "WHOLE", strings.ReplaceAll(send, "siblings", "changed"), "MADE", `made!gte: "{filter.created_at.gte}", made!lt: "{filter.created_at.lt}"`).Replace(walkedSheet)
				if way == "pages" {
					text = strings.ReplaceAll(text, `"}}
      update`, `"}, paging: {style: offset, size: 2}}
      update`)
				}
				service := &cabinet{send: send}
				store := served(t, text, service)
				c := front(t, store)
				rapid.Check(t, func(t *rapid.T) {
					service.fill(t)
					who := rapid.SampledFrom([]auth.Client{{ID: 1, Name: "one"}, {ID: 2, Name: "two"}}).Draw(t, "client")
					for _, r := range store.Sheet.Model.Resources {
						findsWhatItShows(t, c, who, r)
						walkWrites(t, c, who, r, service)
					}
				})
			})
		}
	}
}

// walkWrites changes records of a client, one after the other.
func walkWrites(t *rapid.T, c *backend.Client, who auth.Client, r *mapping.Resource, service *cabinet) {
	page, err := c.List(bg(), r, backend.Query{Client: who, Limit: 100})
	require.NoError(t, err)
	for _, rec := range page.Records {
		field, text := changes(t, r.Name)
		before := service.whole()
		b, err := mapping.DecodeBody(r, []byte(text), time.UTC)
		require.NoError(t, err)
		if rec.Flag(r.IsSystem) {
			continue
		}
		stored, err := c.Update(bg(), who, rec.ID(), b, backend.Write{})
		require.NoError(t, err, "%s %d %s", r.Name, rec.ID(), text)
		require.Equal(t, rec.ID(), stored.ID())
		written := 0
		for name, after := range service.whole() {
			if fmt.Sprint(after) == fmt.Sprint(before[name]) {
				continue
			}
			written++
			for other, place := range walkedPlaces {
				if other != field && strings.HasPrefix(other, r.Name+".") {
					require.Equal(t, service.at(before[name], place), service.at(after, place), "%s of %s, by %s", other, name, text)
				}
			}
			if strings.Contains(service.send, "siblings") {
				require.Equal(t, service.at(before[name], "credit.limit"), service.at(after, "credit.limit"), "%s, by %s", name, text)
			}
		}
		require.LessOrEqual(t, written, 1, text)
	}
}

// TestSampleServicesFindWhatTheyShow is for the services that are made after those in use: each
// record is by itself what lists show, and found by it.
func TestSampleServicesFindWhatTheyShow(t *testing.T) {
	g, a := newGarage(t, remotetest.Options{}), newAutolijn(t, remotetest.Options{})
	for _, of := range []struct {
		client *backend.Client
		model  *mapping.Model
		who    auth.Client
	}{{g.client, g.model, noord}, {a.client, a.model, lijnNoord}} {
		for _, r := range of.model.Resources {
			if len(r.ListRequires) > 0 {
				continue
			}
			page, err := of.client.List(bg(), r, backend.Query{Client: of.who, Limit: 20})
			require.NoError(t, err, r.Name)
			require.NotEmpty(t, page.Records, r.Name)
			bare, err := of.client.List(bg(), r, backend.Query{Client: of.who, Limit: 20, Unversioned: true})
			require.NoError(t, err, r.Name)
			require.Len(t, bare.Records, len(page.Records))
			for i, rec := range page.Records {
				got, err := of.client.Get(bg(), r, backend.Query{Client: of.who, ID: rec.ID()})
				require.NoError(t, err, r.Name)
				fields := r.ListFields()
				require.Equal(t, string(rec.AppendJSON(nil, fields)), string(got.AppendJSON(nil, fields)))
				require.Equal(t, rec.Version, got.Version)
				require.Zero(t, bare.Records[i].Version)
				bare.Records[i].Version = rec.Version
				require.Equal(t, rec, bare.Records[i])
			}
			findsWhatItShows(t, of.client, of.who, r)
		}
	}
}

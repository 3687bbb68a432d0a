package sheet_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// TestLoadServices loads the sheets that the driver is tested with.
func TestLoadServices(t *testing.T) {
	files, err := filepath.Glob("../../backend/remote/testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	o := options
	o.Env = func(name string) (string, bool) {
		return cmp.Or(map[string]string{"FOREIGN_PASSWORD_HASH": "$argon2id$x"}[name], "https://dms.example.nl"), true
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".exceptions.yaml") { // of the conformance suite
			continue
		}
		s, err := sheet.Load(file, model(t), o)
		require.NoError(t, err)
		require.NotNil(t, s.Source.Service)
	}
}

// fieldsOf are how a service has the fields of a resource.
func fieldsOf(r *sheet.Resource) map[string]sheet.ServiceField {
	all := map[string]sheet.ServiceField{}
	for i, f := range r.Service.Fields {
		all[r.Fields[i].Name] = f
	}
	return all
}

func at(path string) sheet.Spot { return sheet.Spot{Path: sheet.ParsePath(path)} }

func literal(s string) sheet.Text {
	return sheet.Text{{Literal: s}}
}

func TestLoadServiceSource(t *testing.T) {
	s := load(t, "testdata/service.yaml")
	of := s.Source.Service
	assert.Equal(t, "https://dms.example.nl/api 3s 8 4 0 1h0m0s", of.URL+" "+of.Timeout.String()+" "+fmt.Sprint(of.Connections)+" "+fmt.Sprint(of.Parallel)+" "+fmt.Sprint(of.Retries)+" "+of.MaxAge.String())
	assert.Equal(t, sheet.Parameters{{Name: "X-App", Text: literal("frontdesk")}}, of.Headers)
	on := of.LogOn
	assert.True(t, on.PerClient && on.Call.Form && on.Call.Method == "POST", "the definition tenant names the client")
	assert.Equal(t, at("access.token"), on.Token)
	assert.Equal(t, ".access.minutes * 60", on.ExpiresIn.String())
	assert.Equal(t, sheet.Parameters{{Name: "Authorization", Text: sheet.Text{{Literal: "Bearer "}, {Path: sheet.Path{"token"}}}}}, on.Headers)
	assert.Equal(t, "everybody", on.AccountsClient)
	assert.Equal(t, `.body.error == "expired"`, on.RenewOn.JQ.String())

	assert.True(t, s.ClientsKept && s.NeedsKeep() && s.OwnRules && s.Accounts.FoldNames)
	assert.Equal(t, "POST GET GET", of.Verify.Method+" "+of.WhoAmI.Method+" "+of.Find.Method)
	assert.Equal(t, at("user"), of.WhoAmI.Result)
	assert.Equal(t, "403", of.Refused.Status)
	assert.Equal(t, at("nr"), of.Facts[sheet.FactID].Read)
	assert.Equal(t, ".mails[0]", of.Facts[sheet.FactEmail].Read.String())
	assert.Equal(t, []sheet.Code{{Stored: "B", Plain: true, Shown: mapping.IntValue(1)}, {Stored: "A", Plain: true, Shown: mapping.IntValue(0)}}, of.Facts[sheet.FactBlocked].Codes)
	assert.Equal(t, mapping.IntValue(0), of.Facts[sheet.FactExternal].Constant)

}

func TestTranslateAnswers(t *testing.T) {
	s := load(t, "testdata/service.yaml")
	told := func(resource string, status int, code string) string {
		body := map[string]any{"code": code, "fields": []any{"Nr", "x"}}
		e := s.Source.Service.Errors.Translate(sheet.Answer{Context: t.Context(), Status: status, Told: func() map[string]any {
			return map[string]any{"status": status, "body": body}
		}}, sheet.Attempt{Resource: s.Resource(resource), Op: mapping.OpDelete, ID: 3})
		if e == nil {
			return ""
		}
		return string(e.Reason) + " " + strings.Join(e.Args, " ")
	}
	assert.Equal(t, "duplicate_value number ", told("contact", 409, "dup"))
	assert.Empty(t, told("order", 409, "dup"), "it is of contact")
	assert.Empty(t, told("contact", 400, "dup"))
	assert.Equal(t, "in_use id order", told("article", 500, "used"), "whatever the status")
}

func TestLoadServiceResources(t *testing.T) {
	s := load(t, "testdata/service.yaml")
	contact := s.Resource("contact")
	of := contact.Service
	assert.True(t, contact.Key.Kept && contact.Key.IgnoresCase && !contact.IsShared() && of.PerClient)
	assert.Equal(t, []string{"contact"}, s.KeysWithoutCase())
	assert.Equal(t, []sheet.Spot{at("org.code"), at("nr")}, of.Key)
	assert.Equal(t, at("org.code"), of.Client)
	assert.Equal(t, at("rev"), of.Version)
	assert.Empty(t, contact.ListRequires)

	w := of.Walk
	assert.Equal(t, sheet.Pages{Style: "page", Size: 50, First: 0, Total: at("count")}, w.Paging)
	assert.Equal(t, []string{"page", "size", "fields"}, namesOf(w.Query))
	assert.Equal(t, literal("10"), w.Query[1].Text)
	assert.Equal(t, "5m0s 50ms", w.Every.String()+" "+w.Pause.String())
	assert.Equal(t, at("rows"), w.Result)
	assert.Equal(t, literal("/relations/changed"), w.Since.Path)
	assert.Equal(t, []string{"page", "size", "fields", "after"}, namesOf(w.Since.Query))
	assert.Equal(t, at("next"), w.Since.Cursor)
	assert.Equal(t, at("rows"), w.Since.Result)
	assert.Equal(t, `.state == "D"`, w.Since.Deleted.String())

	assert.Equal(t, sheet.Text{{Literal: "/relations/"}, {Path: sheet.Path{"key", "0"}}, {Literal: "/"}, {Path: sheet.Path{"key", "1"}}}, of.Get.Path)
	assert.Equal(t, "POST PUT POST", of.Create.Method+" "+of.Update.Method+" "+of.Delete.Method)
	assert.True(t, of.Update.Whole && of.Update.Nothing && of.Update.Timeout == 20*time.Second)
	assert.Equal(t, ".body.code == 404", of.Get.NotFound.JQ.String())
	assert.Zero(t, of.Update.NotFound)
	for _, op := range []mapping.Scope{mapping.OpGet, mapping.OpList, mapping.OpCreate, mapping.OpUpdate, mapping.OpDelete} {
		assert.True(t, s.Supports(contact.Resource, op), op)
	}

	article := s.Resource("article")
	assert.Equal(t, sheet.Pages{Style: "cursor", Size: 100, First: 1, Next: at("meta.next"), More: at("meta.more")}, article.Service.Walk.Paging)
	assert.Equal(t, time.Hour, article.Service.Walk.Every)
	assert.Equal(t, ".ids[0]", article.Service.Key[0].String())
	assert.False(t, article.IsShared(), "the log-on names the client")
	assert.False(t, s.Supports(article.Resource, mapping.OpCreate) || s.Supports(article.Resource, mapping.OpDelete))
	assert.True(t, article.Field("price").Readonly)

	order, line := s.Resource("order"), s.Resource("orderline")
	assert.Equal(t, "contact_id contact", order.Through.Name+" "+order.Parent().Name)
	assert.Equal(t, contact, order.Fields[order.Field("contact_id").Index].Target)
	assert.Equal(t, at("lines"), fieldsOf(order)["orderlines"].Elements)
	assert.Equal(t, "PATCH", order.Service.Update.Method)
	assert.False(t, order.Service.Update.Whole)
	assert.Nil(t, line.Service.Walk)
	assert.True(t, s.Supports(line.Resource, mapping.OpList) && s.Supports(line.Resource, mapping.OpGet) && !s.Supports(line.Resource, mapping.OpDelete))
}

func namesOf(named []sheet.Named) (all []string) {
	for _, n := range named {
		all = append(all, n.Name)
	}
	return all
}

func TestLoadServiceFields(t *testing.T) {
	s := load(t, "testdata/service.yaml")
	contact := s.Resource("contact")
	fields := fieldsOf(contact)
	code := func(stored string, shown mapping.Value) sheet.Code {
		return sheet.Code{Stored: stored, Plain: stored != "", Shown: shown}
	}
	place := func(path string) sheet.ServiceField {
		return sheet.ServiceField{Read: at(path), Path: sheet.ParsePath(path), Writable: true}
	}
	assert.Equal(t, place("name"), fields["name"])
	kind := place("type")
	kind.Codes, kind.UnknownIsNull = []sheet.Code{code("P", mapping.TextValue("person")), code("B", mapping.TextValue("company")), code("X", mapping.TextValue("company")), code("", mapping.NullValue())}, true
	assert.Equal(t, kind, fields["kind"])
	customer := place("customer")
	customer.Codes = []sheet.Code{code("true", mapping.IntValue(1)), code("false", mapping.IntValue(0))}
	assert.Equal(t, customer, fields["is_customer"])
	supplier := place("flags.supplier")
	supplier.Codes, supplier.Default = []sheet.Code{code("J", mapping.IntValue(1)), code("N", mapping.IntValue(0))}, mapping.IntValue(0)
	assert.Equal(t, supplier, fields["is_supplier"])
	assert.Equal(t, []string{"0", "-1"}, fields["payment_days"].Nulls)
	assert.True(t, fields["note"].EmptyIsNull && contact.Field("note").Immutable)
	number := fields["number"]
	assert.Equal(t, "if .nr == 0 then null else .nr | tostring end {nr: (. // 0 | tonumber)}", number.Read.String()+" "+number.Write.String())
	assert.True(t, number.Writable && number.Path == nil)
	assert.Equal(t, sheet.KindDate, fields["birth_date"].Kind)
	assert.Equal(t, zoneOf("Europe/Amsterdam"), fields["birth_date"].Zone)
	assert.Equal(t, time.UTC, fields["modified_at"].Zone)
	assert.True(t, s.Writes(contact.Resource, contact.Field("note")) && !s.Writes(contact.Resource, contact.Field("created_at")))
	assert.Equal(t, mapping.IntValue(0), fields["is_blocked"].Constant)
	assert.Equal(t, mapping.IntValue(0), fields["is_archived"].Constant)
	assert.Nil(t, contact.Field("company_number"))
	assert.Equal(t, []string{"person", "company"}, contact.Field("kind").OneOf)
	assert.False(t, contact.Undated)
	assert.True(t, s.Resource("order").Undated)
	for i := range contact.Resource.Fields {
		f := &contact.Resource.Fields[i]
		assert.Zero(t, f.Unfiltered, f.Name)
	}
}

// TestLoadServiceOfTheInterface finds each field at the member of its own name where the sheet
// names none.
func TestLoadServiceOfTheInterface(t *testing.T) {
	s := parse(t, `
format: 2
source: {http: {url: "https://dms.example.nl"}}
rules: backend
client: client_id
accounts: {users: []}
resources:
  contact: {path: /contact, key: id}
  order: {path: /order, key: id}
  orderline: {key: id}
  country: {path: /country, key: id, client: ""}
`)
	order := s.Resource("order")
	fields := fieldsOf(order)
	assert.Equal(t, at("reference"), fields["reference"].Read)
	assert.Equal(t, at("created_at"), fields["created_at"].Read)
	assert.Equal(t, at("orderlines"), fields["orderlines"].Elements)
	assert.Nil(t, order.Field("vehicle_id").Target())
	assert.False(t, s.NeedsKeep())
	assert.Equal(t, sheet.Pages{Style: "none", Size: 100, First: 1}, order.Service.Walk.Paging)
	assert.False(t, order.Service.PerClient)
	assert.Equal(t, order, s.Resource("orderline").Parent())
	assert.Equal(t, []string{"country"}, s.Shared())
}

// TestJQBesideAPath: null at a path is null, and what is absent is absent, whatever jq makes of it.
func TestJQBesideAPath(t *testing.T) {
	s := parse(t, `
format: 2
source: {http: {url: "https://dms.example.nl", jq: "def cents: . * 100;"}}
rules: backend
accounts: {users: []}
resources:
  article:
    path: /a
    key: id
    operations: {only: [get, list, update]}
    fields:
      number: nr
      price:
        path: money.price
        read: ".money.price / 100 # of cents"
        write: "cents # so that they are whole"
`)
	price := fieldsOf(s.Resource("article"))["price"]
	for in, want := range map[string]string{`{"money": {"price": 150}}`: "1.5", `{"money": {"price": null}}`: "null", `{"money": {}}`: "absent", `{}`: "absent", `{"money": 3}`: "absent"} {
		record, err := sheet.ParseJSON(in)
		require.NoError(t, err)
		v, there, err := price.Read.Of(t.Context(), record)
		require.NoError(t, err)
		got := "absent"
		if there {
			text, err := json.Marshal(v)
			require.NoError(t, err)
			got = string(text)
		}
		assert.Equal(t, want, got, in)
	}
	written, err := price.Write.First(t.Context(), 1.5)
	require.NoError(t, err)
	assert.Equal(t, "150", fmt.Sprint(written))
	written, err = price.Write.First(t.Context(), nil)
	require.NoError(t, err)
	assert.Nil(t, written)
	_, err = price.Read.JQ.First(t.Context(), map[string]any{"money": map[string]any{"price": "x"}})
	assert.ErrorContains(t, err, "jq .money.price / 100 # of cents: ")
}

// TestPerClient derives from calls whose the keys are.
func TestPerClient(t *testing.T) {
	s := parse(t, `
format: 2
source: {http: {url: "https://dms.example.nl", jq: "def own: .client.id;"}}
rules: backend
accounts: {users: []}
resources:
  order: {path: /order, key: id, walk: {query: {q: {jq: own}}}}
  orderline: {key: id}
  article: {path: /article, key: id, walk: {query: {q: {jq: '"client"'}}}}
  employee: {key: id, get: {path: "/{client.id}/{key}"}}
  country: {path: /country, key: id, get: {path: "/{client.id}/{key}"}}
`)
	got := map[string]bool{}
	for _, r := range s.Resources {
		got[r.Name] = r.Service.PerClient
	}
	assert.Equal(t, map[string]bool{"order": true, "orderline": true, "article": true, "employee": true, "country": false}, got, "a text may be a name too")
}

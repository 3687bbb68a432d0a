package sheet_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"

	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, src string) *sheet.Sheet {
	t.Helper()
	s, err := sheet.Parse("testdata/inline.yaml", []byte(src), model(t), options)
	require.NoError(t, err)
	return s
}

const withDocuments = `
format: 1
source: {http: {url: "https://dms.example.nl"}}
keep: k.db
client: BEDR
rules: backend
accounts: {users: []}
resources:
  contact:
    operations: {get: {path: "/r/{key}"}, list: {path: /r}, create: {path: /r}, update: {path: "/r/{key}"}, delete: {path: "/r/{key}"}}
    key: {columns: [BEDR, NR]}
    system_client: 0
    fields: {kind: {constant: person}, name: NAAM, note: {cel: "row.A + '/' + string(row.B) + (row.C == null ? '' : '!')"}}
  vehicle:
    operations: {get: {path: "/r/{key}"}, list: {path: /r}, create: {path: /r}, update: {path: "/r/{key}"}, delete: {path: "/r/{key}"}}
    key: {columns: ID}
    fields: {license_plate: KENT, brand: MERK, model: TYPE, mileage: {cel: "row.KM > 9.5 && row.D > timestamp('2020-01-01T00:00:00Z') && size(row.E) == 2 && row.F"}}
  document:
    operations: {get: {path: "/r/{key}"}, list: {path: /r}, create: {path: /r}, update: {path: "/r/{key}"}, delete: {path: "/r/{key}"}}
    key: {columns: GUID, id: kept, generated: uuid}
    shared: true
    fields:
      name: NAAM
      kind: {constant: other}
      resource: {from: SRT, codes: {R: contact, V: vehicle}}
      resource_id: {from: NR, zero: "0"}
  order:
    operations: {get: {path: "/r/{key}"}, list: {path: /r}, create: {path: /r}, update: {path: "/r/{key}"}, delete: {path: "/r/{key}"}}
    key: {columns: ID}
    fields: {contact_id: [ADM, REL], kind: SRT, order_status: ST, order_date: {from: DAT, type: datetime}}
`

func decode(t *testing.T, r *sheet.Resource, given map[string]sheet.Raw, ids sheet.IDs) (mapping.Record, []sheet.KeyRef) {
	t.Helper()
	in := row(t, r, given)
	var refs []sheet.KeyRef
	require.NoError(t, r.Refs(in, branch, func(ref sheet.KeyRef) { refs = append(refs, ref) }))
	rec, ok, err := r.Decode(in, branch, ids)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return rec, refs
}

func TestReferenceOfTheResourceThatAnotherFieldNames(t *testing.T) {
	s := parse(t, withDocuments)
	document := s.Resource("document")
	own, other := sheet.KeyRef{Resource: "document", Key: "a-b"}, sheet.KeyRef{Resource: "contact", Client: 7, Key: "7|12"}
	given := map[string]sheet.Raw{"GUID": text("a-b"), "SRT": text("R"), "NR": number(12)}
	rec, refs := decode(t, document, given, sheet.IDs{own: 3, other: 9})
	if len(refs) != 2 || refs[0] != own || refs[1] != other || rec.Get("resource_id").Int() != 9 || rec.ID() != 3 {
		t.Errorf("refs %v, resource_id %v", refs, rec.Get("resource_id"))
	}
	given["SRT"] = text("V") // whose IDs are the system's own
	if rec, refs = decode(t, document, given, sheet.IDs{own: 3}); len(refs) != 1 || rec.Get("resource_id").Int() != 12 {
		t.Errorf("refs %v, resource_id %v", refs, rec.Get("resource_id"))
	}
	given["SRT"], given["NR"] = text("R"), number(0)
	if rec, refs = decode(t, document, given, sheet.IDs{own: 3}); len(refs) != 1 || rec.Get("resource_id").Kind() != mapping.KindNull {
		t.Errorf("refs %v, resource_id %v", refs, rec.Get("resource_id"))
	}

	rec = mapping.NewRecord(document.Resource)
	rec.Set("resource", mapping.TextValue("contact"))
	rec.Set("resource_id", mapping.IntValue(9))
	var needed []sheet.IDRef
	document.NeedsIDs(rec, func(ref sheet.IDRef) { needed = append(needed, ref) })
	keys := sheet.Keys{{Resource: "contact", ID: 9}: "7|12"}
	got, err := document.Encode(rec, nil, branch, keys, false)
	if err != nil || len(needed) != 1 || assigned(got) != "SRT='R' NR='12'" {
		t.Errorf("needed %v, got %s, %v", needed, assigned(got), err)
	}
	found, err := document.Filter(rec, document.Field("resource_id"), branch, keys)
	if err != nil || alternatives(found) != "NR='12'" {
		t.Errorf("filter %s, %v", alternatives(found), err)
	}
	alone := mapping.NewRecord(document.Resource)
	alone.Set("resource_id", mapping.IntValue(9))
	if _, err := document.Encode(alone, nil, branch, keys, false); err == nil {
		t.Error("an ID of no resource was written")
	}
	before := rec.Clone()
	before.Set("resource_id", mapping.IntValue(8))
	got, err = document.Encode(document.Complete(before, alone), nil, branch, keys, false)
	if err != nil || assigned(got) != "SRT='R' NR='12'" || !alone.Get("resource").IsAbsent() {
		t.Errorf("completed: %s, %v", assigned(got), err)
	}
	if same := document.Complete(rec, alone); !same.IsBlank() {
		t.Errorf("what is not changed is written: %v", same.Values)
	}
	if _, err := document.Filter(alone, document.Field("resource_id"), branch, keys); errorText(err) != "parameters_required: resource" {
		t.Errorf("error = %v", err)
	}
	rec.Set("resource", mapping.TextValue("vehicle"))
	if found, _ = document.Filter(rec, document.Field("resource_id"), branch, nil); alternatives(found) != "NR=9" {
		t.Errorf("filter %s", alternatives(found))
	}
}

func TestReferenceOfSeveralPlaces(t *testing.T) {
	order := parse(t, withDocuments).Resource("order")
	ref := sheet.KeyRef{Resource: "contact", Client: 7, Key: "7|12"}
	rec, refs := decode(t, order, map[string]sheet.Raw{"ID": number(1), "BEDR": number(7), "ADM": number(7), "REL": number(12)}, sheet.IDs{ref: 9})
	if len(refs) != 1 || refs[0] != ref || rec.Get("contact_id").Int() != 9 {
		t.Errorf("refs %v, contact_id %v", refs, rec.Get("contact_id"))
	}
	_, _, err := order.Decode(row(t, order, map[string]sheet.Raw{"ID": number(1), "BEDR": number(7), "ADM": number(7), "REL": number(12)}), branch, nil)
	if errorText(err) != `order.contact_id: no ID was given out for key "7|12" of contact` {
		t.Errorf("error = %v", err)
	}
	patch := mapping.NewRecord(order.Resource)
	patch.Set("contact_id", mapping.IntValue(9))
	got, err := order.Encode(patch, nil, branch, sheet.Keys{{Resource: "contact", ID: 9}: "7|12"}, false)
	if err != nil || assigned(got) != "ADM='7' REL='12'" {
		t.Errorf("got %s, %v", assigned(got), err)
	}
}

func TestSystemRecordsAreEverybodys(t *testing.T) {
	contact := parse(t, withDocuments).Resource("contact")
	given := map[string]sheet.Raw{"BEDR": text("0 "), "NR": number(1), "A": text("a"), "B": number(2)}
	in := row(t, contact, given)
	ref := contact.KeyRef(in, auth.Client{ID: 3})
	rec, ok, err := contact.Decode(in, auth.Client{ID: 3}, sheet.IDs{ref: 5})
	if !ok || err != nil || !rec.Flag(contact.IsSystem) || rec.Get("note").Text() != "a/2" {
		t.Errorf("got %v, %t, %v", rec.Values, ok, err)
	}
	if key := contact.KeyOf(in); len(key) != 2 || key[1] != number(1) {
		t.Errorf("key %v", key)
	}
}

func TestCELSeesEveryKind(t *testing.T) {
	vehicle := parse(t, withDocuments).Resource("vehicle")
	given := map[string]sheet.Raw{
		"ID": number(1), "BEDR": number(7), "KM": decimal("9.75"), "D": {Kind: sheet.RawWall, Int: noon.UnixMilli()},
		"E": {Kind: sheet.RawBytes, Text: "ab"}, "F": {Kind: sheet.RawBool, Int: 1},
	}
	rec, _ := decode(t, vehicle, given, nil)
	if rec.Get("mileage").Int() != 1 {
		t.Errorf("mileage = %v", rec.Get("mileage"))
	}
	given["KM"] = text("many")
	_, _, err := vehicle.Decode(row(t, vehicle, given), branch, nil)
	if errorText(err) != "vehicle.mileage: cel: no such overload" {
		t.Errorf("error = %v", err)
	}
}

const withPaths = `
format: 1
source: {http: {url: "https://x.nl"}}
rules: backend
accounts: {users: []}
resources:
  contact:
    key: {columns: id}
    hidden: has(row.meta.deleted) && row.meta.deleted
    operations:
      get: {path: "/c/{key}"}
      create: {path: /c, body: '{"tags": ["{value.language}", {value.payment_days}, "x"], "all": {fields}, "none": null, "deep": [{"a": "{idempotency_key}"}]}'}
    fields:
      kind: {cel: "row.type.code in ['p', 'q'] ? 'person' : 'company'", set: {type.code: "value == 'person' ? 'p' : 'c'", type.weight: "1.5", type.real: "value == 'person'", type.none: "null"}}
      name: {cel: "row['full.name'] + row.parts.first", set: {full.name: value}}
      language: lang
      payment_days: terms
      birth_date: {cel: "row.born == 0 ? null : timestamp(row.born)", set: {born: "value == null ? 0 : int(value)"}}
      is_customer: {cel: "row.n > 1u"}
`

func TestCELOverPaths(t *testing.T) {
	contact := parse(t, withPaths).Resource("contact")
	given := map[string]sheet.Raw{
		"id": number(1), "type.code": text("q"), "full.name": text("De "), "parts.first": text("Wit"), "born": number(1782900000),
		"n": number(2), "meta.deleted": {},
	}
	rec, ok, err := contact.Decode(row(t, contact, given), branch, nil)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if rec.Get("kind").Text() != "person" || rec.Get("name").Text() != "De Wit" || !rec.Get("birth_date").Time().Equal(time.Unix(1782900000, 0)) || rec.Get("is_customer").Int() != 1 {
		t.Errorf("got %v", rec.Values)
	}
	given["meta.deleted"] = sheet.Raw{Kind: sheet.RawBool, Int: 1}
	if _, ok, err := contact.Decode(row(t, contact, given), branch, nil); ok || err != nil {
		t.Errorf("a hidden record: %t, %v", ok, err)
	}
	rec = mapping.NewRecord(contact.Resource)
	rec.Set("kind", mapping.TextValue("person"))
	rec.Set("language", mapping.NullValue())
	rec.Set("birth_date", mapping.TimeValue(noon))
	got, err := contact.Encode(rec, nil, branch, nil, true)
	if err != nil || assigned(got) != "type.code='p' type.weight=1.5 type.real=true type.none=∅ lang=∅ born=1782900000" {
		t.Errorf("got %s, %v", assigned(got), err)
	}
	call := build(t, contact.Operations[mapping.OpCreate].Request, values(map[string]sheet.Raw{"value.language": null()}, got...))
	const want = `{"tags":[null,"x"],"all":{"type":{"code":"p","weight":1.5,"real":true,"none":null},"lang":null,"born":1782900000},"none":null,"deep":[{}]}`
	if string(call.Body) != want {
		t.Errorf("body %s", call.Body)
	}
	twice := append(got, sheet.Assignment{Place: "lang.code", Value: text("x")})
	if _, err := contact.Operations[mapping.OpCreate].Request.Build(values(nil, twice...)); errorText(err) != "lang.code is written below a value" {
		t.Errorf("error = %v", err)
	}
}

func TestTranslateHTTP(t *testing.T) {
	s := load(t, "testdata/cloud.yaml")
	contact := s.Resource("contact")
	rec := mapping.NewRecord(contact.Resource)
	rec.Set("name", mapping.TextValue("De Wit"))
	answer := func(status int, body string, given map[string]string) sheet.Failure {
		return sheet.Failure{Status: status, Body: []byte(body), At: func(path string) string { return given[path] }}
	}
	for _, c := range []struct {
		f    sheet.Failure
		op   mapping.Scope
		want string
	}{
		{answer(409, "", map[string]string{"error.code": "DUPLICATE", "error.field": "lastName", "error.value": "Wit"}), mapping.OpCreate, "duplicate_value: name, Wit"},
		{answer(409, "", map[string]string{"error.code": "DUPLICATE", "error.field": "first"}), mapping.OpCreate, ""},
		{answer(422, "it is too long", map[string]string{"error.field": "lastName"}), mapping.OpCreate, "varchar_too_long: name, 6, 100"},
		{answer(422, "it is bad", nil), mapping.OpCreate, ""},
		{answer(418, "", map[string]string{"error.code": "IN_USE"}), mapping.OpDelete, "in_use: id, order"},
		{answer(518, "", map[string]string{"error.code": "IN_USE"}), mapping.OpDelete, ""},
	} {
		got := ""
		if e := s.Errors.Translate(c.f, sheet.Attempt{Resource: contact, Op: c.op, Record: rec, ID: 4}); e != nil {
			got = e.Error()
		}
		if got != c.want {
			t.Errorf("%d %s: %q, want %q", c.f.Status, c.f.Body, got, c.want)
		}
	}
}

// TestEveryRaisableReasonIsWorded gives every reason all that it may need, and
// wants each to fill its message.
func TestEveryRaisableReasonIsWorded(t *testing.T) {
	catalogue := mapping.NewCatalogue()
	for _, reason := range sheet.Raisable() {
		src := "format: 2\nsource: {sql: {engine: sqlite, dsn: x}}\nrules: backend\naccounts: {users: []}\nerrors:\n  - {when: {code: 1}, reason: " + string(reason)
		if sheet.NamesField(reason) {
			src += ", field: delivery_date"
		}
		if reason == mapping.InUse {
			src += ", at: order"
		}
		src += "}\nresources:\n  order:\n    table: O\n    key: {columns: ID}\n    fields: {contact_id: A, kind: B, order_status: C, order_date: D, delivery_date: E}\n"
		if reason == mapping.VarcharTooLong || reason == mapping.TextTooLong {
			src = replace(replace(src, "field: delivery_date", "field: reference"), "kind: B", "kind: B, reference: F")
		}
		if reason == mapping.ValidationFailed {
			src = replace(src, "field: delivery_date", "field: kind")
		}
		s := parse(t, src)
		order := s.Resource("order")
		e := s.Errors.Translate(sheet.Failure{Code: "1"}, sheet.Attempt{Resource: order, Op: mapping.OpUpdate, Record: mapping.NewRecord(order.Resource), ID: 4})
		if e == nil {
			if own := sheet.OwnField(reason); own == "" || order.Field(own) != nil { // else it is of another resource
				t.Errorf("%s is not worded", reason)
			}
			continue
		}
		entry := catalogue.Lookup(reason, mapping.OpUpdate)
		if n := count(entry.Message, "<x>"); n != len(e.Args) {
			t.Errorf("%s: %q with %q", reason, entry.Message, e.Args)
		}
	}
}

// TestExpressionReadsInAStruct: what a struct of an expression is made of is read, too.
func TestExpressionReadsInAStruct(t *testing.T) {
	src := strings.Replace(withDocuments, "{from: DAT, type: datetime}", "{cel: \"google.protobuf.Timestamp{seconds: row.SEC}\"}", 1)
	order := parse(t, src).Resource("order")
	rec, _ := decode(t, order, map[string]sheet.Raw{"ID": number(1), "BEDR": number(7), "SEC": number(86400)}, nil)
	if got := rec.Get("order_date").Time(); !got.Equal(time.Unix(86400, 0)) {
		t.Errorf("order_date is %s", got)
	}
}

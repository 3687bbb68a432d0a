package sheet_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

var branch = auth.Client{ID: 7, Name: "Garage De Wit"}

func text(s string) sheet.Raw    { return sheet.Raw{Kind: sheet.RawText, Text: s} }
func number(n int64) sheet.Raw   { return sheet.Raw{Kind: sheet.RawInt, Int: n} }
func null() sheet.Raw            { return sheet.Raw{Kind: sheet.RawNull} }
func decimal(s string) sheet.Raw { return sheet.Raw{Kind: sheet.RawNumber, Text: s} }

// row makes a row of r's places, those not given being null.
func row(t testing.TB, r *sheet.Resource, given map[string]sheet.Raw) []sheet.Raw {
	t.Helper()
	out := make([]sheet.Raw, len(r.Places))
	found := 0
	for i, p := range r.Places {
		out[i] = null()
		if raw, ok := given[p.Name]; ok {
			out[i] = raw
			found++
		}
	}
	if found != len(given) {
		t.Fatalf("%s has places %v, given were %v", r.Name, r.Places, given)
	}
	return out
}

var wit = map[string]sheet.Raw{
	"BEDRNR": number(7), "RELNR": number(1042), "SRT": text("B"), "NAAM": text("De Wit   "), "VNAAM": text(""),
	"VRLT": text("          "), "BTWNR": text("NL123456782B90"), "TAAL": text("Q"), "GEBDAT": text("00000000"),
	"BETTRM": number(14), "KLANT": text("J"), "LEVER": text("N"), "STATUS": text("B"),
	"AANDAT": text("20260331"), "AANTIJD": text("143000"), "WIJDAT": text("20260101"), "WIJTIJD": text("000000"), "MUTNR": number(3),
}

func TestDecodeDealer(t *testing.T) {
	s := load(t, "testdata/dealer.yaml")
	r := s.Resource("contact")
	in := row(t, r, wit)
	var refs []sheet.KeyRef
	require.NoError(t, r.Refs(in, branch, func(ref sheet.KeyRef) { refs = append(refs, ref) }))
	want := sheet.KeyRef{Resource: "contact", Client: 7, Key: "7|1042"}
	if len(refs) != 1 || refs[0] != want {
		t.Fatalf("refs = %v", refs)
	}
	rec, ok, err := r.Decode(in, branch, sheet.IDs{want: 55})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	got := string(rec.AppendJSON(nil, r.RecordFields()))
	const expected = `{"id":55,"number":"1042","kind":"company","name":"De Wit","first_name":"","infix":null,"initials":null,` +
		`"vat_number":"NL123456782B90","language":null,"birth_date":null,"payment_days":14,"is_customer":1,"is_supplier":0,"note":null,` +
		`"is_system":0,"is_blocked":1,"is_archived":0,"created_at":"2026-03-31T12:30:00.000Z","modified_at":"2025-12-31T23:00:00.000Z"}`
	assert.Empty(t, cmp.Diff(expected, got), "record (-want +got)")
}

func TestDecodeShowsOnlyTheClientsOwn(t *testing.T) {
	s := load(t, "testdata/dealer.yaml")
	r := s.Resource("contact")
	_, ok, err := r.Decode(row(t, r, wit), auth.Client{ID: 8}, nil)
	if ok || err != nil {
		t.Errorf("another client's record: %t, %v", ok, err)
	}
	if err := r.Refs(row(t, r, wit), auth.Client{ID: 8}, func(ref sheet.KeyRef) { t.Errorf("ref %v", ref) }); err != nil {
		t.Error(err)
	}
	vehicle := s.Resource("vehicle")
	gone := map[string]sheet.Raw{"BEDRNR": number(7), "VTGID": number(3), "WISDAT": text("20250101")}
	if _, ok, err := vehicle.Decode(row(t, vehicle, gone), branch, nil); ok || err != nil {
		t.Errorf("a hidden record: %t, %v", ok, err)
	}
}

func TestDecodeTellsWhatDoesNotFit(t *testing.T) {
	s := load(t, "testdata/dealer.yaml")
	r := s.Resource("contact")
	for place, c := range map[string]struct {
		raw  sheet.Raw
		want string
	}{
		"GEBDAT": {text("19841301"), `contact.birth_date: GEBDAT has "19841301": does not have the format`},
		"KLANT":  {text("X"), `contact.is_customer: KLANT has "X": not in the code list`},
		"BETTRM": {number(1 << 40), `contact.payment_days: BETTRM has "1099511627776": beyond int4`},
		"NAAM":   {sheet.Raw{Kind: sheet.RawTime}, ""},
		"VNAAM":  {text("J\xf6rg"), ""},
		"TUSV":   {text("\xff"), `contact.infix: TUSV has "�": not valid UTF-8, its charset is needed`},
		"MUTNR":  {text("x"), ""},
	} {
		given := map[string]sheet.Raw{}
		for k, v := range wit {
			given[k] = v
		}
		given[place] = c.raw
		_, _, err := r.Decode(row(t, r, given), branch, sheet.IDs{{Resource: "contact", Client: 7, Key: "7|1042"}: 55})
		if got := errorText(err); got != c.want {
			t.Errorf("%s: error = %q, want %q", place, got, c.want)
		}
	}
	long := row(t, r, wit)
	for i, p := range r.Places {
		if p.Name == "GEBDAT" {
			long[i] = text(strings.Repeat("9", 500))
		}
	}
	if _, _, err := r.Decode(long, branch, sheet.IDs{{Resource: "contact", Client: 7, Key: "7|1042"}: 55}); len(errorText(err)) > 150 {
		t.Errorf("an error shows too much: %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// assigned shows assignments as place=value, null as ∅.
func assigned(as []sheet.Assignment) string {
	var parts []string
	for _, a := range as {
		value := a.Value.String()
		switch a.Value.Kind {
		case sheet.RawNull:
			value = "∅"
		case sheet.RawText:
			value = "'" + value + "'"
		}
		parts = append(parts, a.Place+"="+value)
	}
	return strings.Join(parts, " ")
}

func TestEncodeDealer(t *testing.T) {
	s := load(t, "testdata/dealer.yaml")
	r := s.Resource("contact")
	rec := mapping.NewRecord(r.Resource)
	rec.Set("kind", mapping.TextValue("person"))
	rec.Set("name", mapping.TextValue("Müller"))
	rec.Set("initials", mapping.TextValue("j.f."))
	rec.Set("infix", mapping.NullValue())
	rec.Set("birth_date", mapping.TimeValue(noon))
	rec.Set("is_customer", mapping.IntValue(1))
	rec.Set("is_blocked", mapping.IntValue(1))
	got, err := r.Encode(rec, nil, branch, nil, true)
	require.NoError(t, err)
	const create = `BEDRNR=7 VERVALLEN='N' TELNR='' SRT='P' NAAM='Müller' TUSV=∅ VRLT='J.F.      ' GEBDAT='20260701' BETTRM=14 KLANT='J' STATUS='B' ` +
		`AANDAT='20260701' AANTIJD='120000' WIJDAT='20260701' WIJTIJD='120000'`
	assert.Empty(t, cmp.Diff(create, assigned(got)), "create (-want +got)")
	patch := mapping.NewRecord(r.Resource)
	patch.Set("birth_date", mapping.NullValue())
	got, err = r.Encode(patch, nil, branch, nil, false)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(`GEBDAT='00000000' WIJDAT='20260701' WIJTIJD='120000'`, assigned(got)), "update (-want +got)")
	assert.Empty(t, cmp.Diff(`VERVALLEN='J' WIJDAT='20260701'`, assigned(r.SoftDelete())), "delete (-want +got)")
}

func TestEncodeRefusesWhatTheSystemCannotHave(t *testing.T) {
	s := load(t, "testdata/dealer.yaml")
	contact, order := s.Resource("contact"), s.Resource("order")
	rec := mapping.NewRecord(contact.Resource)
	rec.Set("name", mapping.TextValue("Łukasz"))
	_, err := contact.Encode(rec, nil, branch, nil, false)
	if errorText(err) != "varchar_invalid: name, Łukasz" {
		t.Errorf("error = %v", err)
	}
	rec = mapping.NewRecord(order.Resource)
	rec.Set("contact_id", mapping.IntValue(55))
	rec.Set("vehicle_id", mapping.IntValue(3))
	var needed []sheet.IDRef
	order.NeedsIDs(rec, func(ref sheet.IDRef) { needed = append(needed, ref) })
	if len(needed) != 1 || needed[0] != (sheet.IDRef{Resource: "contact", ID: 55}) {
		t.Errorf("needed = %v", needed)
	}
	if _, err = order.Encode(rec, nil, branch, nil, true); errorText(err) != "related_id_not_found: contact_id, 55" {
		t.Errorf("error = %v", err)
	}
	got, err := order.Encode(rec, nil, branch, sheet.Keys{needed[0]: "7|1042"}, false)
	if err != nil || assigned(got) != "RELNR='1042' VTGID=3" {
		t.Errorf("got %s, %v", assigned(got), err)
	}
}

func TestFilterDealer(t *testing.T) {
	s := load(t, "testdata/dealer.yaml")
	contact, order, vehicle := s.Resource("contact"), s.Resource("order"), s.Resource("vehicle")
	keys := sheet.Keys{{Resource: "contact", ID: 55}: "7|1042", {Resource: "order", ID: 9}: "7|300"}
	for _, c := range []struct {
		r     *sheet.Resource
		field string
		v     mapping.Value
		want  string
	}{
		{contact, "name", mapping.TextValue("Wit"), "NAAM='Wit'"},
		{contact, "is_customer", mapping.IntValue(1), "KLANT='J'"},
		{contact, "is_archived", mapping.IntValue(0), "always"},
		{contact, "is_archived", mapping.IntValue(1), "never"},
		{contact, "initials", mapping.TextValue("J."), "VRLT='J.        ' or VRLT='J.'"},
		{contact, "birth_date", mapping.TimeValue(noon), "never"},
		{contact, "birth_date", mapping.NullValue(), "GEBDAT=∅ or GEBDAT='00000000'"},
		{contact, "modified_at", mapping.TimeValue(noon), "WIJDAT='20260701' and WIJTIJD='120000'"},
		{order, "contact_id", mapping.IntValue(55), "RELNR='1042'"},
		{order, "contact_id", mapping.IntValue(56), "never"},
		{order, "id", mapping.IntValue(9), "BEDRNR='7' and ORDNR='300'"},
		{order, "vehicle_id", mapping.IntValue(3), "VTGID=3"},
		{vehicle, "id", mapping.IntValue(3), "VTGID=3"},
		{vehicle, "purchase_price", mapping.DecimalValue(1250, 2), "INKPR=1250"},
	} {
		q := mapping.NewRecord(c.r.Resource)
		q.Set(c.field, c.v)
		got, err := c.r.Filter(q, c.r.Field(c.field), branch, keys)
		require.NoError(t, err)
		if text := alternatives(got); text != c.want {
			t.Errorf("%s.%s = %s: %s, want %s", c.r.Name, c.field, c.v, text, c.want)
		}
	}
	if bounds, ok := contact.Since(mapping.TimeValue(noon)); !ok || assigned(bounds) != "WIJDAT='20260701' WIJTIJD='120000'" {
		t.Errorf("since %s, %t", assigned(bounds), ok)
	}
	if _, ok := order.Since(mapping.TimeValue(noon)); ok {
		t.Error("order has no modified_at, but bounds")
	}
}

func alternatives(all [][]sheet.Assignment) string {
	if len(all) == 0 {
		return "never"
	}
	var parts []string
	for _, one := range all {
		if len(one) == 0 {
			return "always"
		}
		parts = append(parts, strings.ReplaceAll(assigned(one), " "+one[len(one)-1].Place+"=", " and "+one[len(one)-1].Place+"="))
	}
	return strings.Join(parts, " or ")
}

func TestTranslate(t *testing.T) {
	s := load(t, "testdata/dealer.yaml")
	contact, order := s.Resource("contact"), s.Resource("order")
	rec := mapping.NewRecord(contact.Resource)
	rec.Set("name", mapping.TextValue("De Wit"))
	inOrder := mapping.NewRecord(order.Resource)
	inOrder.Set("order_status", mapping.TextValue("invoiced"))
	code := func(text string) func(string) string { return func(string) string { return text } }
	for _, c := range []struct {
		f    sheet.Failure
		a    sheet.Attempt
		want string
	}{
		{sheet.Failure{Status: 409, At: code("UQ_REL_NAAM")}, sheet.Attempt{Resource: contact, Record: rec}, "duplicate_value: name, De Wit"},
		{sheet.Failure{Status: 409, At: code("UQ_REL_NAAM")}, sheet.Attempt{Resource: order, Record: inOrder}, ""},
		{sheet.Failure{Status: 422, Body: []byte("DLR-0012 NAAM is fout")}, sheet.Attempt{Resource: contact, Record: rec}, "varchar_invalid: name, De Wit"},
		{sheet.Failure{Status: 422, Body: []byte("DLR-0012 SRT is fout")}, sheet.Attempt{Resource: contact, Record: rec}, ""},
		{sheet.Failure{Status: 422, Body: []byte("DLR-0042")}, sheet.Attempt{Resource: order, Op: mapping.OpUpdate, Record: inOrder}, "status_forbids_change: order_status, invoiced"},
		{sheet.Failure{Status: 422, Body: []byte("DLR-0042")}, sheet.Attempt{Resource: order, Op: mapping.OpCreate, Record: inOrder}, ""},
		{sheet.Failure{Status: 503}, sheet.Attempt{Resource: contact, Record: rec}, ""},
	} {
		e := s.Errors.Translate(c.f, c.a)
		got := ""
		if e != nil {
			got = e.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
	}
}

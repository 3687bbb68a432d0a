package sheet_test

import (
	"testing"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func plainRow(b testing.TB, r *sheet.Resource) []sheet.Raw {
	return row(b, r, map[string]sheet.Raw{
		"id": number(17), "number": text("C000017"), "kind": text("P"), "name": text("Vries   "), "first_name": text("Sanne"), "infix": text("de"),
		"initials": text("S.M."), "company_number": null(), "vat_number": null(), "language": text("nl"), "birth_date": text("19840314"),
		"payment_days": number(14), "is_customer": text("J"), "is_supplier": text("N"), "note": text("Belt altijd terug"), "blocked": number(0),
		"archived": number(0), "created_at": {Kind: sheet.RawTime, Int: 1782900000000}, "modified_at": {Kind: sheet.RawTime, Int: 1782900000000},
	})
}

func BenchmarkDecode(b *testing.B) {
	r := load(b, "testdata/plain.yaml").Resource("contact")
	in := plainRow(b, r)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := r.Decode(in, branch, nil); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	r := load(b, "testdata/plain.yaml").Resource("contact")
	rec, _, err := r.Decode(plainRow(b, r), branch, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Encode(rec, nil, branch, nil, true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	r := load(b, "testdata/cloud.yaml").Resource("contact")
	rec := mapping.NewRecord(r.Resource)
	rec.Set("kind", mapping.TextValue("company"))
	rec.Set("name", mapping.TextValue("De Wit"))
	rec.Set("payment_days", mapping.IntValue(30))
	fields, err := r.Encode(rec, nil, branch, nil, true)
	if err != nil {
		b.Fatal(err)
	}
	request := r.Operations[mapping.OpCreate].Request
	b.ReportAllocs()
	for b.Loop() {
		if _, err := request.Build(sheet.Values{Fields: fields}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDecodeAllocates holds the plain path to one allocation, the record.
func TestDecodeAllocates(t *testing.T) {
	r := load(t, "testdata/plain.yaml").Resource("contact")
	in := plainRow(t, r)
	if n := testing.AllocsPerRun(100, func() { _, _, _ = r.Decode(in, branch, nil) }); n > 1 {
		t.Errorf("Decode allocates %.0f times, want once", n)
	}
}

package sheet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping/sheet"
)

// TestCodeOrder: a database that sorts by the codes themselves gives the order of what they
// stand for, or there are ranks.
func TestCodeOrder(t *testing.T) {
	for field, want := range map[string][][]string{
		`{from: C, codes: {A: company, B: person}}`:                        nil,
		`{from: C, codes: {A: person, B: company}}`:                        {nil, {"B"}, {"A"}},
		`{from: C, type: integer, codes: {"9": company, "10": person}}`:    nil,
		`{from: C, type: decimal, codes: {"9": company, "10": person}}`:    nil,
		`{from: C, type: decimal, codes: {"9": person, "10": company}}`:    {nil, {"10"}, {"9"}},
		`{from: C, type: decimal, codes: {"-9": company, "-10": person}}`:  {nil, {"-9"}, {"-10"}},
		`{from: C, type: decimal, codes: {"1e1": person, "9.5": company}}`: nil,
		`{from: C, codes: {A: company, B: person}, unknown: "null"}`:       {nil, {"A"}, {"B"}},
		`{from: C, codes: {A: company, B: company, C: person}}`:            {nil, {"A", "B"}, {"C"}}, // by name, say, among all companies
		`{from: C, codes: {A: company, B: person}, zero: Z}`:               {{"Z"}, {"A"}, {"B"}},
		`{from: C, codes: {A: company, B: person}, zero: B}`:               nil, // the list comes first
		`{from: C, codes: {A: company, B: person}, empty: "null"}`:         {{""}, {"A"}, {"B"}},
		`{from: C, codes: {A: company, "": person}, empty: "null"}`:        {nil, {"A"}, {""}}, // the list comes first
	} {
		s, err := sheet.Parse("a.yaml", []byte(`
format: 1
source: {sql: {engine: sqlite, dsn: "file:a.db"}}
time_zone: Europe/Amsterdam
client: ""
accounts: {users: []}
resources:
  contact:
    table: T
    key: {columns: ID}
    operations: {only: [get, list]}
    fields: {name: N, kind: `+field+`}
`), model(t), options)
		require.NoError(t, err)
		kind := s.Model.Resource("contact").Field("kind")
		ranks, unknown := s.Resource("contact").Fields[kind.Index].CodeOrder(true)
		var got [][]string
		for _, codes := range ranks {
			var texts []string
			for _, code := range codes {
				texts = append(texts, code.String())
			}
			got = append(got, texts)
		}
		if diff := cmp.Diff(want, got); diff != "" || unknown != 0 {
			t.Errorf("%s: unknown ones at %d, ranks (-want +got):\n%s", field, unknown, diff)
		}
	}
}

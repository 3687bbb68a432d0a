package sheet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

const wordsSheet = `format: 1
source: {sql: {engine: postgres, dsn: x}}
keep: keep.db
client: BEDRNR
accounts: {table: GEBR, columns: {username: LOGIN, password: WW, email: EMAIL, client_id: BEDRNR, client_name: NAAM}, hash: [bcrypt]}
resources:
  contact:
    table: REL
    key: {columns: [BEDRNR, RELNR, VOLG], generated: max+1}
    constants: {BRON: web, VOLG: 1}
    fields:
      kind: {from: SRT, codes: {P: person, B: company}, unknown: "null"}
      name: {from: NAAM, trim: right, charset: latin1, length: 40}
      birth_date: {from: GEBDAT, format: yyyyMMdd, zero: ["00000000", "19560000"]}
      payment_days: {from: BETTRM, null_as: 14}
      note: {from: NOTA, zero: ["", "-"]}
      infix: {from: TUSV, zero: ""}
      is_blocked: {constant: 0}
      is_archived: {sql: "1"}
      modified_at: {from: WIJZ, time_zone: UTC}
      created_at: {from: AANDAT, time_from: AANTIJD, format: yyyyMMdd, stamp: create, time_zone: America/New_York}
  article:
    table: ART
    key: {columns: ARTID}
    client: ""
    fields:
      number: ARTNR
      description: OMS
      article_kind: {from: SRT, codes: {O: part}}
      unit_type: {from: EENH, codes: {ST: piece}}
      turnover_group_id: {from: OGRP, type: text}
      price: {from: VKPR, decimals: 2}
      supplier_id: [BEDRNR, LEVNR, LVOLG]
      modified_at: {from: STAND, type: timestamp}
      created_at: {from: AAN, format: "dd.MM.yyyy HH'h'mmX"}
`

func wordsOf(t *testing.T) *Sheet {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	s, err := Parse("sheet.yaml", []byte(wordsSheet), model, Options{})
	require.NoError(t, err)
	return s
}

func TestTraits(t *testing.T) {
	s := wordsOf(t)
	of := func(resource, field string) Traits {
		r := s.Resource(resource)
		return r.Fields[r.Field(field).Index].Traits()
	}
	require.Equal(t, Traits{System: "text", Placed: true, Codes: []string{"B", "P"}, Unknown: "null", Filled: true}, of("contact", "kind"))
	require.Equal(t, Traits{System: "text", Placed: true, Narrow: true, Filled: true}, of("contact", "name"))
	require.True(t, of("contact", "birth_date").Null)
	require.True(t, of("contact", "is_blocked").Fixed)
	require.True(t, of("contact", "created_at").Filled)
	require.True(t, of("article", "supplier_id").Reference)
	require.Equal(t, []string{"BRON", "VOLG"}, s.Resource("contact").Constants())
}

func TestUnfit(t *testing.T) {
	r := wordsOf(t).Resource("contact")
	row := make([]Raw, len(r.Places))
	for i, p := range r.Places {
		row[i] = map[string]Raw{
			"SRT": textRaw("Q"), "NAAM": textRaw("Jansen"), "GEBDAT": textRaw("19561301"), "BETTRM": textRaw("veertien"), "AANDAT": textRaw("20240102"), "AANTIJD": textRaw("101500"),
		}[p.Name]
	}
	var found []string
	for _, u := range r.Unfit(row) {
		found = append(found, u.Field.Name+" "+u.Value.Text+": "+u.Why)
	}
	require.Equal(t, []string{"birth_date 19561301: does not have the format", "payment_days veertien: not a whole number"}, found)
	require.True(t, r.IsNull(&r.Fields[r.Field("kind").Index], row))
	require.False(t, r.IsNull(&r.Fields[r.Field("name").Index], row))
}

func TestOutline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sheet.yaml")
	require.NoError(t, os.WriteFile(path, []byte(wordsSheet), 0o600))
	doc, err := Outline(path)
	require.NoError(t, err)
	at := doc.At("resources.contact.fields.birth_date")
	require.Equal(t, []any{path, 14, 19}, []any{at.File, at.Line, at.Column})
	_, err = Outline(path + ".none")
	require.ErrorIs(t, err, os.ErrNotExist)
}

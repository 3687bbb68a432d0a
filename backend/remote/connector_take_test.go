package remote

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// fieldsSheet has fields in all the forms that a service has them in.
const fieldsSheet = `
time_zone: Europe/Amsterdam
client: {read: .org.nr}
resources:
  turnovergroup:
    path: /groups
    key: {path: id, id: kept}
    client: ""
    operations: {only: [get, list]}
    fields: {code: code, description: text, vat_kind: {constant: high}, ledger_account: {constant: x}}
  contact:
    path: /contacts
    key: {path: id, id: kept}
    system_client: all
    operations: {only: [get, list]}
    walk: {result: items, paging: {style: none}}
    select: .gone | not
    fields:
      kind: {path: type, codes: {P: person, B: company, 7: company}}
      name: name
      number: nr
      payment_days: {path: days, zero: ["0", "-1"]}
      is_customer: customer
      is_supplier: {path: supplier, codes: {true: 1, false: 0}}
      note: {path: memo, empty: "null"}
      birth_date: {path: born, type: date}
      language: {path: lang, codes: {NLD: nl, ENU: en}, unknown: "null", empty: "null"}
      first_name: {read: ".names | values | join(\" \")", readonly: true}
      created_at: {path: created, type: epoch, readonly: true}
      modified_at: {path: changed, type: datetime, readonly: true}
  article:
    path: /parts
    key: {path: id, id: kept}
    operations: {only: [get, list]}
    walk: {result: items, paging: {style: none}}
    fields:
      number: nr
      description: title
      article_kind: {constant: part}
      unit_type: {constant: piece}
      turnover_group_id: {path: grp.id, zero: "0"}
      price: {path: price, read: ".price / 100", write: ". * 100"}
      purchase_price: cost
`

func TestTake(t *testing.T) {
	s := &desk{}
	c := speaking(t, fieldsSheet, s)
	contact := func(change func(object)) object {
		rec := object{"id": "A", "org": object{"nr": 1}, "type": "P", "name": "Anna", "nr": 12, "days": 30, "customer": true, "supplier": false, "memo": "x", "born": "2026-07-01",
			"lang": "NLD", "names": []any{"a", "b"}, "created": 1782900000.5, "changed": "2026-07-01 12:00:00", "gone": false}
		change(rec)
		return rec
	}
	for name, test := range map[string]struct {
		change func(object)
		shows  string // of the record, or of the error
		absent int
	}{
		"as it is": {func(object) {}, `"number":"12","kind":"person","name":"Anna","first_name":"a b","language":"nl","birth_date":"2026-06-30T22:00:00.000Z","payment_days":30,"is_customer":1,"is_supplier":0,"note":"x","is_system":0,"is_blocked":0,"is_archived":0,"created_at":"2026-07-01T10:00:00.500Z","modified_at":"2026-07-01T10:00:00.000Z"`, 0},
		"nothing said": {func(rec object) {
			for member := range rec {
				if member != "id" && member != "org" && member != "type" {
					delete(rec, member)
				}
			}
		}, `"number":null,"kind":"person","name":null,"first_name":null,"language":null,"birth_date":null,"payment_days":null,"is_customer":null,"is_supplier":null,"note":null`, 11},
		"nulls": {func(rec object) {
			rec["memo"], rec["days"], rec["lang"], rec["born"], rec["nr"], rec["customer"] = "", 0, "", nil, nil, nil
		}, `"number":null,"kind":"person","name":"Anna","first_name":"a b","language":null,"birth_date":null,"payment_days":null,"is_customer":null,"is_supplier":0,"note":null`, 0},
		"other nulls":              {func(rec object) { rec["days"], rec["lang"] = "-1", "XXX" }, `"language":null,"birth_date":"2026-06-30T22:00:00.000Z","payment_days":null`, 0},
		"numbers in texts":         {func(rec object) { rec["days"], rec["type"], rec["created"] = " 30.0 ", 7.0, "1782900000.5" }, `"kind":"company"`, 0},
		"a day of a moment":        {func(rec object) { rec["born"] = "2026-06-30T23:30:00Z" }, `"birth_date":"2026-06-30T22:00:00.000Z"`, 0},
		"a moment with its zone":   {func(rec object) { rec["changed"] = "2026-07-01T12:00:00.123456+05:30" }, `"modified_at":"2026-07-01T06:30:00.123Z"`, 0},
		"an unknown code":          {func(rec object) { rec["type"] = "X" }, `!contact.kind: type has "X": not in the code list`, 0},
		"no number":                {func(rec object) { rec["days"] = "soon" }, `!contact.payment_days: days has "soon": not a whole number`, 0},
		"half a day":               {func(rec object) { rec["days"] = 1.5 }, `!contact.payment_days: days has "1.5": not a whole number`, 0},
		"beyond int4":              {func(rec object) { rec["days"] = 1e10 }, `!contact.payment_days: days has "10000000000": beyond int4`, 0},
		"a list":                   {func(rec object) { rec["name"] = []any{"Anna"} }, `!contact.name: name has a list or an object: not a value`, 0},
		"a long text":              {func(rec object) { rec["days"] = "0123456789012345678901234567890123456789X" }, `!contact.payment_days: days has "0123456789012345678901234567890123456789"…: not a whole number`, 0},
		"no date":                  {func(rec object) { rec["changed"] = "01-07-2026" }, `!contact.modified_at: changed has "01-07-2026": not a date in ISO 8601`, 0},
		"a NUL":                    {func(rec object) { rec["name"] = "a\x00" }, `!a NUL in a text`, 0},
		"jq that fails":            {func(rec object) { rec["names"] = 7 }, `!contact.first_name: jq`, 0},
		"a client that is no such": {func(rec object) { rec["org"] = object{"nr": "01"} }, `!contact.client: .org.nr has what is no number`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s.of = map[string][]object{"contacts": {contact(test.change)}}
			all, err := c.walked(bg(), "contact", auth.Client{})
			require.NoError(t, err)
			require.Len(t, all, 1)
			require.NotZero(t, all[0].rec.ID())
			if why, fails := test.shows[1:], test.shows[0] == '!'; fails {
				require.ErrorContains(t, all[0].err, why)
				require.ErrorIs(t, all[0].err, backend.ErrUnexpected)
				return
			}
			require.NoError(t, all[0].err)
			require.Contains(t, string(all[0].rec.AppendJSON(nil, all[0].rec.Resource.ListFields())), test.shows)
			require.Len(t, all[0].absent, test.absent)
			require.Equal(t, int64(1), all[0].client)
			require.Positive(t, all[0].rec.Version)
			require.Equal(t, `A`, c.keyOf(all[0]))
		})
	}
}

// TestTakeWhose: records of all, those that are hidden, and those that belong to nobody.
func TestTakeWhose(t *testing.T) {
	s := &desk{of: map[string][]object{"contacts": {
		{"id": "A", "org": object{"nr": "all"}, "type": "P", "name": "All", "gone": false}, {"id": "B", "org": object{"nr": 2}, "type": "P", "name": "Two", "gone": true},
	}}}
	c := speaking(t, fieldsSheet, s)
	all, err := c.walked(bg(), "contact", auth.Client{})
	require.NoError(t, err)
	require.Zero(t, all[0].client)
	require.Equal(t, int64(1), all[0].rec.Get("is_system").Int())
	require.True(t, all[1].hidden)
	require.Equal(t, int64(2), all[1].client)
}

// TestTakeReferences: numbers stay exact, and references are the IDs of keys, of whatever JSON type.
func TestTakeReferences(t *testing.T) {
	part := func(id any, grp, price any) object {
		return object{"id": id, "org": object{"nr": 1}, "nr": "N", "title": "T", "grp": grp, "price": price, "cost": "0.10"}
	}
	s := &desk{of: map[string][]object{
		"groups": {{"id": 7, "code": "A", "text": "a"}, {"id": "7", "code": "B", "text": "b"}},
		"parts":  {part("P", object{"id": 7}, 435), part(1, object{"id": "7"}, 12345678901), part("1", object{"id": 0}, 0), part(2, object{"id": ""}, 1), part(3, nil, 1), part(4, object{"id": []any{1, 2}}, 1)},
	}}
	c := speaking(t, fieldsSheet, s)
	groups, err := c.walked(bg(), "turnovergroup", auth.Client{})
	require.Error(t, err, "it has no list at its path: the answer has items")
	require.Empty(t, groups)
	parts, err := c.walked(bg(), "article", auth.Client{})
	require.NoError(t, err)
	seven, text := parts[0].rec.Get("turnover_group_id").Int(), parts[1].rec.Get("turnover_group_id").Int()
	require.NotEqual(t, seven, text, "7 and \"7\" are two keys")
	ids, err := c.IDStore.Given(bg(), []sheet.KeyRef{{Resource: "turnovergroup", Key: "7"}, {Resource: "turnovergroup", Key: `"7"`}})
	require.NoError(t, err)
	require.Equal(t, sheet.IDs{{Resource: "turnovergroup", Key: "7"}: int32(seven), {Resource: "turnovergroup", Key: `"7"`}: int32(text)}, ids)
	for i, price := range []string{"4.35", "123456789.01", "0"} {
		require.NoError(t, parts[i].err)
		require.Equal(t, price, parts[i].rec.Get("price").String())
		require.Equal(t, "0.1", parts[i].rec.Get("purchase_price").String())
	}
	for i := 2; i < 5; i++ {
		require.Equal(t, mapping.KindNull, parts[i].rec.Get("turnover_group_id").Kind())
	}
	require.Empty(t, parts[4].absent, "within null is null")
	require.ErrorContains(t, parts[5].err, "article.turnover_group_id: grp.id has what is no key of a turnovergroup")
}

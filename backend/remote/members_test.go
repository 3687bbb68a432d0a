package remote

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const failingSheet = `
errors:
  - {when: {status: "400", code: taken, code_at: errors.*.code}, reason: duplicate_value, field_from: errors.*.at, fields: {NM: name}}
  - {when: {status: "401", code: taken, code_at: data.*.code}, reason: duplicate_value, field_from: data.*, value: data.*.was}
  - {when: {status: "402", message: "is taken$", message_at: "*.0"}, reason: duplicate_value, field_from: "*"}
  - {when: {status: "403", message: "^(\\w+) is taken$", message_at: "errors.*"}, reason: duplicate_value, field_from: message}
  - {when: {status: "405"}, reason: duplicate_value, field_from: of.it}
resources:
  order:
    key: {columns: nr}
    operations: {get: {path: "/o/{key}"}, create: {path: /o}}
    fields: {contact_id: contact, reference: ref, description: by.text, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, orderlines: {children: lines}}
  orderline:
    key: {columns: nr}
    operations: {get: {path: "/l/{key}"}}
    fields: {order_id: order, description: text, quantity: qty, price: price, turnover_group_id: {absent: true}}
  contact:
    key: {columns: nr}
    operations: {get: {path: "/c/{key}"}, create: {path: /c}}
    fields: {kind: {constant: person}, name: naam, number: {from: no, readonly: true}}
`

// TestErrorsByTheNamesOfMembers has a service name what it refuses in the ways that are about.
func TestErrorsByTheNamesOfMembers(t *testing.T) {
	var status int
	var answer string
	service := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, answer)
	})
	c := front(t, served(t, failingSheet, service))
	many := strings.Repeat(`{"code":"no"},`, 200)
	for name, test := range map[string]struct {
		status       int
		answer, told string // told is by field and value; "" for nobody
	}{
		"an element":          {400, `{"errors":[{"code":"other"},{"code":"taken","at":"NM"}]}`, "name Bert"},
		"a name not known":    {400, `{"errors":[{"code":"taken","at":"naam"}]}`, ""},
		"the next is known":   {400, `{"errors":[{"code":"taken","at":"x"},{"code":"taken","at":"NM"}]}`, "name Bert"},
		"beyond the bound":    {400, `{"errors":[` + many + `{"code":"taken","at":"NM"}]}`, ""},
		"a member":            {401, `{"data":{"x":{"code":"taken"},"naam":{"code":"taken","was":"B"}}}`, "name B"},
		"another's code":      {401, `{"data":{"naam":{"code":"other"},"x":{"code":"taken"}}}`, ""},
		"a readonly field":    {401, `{"data":{"no":{"code":"taken"}}}`, ""},
		"not an object":       {401, `{"data":"naam"}`, ""},
		"no JSON":             {401, `{"data":{"naam":{"code":"taken"}`, ""},
		"at the top":          {402, `{"naam":["this is taken"]}`, "name Bert"},
		"in a text":           {403, `{"errors":["x","naam is taken"]}`, "name Bert"},
		"a JSON pointer":      {405, `{"of":{"it":"/data/attributes/naam"}}`, "name Bert"},
		"a pointer elsewhere": {405, `{"of":{"it":"/data/attributes/else"}}`, ""},
		"a place by its path": {405, `{"of":{"it":"naam"}}`, "name Bert"},
	} {
		t.Run(name, func(t *testing.T) {
			status, answer = test.status, test.answer
			_, err := c.Create(bg(), anna, body(t, c.Model().Resource("contact"), `{"name":"Bert"}`), backend.Write{})
			if test.told == "" {
				require.False(t, mapping.Is(err, mapping.DuplicateValue), "%v", err)
				require.Error(t, err)
				return
			}
			field, value, _ := strings.Cut(test.told, " ")
			require.Equal(t, "Field: "+field+" value: "+value+" has a duplicate illegal value", wording(t, err))
		})
	}
	for at, field := range map[string]string{"ref": "reference", "by.text": "description", "lines.1.text": "orderlines[1].description", "lines[0].text": "orderlines[0].description"} {
		status, answer = 402, fmt.Sprintf(`{%q:["it is taken"]}`, at)
		_, err := c.Create(bg(), anna, body(t, c.Model().Resource("order"),
			`{"contact_id":1,"reference":"v","description":"v","orderlines":[{"description":"v","quantity":1,"price":1},{"description":"v","quantity":1,"price":1}]}`), backend.Write{})
		require.Contains(t, wording(t, err), field, at)
	}
}

package remote

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const rawSheet = `
resources:
  contact:
    key: {columns: nr}
    operations:
      get: {path: "/c/{key}"}
      update: {method: PATCH, path: "/c/{key}", send: siblings}
    fields:
      kind: {constant: person}
      name: name
      payment_days: credit.days
      note: credit.by.whom
      is_customer: {from: roles, has: customer}
      is_supplier: {from: roles, has: 7}
`

// TestListsAndObjectsAsTheyAre has a service that writes lists and objects in every way that
// JSON has, and sees what comes back.
func TestListsAndObjectsAsTheyAre(t *testing.T) {
	var record, sent string
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			text, _ := io.ReadAll(r.Body)
			sent = string(text)
		}
		_, _ = fmt.Fprint(w, record)
	})
	c := front(t, served(t, rawSheet, service))
	contact := c.Model().Resource("contact")
	q := backend.Query{Client: anna, ID: 1}

	for name, test := range map[string]struct{ roles, credit, change, sent string }{
		"added":            {`["a","b"]`, `null`, `{"is_customer":1}`, `{"roles":["a","b","customer"]}`},
		"added to none":    {`[]`, `null`, `{"is_supplier":1}`, `{"roles":[7]}`},
		"added to null":    {`null`, `null`, `{"is_supplier":1,"is_customer":1}`, `{"roles":["customer",7]}`},
		"taken":            {`["customer", "x" , "customer"]`, `null`, `{"is_customer":0}`, `{"roles":["x"]}`},
		"taken by null":    {`["customer"]`, `null`, `{"is_customer":null}`, `{"roles":[]}`},
		"escaped":          {`["cust\u006fmer", "\"\\é"]`, `null`, `{"is_customer":0}`, `{"roles":["\"\\é"]}`},
		"other kinds":      {`[7, "7", 7.5, null, {"customer": ["customer"]}, ["customer"]]`, `null`, `{"is_supplier":0}`, `{"roles":["7",7.5,null,{"customer":["customer"]},["customer"]]}`},
		"two at once":      {`["customer", "x"]`, `null`, `{"is_customer":0,"is_supplier":1}`, `{"roles":["x",7]}`},
		"what is so":       {`["customer"]`, `null`, `{"is_customer":1,"name":"B"}`, `{"name":"B"}`},
		"beside":           {`null`, `{"limit": 12345678901234567890.10, "days": 3, "by": null}`, `{"payment_days":4}`, `{"credit":{"limit":12345678901234567890.10,"days":4,"by":null}}`},
		"deeper":           {`null`, `{"by": {"whom": "A", "when": [1, {"a" : 2}], "é\u00e9": ""}, "days": 3}`, `{"note":"B"}`, `{"credit":{"by":{"whom":"B","when":[1, {"a" : 2}],"éé":""},"days":3}}`},
		"both":             {`null`, `{"days": 3, "x": 1}`, `{"note":"B","payment_days":4}`, `{"credit":{"days":4,"x":1,"by":{"whom":"B"}}}`},
		"of null":          {`null`, `null`, `{"note":"B"}`, `{"credit":{"by":{"whom":"B"}}}`},
		"of none":          {`null`, `{}`, `{"payment_days":1}`, `{"credit":{"days":1}}`},
		"with names twice": {`null`, `{"x": 1, "x": 2, "days": 3}`, `{"payment_days":4}`, `{"credit":{"x":1,"x":2,"days":4}}`},
		"null within":      {`null`, `{"by": null, "x": 1}`, `{"note":"B"}`, `{"credit":{"by":{"whom":"B"},"x":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			record, sent = `{"nr":1,"name":"A","roles":`+test.roles+`,"credit":`+test.credit+`}`, ""
			_, err := c.Update(bg(), anna, 1, patch(t, contact, test.change), backend.Write{})
			require.NoError(t, err)
			if strings.Contains(test.sent, `"when":[1`) || strings.Contains(test.sent, "customer") {
				require.JSONEq(t, test.sent, sent)
			} else {
				require.Equal(t, test.sent, sent, "to the letter")
			}
		})
	}
	for _, roles := range []string{`"customer"`, `7`, `{"0":"customer"}`, `true`} {
		record = `{"nr":1,"name":"A","roles":` + roles + `,"credit":null}`
		_, err := c.Get(bg(), contact, q)
		require.True(t, mapping.Is(err, mapping.InternalError), "%s: %v", roles, err)
	}
	record = `{"nr":1,"name":"A","roles":[],"credit":5}`
	_, err := c.Get(bg(), contact, q)
	require.True(t, mapping.Is(err, mapping.InternalError), "%v", err)

	record = `{"nr":1,"name":"A","roles":[],"credit":{"days":1,"seen":1}}`
	before, err := c.Get(bg(), contact, backend.Query{Client: anna, ID: 1, Tagged: true})
	require.NoError(t, err)
	record = `{"nr":1,"name":"A","roles":[],"credit":{"seen":2,"days":1}}`
	after, err := c.Get(bg(), contact, backend.Query{Client: anna, ID: 1, Tagged: true})
	require.NoError(t, err)
	require.Equal(t, before.Tag, after.Tag, "of what clients do not see")
}

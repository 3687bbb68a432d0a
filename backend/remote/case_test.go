package remote

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
)

// guidSheet has records by GUIDs, which the service writes in two cases.
const guidSheet = `
resources:
  contact:
    key: {columns: id, id: kept, case: ignore}
    operations: {get: {path: "/contact/{key}"}, list: {path: /contact, result: list}}
    fields: {kind: {constant: person}, name: name}
  order:
    key: {columns: id, id: kept}
    operations: {list: {path: /order, result: list}}
    fields: {contact_id: contact, kind: {constant: parts}, order_status: {constant: open}, order_date: date}
`

// TestGUIDsInTwoCases: a record has one ID, however the service writes its GUID.
func TestGUIDsInTwoCases(t *testing.T) {
	const lower = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
	upper := strings.ToUpper(lower)
	sh := loadText(t, guidSheet, trivial(t, map[string]string{
		"GET /order":            httpAnswer(200, `{"list":[{"id":"A","contact":"`+upper+`","date":"2026-11-20T10:00:00Z"}]}`),
		"GET /contact":          httpAnswer(200, `{"list":[{"id":"`+lower+`","name":"Jansen"}]}`),
		"GET /contact/" + upper: httpAnswer(200, `{"id":"`+lower+`","name":"Jansen"}`),
	}))
	c := front(t, open(t, Options{Sheet: sh, IDStore: openIDStore(t, sh.KeysWithoutCase()...)}))
	orders, err := c.List(bg(), c.Model().Resource("order"), backend.Query{Client: anna, Limit: 10})
	require.NoError(t, err)
	contacts, err := c.List(bg(), c.Model().Resource("contact"), backend.Query{Client: anna, Limit: 10})
	require.NoError(t, err)
	require.EqualValues(t, contacts.Records[0].ID(), orders.Records[0].Get("contact_id").Int())
	contact, err := c.Get(bg(), c.Model().Resource("contact"), backend.Query{Client: anna, ID: contacts.Records[0].ID()})
	require.NoError(t, err)
	require.Equal(t, "Jansen", contact.Get("name").Text())
}

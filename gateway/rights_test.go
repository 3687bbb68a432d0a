package gateway

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/mapping"
)

func TestRightsFaults(t *testing.T) {
	const every = ""
	for _, c := range []struct{ resource, read, create, may, why string }{
		{"contact", "birth_date", "", every, ""},
		{"contact", "colour", "", every, "there is no such field"},
		{"tree", "colour", "", every, "there is no such resource"},
		{"contact", "id", "", every, "every record has it"},
		{"contact", "modified_at", "", every, "every record has it"},
		{"contact", "", "is_blocked", every, ""},
		{"orderline", "order_id", "", every, "lists require it"},
		{"contact", "", "name", every, "a new record must have it, and it has no default"},
		{"contact", "name", "", "GET /contact", ""},
		{"order", "order_status", "", "DELETE /orderline", "DELETE /orderline would tell of it: the rule order_status judges by it"},
		{"order", "order_status", "", "PUT /order", "PUT /order would tell of it: the rule order_status judges by it"},
		{"order", "order_status", "", "GET /order", ""},
		{"order", "delivery_date", "", "PUT /order", "PUT /order would tell of it: it is judged together with another field"},
		{"order", "contact_id", "", "DELETE /contact", "DELETE /contact would tell of it: a record in use cannot be deleted"},
		{"orderline", "price", "", "POST /order", "POST /order would tell of it: totals are made of it"},
		{"orderline", "sort_order", "", "GET /order", "the elements of an array come in its order"},
		{"turnovergroup", "vat_kind", "", "DELETE /orderline", "DELETE /orderline would tell of it: totals are made of it"},
		{"country", "code", "", "PUT /updatelicenseplate", "PUT /updatelicenseplate would tell of it: the rule license_plate judges by it"},
		{"contactcommunication", "contact_id", "", "PUT /contactcommunication", "PUT /contactcommunication would tell of it: it is judged together with another field"},
	} {
		t.Run(c.resource+"."+c.read+c.create+" "+c.may, func(t *testing.T) {
			rights := mapping.FieldRights{}
			if c.read != "" {
				rights = mapping.FieldRights{Reads: []string{c.read}, Creates: []string{c.read}, Updates: []string{c.read}}
			} else {
				rights.Creates = []string{c.create}
			}
			faults := tableOnly(t).RightsFaults(mapping.Rights{c.resource: rights}, func(method, path string) bool { return c.may == every || c.may == method+" "+path })
			if c.why == "" {
				require.Empty(t, faults)
				return
			}
			require.Len(t, faults, 1)
			require.Equal(t, c.why, faults[0].Why)
		})
	}
}

// TestFieldsThatARequestLacks: what a request names and its api_key may not use is refused as what there
// is not, and told to the log alone.
func TestFieldsThatARequestLacks(t *testing.T) {
	g := tableOnly(t)
	note := []string{"note"}
	key := &auth.Key{Allowed: slices.Repeat([]bool{true}, len(g.Grants())), Rights: mapping.Rights{
		"contact":      {Reads: note, Creates: []string{"initials", "note"}, Updates: []string{"language", "note"}},
		"flatrateline": {Creates: []string{"price"}},
		"order":        {Creates: []string{"orderlines"}, Updates: []string{"orderlines"}},
		"orderline":    {Reads: []string{"unit_type"}, Creates: []string{"unit_type"}, Updates: []string{"unit_type"}},
	}}
	for _, c := range []struct{ method, target, body, lacks string }{
		{"GET", "/contact?fields=id,name,initials,language", "", ""},
		{"GET", "/contact?fields=note,name", "", "contact.note"},
		{"GET", "/contact?sort=-note", "", "contact.note"},
		{"GET", "/contact?note[contains]=abc&note[null]=1", "", "contact.note"},
		{"GET", "/contact?notes=1", "", ""},
		{"GET", "/contact/5?fields=note", "", "contact.note"},
		{"POST", "/contact", `{"kind":"person","name":"N","initials":"A","language":"nl"}`, "contact.initials"},
		{"PUT", "/contact/5", `{"initials":"A","language":"nl","note":1}`, "contact.language contact.note"},
		{"GET", "/order/5?fields=orderlines", "", ""},
		{"POST", "/order", `{"orderlines":[{"unit_type":"kg"}]}`, "order.orderlines"},
		{"PUT", "/order/5", `{"orderlines":[]}`, "order.orderlines"},
		{"POST", "/flatrate", `{"flatratelines":[{"unit_type":"kg"},{"price":1}]}`, "flatrateline.price"},
		{"POST", "/orderline", `{"unit_type":"kg"}`, "orderline.unit_type"},
		{"POST", "/backup/owner", `{}`, ""},
	} {
		t.Run(c.method+" "+c.target, func(t *testing.T) {
			e := g.Explain(Hypothetical{Method: c.method, Target: "/webservice_v2" + c.target, Body: []byte(c.body), Key: key, At: time.Now()})
			require.Equal(t, c.lacks, strings.Join(e.Fields, " "), "%s", e.Answer)
			for _, field := range e.Fields {
				_, name, _ := strings.Cut(field, ".")
				require.Contains(t, string(e.Answer), name)
			}
			require.Equal(t, c.lacks == "" && c.method == "GET" && c.target != "/contact?notes=1", e.Status == 0)
		})
	}
}

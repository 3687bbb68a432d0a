package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"

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

package desk

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
	"frontdesk/mapping"
)

// TestRightsOf: what entries take away, and what follows of it.
func TestRightsOf(t *testing.T) {
	const fields, common = "city, id, modified_at, name, note", "modified_at"
	endpoints := []config.Endpoint{
		{Method: "GET", Path: "/client", Fields: fields, Common: common}, {Method: "POST", Path: "/client", Fields: fields, Common: common}, {Method: "PUT", Path: "/client", Fields: fields, Common: common}, {Method: "DELETE", Path: "/client"},
		{Method: "POST", Path: "/client/bulk"}, {Method: "GET", Path: "/order", Fields: "id, note"},
	}
	for allow, want := range map[string]mapping.Rights{
		"GET /client; * /order":                              nil,
		"* /client: {without: [note, city]}; GET /order":     {"client": {Reads: []string{"city", "note"}, Creates: []string{"city", "note"}, Updates: []string{"city", "note"}}},
		"GET /client: {only: [name]}; POST /client":          {"client": {Reads: []string{"city", "note"}, Creates: []string{"city", "note"}, Updates: []string{"city", "note"}}},
		"* /order; GET /client; PUT /client: {only: [note]}": {"client": {Updates: []string{"city", "modified_at", "name"}}},
		"GET /client: {without: [note]}; PUT /client: {without: [city]}; POST /client": {
			"client": {Reads: []string{"note"}, Creates: []string{"note"}, Updates: []string{"city", "note"}}},
		"POST /client: {without: [note, modified_at]}":                         {"client": {Reads: []string{"note"}, Creates: []string{"modified_at", "note"}, Updates: []string{"note"}}},
		"POST /client: {without: [note]}; PUT /client":                         {"client": {Reads: []string{"note"}, Creates: []string{"note"}, Updates: []string{"note"}}},
		"GET /client: {only: [city, name, note]}; * /order: {without: [note]}": {"order": {Reads: []string{"note"}, Creates: []string{"note"}, Updates: []string{"note"}}},
	} {
		var rules []config.Rule
		for entry := range strings.SplitSeq(allow, "; ") {
			rules = append(rules, must.Have(config.ParseRule(entry))(t))
		}
		require.Equal(t, want, rightsOf(rules, endpoints), allow)
	}
}

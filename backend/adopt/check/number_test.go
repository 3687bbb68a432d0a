package check

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

const flagSheet = `
format: 1
source: {http: {url: "${URL}", retries: 0}}
keep: keep.db
rules: backend
accounts: {users: []}
resources:
  contact:
    key: {columns: nr, id: kept}
    client: ""
    operations: {list: {path: /contacts}}
    fields: {kind: {constant: person}, name: name, is_customer: {from: customer, type: boolean}, is_supplier: {from: supplier, type: boolean}}
`

// TestNumbersOfService: values that are no flag are found, and kept keys that are numbers.
func TestNumbersOfService(t *testing.T) {
	for supplier, rule := range map[string]string{"7": "data.unlisted", `"yes"`: "data.unfit"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `[{"nr":9007199254740993,"name":"A","customer":true,"supplier":true},{"nr":9007199254740994,"name":"B","customer":false,"supplier":`+supplier+`}]`)
		}))
		t.Cleanup(server.Close)
		for _, numbers := range []string{"", ", numbers: nr"} {
			store, o, problems := inFront(t, flagSheet, map[string]string{"URL": server.URL}, "id: kept", "id: kept"+numbers)
			require.Empty(t, problems)
			report, err := HTTP(t.Context(), store, noord(), o)
			require.NoError(t, err)
			require.Len(t, report.has(rule, "resources.contact.fields.is_supplier"), 1, words(t, report))
			require.Empty(t, report.has(rule, "resources.contact.fields.is_customer"))
			require.Equal(t, numbers == "", len(report.has("http.key-number", "resources.contact.key")) == 1, words(t, report))
		}
	}
}

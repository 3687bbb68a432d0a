package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway/postman"
)

// requests are those of a folder, by their method and path.
func (h *fixture) collection(t *testing.T, key string) (folders map[string][]string, text string) {
	t.Helper()
	a := visitor{h: h}.ask("GET", "/postman.json?api_key="+key, "")
	require.Equal(t, 200, a.status, a.body)
	require.Equal(t, "no-referrer", a.head("Referrer-Policy"))
	var c postman.Collection
	require.NoError(t, json.Unmarshal([]byte(a.body), &c))
	require.Equal(t, postman.Schema, c.Info.Schema)
	folders = map[string][]string{}
	for _, folder := range c.Items {
		for _, item := range folder.Items {
			folders[folder.Name] = append(folders[folder.Name], item.Request.Method+" /"+strings.Join(item.Request.URL.Path, "/"))
		}
	}
	return folders, a.body
}

// TestCollectionIsOfTheKey holds the collection to what the key may call: what it cannot make
// and delete it does not write, and nothing of a key is in it. That it runs, TestCollectionRuns
// of cmd/frontdesk/e2e/description shows.
func TestCollectionIsOfTheKey(t *testing.T) {
	t.Parallel()
	const few, some = "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"
	h := newFixture(t)
	h.setKeys(keyOf(keyAll, "all", h.Grants()...), keyOf(few, "few", Grant{"GET", "/order"}, Grant{"POST", "/order"}, Grant{"DELETE", "/order"}),
		keyOf(some, "some", Grant{"GET", "/orderline"}, Grant{"GET", "/turnovergroup"}, Grant{"POST", "/turnovergroup"}, Grant{"PUT", "/turnovergroup"}, Grant{"DELETE", "/turnovergroup"}))
	session := []string{"GET /authenticate/acces", "GET /authenticate/component", "GET /authenticate/modules", "GET /authenticate/fingerprint"}

	folders, text := h.collection(t, few)
	require.Len(t, folders, 1, "an order without a contact cannot be made")
	reading := folders["Reading"]
	require.Equal(t, "GET /authenticate", reading[0])
	require.ElementsMatch(t, session, reading[1:5])
	require.Equal(t, []string{"GET /order", "GET /order/{{order_id}}", "GET /authenticate/logout"}, reading[5:])
	require.NotContains(t, text, few)
	require.NotContains(t, text, "orderline")
	require.Contains(t, text, "POST /order, DELETE /order/{id}")

	folders, _ = h.collection(t, some)
	const made = "/turnovergroup/{{made_turnovergroup_id}}"
	require.Equal(t, []string{"GET /authenticate", "POST /turnovergroup", "GET " + made, "PUT " + made, "DELETE " + made, "GET /authenticate/logout"}, folders["Writing"])

	folders, _ = h.collection(t, keyAll)
	var creates, deletes []string
	for _, r := range folders["Writing"] {
		method, path, _ := strings.Cut(r, " ")
		name, _, _ := strings.Cut(path[1:], "/")
		switch method {
		case "POST":
			creates = append(creates, name)
		case "DELETE":
			deletes = append([]string{name}, deletes...)
		}
	}
	require.Len(t, creates, len(h.o.Offer.Model.Resources))
	require.Equal(t, creates, deletes, "what was made last is deleted first")
	refused(t, visitor{h: h}.ask("GET", "/postman.json", ""), fault{400, "These parameter(s): api_key are required", "parameters_required", ""})
	refused(t, visitor{h: h}.ask("GET", "/postman.json?api_key=x", ""), fault{401, "Not authorized", "credentials_invalid", ""})
}

package remote

import (
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// loadSheet reads a sheet of testdata for the service at url.
func loadSheet(t testing.TB, file, url string) *sheet.Sheet {
	t.Helper()
	return loadSheetFile(t, "testdata/"+file, url)
}

func loadSheetFile(t testing.TB, file, url string) *sheet.Sheet {
	t.Helper()
	env := map[string]string{"GARAGE_URL": url, "JSONSERVER_URL": url, "LOOPBACK_URL": url, "GARAGE_SECRET": remotetest.ClientSecret, "AUTOLIJN_URL": url, "POCKETBASE_URL": url, "SERVICE_URL": url, "SERVICE_USER": foreigntest.Superuser, "SERVICE_PASSWORD": foreigntest.Password,
		"POCKETBASE_PASSWORD": foreigntest.Password, "FOREIGN_PASSWORD_HASH": foreigntest.PasswordHash}
	s, err := sheet.Load(file, wholeModel(t), sheet.Options{
		Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		RuleFields: func(rule string) []string {
			fields, _ := backend.RuleFields(rule)
			return fields
		},
	})
	require.NoError(t, err)
	if s.Source.Service != nil {
		s.Source.Service.Timeout = ample
	}
	return s
}

var (
	noord = auth.Client{ID: 1, Name: "garage-noord"}
	zuid  = auth.Client{ID: 2, Name: "garage-zuid"}
)

// garage is Garage Cloud behind the driver.
type garage struct {
	*remotetest.JSON
	store  *Driver
	client *backend.Client
	model  *mapping.Model
}

func newGarage(t testing.TB, o remotetest.Options) *garage {
	g := &garage{JSON: remotetest.NewJSON(o)}
	server := httptest.NewServer(g.JSON)
	t.Cleanup(server.Close)
	sh := loadSheet(t, "garagecloud.yaml", server.URL)
	g.store = open(t, Options{Sheet: sh, IDStore: openIDStore(t)})
	g.client, g.model = front(t, g.store), sh.Model
	return g
}

func (g *garage) json(t testing.TB, err error, rec mapping.Record, fields ...string) string {
	t.Helper()
	require.NoError(t, err)
	var at []int
	for _, f := range fields {
		at = append(at, rec.Resource.Field(f).Index)
	}
	return string(rec.AppendJSON(nil, at))
}

// first is the first record of a list.
func (g *garage) first(t testing.TB, resource string, filters ...backend.Filter) mapping.Record {
	t.Helper()
	page := must.Have(g.client.List(bg(), g.model.Resource(resource), backend.Query{Client: noord, Limit: 1, Filters: filters}))(t)
	require.NotEmpty(t, page.Records)
	return page.Records[0]
}

func (g *garage) equals(resource, field string, v mapping.Value) backend.Filter {
	return backend.Filter{Field: g.model.Resource(resource).Field(field), Value: v}
}

func TestGarageWrites(t *testing.T) {
	g := newGarage(t, remotetest.Options{})
	contact := create(t, g.client, noord, "contact", `{"kind":"company","name":"Jän \"Auto\" <BV>","vat_number":"NL1","birth_date":null,"payment_days":14,"is_customer":1}`)
	require.Contains(t, contact.Get("number").Text(), "K-")
	group := g.first(t, "turnovergroup", g.equals("turnovergroup", "code", mapping.TextValue("PARTS")))
	order := create(t, g.client, noord, "order", fmt.Sprintf(`{"contact_id":%d,"kind":"sales","order_status":"in_progress","order_date":"2026-11-20T10:00:00Z","delivery_date":"2026-11-21T10:00:00.250Z",
		"orderlines":[{"description":"a","quantity":1.5,"price":80.1255,"turnover_group_id":%d},{"description":"b","quantity":2,"price":1,"turnover_group_id":%[2]d,"discount_percentage":50}]}`, contact.ID(), group.ID()))
	require.Equal(t, `{"kind":"sales","order_status":"in_progress","order_date":"2026-11-20T10:00:00.000Z","delivery_date":"2026-11-21T10:00:00.250Z","mileage":null,"total_excl":121.19}`,
		g.json(t, nil, order, "kind", "order_status", "order_date", "delivery_date", "mileage", "total_excl"))
	orders, lines := g.model.Resource("order"), g.model.Resource("orderline")
	at := orders.Field("orderlines").Index
	got, err := g.client.Get(bg(), orders, backend.Query{Client: noord, ID: order.ID(), Fields: []int{orders.ID, at}})
	require.NoError(t, err)
	require.Len(t, got.Children[at], 2)
	line := got.Children[at][1]
	require.Equal(t, int64(order.ID()), line.Get("order_id").Int())

	line, err = g.client.Update(bg(), noord, line.ID(), patch(t, lines, `{"quantity":4,"article_number":null}`), backend.Write{})
	require.Equal(t, `{"quantity":4,"total":2}`, g.json(t, err, line, "quantity", "total"))
	added := create(t, g.client, noord, "orderline", fmt.Sprintf(`{"order_id":%d,"description":"c","quantity":1,"price":10,"turnover_group_id":%d}`, order.ID(), group.ID()))
	require.Equal(t, int64(order.ID()), added.Get("order_id").Int())
	page, err := g.client.List(bg(), lines, backend.Query{Client: noord, Limit: 10, Total: true, Filters: []backend.Filter{g.equals("orderline", "order_id", mapping.IntValue(int64(order.ID())))}})
	require.NoError(t, err)
	require.EqualValues(t, 3, page.Total)
	require.NoError(t, g.client.Delete(bg(), noord, lines, added.ID(), backend.Write{}))
	_, err = g.client.Get(bg(), lines, backend.Query{Client: noord, ID: added.ID()})
	require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)

	changed, err := g.client.Update(bg(), noord, contact.ID(), patch(t, contact.Resource, `{"vat_number":null,"birth_date":"2000-01-31"}`), backend.Write{})
	require.Equal(t, `{"name":"Jän \"Auto\" <BV>","birth_date":"2000-01-30T23:00:00.000Z","vat_number":null}`, g.json(t, err, changed, "name", "birth_date", "vat_number"))
	require.NotEqual(t, contact.Version, changed.Version)
}

func TestGarageErrors(t *testing.T) {
	g := newGarage(t, remotetest.Options{})
	contact := g.first(t, "order").Get("contact_id").Int()
	contacts, groups := g.model.Resource("contact"), g.model.Resource("turnovergroup")
	_, err := g.client.Create(bg(), noord, body(t, groups, `{"code":"PARTS","description":"x","vat_kind":"high","ledger_account":"1"}`), backend.Write{})
	require.Equal(t, "Field: code value: PARTS has a duplicate illegal value", wording(t, err, mapping.OpCreate))
	_, err = g.client.Create(bg(), noord, body(t, g.model.Resource("order"), `{"contact_id":99999,"kind":"sales","order_status":"open","order_date":"2026-11-20"}`), backend.Write{})
	require.Equal(t, "Field: contact_id value: 99999 ID not found", wording(t, err, mapping.OpCreate))
	err = g.client.Delete(bg(), noord, contacts, int32(contact), backend.Write{})
	require.Contains(t, wording(t, err, mapping.OpDelete), "Field: id in use at: ")
	invoiced := g.first(t, "order", g.equals("order", "order_status", mapping.TextValue("invoiced")))
	_, err = g.client.Update(bg(), noord, invoiced.ID(), patch(t, invoiced.Resource, `{"mileage":5}`), backend.Write{})
	require.Equal(t, "order_status is invoiced, cannot add/update/delete", wording(t, err, "/order", mapping.OpUpdate))
	_, err = g.client.Get(bg(), contacts, backend.Query{Client: noord, ID: 424242})
	require.Equal(t, "Field: id value: 424242 not found", wording(t, err, mapping.OpGet))
	g.Throttle(3, 3*time.Second) // a walk may meet one of them
	_, err = g.client.Get(bg(), contacts, backend.Query{Client: noord, ID: int32(contact)})
	requireUnavailable(t, err, mapping.BackendUnavailable)
	v, _ := mapping.AsViolations(err)
	require.Equal(t, 3*time.Second, v[0].RetryAfter)
	require.Equal(t, "closed", g.client.State())
}

func TestGarageKeepsClientsApart(t *testing.T) {
	g := newGarage(t, remotetest.Options{})
	contacts := g.model.Resource("contact")
	mine := g.first(t, "contact")
	_, err := g.client.Get(bg(), contacts, backend.Query{Client: zuid, ID: mine.ID()})
	require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	require.True(t, mapping.Is(g.client.Delete(bg(), zuid, contacts, mine.ID(), backend.Write{}), mapping.RecordNotFound))
	theirs := must.Have(g.client.List(bg(), contacts, backend.Query{Client: zuid, Limit: 1000}))(t)
	for _, rec := range theirs.Records {
		_, err := g.client.Get(bg(), contacts, backend.Query{Client: noord, ID: rec.ID()})
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	}
	orders := must.Have(g.client.List(bg(), g.model.Resource("order"), backend.Query{Client: zuid, Limit: 1}))(t)
	group := g.first(t, "turnovergroup")
	line := body(t, g.model.Resource("orderline"), fmt.Sprintf(`{"order_id":%d,"description":"A","quantity":1,"price":1,"turnover_group_id":%d}`, orders.Records[0].ID(), group.ID()))
	_, err = g.client.Create(bg(), noord, line, backend.Write{})
	require.Equal(t, fmt.Sprintf("Field: order_id value: %d ID not found", orders.Records[0].ID()), wording(t, err, mapping.OpCreate), "the order is in the path")
}

func TestGarageLogsOn(t *testing.T) {
	g := newGarage(t, remotetest.Options{})
	require.NoError(t, g.store.Ping(bg()))
	contact := g.first(t, "contact")
	require.Equal(t, 1, g.Calls("POST /oauth/token"))
	g.ExpireTokens()
	create(t, g.client, noord, "contact", `{"kind":"person","name":"New"}`)
	require.Equal(t, 2, g.Calls("POST /oauth/token"))
	g.ExpireTokens()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			_, err := g.client.Get(bg(), contact.Resource, backend.Query{Client: noord, ID: contact.ID()})
			assert.NoError(t, err)
		})
	}
	all.Wait()
	require.Equal(t, 3, g.Calls("POST /oauth/token"))

	user, err := g.store.Verify(bg(), auth.Credentials{Username: "demo", Password: "demo"})
	require.NoError(t, err)
	require.Equal(t, noord, user.Client)
	require.Equal(t, "demo@garage.example", user.Email)
	_, err = g.store.Verify(bg(), auth.Credentials{Username: "demo", Password: "wrong"})
	require.ErrorIs(t, err, auth.ErrCredentials)
	require.Equal(t, &auth.Refused{Why: auth.CauseWrongPassword}, err, "it only says no")
	require.Equal(t, 3, g.Calls("POST /oauth/token"), "wrong credentials are no expired token")
	require.ErrorIs(t, must.Fail(g.store.FindUser(bg(), "nobody")), auth.ErrUnknownUser)
	user = must.Have(g.store.FindUser(bg(), "external"))(t)
	require.True(t, user.External)
}

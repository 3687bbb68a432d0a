package remote

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/mapping"
)

// autolijn is AutoLijn behind the driver.
type autolijn struct {
	*remotetest.SOAP
	store  *Store
	client *backend.Client
	model  *mapping.Model
}

var (
	lijnNoord = auth.Client{ID: 1, Name: "NOORD"}
	lijnZuid  = auth.Client{ID: 2, Name: "ZUID"}
)

func newAutolijn(t testing.TB, o remotetest.Options) *autolijn {
	a := &autolijn{SOAP: remotetest.NewSOAP(o)}
	server := httptest.NewServer(a.SOAP)
	t.Cleanup(server.Close)
	sh := loadSheet(t, "autolijn.yaml", server.URL)
	a.store = open(t, Options{Sheet: sh, IDStore: openIDStore(t)})
	a.client, a.model = front(t, a.store), sh.Model
	return a
}

func TestAutolijnWrites(t *testing.T) {
	a := newAutolijn(t, remotetest.Options{})
	contact := create(t, a.client, lijnNoord, "contact", `{"kind":"person","name":"Jän & <Zn>","birth_date":"1980-02-29","is_customer":1}`)
	require.Contains(t, string(contact.AppendJSON(nil, contact.Resource.RecordFields())), `"name":"Jän & <Zn>","first_name":null`)
	require.Equal(t, "1980-02-28T23:00:00.000Z", contact.Get("birth_date").String())
	order := create(t, a.client, lijnNoord, "order", fmt.Sprintf(`{"contact_id":%d,"kind":"workshop","order_status":"open","order_date":"2026-07-20T10:00:00Z","delivery_date":"2026-07-21T10:00:00Z"}`, contact.ID()))
	require.Equal(t, "2026-07-20T10:00:00.000Z", order.Get("order_date").String())
	require.Equal(t, mapping.KindNull, order.Get("vehicle_id").Kind())
	line := create(t, a.client, lijnNoord, "orderline", fmt.Sprintf(`{"order_id":%d,"description":"Beurt","quantity":1.5,"price":80.1255,"turnover_group_id":2}`, order.ID()))
	require.Equal(t, "120.19", line.Get("total").String())
	changed, err := a.client.Update(bg(), lijnNoord, order.ID(), patch(t, order.Resource, `{"order_status":"ready","delivery_date":null,"mileage":12}`), backend.Write{})
	require.NoError(t, err)
	require.Equal(t, "120.19", changed.Get("total_excl").String())
	require.Equal(t, "ready", changed.Get("order_status").Text())
	require.Equal(t, mapping.KindNull, changed.Get("delivery_date").Kind())
	require.NotEqual(t, order.Version, changed.Version)
	lines := a.model.Resource("orderline")
	page, err := a.client.List(bg(), lines, backend.Query{Client: lijnNoord, Limit: 10, Filters: []backend.Filter{{Field: lines.Field("order_id"), Value: mapping.IntValue(int64(order.ID()))}}})
	require.NoError(t, err)
	require.Len(t, page.Records, 1)

	require.Equal(t, "Field: id in use at: orderline", wording(t, a.client.Delete(bg(), lijnNoord, order.Resource, order.ID(), backend.Write{}), mapping.OpDelete))
	require.NoError(t, a.client.Delete(bg(), lijnNoord, lines, line.ID(), backend.Write{}))
	require.NoError(t, a.client.Delete(bg(), lijnNoord, order.Resource, order.ID(), backend.Write{}))
	_, err = a.client.Get(bg(), order.Resource, backend.Query{Client: lijnNoord, ID: order.ID()})
	require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	_, err = a.client.Create(bg(), lijnNoord, body(t, a.model.Resource("article"),
		`{"number":"FLT-OIL","description":"x","article_kind":"part","unit_type":"piece","turnover_group_id":2,"price":1.25}`), backend.Write{})
	require.Equal(t, "Field: number value: FLT-OIL has a duplicate illegal value", wording(t, err, mapping.OpCreate))
	require.Equal(t, "closed", a.client.State(), "a fault of SOAP is an answer, though its status is 500")
}

func TestAutolijnLogsOn(t *testing.T) {
	a := newAutolijn(t, remotetest.Options{})
	contacts := a.model.Resource("contact")
	for _, client := range []auth.Client{lijnNoord, lijnZuid, lijnNoord} {
		_, err := a.client.Get(bg(), contacts, backend.Query{Client: client, ID: 1})
		require.NoError(t, err)
	}
	require.Equal(t, 2, a.Calls("Aanmelden"), "a ticket for each client")
	mine := create(t, a.client, lijnNoord, "contact", `{"kind":"person","name":"Mine"}`)
	_, err := a.client.Get(bg(), contacts, backend.Query{Client: lijnZuid, ID: mine.ID()})
	require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	a.ExpireTickets()
	_, err = a.client.Update(bg(), lijnNoord, mine.ID(), patch(t, contacts, `{"name":"Still mine"}`), backend.Write{})
	require.NoError(t, err)
	require.Equal(t, 3, a.Calls("Aanmelden"))

	user, err := a.store.Verify(bg(), auth.Credentials{Username: "other", Password: "other"})
	require.NoError(t, err)
	require.Equal(t, lijnZuid, user.Client)
	_, err = a.store.Verify(bg(), auth.Credentials{Username: "other", Password: "<x>&"})
	require.ErrorIs(t, err, auth.ErrCredentials)
	require.NotContains(t, fmt.Sprint(err), "<x>")
}

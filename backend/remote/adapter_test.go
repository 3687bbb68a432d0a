package remote

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/mapping"
)

var (
	anna = auth.Client{ID: 1, Name: "Garage Anna"}
	bert = auth.Client{ID: 2, Name: "Bert Auto's"}
)

// protocolFixture is the reference adapter behind a backend.Client.
func protocolFixture(t testing.TB, args ...string) (*Store, *backend.Client) {
	s := open(t, Options{Sheet: adapterSheet(t, startAdapter(t, args...)), IDStore: openIDStore(t)})
	return s, front(t, s)
}

const group = `{"code":"W","description":"Werkplaats","vat_kind":"high","ledger_account":"8000"}`

func TestAdapterKeepsRecords(t *testing.T) {
	s, c := protocolFixture(t)
	require.True(t, s.Capabilities().OwnRules)
	require.Nil(t, c.Model().Resource("vehicle"), "what the adapter does not offer does not exist")
	require.Empty(t, c.Model().Resource("order").Field("vehicle_id").Reference)
	require.Equal(t, "reference adapter", s.Capabilities().Store)
	contact := create(t, c, anna, "contact", `{"kind":"person","name":"Jän \"de\" Wit","birth_date":"1980-02-29","payment_days":14}`)
	require.Equal(t, "C000001", contact.Get("number").Text())
	turnover := create(t, c, anna, "turnovergroup", group)
	order := create(t, c, anna, "order", fmt.Sprintf(`{"contact_id":%d,"kind":"workshop","order_status":"open","order_date":"2026-11-20T10:00:00.123Z",
		"orderlines":[{"description":"Beurt","quantity":1.5,"price":80.1255,"turnover_group_id":%d},{"description":"Olie","quantity":4,"price":9.99,"turnover_group_id":%[2]d}]}`, contact.ID(), turnover.ID()))
	orders := c.Model().Resource("order")

	got, err := c.Get(bg(), orders, backend.Query{Client: anna, ID: order.ID()})
	require.NoError(t, err)
	require.Equal(t, order, got)
	require.Equal(t, "160.15", got.Get("total_excl").String())
	require.Equal(t, "2026-11-20T10:00:00.123Z", got.Get("order_date").String())
	require.NotZero(t, got.Version)

	lines := orders.Field("orderlines").Index
	got, err = c.Get(bg(), orders, backend.Query{Client: anna, ID: order.ID(), Fields: []int{orders.ID, lines}})
	require.NoError(t, err)
	require.Len(t, got.Children[lines], 2)
	require.Equal(t, "80.1255", got.Children[lines][0].Get("price").String())

	changed, err := c.Update(bg(), anna, contact.ID(), patch(t, contact.Resource, `{"note":null,"name":"Wit"}`), backend.Write{})
	require.NoError(t, err)
	require.Equal(t, "Wit", changed.Get("name").Text())
	require.Greater(t, changed.Version, contact.Version)

	_, err = c.Get(bg(), orders, backend.Query{Client: bert, ID: order.ID()})
	require.Equal(t, fmt.Sprintf("Field: id value: %d not found", order.ID()), wording(t, err, mapping.OpGet))
	require.NoError(t, c.Delete(bg(), anna, c.Model().Resource("orderline"), 1, backend.Write{}))
	got, err = c.Get(bg(), orders, backend.Query{Client: anna, ID: order.ID()})
	require.NoError(t, err)
	require.Equal(t, "39.96", got.Get("total_excl").String())
}

func TestAdapterErrorsPassThrough(t *testing.T) {
	_, c := protocolFixture(t)
	turnover := create(t, c, anna, "turnovergroup", group)
	contact := create(t, c, anna, "contact", `{"kind":"person","name":"Wit"}`)
	order := create(t, c, anna, "order", fmt.Sprintf(`{"contact_id":%d,"kind":"workshop","order_status":"open","order_date":"2026-11-20"}`, contact.ID()))
	groups, orders := turnover.Resource, order.Resource

	_, err := c.Create(bg(), anna, body(t, groups, group), backend.Write{})
	require.Equal(t, "Field: code value: W has a duplicate illegal value", wording(t, err, mapping.OpCreate))
	_, err = c.Create(bg(), anna, body(t, orders, `{"contact_id":99,"kind":"workshop","order_status":"open","order_date":"2026-11-20"}`), backend.Write{})
	require.Equal(t, "Field: contact_id value: 99 ID not found", wording(t, err, mapping.OpCreate))
	_, err = c.Update(bg(), anna, order.ID(), patch(t, orders, `{"order_status":"invoiced"}`), backend.Write{})
	require.NoError(t, err)
	_, err = c.Create(bg(), anna, body(t, orders.Model().Resource("orderline"), fmt.Sprintf(`{"order_id":%d,"description":"x","quantity":1,"price":1,"turnover_group_id":%d}`, order.ID(), turnover.ID())), backend.Write{})
	require.Equal(t, "order_status is invoiced, cannot add/update/delete", wording(t, err, "/orderline", mapping.OpCreate))
	err = c.Delete(bg(), anna, contact.Resource, contact.ID(), backend.Write{})
	require.Equal(t, "Field: id in use at: order", wording(t, err, mapping.OpDelete))
	_, err = c.Create(bg(), anna, body(t, orders, fmt.Sprintf(`{"contact_id":%d,"kind":"workshop","order_status":"open","order_date":"2026-11-20",
		"orderlines":[{"description":"x","quantity":1,"price":1,"turnover_group_id":77}]}`, contact.ID())), backend.Write{})
	require.Equal(t, "Field: orderlines[0].turnover_group_id value: 77 ID not found", wording(t, err, mapping.OpCreate))
	require.Equal(t, "closed", c.State())
}

func TestAdapterLists(t *testing.T) {
	_, c := protocolFixture(t)
	contacts := c.Model().Resource("contact")
	for i := range 25 {
		create(t, c, anna, "contact", fmt.Sprintf(`{"kind":"%s","name":"N&%d"}`, []string{"person", "company"}[i%2], i))
	}
	create(t, c, bert, "contact", `{"kind":"person","name":"Other"}`)
	list := func(q backend.Query) backend.Page {
		q.Client = anna
		page, err := c.List(bg(), contacts, q)
		require.NoError(t, err)
		return page
	}
	page := list(backend.Query{Limit: 10, Offset: 20, Total: true})
	require.Len(t, page.Records, 5)
	require.False(t, page.More)
	require.EqualValues(t, 25, page.Total)
	require.True(t, list(backend.Query{Limit: 10}).More)
	page = list(backend.Query{Limit: 3, After: page.Records[0].ID()})
	require.EqualValues(t, 22, page.Records[0].ID())
	page = list(backend.Query{Limit: 3, Sort: []backend.Order{{Field: contacts.Field("kind")}, {Field: contacts.Field("id"), Descending: true}}})
	require.EqualValues(t, 24, page.Records[0].ID())
	page = list(backend.Query{Limit: 3, Filters: []backend.Filter{{Field: contacts.Field("name"), Value: mapping.TextValue("N&7")}}})
	require.Len(t, page.Records, 1)
	page = list(backend.Query{Limit: 3, Fields: []int{contacts.ID}})
	require.True(t, page.Records[0].Get("name").IsAbsent())
}

func TestAdapterLogsIn(t *testing.T) {
	s, _ := protocolFixture(t)
	user, err := s.Verify(bg(), auth.Credentials{Username: "anna", Password: "anna"})
	require.NoError(t, err)
	require.Equal(t, anna, user.Client)
	for _, wrong := range []auth.Credentials{{Username: "anna", Password: "x"}, {Username: "nobody", Password: "anna"}} {
		_, err = s.Verify(bg(), wrong)
		require.ErrorIs(t, err, auth.ErrCredentials)
		require.Equal(t, &auth.Refused{Why: auth.CauseWrongPassword}, err, "it only says no")
	}
	user, err = s.FindUser(bg(), "bert")
	require.NoError(t, err)
	require.Equal(t, bert, user.Client)
	for _, unknown := range []string{"nobody", "..", "a/b", ""} {
		_, err = s.FindUser(bg(), unknown)
		require.ErrorIs(t, err, auth.ErrUnknownUser, unknown)
	}
	require.NoError(t, s.Ping(bg()))
}

// once creates a contact under an idempotency key.
func once(c *backend.Client, b *mapping.Body, key string, sum byte) (mapping.Record, error) {
	return c.Create(bg(), anna, b, backend.Write{Idempotency: &backend.Idempotency{
		Key: key, Sum: [32]byte{sum}, Answer: func(rec mapping.Record) []byte { return rec.AppendJSON(nil, rec.Resource.RecordFields()) },
	}})
}

func TestAdapterKeepsIdempotencyKeys(t *testing.T) {
	for _, args := range [][]string{nil, {"--gateway-rules"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			s, c := protocolFixture(t, args...)
			if len(args) == 0 {
				s.IDStore = nil // it is not needed
			}
			contacts := c.Model().Resource("contact")
			wit, zwart := body(t, contacts, `{"kind":"person","name":"Wit"}`), body(t, contacts, `{"kind":"person","name":"Zwart"}`)
			first, err := once(c, wit, "webshop k1", 1)
			require.NoError(t, err)
			_, err = once(c, wit, "webshop k1", 1)
			var replay *backend.Replay
			require.ErrorAs(t, err, &replay)
			require.Equal(t, string(first.AppendJSON(nil, contacts.RecordFields())), string(replay.Answer))
			_, err = once(c, zwart, "webshop k1", 2)
			require.True(t, mapping.Is(err, mapping.IdempotencyReused), "%v", err)
			_, err = once(c, zwart, "webshop k2", 2)
			require.NoError(t, err)
			page, err := c.List(bg(), contacts, backend.Query{Client: anna, Limit: 10})
			require.NoError(t, err)
			require.Len(t, page.Records, 2)
		})
	}
}

// A refused write gives its key back; one whose outcome nobody knows does not.
func TestIdempotencyKeyAfterFailure(t *testing.T) {
	_, c := protocolFixture(t, "--gateway-rules")
	orders := c.Model().Resource("order")
	bad := body(t, orders, `{"contact_id":1,"kind":"workshop","order_status":"open","order_date":"2026-11-20"}`)
	_, err := once(c, bad, "k", 1)
	require.True(t, mapping.Is(err, mapping.RelatedIDNotFound), "%v", err)
	create(t, c, anna, "contact", `{"kind":"person","name":"Wit"}`)
	_, err = once(c, bad, "k", 1)
	require.NoError(t, err)
}

func TestAdapterVersionGuardsWrites(t *testing.T) {
	s, c := protocolFixture(t)
	contact := create(t, c, anna, "contact", `{"kind":"person","name":"Wit"}`)
	stale := contact
	_, err := c.Update(bg(), anna, contact.ID(), patch(t, contact.Resource, `{"name":"Zwart"}`), backend.Write{})
	require.NoError(t, err)
	change := mapping.NewRecord(contact.Resource)
	change.Set("name", mapping.TextValue("Rood"))
	_, err = drivertest.Single{Driver: s}.Update(bg(), anna, stale, change)
	require.ErrorIs(t, err, backend.ErrStale)
	require.ErrorIs(t, drivertest.Single{Driver: s}.Delete(bg(), anna, stale), backend.ErrStale)
}

func TestOpenTellsWhatIsWrong(t *testing.T) {
	url := startAdapter(t, "--gateway-rules")
	sheet := adapterSheet(t, url)
	_, err := Open(bg(), Options{Sheet: sheet})
	require.ErrorContains(t, err, "keep: FILE")
	sheet.Source.Frontdesk.Token = "wrong"
	_, err = Open(bg(), Options{Sheet: sheet, IDStore: openIDStore(t)})
	require.ErrorContains(t, err, "answered 401")
	sheet.Source.Frontdesk.URL = "http://127.0.0.1:1"
	_, err = Open(bg(), Options{Sheet: sheet, IDStore: openIDStore(t)})
	require.ErrorContains(t, err, "connect to 127.0.0.1:1")
	sheet.Source.Frontdesk.URL = "ftp://x"
	_, err = Open(bg(), Options{Sheet: sheet})
	require.ErrorContains(t, err, "must be http or https")
}

func TestCancelledCallEndsAtOnce(t *testing.T) {
	s, _ := protocolFixture(t)
	ctx, cancel := context.WithCancel(bg())
	cancel()
	_, err := s.Get(ctx, s.Sheet.Model.Resource("contact"), backend.Query{Client: anna, ID: 1})
	require.True(t, errors.Is(err, context.Canceled))
}

package backend_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// fixed is an administration that answers one record, whatever it is asked, and counts what it
// is asked to change. Its transactions are itself. One that keeps the business rules itself also
// creates what it is sent.
type fixed struct {
	backend.Driver
	backend.Tx
	record   mapping.Record
	ownRules bool
	changed  int
}

func (f *fixed) Capabilities() backend.Capabilities {
	return backend.Capabilities{OwnRules: f.ownRules}
}

func (f *fixed) Get(context.Context, *mapping.Resource, backend.Query) (mapping.Record, error) {
	return f.record, nil
}

func (f *fixed) List(context.Context, *mapping.Resource, backend.Query) (backend.Page, error) {
	return backend.Page{Records: []mapping.Record{f.record}}, nil
}

func (f *fixed) Create(_ context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	if !f.ownRules {
		return f.record, nil
	}
	f.changed++
	rec.Set("id", mapping.IntValue(1))
	rec.Owner = client.ID
	return rec, nil
}

func (f *fixed) Update(_ context.Context, _ auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	f.changed++
	return before.Merge(patch), nil
}

func (f *fixed) Delete(context.Context, auth.Client, mapping.Record) error {
	f.changed++
	return nil
}

func (f *fixed) Write(_ context.Context, do func(backend.Tx) error) error { return do(f) }

// read reads a body of a resource of the built-in model.
func read(t *testing.T, resource, text string) *mapping.Body {
	t.Helper()
	model := must.Have(loadModel())(t)
	return must.Have(mapping.DecodeBody(model.Resource(resource), []byte(text), time.UTC))(t)
}

// TestAnswersOfDrivers: whatever driver it comes from, and by whatever door, a record
// that was not asked for is an internal error, and nothing is changed.
func TestAnswersOfDrivers(t *testing.T) {
	model := must.Have(loadModel())(t)
	mine := auth.Client{ID: 1}
	vehicles, order := model.Resource("vehicle"), model.Resource("order")
	lines := order.Field("orderlines").Index
	record := func(r *mapping.Resource, id, owner int64) mapping.Record {
		rec := mapping.NewRecord(r)
		rec.Set("id", mapping.IntValue(id))
		rec.Owner = owner
		return rec
	}
	withLine := func(id, owner int64) mapping.Record {
		rec, line := record(order, 1, 1), record(order.Fields[lines].Target(), id, owner)
		rec.Values[lines], rec.Children = mapping.RecordsValue(), map[int][]mapping.Record{lines: {line}}
		return rec
	}
	bg, none := context.Background(), backend.Write{}
	var f *fixed
	var c *backend.Client
	get := func(r *mapping.Resource) func() error {
		return func() error { _, err := c.Get(bg, r, backend.Query{Client: mine, ID: 1}); return err }
	}
	list := func() error { _, err := c.List(bg, vehicles, backend.Query{Client: mine, Limit: 1}); return err }
	create := func() error {
		_, err := c.Create(bg, mine, read(t, "vehicle", `{"license_plate":"AB-123-C","brand":"x","model":"y"}`), none)
		return err
	}
	changes := []func() error{
		func() error { _, err := c.Update(bg, mine, 1, read(t, "vehicle", `{"color":"red"}`), none); return err },
		func() error { return c.Delete(bg, mine, vehicles, 1, none) },
		func() error { _, err := c.PublishStart(bg, mine, 1, true, none); return err },
		func() error { _, err := c.PublishStart(bg, mine, 1, false, none); return err },
		func() error { _, err := c.PublishStop(bg, mine, 1, none); return err },
		func() error { _, err := c.ChangeLicensePlate(bg, mine, 1, "AB-123-C", none); return err },
	}
	everywhere := append([]func() error{get(vehicles), list, create}, changes...)
	for name, test := range map[string]struct {
		answer mapping.Record
		doors  []func() error
	}{
		"another record":        {record(vehicles, 2, 1), append([]func() error{get(vehicles)}, changes...)},
		"no id":                 {record(vehicles, 0, 1), everywhere},
		"another client's":      {record(vehicles, 1, 2), everywhere},
		"nobody knows whose":    {record(vehicles, 1, 0), everywhere},
		"of another resource":   {record(order, 1, 1), everywhere},
		"nothing":               {mapping.Record{}, everywhere},
		"an element without id": {withLine(0, 1), []func() error{get(order)}},
		"another client's line": {withLine(1, 2), []func() error{get(order)}},
	} {
		t.Run(name, func(t *testing.T) {
			f = &fixed{record: test.answer}
			c = newClient(t, f, backend.Options{})
			for i, door := range test.doors {
				require.True(t, mapping.Is(door(), mapping.InternalError), "door %d", i)
			}
			require.Zero(t, f.changed)
		})
	}
	for _, answer := range []mapping.Record{withLine(1, 1), withLine(1, mapping.OfAll), record(order, 1, mapping.OfAll)} {
		c = newClient(t, &fixed{record: answer}, backend.Options{})
		require.NoError(t, get(order)())
	}
}

// others answers that any name is bert's.
type others struct {
	auth.Accounts
	name   string
	client int64
	folds  bool
}

func (o others) FoldsNames() bool { return o.folds }

func (o others) Verify(context.Context, auth.Credentials) (auth.User, error) {
	return auth.User{Username: o.name, Client: auth.Client{ID: o.client}}, nil
}

func (o others) FindUser(context.Context, string) (auth.User, error) {
	return o.Verify(context.Background(), auth.Credentials{})
}

// TestUsersOfDrivers: an answer about another user than was asked lets nobody in, and
// sends nobody's mail to another.
func TestUsersOfDrivers(t *testing.T) {
	c := newClient(t, answers(), backend.Options{})
	for _, test := range []struct {
		of   others
		fits bool
	}{
		{others{name: "anna", client: 1}, true},
		{others{name: "bert", client: 1}, false},
		{others{name: "", client: 1}, false},
		{others{name: "anna"}, false},
		{others{name: "ANNA", client: 1}, false},
		{others{name: "ANNA", client: 1, folds: true}, true},
		{others{name: "bert", client: 1, folds: true}, false},
	} {
		accounts := c.Accounts(test.of)
		_, verified := accounts.Verify(context.Background(), auth.Credentials{Username: "anna"})
		_, found := accounts.FindUser(context.Background(), "anna")
		for _, err := range []error{verified, found} {
			require.Equal(t, test.fits, err == nil, "%+v", test.of)
			require.Equal(t, !test.fits, mapping.Is(err, mapping.InternalError), "%+v", test.of)
		}
	}
}

// What the record alone forbids never reaches an administration with rules of
// its own; what depends on other records is left to it.
func TestOwnRulesAreAboutOtherRecords(t *testing.T) {
	const order = `{"contact_id":1,"kind":"workshop","order_date":"2026-07-01","delivery_date":"2026-07-03","order_status":"open"}`
	const line = `{"order_id":1,"description":"x","quantity":1,"price":1,"turnover_group_id":1}`
	const vehicle = `{"license_plate":"AB-123-C","brand":"x","model":"y"}`
	for name, test := range map[string]struct {
		resource, stored, flag, change string
		delete                         bool
		want                           string // "" where it is the administration's to judge
	}{
		"nothing wrong":      {resource: "order", stored: order, change: `{"contact_id":999,"order_status":"invoiced"}`},
		"a system record":    {resource: "order", stored: order, flag: "is_system", change: `{"mileage":1}`, want: "system_record"},
		"of which DELETE":    {resource: "order", stored: order, flag: "is_system", delete: true, want: "system_record"},
		"a blocked record":   {resource: "order", stored: order, flag: "is_blocked", change: `{"mileage":1}`, want: "blocked_record"},
		"an archived record": {resource: "order", stored: order, flag: "is_archived", change: `{"mileage":1}`, want: "archived_record"},
		"a closed order":     {resource: "order", stored: strings.Replace(order, "open", "cancelled", 1), change: `{"order_status":"open"}`, want: "status_forbids_change: order_status, cancelled"},
		"of which DELETE too": {
			resource: "order", stored: `{"order_status":"cancelled"}`, delete: true, want: "status_forbids_change: order_status, cancelled",
		},
		"a date before another": {
			resource: "order", stored: order, change: `{"delivery_date":"2026-06-30"}`, want: "date_not_after: delivery_date, 2026-06-30, order_date, 2026-07-01T00:00:00.000Z",
		},
		"lines of an order":   {resource: "order", stored: order, change: `{"orderlines":[` + `{"description":"x","quantity":1,"price":1,"turnover_group_id":1}]}`, want: "cannot_update: orderlines"},
		"another order":       {resource: "orderline", stored: line, change: `{"order_id":2}`, want: "cannot_update: order_id"},
		"another plate":       {resource: "vehicle", stored: vehicle, change: `{"license_plate":"ZZ-999-Z"}`, want: "license_plate_change"},
		"the plate as it is":  {resource: "vehicle", stored: vehicle, change: `{"license_plate":"ab123c","model":"z"}`},
		"no e-mail address":   {resource: "contactcommunication", stored: `{"contact_id":1,"type":4,"value":"a@example.nl"}`, change: `{"value":"x"}`, want: "custom_validation_failed: value, x, email"},
		"an advertised car":   {resource: "vehicle", stored: `{"license_plate":"AB-123-C","publish_status":"published"}`, delete: true, want: "vehicle_published: 1"},
		"a line of the order": {resource: "orderline", stored: line, change: `{"quantity":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			d := &fixed{ownRules: true, record: read(t, test.resource, test.stored).Record}
			d.record.Set("id", mapping.IntValue(1))
			d.record.Owner = 1
			if test.flag != "" {
				d.record.Set(test.flag, mapping.IntValue(1))
			}
			c, err := newClient(t, d, backend.Options{}), error(nil)
			if test.delete {
				err = c.Delete(context.Background(), auth.Client{ID: 1}, d.record.Resource, 1, backend.Write{})
			} else {
				_, err = c.Update(context.Background(), auth.Client{ID: 1}, 1, read(t, test.resource, test.change), backend.Write{})
			}
			if test.want == "" {
				require.NoError(t, err)
				require.Equal(t, 1, d.changed)
				return
			}
			require.EqualError(t, err, test.want)
			require.Zero(t, d.changed)
		})
	}

	d := &fixed{ownRules: true}
	c := newClient(t, d, backend.Options{})
	_, err := c.Create(context.Background(), auth.Client{ID: 1}, read(t, "order", `{"order_status":"invoiced"}`), backend.Write{})
	require.EqualError(t, err, "status_forbids_change: order_status, invoiced")
	must.Have(c.Create(context.Background(), auth.Client{ID: 1}, read(t, "orderline", line), backend.Write{}))(t)
	require.Equal(t, 1, d.changed)
}

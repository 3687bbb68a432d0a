package backend_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

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
	_, err = c.Create(context.Background(), auth.Client{ID: 1}, read(t, "orderline", line), backend.Write{})
	require.NoError(t, err)
	require.Equal(t, 1, d.changed)
}

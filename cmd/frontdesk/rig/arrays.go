package rig

import (
	"encoding/json"
	"fmt"

	"github.com/stretchr/testify/require"
)

// The bodies that arrays are tried with.
const (
	BareOrder        = `{"contact_id":1,"kind":"parts","order_status":"open","order_date":"2026-07-01"`
	LineOfOrder      = `{"description":"A","quantity":1,"price":1,"turnover_group_id":1}`
	OrderWithLine    = BareOrder + `,"orderlines":[` + LineOfOrder + `]}`
	FlatrateWithLine = `{"number":"%s","description":"A","flatratelines":[{"sort_order":1}]}`
)

// ArrayKey is the text of an api_key for the tests of arrays.
func ArrayKey(n int) string { return fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", n) }

// Refuses asks, and holds the answer to a refusal.
func (d *Desk) Refuses(token, method, path, body string, status int, message string) {
	d.T.Helper()
	a := d.Call(method, path, token, body)
	require.Equal(d.T, status, a.Status, "%s %s: %s", method, path, a.Body)
	require.Equal(d.T, message, a.Failure(d.T).Message, "%s %s", method, path)
}

// FieldsOf are the fields that GET /model/<name> tells of, with whether they are
// readonly.
func (d *Desk) FieldsOf(token, name string) map[string]bool {
	d.T.Helper()
	a := d.Call("GET", "/model/"+name, token, "")
	require.Equal(d.T, 200, a.Status, "%s", a.Body)
	var model struct {
		Data struct {
			Fields []struct {
				Name     string
				Readonly bool
			}
		}
	}
	require.NoError(d.T, json.Unmarshal(a.Body, &model))
	fields := map[string]bool{}
	for _, f := range model.Data.Fields {
		fields[f.Name] = f.Readonly
	}
	return fields
}

// NoOrderlines is what a key is told that may not use the lines of orders.
const NoOrderlines = "Field: orderlines not found in model"

package gateway

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
)

// TestUtilityAnswers: the employee of the login, and a document that is kept
// elsewhere, are of the sample data.
func TestUtilityAnswers(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	demo := h.as("demo")
	for target, want := range map[string]string{
		"/util/environment?username=j%26d": `{"data":{"environment":"test","version":"1.2.3","base_url":"https://api.example.nl/webservice_v2","time_zone":"UTC","client":"Demo Garage","username":"j&d"}}`,
		"/empoyee/email?username=demo":     `{"data":{"username":"demo","email":"demo@example.nl"}}`,
		"/document/info?id=3":              `{"data":{"id":3,"name":"invoice-000003.pdf","mime_type":"application/pdf","size":null,"sha256":null,"external_url":"https://files.example.nl/invoice-000003.pdf"}}`,
	} {
		a := demo.ask("GET", target, "")
		require.Equal(t, want, a.body)
		require.Equal(t, 200, a.status)
	}
	for target, want := range map[string]fault{
		"/util/environment":           {400, "These parameter(s): username are required", "parameters_required", ""},
		"/util/environment?username=": {400, "These parameter(s): username are required", "parameters_required", ""},
		"/util/environment?user=x":    {400, "Invalid request, query parameter is not supported: user", "query_parameter_unsupported", ""},
		"/empoyee/email":              {406, "Value username missing.", "username_missing", ""},
		"/empoyee/email?username=":    {406, "Value username missing.", "username_missing", ""},
		"/empoyee/email?username=no":  {404, "Field: username value: no not found", "record_not_found", "username"},
		"/document/info":              {400, "These parameter(s): id are required", "parameters_required", ""},
		"/document/info?id=x":         {403, "Primary ID is invalid", "primary_id_invalid", ""},
		"/document/info?id=1":         {403, "No external document found", "document_not_available", ""},
		"/document/info?id=9999":      {404, "Field: id value: 9999 not found", "record_not_found", "id"},
		"/model/colour":               {404, "Field: name value: colour not found", "record_not_found", "name"},
		"/model":                      {400, "Invalid endpoint: /model", "endpoint_unknown", ""},
	} {
		refused(t, demo.ask("GET", target, ""), want)
	}
	refused(t, h.as("other").ask("GET", "/document/info?id=3", ""), fault{404, "Field: id value: 3 not found", "record_not_found", "id"})
}

// TestModelIsTheOneThatValidates tells a field of every kind.
func TestModelIsTheOneThatValidates(t *testing.T) {
	t.Parallel()
	a := newFixture(t).as("demo").ask("GET", "/model/order", "")
	require.Equal(t, 200, a.status)
	type described struct {
		Data struct {
			Name      string
			PrimaryID string `json:"primary_id"`
			Fields    []map[string]any
		}
	}
	order := decode[described](t, a).Data
	require.Equal(t, "order", order.Name)
	require.Equal(t, "id", order.PrimaryID)
	fields := map[any]map[string]any{}
	for _, f := range order.Fields {
		fields[f["name"]] = f
	}
	for name, differs := range map[string]map[string]any{
		"id":            {"datatype": "int4", "primary": true, "required": true},
		"number":        {"datatype": "varchar", "length": 20., "readonly": true, "unique": true},
		"contact_id":    {"datatype": "int4", "required": true, "reference": "contact"},
		"kind":          {"datatype": "varchar", "length": 20., "required": true, "custom_validation": "workshop|sales|parts|lease"},
		"delivery_date": {"datatype": "timestamp", "after": "order_date"},
		"total_excl":    {"datatype": "float8", "readonly": true},
		"orderlines":    {"datatype": "orderline", "reference": "orderline", "array": true},
	} {
		want := map[string]any{
			"name": name, "length": nil, "required": false, "readonly": false, "unique": false, "primary": false,
			"reference": nil, "custom_validation": nil, "after": nil, "array": false,
		}
		for member, value := range differs {
			want[member] = value
		}
		require.Equal(t, want, fields[name])
	}
}

// describingStore describes its resources itself.
type describingStore struct {
	backend.Driver
	says string
}

func (s describingStore) DescribeModel(context.Context, string) ([]byte, error) {
	if s.says == "" {
		return nil, nil
	}
	return []byte(s.says), nil
}

func TestModelOfTheAdministration(t *testing.T) {
	t.Parallel()
	for says, want := range map[string]string{`{"own":true}`: `{"data":{"own":true}}`, `<html>`: "", `[]`: "", `{"own":`: ""} {
		h := newFixture(t, func(h *fixture, o *Options) {
			client, err := backend.NewClient(describingStore{h.store, says}, o.Offer.Model, backend.Options{Timeout: auth.MaxTTL})
			require.NoError(t, err)
			o.Backend = client
		})
		a := h.as("demo").ask("GET", "/model/order", "")
		if want == "" {
			refused(t, a, fault{400, "Body is not valid JSON", "body_not_json", ""})
			continue
		}
		require.Equal(t, want, a.body)
		h.setKeys(keyOf(keyAll, "orders", Grant{"GET", "/order"}, Grant{"GET", "/model/*"}))
		require.Contains(t, h.as("demo").ask("GET", "/model/order", "").body, `"primary_id":"id"`, "who may not see all of it is told of the rest")
	}
}

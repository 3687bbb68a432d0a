package gateway

import "frontdesk/gateway/openapi"

// readyText describes the call that announces a result.
const readyText = "A GET of the address that the request named, with `id` added to its query. Answer 2xx, whatever the body; the result is then fetched with GET /webhook. A call that is not answered so within 15 seconds is repeated at growing intervals for some days; 410 ends that. The call is signed after Standard Webhooks: HMAC-SHA256 of `webhook-id`.`webhook-timestamp`., with the secret of the api_key."

// callbacks returns the outbound calls that announce a result.
func (d *describer) callbacks(op *Operation) openapi.Map[openapi.Map[*openapi.PathItem]] {
	where := "{$request.query." + webhookURL + "}"
	if op.callbackInBody || op.direct == nil {
		where = "{$request.body#/" + webhookURL + "}"
	}
	header := func(name, description, example string) *openapi.Parameter {
		return &openapi.Parameter{Name: name, In: "header", Required: true, Description: description, Schema: &openapi.Schema{Type: openapi.Types{"string"}, Examples: []any{example}}}
	}
	call := &openapi.Operation{
		ID: op.about.name + "Ready", Tags: []string{callbackModule}, Summary: "The result is there",
		Description: readyText,
		Parameters: []*openapi.Parameter{
			{Name: "id", In: "query", Required: true, Description: "What GET /webhook takes.", Schema: &openapi.Schema{Type: openapi.Types{"string"}}},
			header("webhook-id", "The same for every try of one call.", "0a1b2c3d4e5f60718293a4b5c6d7e8f9"),
			header("webhook-timestamp", "When this try was made, in seconds since 1970.", "1793600000"),
			header("webhook-signature", "One or more signatures, v1,<base64>, with blanks between; one that fits is enough. Absent where the api_key has no secret.", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="),
		},
		Responses: openapi.Map[*openapi.Response]{
			{Name: "2XX", Value: &openapi.Response{Description: "The call was received."}},
			{Name: "410", Value: &openapi.Response{Description: "No further calls are wanted."}},
		},
		Security: &[]map[string][]string{},
	}
	return openapi.Map[openapi.Map[*openapi.PathItem]]{{Name: "resultReady", Value: openapi.Map[*openapi.PathItem]{{Name: where, Value: &openapi.PathItem{Get: call}}}}}
}

package gateway

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// refusals are those that a visitor is told of.
func (v visitor) refusals(t *testing.T) (all []refusedRequest, text string) {
	t.Helper()
	a := v.ask("GET", "/testpage/requests", "")
	require.Equal(t, 200, a.status, a.body)
	var answer struct{ Data []refusedRequest }
	require.NoError(t, json.Unmarshal([]byte(a.body), &answer))
	require.NotNil(t, answer.Data)
	return answer.Data, a.body
}

// TestRefusalsAreTold to whom they were given: with cause and cure, names, and no values.
func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	demo, other := h.as("demo"), h.as("other")
	all, _ := demo.refusals(t)
	require.Empty(t, all)

	demo.ask("POST", "/order", `{"kind":"very-secret","colour":"very-secret"}`)
	demo.ask("GET", "/order?page=very-secret&kind=sales", "")
	demo.ask("GET", "/nowhere", "")
	demo.ask("GET", "/order", "")
	all, text := demo.refusals(t)
	require.NotContains(t, text, "very-secret")
	require.Len(t, all, 3, "what was answered well is none")
	require.Equal(t, []any{"", 400, "endpoint_unknown", "Invalid endpoint: <x>"}, []any{all[0].Endpoint, all[0].Status, all[0].Reason, all[0].Message}, "the last one first")
	require.Equal(t, []any{"GET", "/order", "page_invalid", []string{"page", "kind"}}, []any{all[1].Method, all[1].Endpoint, all[1].Reason, all[1].Parameters})
	require.Equal(t, []any{"POST", "/order", 403, "field_not_in_model"}, []any{all[2].Method, all[2].Endpoint, all[2].Status, all[2].Reason})
	require.Subset(t, all[2].Fields, []string{"colour", "kind", "contact_id"})
	for _, one := range all {
		require.NotEmpty(t, one.RequestID)
		require.NotEmpty(t, one.Cause)
		require.NotEmpty(t, one.Cure)
		require.Regexp(t, answeredTimestamp, one.At)
	}
	all, _ = other.refusals(t)
	require.Empty(t, all, "another client's")
	require.Equal(t, 401, visitor{h: h}.ask("GET", "/testpage/requests", "").status)

	for range keptRefusals + 5 {
		demo.ask("DELETE", "/order/0", "")
	}
	all, _ = demo.refusals(t)
	require.Len(t, all, keptRefusals)
	require.Equal(t, "DELETE", all[keptRefusals-1].Method)
}

// TestRefusalsOfWhatIsNotGranted: before, an endpoint that the api_key may not use was told by
// its name here, where its answer is that of one that there is not.
func TestRefusalsOfWhatIsNotGranted(t *testing.T) {
	t.Parallel()
	const few = "22222222-2222-4222-8222-222222222222"
	h := newFixture(t)
	h.setKeys(keyOf(few, "few", Grant{"GET", "/order"}))
	v := visitor{h, h.session(few, "demo")}
	last := func(method, target string) refusedRequest {
		v.ask(method, target, "")
		all, _ := v.refusals(t)
		all[0].RequestID, all[0].At = "", ""
		return all[0]
	}
	for _, ask := range [][2]string{{"GET", "/vehicle?color=red"}, {"GET", "/vehicle/1"}, {"DELETE", "/vehicle/1"}, {"PUT", "/vehicle/publishstart?id=1"}, {"POST", "/vehicle"}} {
		require.Equal(t, last(ask[0], "/nowhere"), last(ask[0], ask[1]), ask)
	}
	for _, method := range []string{"POST", "DELETE"} {
		was := last("PATCH", "/order")
		was.Method = method
		require.Equal(t, was, last(method, "/order"), method)
	}
}

// TestRefusalsAreBounded whoever is refused: the caller that was refused the longest ago makes
// room.
func TestRefusalsAreBounded(t *testing.T) {
	var r refusals
	for i := range keptCallers + 10 {
		r.note(refusedCaller{"key", int64(i)}, refusedRequest{At: fmt.Sprintf("%06d", i)})
	}
	require.Equal(t, keptCallers, r.of.Len())
	require.Empty(t, r.last(refusedCaller{"key", 9}))
	require.Len(t, r.last(refusedCaller{"key", 10}), 1)
}

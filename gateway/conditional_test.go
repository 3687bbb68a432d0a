package gateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEntityTags: what a client has is not sent again, and what it has not seen is
// not overwritten.
func TestEntityTags(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	etag := demo.ask("GET", "/order/1", "").head("ETag")
	for list, status := range map[string]int{etag: 304, `"x", W/` + etag: 304, "*": 304, `"x"`: 200, etag[1:]: 200} {
		a := demo.ask("GET", "/order/1", "", "If-None-Match", list)
		require.Equal(t, status, a.status, list)
		require.Equal(t, etag, a.head("ETag"), list)
		require.Equal(t, status == 304, a.body == "", list)
	}
	changed := fault{412, "Record has been changed", "record_changed", ""}
	for _, list := range []string{`"x"`, `W/` + etag, `"aaaaaa-zz.zz"`} {
		refused(t, demo.ask("PUT", "/order/1", `{"reference":"x"}`, "If-Match", list), changed)
		refused(t, demo.ask("DELETE", "/order/1", "", "If-Match", list), changed)
	}
	require.Equal(t, etag, demo.ask("GET", "/order/1", "").head("ETag"), "what was refused changed nothing")
	require.Equal(t, 200, demo.ask("PUT", "/order/1", `{"reference":"a"}`, "If-Match", etag).status)
	require.Equal(t, 200, demo.ask("PUT", "/order/1", `{"reference":"b"}`, "If-Match", "*").status)
	refused(t, demo.ask("PUT", "/order/1", `{"reference":"y"}`, "If-Match", etag), changed)

	// A line's change is one of its order.
	etag = demo.ask("GET", "/order/1", "").head("ETag")
	require.Equal(t, 200, demo.ask("PUT", "/orderline/1", `{"description":"Tyres"}`).status)
	require.NotEqual(t, etag, demo.ask("GET", "/order/1", "").head("ETag"))
}

// TestIdempotencyKey: what was sent twice is done once, for each client and key.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	demo := h.as("demo")
	first := demo.ask("POST", "/contact", contactOf("Jansen"), "Idempotency-Key", "k1")
	require.Equal(t, 201, first.status, first.body)
	require.Empty(t, first.head("Idempotent-Replayed"))
	again := demo.ask("POST", "/contact", contactOf("Jansen"), "Idempotency-Key", "k1")
	require.Equal(t, 201, again.status)
	require.Equal(t, first.body, again.body)
	require.Equal(t, "true", again.head("Idempotent-Replayed"))
	for _, name := range []string{"Location", "ETag", "Cache-Control", "Content-Type"} {
		require.Equal(t, first.head(name), again.head(name), name)
	}
	refused(t, demo.ask("POST", "/contact", contactOf("Smit"), "Idempotency-Key", "k1"),
		fault{422, "Idempotency-Key was used with another body", "idempotency_key_reused", ""})
	other := h.as("other").ask("POST", "/contact", contactOf("Jansen"), "Idempotency-Key", "k1")
	require.Equal(t, 201, other.status)
	require.Empty(t, other.head("Idempotent-Replayed"), "another client's key is another key")

	// Only what succeeded is kept.
	require.Equal(t, 403, demo.ask("POST", "/contact", `{}`, "Idempotency-Key", "k2").status)
	require.Equal(t, 201, demo.ask("POST", "/contact", contactOf("Bos"), "Idempotency-Key", "k2").status)

	// POST of a plate answers 200, and so does its repetition.
	for i, replayed := range []string{"", "true"} {
		a := demo.ask("POST", "/updatelicenseplate", `{"id":3,"license_plate":"GT-123-B"}`, "Idempotency-Key", "k3")
		require.Equal(t, 200, a.status, i)
		require.Equal(t, replayed, a.head("Idempotent-Replayed"))
		require.Equal(t, "GT-123-B", decode[one](t, a).Data["license_plate"])
	}

	h.running.Store("Demo Garage\x00all k4", true)
	refused(t, demo.ask("POST", "/contact", contactOf("Bos"), "Idempotency-Key", "k4"),
		fault{409, "Idempotency-Key is in use", "idempotency_key_in_use", ""})
}

func contactOf(name string) string { return `{"kind":"company","name":"` + name + `"}` }

func TestIdempotencyKeyIsJudged(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	for _, key := range []string{"", "a b", "é", strings.Repeat("x", 256)} {
		refused(t, demo.ask("POST", "/contact", "", "Idempotency-Key", key),
			fault{400, "Idempotency-Key must be 1 to 255 visible ASCII characters", "idempotency_key_invalid", ""})
	}
	refused(t, demo.ask("POST", "/contact", "", "Idempotency-Key", "a", "Idempotency-Key", "b"),
		fault{400, "Idempotency-Key must be 1 to 255 visible ASCII characters", "idempotency_key_invalid", ""})
	require.Equal(t, 201, demo.ask("POST", "/contact", contactOf("a"), "Idempotency-Key", strings.Repeat("~", 255)).status)
	require.Equal(t, 200, demo.ask("PUT", "/contact/1", `{}`, "Idempotency-Key", "").status, "a PUT takes none")
}

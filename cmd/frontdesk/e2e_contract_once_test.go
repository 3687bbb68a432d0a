package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// contractIdempotencyKey does a POST once, however often it is sent.
func contractIdempotencyKey(t *testing.T, p *practice) {
	const body = `{"kind":"person","name":"Once"}`
	count := func() int { return *p.page("/contact?total=1&page_size=1&name=Once").Total }
	ask := func(token, path, body, key string) answer {
		return p.call("POST", path, token, body, "Idempotency-Key", key)
	}
	first := ask(p.token, "/contact", body, "one")
	require.Equal(t, 201, first.Status)
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	for range 2 {
		again := ask(p.token, "/contact", body, "one")
		require.Equal(t, 201, again.Status)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, first.Header.Get("Location"), again.Header.Get("Location"))
		require.Equal(t, string(first.Body), string(again.Body))
		require.NotEqual(t, first.Header.Get("X-Request-Id"), again.Header.Get("X-Request-Id"))
	}
	require.Equal(t, 1, count())
	require.Equal(t, "true", ask(p.login(fullKey, "demo"), "/contact", body, "one").Header.Get("Idempotent-Replayed"), "another session of the same key and client")
	p.put(fmt.Sprintf("/contact/%d", first.id(t)), `{"note":"changed since"}`)
	require.Equal(t, string(first.Body), string(ask(p.token, "/contact", body, "one").Body), "the first answer, not the record")

	for what, a := range map[string]answer{
		"another body":     ask(p.token, "/contact", `{"kind":"person","name":"Twice"}`, "one"),
		"another form":     ask(p.token, "/contact", ` `+body, "one"),
		"another endpoint": ask(p.token, "/flatrate", `{"number":"ONCE","description":"A"}`, "one"),
	} {
		require.Equal(t, 422, a.Status, what)
		require.Equal(t, "Idempotency-Key was used with another body", a.failure(t).Message)
	}
	require.Equal(t, 400, ask(p.token, "/contact", `{`, "one").Status, "what is judged before")

	other := ask(p.login(fullKey, "other"), "/contact", body, "one")
	require.Equal(t, 201, other.Status, "keys are the client's own")
	require.NotEqual(t, first.id(t), other.id(t))
	require.NotEqual(t, first.id(t), ask(p.token, "/contact", body, "ONE").id(t), "keys differ by case")
	require.Equal(t, 2, count())
}

// contractIdempotencyKeyOfErrors keeps no errors, and takes no bad keys.
func contractIdempotencyKeyOfErrors(t *testing.T, p *practice) {
	const body = `{"contact_id":%d,"kind":"parts","order_status":"open","order_date":"2026-07-01"}`
	key := []string{"Idempotency-Key", "later"}
	p.answers(wire{ask: `POST /order ` + fmt.Sprintf(body, 999999), headers: key, status: 404})
	p.answers(wire{ask: `POST /order ` + fmt.Sprintf(body, 1), headers: key, status: 201})
	p.faults.set(fails)
	key[1] = "after-a-failure"
	p.answers(wire{ask: `POST /order ` + fmt.Sprintf(body, 1), headers: key, status: 500})
	p.faults.none()
	a := p.answers(wire{ask: `POST /order ` + fmt.Sprintf(body, 1), headers: key, status: 201})
	require.Empty(t, a.Header.Get("Idempotent-Replayed"))

	const bad = `Idempotency-Key must be 1 to 255 visible ASCII characters`
	p.holds(t, []wire{
		{what: "256 long, before the body", ask: `POST /contact`, headers: []string{"Idempotency-Key", letters(256)}, status: 400, message: bad},
		{what: "a blank", ask: `POST /contact {}`, headers: []string{"Idempotency-Key", "a b"}, status: 400, message: bad},
		{what: "no ASCII", ask: `POST /contact {}`, headers: []string{"Idempotency-Key", "é"}, status: 400, message: bad},
		{what: "empty", ask: `POST /contact {}`, headers: []string{"Idempotency-Key", ""}, status: 400, message: bad},
		{what: "not judged elsewhere", ask: `PUT /contact/1 {}`, headers: []string{"Idempotency-Key", "a b"}, status: 200},
		{what: "255 of any", ask: `POST /contact {"kind":"person","name":"A"}`, headers: []string{"Idempotency-Key", "!~" + letters(253)}, status: 201},
	})
	vehicle := p.vehicle("")
	plate := wire{ask: `POST /updatelicenseplate {"id":$1,"license_plate":"ZZ-993-Z"}`, headers: []string{"Idempotency-Key", "plate"}, status: 200}
	first := p.answers(plate, vehicle)
	again := p.answers(plate, vehicle)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, string(first.Body), string(again.Body))
	require.Empty(t, again.Header.Get("Location"))
	two := p.raw("POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\ntoken: " + p.token +
		"\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
	require.Equal(t, bad, two.failure(t).Message)
}

package rows

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// contractIdempotencyKey does a POST once, however often it is sent.
func contractIdempotencyKey(t *testing.T, p *rig.Practice) {
	const body = `{"kind":"person","name":"Once"}`
	count := func() int { return *p.Page("/contact?total=1&page_size=1&name=Once").Total }
	ask := func(token, path, body, key string) rig.Answer {
		return p.Call("POST", path, token, body, "Idempotency-Key", key)
	}
	first := ask(p.Token, "/contact", body, "one")
	require.Equal(t, 201, first.Status)
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	for range 2 {
		again := ask(p.Token, "/contact", body, "one")
		require.Equal(t, 201, again.Status)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, first.Header.Get("Location"), again.Header.Get("Location"))
		require.Equal(t, string(first.Body), string(again.Body))
		require.NotEqual(t, first.Header.Get("X-Request-Id"), again.Header.Get("X-Request-Id"))
	}
	require.Equal(t, 1, count())
	require.Equal(t, "true", ask(p.Login(rig.FullKey, "demo"), "/contact", body, "one").Header.Get("Idempotent-Replayed"), "another session of the same key and client")
	p.Put(fmt.Sprintf("/contact/%d", first.ID(t)), `{"note":"changed since"}`)
	require.Equal(t, string(first.Body), string(ask(p.Token, "/contact", body, "one").Body), "the first answer, not the record")

	for what, a := range map[string]rig.Answer{
		"another body":     ask(p.Token, "/contact", `{"kind":"person","name":"Twice"}`, "one"),
		"another form":     ask(p.Token, "/contact", ` `+body, "one"),
		"another endpoint": ask(p.Token, "/flatrate", `{"number":"ONCE","description":"A"}`, "one"),
	} {
		require.Equal(t, 422, a.Status, what)
		require.Equal(t, "Idempotency-Key was used with another body", a.Failure(t).Message)
	}
	require.Equal(t, 400, ask(p.Token, "/contact", `{`, "one").Status, "what is judged before")

	other := ask(p.Login(rig.FullKey, "other"), "/contact", body, "one")
	require.Equal(t, 201, other.Status, "keys are the client's own")
	require.NotEqual(t, first.ID(t), other.ID(t))
	require.NotEqual(t, first.ID(t), ask(p.Token, "/contact", body, "ONE").ID(t), "keys differ by case")
	require.Equal(t, 2, count())
}

// contractIdempotencyKeyOfErrors keeps no errors, and takes no bad keys.
func contractIdempotencyKeyOfErrors(t *testing.T, p *rig.Practice) {
	const body = `{"contact_id":%d,"kind":"parts","order_status":"open","order_date":"2026-07-01"}`
	key := []string{"Idempotency-Key", "later"}
	p.Answers(rig.Wire{Ask: `POST /order ` + fmt.Sprintf(body, 999999), Headers: key, Status: 404})
	p.Answers(rig.Wire{Ask: `POST /order ` + fmt.Sprintf(body, 1), Headers: key, Status: 201})
	p.Faults.Set(rig.Fails)
	key[1] = "after-a-failure"
	p.Answers(rig.Wire{Ask: `POST /order ` + fmt.Sprintf(body, 1), Headers: key, Status: 500})
	p.Faults.None()
	a := p.Answers(rig.Wire{Ask: `POST /order ` + fmt.Sprintf(body, 1), Headers: key, Status: 201})
	require.Empty(t, a.Header.Get("Idempotent-Replayed"))

	const bad = `Idempotency-Key must be 1 to 255 visible ASCII characters`
	p.Holds(t, []rig.Wire{
		{What: "256 long, before the body", Ask: `POST /contact`, Headers: []string{"Idempotency-Key", letters(256)}, Status: 400, Message: bad},
		{What: "not judged elsewhere", Ask: `PUT /contact/1 {}`, Headers: []string{"Idempotency-Key", "a b"}, Status: 200},
		{What: "255 of any", Ask: `POST /contact {"kind":"person","name":"A"}`, Headers: []string{"Idempotency-Key", "!~" + letters(253)}, Status: 201},
	})
	vehicle := p.Vehicle("")
	plate := rig.Wire{Ask: `POST /updatelicenseplate {"id":$1,"license_plate":"ZZ-993-Z"}`, Headers: []string{"Idempotency-Key", "plate"}, Status: 200}
	first := p.Answers(plate, vehicle)
	again := p.Answers(plate, vehicle)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, string(first.Body), string(again.Body))
	require.Empty(t, again.Header.Get("Location"))
	two := p.Raw("POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\ntoken: " + p.Token +
		"\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
	require.Equal(t, bad, two.Failure(t).Message)
}

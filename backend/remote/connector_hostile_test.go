package remote

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

const hostileSheet = `
source: {http: {url: "${SERVICE_URL}", retries: 0, max_answer: 1MiB}}
client: org
resources:
  contact:
    path: /contacts
    key: id
    walk: {query: {page: "{page.number}"}, paging: {style: page}}
    fields: {kind: {path: type, codes: {P: person}}, name: name, payment_days: days, is_customer: customer, modified_at: {path: changed, readonly: true}}
`

// TestHostileAnswers: whatever a service answers, a record is the one that was asked for or there is
// an error, and nothing of it is left for the call after.
func TestHostileAnswers(t *testing.T) {
	const good = `{"id":1,"org":1,"type":"P","name":"Anna","days":7,"customer":1,"changed":"2026-07-01T10:00:00Z"}`
	with := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	unexpected, changed := backend.ErrUnexpected, backend.ErrChanged
	ok := httpAnswer
	for name, test := range map[string]struct {
		answer  string
		ends    bool  // and the connection with it
		fails   error // of get and take; nil for any
		shows   bool
		inTake  bool // the record stands in its list, with its error
		itsList bool // a list of it is one that the sheet knows
	}{
		"as it should be":       {answer: ok(200, good), shows: true},
		"until it is closed":    {answer: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + good, ends: true, shows: true},
		"a list of one":         {answer: ok(200, "["+good+"]"), shows: true, itsList: true},
		"with more members":     {answer: ok(200, with(`{`, `{"x":{"y":[1,{}]},`)), shows: true},
		"cut":                   {answer: strings.Replace(ok(200, good), good, good[:40], 1), ends: true},
		"cut, said so":          {answer: ok(200, good[:40]), fails: unexpected},
		"more behind it":        {answer: ok(200, good+good), fails: unexpected},
		"HTML":                  {answer: ok(200, "<html><p>Anna</p></html>")},
		"HTML of 404":           {answer: "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<h1>"},
		"a redirect":            {answer: "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n", fails: unexpected},
		"nothing":               {answer: ok(200, ""), fails: unexpected},
		"null":                  {answer: ok(200, "null"), fails: backend.ErrNotFound},
		"a text":                {answer: ok(200, `"Anna"`), fails: changed},
		"a list in a list":      {answer: ok(200, "[["+good+"]]"), fails: changed},
		"two of it":             {answer: ok(200, "["+good+","+good+"]"), fails: unexpected},
		"another record":        {answer: ok(200, with(`"id":1`, `"id":2`)), fails: unexpected},
		"another's record":      {answer: ok(200, with(`"org":1`, `"org":2`)), fails: backend.ErrNotFound},
		"no client":             {answer: ok(200, with(`"org":1,`, ``)), fails: changed},
		"a client in a list":    {answer: ok(200, with(`"org":1`, `"org":[1]`)), fails: changed},
		"a client of no number": {answer: ok(200, with(`"org":1`, `"org":"x 1"`)), fails: changed},
		"no key":                {answer: ok(200, with(`"id":1,`, ``)), fails: changed},
		"a key that is null":    {answer: ok(200, with(`"id":1`, `"id":null`)), fails: changed},
		"a key in a list":       {answer: ok(200, with(`"id":1`, `"id":[1]`)), fails: changed},
		"the key as a text":     {answer: ok(200, with(`"id":1`, `"id":"1"`)), shows: true},
		"the key twice":         {answer: ok(200, with(`"id":1`, `"id":2,"id":1`)), fails: unexpected},
		"wrapped":               {answer: ok(200, `{"data":`+good+`}`), fails: changed},
		"a wrong type":          {answer: ok(200, with(`"days":7`, `"days":"soon"`)), inTake: true},
		"a huge number":         {answer: ok(200, with(`"days":7`, `"days":1e400`)), inTake: true},
		"a long number":         {answer: ok(200, with(`"days":7`, `"days":`+strings.Repeat("9", 5000))), inTake: true},
		"a code that is a map":  {answer: ok(200, with(`"type":"P"`, `"type":{}`)), inTake: true},
		"a NUL":                 {answer: ok(200, with(`Anna`, `An\u0000na`)), inTake: true},
		"a NUL of its own":      {answer: ok(200, with(`Anna`, "An\x00na")), fails: unexpected},
		"no UTF-8":              {answer: ok(200, with(`Anna`, "An\xffna")), fails: unexpected},
		"half a character":      {answer: ok(200, with(`Anna`, `\ud800`)), fails: unexpected},
		"no year":               {answer: ok(200, with(`2026-07-01T10`, `9999-99-99T99`)), inTake: true},
		"nested 10,000 times":   {answer: ok(200, with(`{`, `{"x":`+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)+`,`)), fails: unexpected},
		"too large":             {answer: fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", 20<<20, good), fails: errTooLarge},
		"compressed":            {answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"},
		"no HTTP":               {answer: "SSH-2.0-OpenSSH_9.2\r\n", ends: true},
		"two lengths":           {answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 90\r\n\r\n" + good},
		"a chunk that is cut":   {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n" + good, ends: true},
		"a chunk that lies":     {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n{}", ends: true},
		"interim answers":       {answer: strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 50), ends: true},
		"cut, and another":      {answer: ok(200, good[:40]) + ok(200, "{}"), fails: unexpected},
		"a header without end":  {answer: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 64<<10), ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			url := trivial(t, map[string]string{"GET": test.answer, "PATCH": test.answer})
			if test.ends {
				url = closing(t, test.answer)
			}
			c := speakingTo(t, hostileSheet, url)
			r := c.of("contact")
			for range 2 { // over whatever connections are left
				row, err := c.get(bg(), r, noord, "1")
				if test.shows || test.inTake {
					require.NoError(t, err)
					all := must.Have(c.take(bg(), r, noord, []sheet.JSON{row}))(t)
					require.Equal(t, int32(1), all[0].rec.ID())
					require.Equal(t, test.inTake, errors.Is(all[0].err, unexpected), "%v", all[0].err)
					require.True(t, test.inTake || all[0].rec.Get("name").Text() == "Anna")
					continue
				}
				require.Error(t, err)
				require.Zero(t, row)
				if test.fails != nil {
					require.ErrorIs(t, err, test.fails)
				}
				require.Less(t, len(err.Error()), 2000)
			}
			before := taken{rec: mapping.NewRecord(r.Resource), raw: jsonOf(t, map[string]any{"id": 1, "org": 1})}
			patch := c.record(t, "contact", `{"payment_days":8}`)
			_, err := c.update(bg(), nil, r, noord, before, patch)
			if !test.shows && name != "no client" { // what was written is the client's own
				require.Error(t, err)
				require.NotErrorIs(t, err, backend.ErrChanged, "a write that may be done is not one that is not")
			}
			if !test.itsList {
				require.Error(t, must.Fail(c.walked(bg(), "contact", noord)))
			}
		})
	}
}

// closing is an upstream that answers once on each connection, and closes it.
func closing(t *testing.T, answer string) string {
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 64<<10))
			_, _ = c.Write([]byte(answer))
			_ = c.Close()
		}
	}()
	return "http://" + listener.Addr().String()
}

// TestEndlessAnswer: an answer without end is given up at its limit, and what is on its way by then.
func TestEndlessAnswer(t *testing.T) {
	sent := make(chan int, 1)
	c := speaking(t, hostileSheet, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		all := 0
		for {
			n, err := w.Write([]byte(`{"id":1,`))
			if all += n; err != nil {
				sent <- all
				return
			}
		}
	}))
	require.ErrorIs(t, must.Fail(c.get(bg(), c.of("contact"), noord, "1")), errTooLarge)
	require.Less(t, <-sent, 32<<20)
}

// TestDoubledAnswers: an answer that comes twice is not taken for the next one's.
func TestDoubledAnswers(t *testing.T) {
	answer := func(id int) string {
		return httpAnswer(200, fmt.Sprintf(`{"id":%d,"org":1,"type":"P","name":"N%[1]d"}`, id))
	}
	c := speakingTo(t, hostileSheet, trivial(t, map[string]string{"GET /contacts/1": answer(1) + answer(1), "GET /contacts/2": answer(2) + answer(2)}))
	for n := range 20 {
		key := []string{"1", "2"}[n%2]
		require.Equal(t, "N"+key, must.Have(c.get(bg(), c.of("contact"), noord, key))(t).Object()["name"])
	}
}

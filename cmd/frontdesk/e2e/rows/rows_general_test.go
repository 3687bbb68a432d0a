package rows

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// generalRows are the interface's table "General (all methods)".
var generalRows = []errorRow{
	{
		scope: mapping.General, reason: mapping.InternalError, what: "a fault of the program itself",
		given: func(p *rig.Practice) []any {
			p.Faults.Set(func(context.Context) error { panic("a fault of the test") })
			return nil
		},
		ask:    []string{`GET /contact/1`},
		status: 500, message: `Internal server error`,
	},
	{
		scope: mapping.General, reason: mapping.QueryRepeated,
		ask:    []string{`GET /contact?page=1&page=1`, `GET /contact/1?page=1&page=2`, `POST /contact?page=1&page=2 {}`, `PUT /contact/1?page=&page {}`, `DELETE /contact/1?page=1&p%61ge=2`},
		status: 400, message: `Invalid request, query parameter is provided more than once: page`,
	},
	{
		scope: mapping.General, reason: mapping.QueryUnsupported,
		ask:    []string{`GET /contact/1?colour=red`, `POST /contact?colour=red {}`, `PUT /contact/1?colour=red {}`, `DELETE /contact/1?colour=red`, `GET /util/environment?colour`},
		status: 400, message: `Invalid request, query parameter is not supported: colour`,
	},
	{
		scope: mapping.General, reason: mapping.EndpointUnknown,
		ask:    []string{`GET /nothing`, `POST /nothing {}`, `PUT /nothing {}`, `DELETE /nothing`, `PATCH /nothing`},
		status: 400, message: `Invalid endpoint: /nothing`,
	},
	{
		scope: mapping.General, reason: mapping.MethodUnsupported,
		ask:    []string{`PATCH /contact {}`},
		status: 400, message: `Method: PATCH not supported for endpoint: /contact`,
	},
	{
		scope: mapping.General, reason: mapping.MethodUnsupported, what: "POST to one record",
		ask:    []string{`POST /contact/1 {}`},
		status: 400, message: `Method: POST not supported for endpoint: /contact/1`,
	},
}

// contractRows are what the contract adds to the interface's tables.
var contractRows = []errorRow{
	{
		scope: mapping.General, reason: mapping.BackendUnavailable,
		given: func(p *rig.Practice) []any {
			p.Faults.Set(rig.Fails)
			return nil
		},
		ask:    []string{`GET /contact/1`, `GET /contact`, `POST /contact {"kind":"person","name":"A"}`, `PUT /contact/1 {"name":"A"}`, `DELETE /contact/1`, `GET /model/contact`},
		status: 500, message: `Internal server error`,
	},
	{
		scope: mapping.General, reason: mapping.BackendTimeout, what: "a backend that never answers",
		do:     neverAnswered,
		status: 500, message: `Internal server error`,
	},
	{
		scope: mapping.General, reason: mapping.NotLoggedIn,
		do:     everywhere(func(*rig.Practice) string { return "" }),
		status: 401, message: `Not authorized`,
	},
	{
		scope: mapping.General, reason: mapping.TokenInvalid, what: "logged out",
		do:     everywhere((*rig.Practice).Ended),
		status: 401, message: `Not authorized`,
	},
	{
		scope: mapping.General, reason: mapping.TokenInvalid, what: "no token at all",
		do:     everywhere(func(*rig.Practice) string { return "nonsense" }),
		status: 401, message: `Not authorized`,
	},
	{
		scope: "GET /authenticate", reason: mapping.CredentialsInvalid,
		ask: []string{
			`GET ` + rig.LoginPath(rig.FullKey, "demo", "wrong"), `GET ` + rig.LoginPath(rig.FullKey, "nobody", "nobody"),
			`GET ` + rig.LoginPath("55555555-5555-4555-8555-555555555555", "demo", "demo"), `GET ` + rig.LoginPath("nonsense", "demo", "demo"),
		},
		status: 401, message: `Not authorized`,
	},
	{
		scope: mapping.General, reason: mapping.TooManyRequests, what: "the rate of the api_key",
		do: func(p *rig.Practice) []rig.Answer {
			token := p.Login(rig.SlowKey, "demo")
			require.Equal(p.T, 200, p.Call("GET", "/contact/1", token, "").Status)
			return afterAWhile(p, p.Call("GET", "/contact/1", token, ""))
		},
		status: 429, message: `Too many requests`,
	},
	{
		scope: mapping.General, reason: mapping.TooManyRequests, what: "ten wrong logins",
		do:     tenWrongLogins,
		status: 429, message: `Too many requests`,
	},
	{
		scope: mapping.General, reason: mapping.RequestMalformed,
		do:     func(p *rig.Practice) []rig.Answer { return []rig.Answer{p.Raw("nonsense\r\n\r\n")} },
		status: 400, message: `Invalid request`,
	},
	{
		scope: mapping.General, reason: mapping.HeaderTooLarge,
		do: func(p *rig.Practice) []rig.Answer {
			return []rig.Answer{p.Raw(rig.RawRequest("GET", "/contact", "X-Long: "+letters(17<<10)))}
		},
		status: 431, message: `Request header is too large`,
	},
	{
		scope: mapping.General, reason: mapping.BodyTooLarge,
		do: func(p *rig.Practice) []rig.Answer {
			head := fmt.Sprintf("POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\ntoken: %s\r\nContent-Length: %d\r\n\r\n", p.Token, rig.BodyLimit+1)
			return []rig.Answer{p.Raw(head + letters(rig.BodyLimit+1))}
		},
		status: 413, message: `Body is too large`,
	},
	{
		scope: mapping.General, reason: mapping.Overloaded,
		do: func(p *rig.Practice) []rig.Answer {
			crowd := rig.Flood(p.T, p.Host(), rig.MostConnections)
			a := p.Socket().Answer("GET")
			rig.HangUp(crowd)
			p.RequireServing(p.Token)
			return []rig.Answer{a}
		},
		status: 503, message: `Server is busy`,
	},
	{
		scope: mapping.General, reason: mapping.ParametersRequired,
		ask:    []string{`GET /util/environment`, `GET /util/environment?username=`},
		status: 400, message: `These parameter(s): username are required`,
	},
	{
		scope: mapping.General, reason: mapping.ParametersRequired, what: "of a login",
		ask:    []string{`GET /authenticate?organization_name=&username=&password=x`},
		status: 400, message: `These parameter(s): api_key , username are required`,
	},
	{
		scope: mapping.OpList, reason: mapping.PageSizeInvalid,
		ask:    []string{`GET /contact?page_size=0`, `GET /contact?page_size=1001`, `GET /contact?page_size=many`, `GET /contact?page_size=`},
		status: 400, message: `Parameter invalid page_size value must be from 1 to 1000`,
	},
	{
		scope: mapping.General, reason: mapping.PreconditionChanged,
		do: func(p *rig.Practice) []rig.Answer {
			path := fmt.Sprintf("/contact/%d", p.Contact())
			return []rig.Answer{
				p.Call("PUT", path, p.Token, `{"name":"A"}`, "If-Match", `"other"`),
				p.Call("DELETE", path, p.Token, "", "If-Match", `"other"`),
			}
		},
		status: 412, message: `Record has been changed`,
	},
	{
		scope: mapping.General, reason: mapping.IdempotencyInvalid,
		do: func(p *rig.Practice) []rig.Answer {
			var all []rig.Answer
			for _, key := range []string{letters(256), "with blank", "\u00e9"} {
				all = append(all, p.Call("POST", "/contact", p.Token, `{"kind":"person","name":"A"}`, "Idempotency-Key", key))
			}
			return all
		},
		status: 400, message: `Idempotency-Key must be 1 to 255 visible ASCII characters`,
	},
	{
		scope: mapping.General, reason: mapping.IdempotencyReused,
		do: func(p *rig.Practice) []rig.Answer {
			key := fmt.Sprint("reused-", p.Next())
			a := p.Call("POST", "/contact", p.Token, `{"kind":"person","name":"A"}`, "Idempotency-Key", key)
			require.Equal(p.T, 201, a.Status)
			return []rig.Answer{p.Call("POST", "/contact", p.Token, `{"kind":"person","name":"B"}`, "Idempotency-Key", key)}
		},
		status: 422, message: `Idempotency-Key was used with another body`,
	},
	{
		scope: mapping.General, reason: mapping.IdempotencyInUse, what: "while the first is being served",
		do:     twiceAtOnce,
		status: 409, message: `Idempotency-Key is in use`,
	},
}

// everywhere asks a record, a list, all writes and utilities with a token.
func everywhere(token func(p *rig.Practice) string) func(p *rig.Practice) []rig.Answer {
	return func(p *rig.Practice) (all []rig.Answer) {
		for _, ask := range []string{
			"GET /contact", "GET /contact/1", "POST /contact", "PUT /contact/1", "DELETE /contact/1", "GET /model/contact",
			"GET /util/environment", "GET /document/info", "GET /contact/checkaddress", "GET /empoyee/email",
			"PUT /vehicle/publishstart", "GET /vehicle/publishstart", "PUT /vehicle/publishstop", "PUT /updatelicenseplate", "POST /updatelicenseplate",
		} {
			method, path, _ := strings.Cut(ask, " ")
			all = append(all, p.Call(method, path, token(p), ""))
		}
		return all
	}
}

// neverAnswered asks a desk whose backend waits until it is given up on.
func neverAnswered(p *rig.Practice) []rig.Answer {
	var f rig.Faults
	d := rig.Start(p.T, rig.Options{DSN: p.DSN, Wrap: f.Wrap, Backend: ", timeout: 2s"})
	f.Set(func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	token := d.Login(rig.FullKey, "demo")
	return []rig.Answer{d.Call("GET", "/contact/1", token, ""), d.Call("POST", "/contact", token, `{"kind":"person","name":"A"}`)}
}

// afterAWhile judges that an answer says when to come back.
func afterAWhile(p *rig.Practice, a rig.Answer) []rig.Answer {
	require.Regexp(p.T, `^[1-9][0-9]*$`, a.Header.Get("Retry-After"))
	return []rig.Answer{a}
}

// tenWrongLogins guesses ten times at once, since each guess is slowed; the
// eleventh is refused before it is looked at, although it is right.
func tenWrongLogins(p *rig.Practice) []rig.Answer {
	d := rig.Start(p.T, rig.Options{DSN: p.DSN})
	statuses := make(chan int, 10)
	var guesses sync.WaitGroup
	for range 10 {
		guesses.Go(func() {
			a, err := d.Try("GET", rig.LoginPath(rig.FullKey, "demo", "wrong"), "", "")
			if err == nil {
				statuses <- a.Status
			}
		})
	}
	guesses.Wait()
	close(statuses)
	counts := map[int]int{}
	for s := range statuses {
		counts[s]++
	}
	require.Equal(p.T, map[int]int{http.StatusUnauthorized: 9, http.StatusTooManyRequests: 1}, counts)
	d.Login(rig.FullKey, "other")
	return afterAWhile(p, d.Call("GET", rig.LoginPath(rig.FullKey, "demo", "demo"), "", ""))
}

// twiceAtOnce asks again under the same key while the driver still has the
// first.
func twiceAtOnce(p *rig.Practice) []rig.Answer {
	return []rig.Answer{p.Twice("/contact", `{"kind":"person","name":"A"}`)}
}

package bounds

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// oddBytes are, in an address, texts that databases cannot even be asked for, or take for
// something else. Each of the first few is wrong in a way of its own.
var oddBytes = []string{
	"a%00b", "%ff", "%ed%a0%80", "%00", "a%80b", "%c0%80", "%f5%80%80%80", "%ef%bf%bf", "%f0%9f%9a%97", "%27%5c%22", "%e2%80%ae",
}

// parameter is a place in a request of the description.
type parameter struct {
	Name, In string
	Required bool
}

// TestOddBytes puts odd bytes into every parameter of every operation, in what comes as a
// header and in what is only looked up: each is refused as what it is, none is a
// failure. The whole of it is in the long form (make soak).
func TestSoakOddBytes(t *testing.T) {
	t.Parallel()
	everywhere := oddBytes[:2]
	if sqltest.Soak() {
		everywhere = oddBytes
	}
	for name, of := range map[string]struct {
		options        func(*testing.T) rig.Options
		user, password string
	}{
		"postgres":        {func(t *testing.T) rig.Options { return rig.Options{DSN: rig.Engines[1].DSN(t)} }, "demo", "demo"},
		"legacy mariadb":  {func(t *testing.T) rig.Options { return rig.DealerPak(t, "mariadb", legacytest.MariaDB(t)) }, "sanne.bos", "Welkom01"},
		"legacy postgres": {func(t *testing.T) rig.Options { return rig.DealerPak(t, "postgres", legacytest.Postgres(t)) }, "sanne.bos", "Welkom01"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := rig.Start(t, of.options(t))
			token := d.LoginAs(rig.FullKey, of.user, of.password)
			asked := 0
			holds := func(method, path, body string, headers ...string) {
				t.Helper()
				asked++
				if a := d.Call(method, path, token, body, headers...); a.Status >= 500 {
					t.Errorf("%s %s %s %q: %d %s", method, path, body, headers, a.Status, a.Body)
				}
			}
			for path, methods := range described(t, d) {
				for method, parameters := range methods {
					for _, p := range parameters {
						for _, odd := range everywhere {
							holds(method, addressed(path, parameters, p, odd), "{}")
						}
					}
				}
			}
			require.Greater(t, asked, 500)
			for _, odd := range oddBytes {
				text := must.Have(url.QueryUnescape(odd))(t)
				body := must.Have(json.Marshal(map[string]string{"username": text}))(t)
				a := d.Call("GET", "/webhook?id="+odd, token, "")
				require.Equal(t, 404, a.Status, "%s: %s", odd, a.Body)
				require.Equal(t, "record_not_found", a.Failure(t).Reason)
				holds("POST", "/authenticate/forgotpassword", string(body))
				holds("POST", "/authenticate/forgotpassword", `{"username":"`+text+`"}`)
				holds("GET", "/authenticate/resetpassword?reset="+odd, "")
				holds("POST", "/authenticate/resetpassword", "reset="+odd+"&password=longenough&repeat=longenough")
				holds("POST", "/authenticate/resetpassword", "reset="+strings.Repeat(odd, 43)[:43]+"&password=longenough&repeat=longenough")
				holds("POST", "/contact", rig.NewContact, "Idempotency-Key", strings.ReplaceAll(text, "\x00", ""))
				holds("PUT", "/contact/1", "{}", "If-Match", strings.ReplaceAll(text, "\x00", ""))
			}
			for _, odd := range oddBytes[:3] { // each costs a password
				holds("GET", rig.LoginPath(odd, of.user, "wrong"), "")
				holds("GET", rig.LoginPath(rig.FullKey, odd, odd), "")
				holds("GET", rig.LoginPath(rig.FullKey, of.user, odd), "")
			}
		})
	}
}

// described are the parameters of all operations, by path and method.
func described(t *testing.T, d *rig.Desk) map[string]map[string][]parameter {
	t.Helper()
	var description struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Parameters map[string]parameter }
	}
	a := d.Call("GET", "/openapi.json?api_key="+rig.FullKey, "", "")
	require.NoError(t, json.Unmarshal(a.Body, &description))
	all := map[string]map[string][]parameter{}
	for path, operations := range description.Paths {
		all[path] = map[string][]parameter{}
		for method, text := range operations {
			var operation struct {
				Parameters []struct {
					Ref string `json:"$ref"`
					parameter
				}
			}
			if method = strings.ToUpper(method); method != "GET" && method != "PUT" && method != "POST" && method != "DELETE" || json.Unmarshal(text, &operation) != nil {
				continue
			}
			if path == "/authenticate" || path == "/authenticate/logout" {
				continue
			}
			for _, p := range operation.Parameters {
				if p.Ref != "" {
					p.parameter = description.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
				}
				if p.In == "query" || p.In == "path" {
					all[path][method] = append(all[path][method], p.parameter)
				}
			}
		}
	}
	return all
}

// addressed is a path with that value for one parameter, and a plain one for others that
// are required.
func addressed(path string, parameters []parameter, odd parameter, value string) string {
	query := ""
	for _, p := range parameters {
		text := "1"
		switch {
		case p.Name == odd.Name:
			text = value
		case p.In == "query" && !p.Required:
			continue
		}
		if p.In == "path" {
			path = strings.Replace(path, "{"+p.Name+"}", text, 1)
			continue
		}
		query += fmt.Sprintf("&%s=%s", p.Name, text)
	}
	if query == "" {
		return path
	}
	return path + "?" + query[1:]
}

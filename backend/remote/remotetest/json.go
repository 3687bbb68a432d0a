package remotetest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The client that Garage Cloud knows. Its people log in with their user name as
// password.
const (
	ClientID     = "frontdesk"
	ClientSecret = "let-me-in"
)

// JSON is "Garage Cloud API v3". It is safe for concurrent use.
//
// Tenants are garage-noord and garage-zuid, filled alike, and garage-leeg, which
// has no more than is needed to begin.
type JSON struct {
	service
	skins map[string]*skin // by collection
	mux   *http.ServeMux

	throttled  int
	retryAfter time.Duration
	created    map[string]answer // answers to calls that created a record, by tenant and idempotency key
}

var _ http.Handler = (*JSON)(nil)

// NewJSON returns a Garage Cloud with its sample data.
func NewJSON(o Options) *JSON {
	g := &JSON{skins: map[string]*skin{}, mux: http.NewServeMux(), created: map[string]answer{}}
	prefix := map[string]string{}
	for _, s := range garageSkins() {
		g.skins[s.collection] = s
		prefix[s.entity] = s.prefix
	}
	g.service = newService(o, variant{
		number: garageNumber,
		id: func(tenant, entity string, seq int) string {
			if entity == "country" {
				return ""
			}
			sum := sha256.Sum256([]byte(tenant + "/" + entity + "/" + strconv.Itoa(seq)))
			return prefix[entity] + hex.EncodeToString(sum[:8])
		},
	}, "garage-noord", "garage-zuid", "garage-leeg")
	g.route()
	return g
}

func garageNumber(entity string, n, year int) string {
	switch entity {
	case "contact":
		return fmt.Sprintf("K-%d", 100000+n)
	case "invoice":
		return fmt.Sprintf("F%d-%05d", year, n)
	default:
		return fmt.Sprintf("%d-%06d", year, n)
	}
}

// ExpireTokens ends every token that was given out.
func (g *JSON) ExpireTokens() { g.expire() }

// Purge removes deleted records for good, and returns how many.
func (g *JSON) Purge() (n int) {
	g.admin.mu.Lock()
	defer g.admin.mu.Unlock()
	for _, l := range g.admin.ledgers {
		for entity, rows := range l.rows {
			for _, r := range slices.Clone(rows) {
				if !r.alive() {
					l.drop(entity, r.id)
					n++
				}
			}
		}
	}
	return n
}

// Throttle answers the next n calls under /v3 with 429.
func (g *JSON) Throttle(n int, retryAfter time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.throttled, g.retryAfter = n, retryAfter
}

// throttle reports whether a call is one too many.
func (g *JSON) throttle() (wait time.Duration, throttled bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if throttled = g.throttled > 0; throttled {
		g.throttled--
	}
	return g.retryAfter, throttled
}

// answer is what a call is answered with.
type answer struct {
	status int
	header map[string]string
	body   any // nil for none
}

// failure is an answer in the shape of Garage Cloud's errors.
func failure(status int, code, field, format string, args ...any) answer {
	e := object{"code": code, "message": fmt.Sprintf(format, args...)}
	if field != "" {
		e["field"] = field
	}
	return answer{status: status, body: object{"error": e}}
}

func (a answer) with(name, value string) answer {
	header := map[string]string{name: value}
	for k, v := range a.header {
		header[k] = v
	}
	a.header = header
	return a
}

func (a answer) write(w http.ResponseWriter) {
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	body, err := json.Marshal(a.body)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.status)
	_, _ = w.Write(append(body, '\n'))
}

// ServeHTTP serves one call.
func (g *JSON) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// authorize returns why a call is not served: too many of them, or its
// token.
func (g *JSON) authorize(r *http.Request) (answer, bool) {
	if wait, throttled := g.throttle(); throttled {
		return failure(http.StatusTooManyRequests, "RATE_LIMITED", "", "Too many requests").
			with("Retry-After", strconv.Itoa(int(wait/time.Second))), false
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	known, holds := g.known(token)
	switch {
	case !bearer || !known:
		return failure(http.StatusUnauthorized, "TOKEN_INVALID", "", "No valid access token").
			with("WWW-Authenticate", `Bearer error="invalid_token"`), false
	case !holds:
		return failure(http.StatusUnauthorized, "TOKEN_EXPIRED", "", "The access token has expired").
			with("WWW-Authenticate", `Bearer error="invalid_token", error_description="expired"`), false
	}
	return answer{}, true
}

// issue gives out a token (RFC 6749, client credentials).
func (g *JSON) issue(w http.ResponseWriter, r *http.Request) {
	g.count("POST /oauth/token")
	refuse := func(status int, code string) {
		answer{status: status, body: object{"error": code}}.write(w)
	}
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	if err := r.ParseForm(); err != nil || r.PostForm.Get("grant_type") != "client_credentials" {
		refuse(http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	if id != ClientID || secret != ClientSecret {
		refuse(http.StatusUnauthorized, "invalid_client")
		return
	}
	token := g.logOn("gc_")
	answer{status: http.StatusOK, header: map[string]string{"Cache-Control": "no-store"}, body: object{
		"access_token": token, "token_type": "Bearer", "expires_in": int(g.ttl / time.Second),
	}}.write(w)
}

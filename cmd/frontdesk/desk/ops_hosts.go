package desk

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// ownHost lets requests in that ask for the operators' listener by a name of its own. A
// browser of somebody who may reach the listener would else ask it for whoever owns a name
// and has it lead here. Who asks by another name gets what strangers answers.
func ownHost(names []string, next, strangers http.Handler) http.Handler {
	own := []string{"localhost", ""} // HAProxy sends none
	for _, name := range names {
		own = append(own, hostOf(name))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostOf(r.Host)
		if _, err := netip.ParseAddr(host); err != nil && !slices.Contains(own, host) {
			strangers.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// strangers answers who asks by a name that is none of the listener's own: load balancers,
// some of which send the name of their group, learn in a word how it does, and nobody more.
func (a probes) strangers() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", a.healthz)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		status, now := a.readiness(r.Context())
		answerHealth(a.log, w, status, map[string]string{"status": now.Status})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, fmt.Sprintf("asked for %q, which is no name of this listener: ops.hosts names further ones", hostOf(r.Host)), http.StatusMisdirectedRequest)
	})
	return mux
}

// hostOf is the host of an address, with or without a port, as names are compared.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(address, "[]"), "."))
}

// ownOrigin keeps what is for programs from the pages of others: a browser that shows one
// says whose page asks. A person may follow a link here.
func ownOrigin(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
		from, err := url.Parse(origin)
		switch {
		case origin != "" && (err != nil || !strings.EqualFold(from.Host, r.Host)),
			strings.HasSuffix(site, "-site") && r.Header.Get("Sec-Fetch-Dest") != "document":
			http.Error(w, "not for pages of others", http.StatusForbidden)
		default:
			next(w, r)
		}
	}
}

// closed says of every answer that no page may use it.
func closed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		next.ServeHTTP(w, r)
	})
}

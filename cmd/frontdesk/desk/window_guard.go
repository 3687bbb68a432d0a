package desk

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"strings"
)

// guarded lets those in who ask from this machine, or with the token of the configuration:
// whose requests were refused is more than health and metrics.
func (h *Desk) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if h.isOperator(r) {
			next(w, r)
			return
		}
		if h.config.Ops.Token == "" {
			http.Error(w, "this page is for this machine only; ops.token lets others see it", http.StatusForbidden)
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="frontdesk, any name and ops.token as the password"`)
		http.Error(w, "this page wants ops.token, as the password or as a bearer token", http.StatusUnauthorized)
	}
}

func (h *Desk) isOperator(r *http.Request) bool {
	if from, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && from.Addr().Unmap().IsLoopback() && !isForwarded(r.Header) {
		return true
	}
	token := string(h.config.Ops.Token)
	if token == "" {
		return false
	}
	_, given, _ := r.BasicAuth()
	if scheme, bearer, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		given = bearer
	}
	asked, wanted := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(asked[:], wanted[:]) == 1
}

// isForwarded tells whether a proxy on this machine asks for somebody.
func isForwarded(h http.Header) bool {
	for name := range h {
		switch {
		case name == "Forwarded", name == "Via", name == "X-Real-Ip", name == "True-Client-Ip", name == "Cf-Connecting-Ip", strings.HasPrefix(name, "X-Forwarded-"):
			return true
		}
	}
	return false
}

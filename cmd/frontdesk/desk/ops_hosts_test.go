package desk

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// The name that a listener is opened by is its own, also where it is the machine's.
func TestOwnHost(t *testing.T) {
	handler := ownHost([]string{"Gateway1:9090"}, http.NotFoundHandler(), probes{}.strangers())
	for host, want := range map[string]int{"gateway1": 404, "gateway1:80": 404, "GATEWAY1.": 404, "gateway2": 421, "gateway1.example": 421} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
		r.Host = host
		handler.ServeHTTP(w, r)
		require.Equal(t, want, w.Code, host)
	}
}

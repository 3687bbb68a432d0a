package mirror

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestClientWaitsWhereItIsToldTo: to be told to wait is no failure, however long it takes, and
// one that comes after it begins then.
func TestClientWaitsWhereItIsToldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := []string{
			`200 {"token":"t"}`,
			`429 {"errorCode":429,"message":"Too many requests"}`,
			`502 {"errorCode":502,"message":"Away"}`,
			`429 {"errorCode":429,"message":"Too many requests"}`,
			`502 {"errorCode":502,"message":"Away"}`,
			`200 {}`,
		}
		var said []string
		c := &client{base: "http://example.nl", patience: patience, after: time.After,
			say: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
			http: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				status, body, _ := strings.Cut(answers[0], " ")
				answers = answers[1:]
				answer := &http.Response{Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: r}
				if _, err := fmt.Sscan(status, &answer.StatusCode); err != nil {
					return nil, err
				}
				if answer.StatusCode == http.StatusTooManyRequests {
					answer.Header.Set("Retry-After", "3600")
				}
				return answer, nil
			})}}
		began := time.Now()
		require.NoError(t, c.get(t.Context(), "/order", nil, &struct{}{}))
		require.Greater(t, time.Since(began), 2*time.Hour)
		require.Equal(t, []string{
			"GET /order: 429 Too many requests; trying again in 1h0m0s",
			"GET /order: 502 Away; trying again",
			"GET /order: 429 Too many requests; trying again in 1h0m0s",
			"GET /order: 502 Away; trying again",
		}, said)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

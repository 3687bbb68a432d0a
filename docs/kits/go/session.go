package main

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"example.com/orders/frontdesk"
)

// session is the http.Client under a generated client: it sends the token, logs
// in when there is none or it is no longer valid, and comes back once at the time
// that the service names. It may be used by several goroutines.
type session struct {
	base               string
	key                uuid.UUID
	username, password string

	mu    sync.Mutex
	token string
}

// longestWait is more than any Retry-After that is worth waiting for here.
const longestWait = time.Minute

// Do sends a request, whose body must be one that can be sent twice; those of
// the generated client are.
func (s *session) Do(req *http.Request) (*http.Response, error) {
	token, err := s.current(req.Context(), "")
	if err != nil {
		return nil, err
	}
	resp, err := send(req, token)
	if err != nil {
		return nil, err
	}
	switch wait := retryAfter(resp); {
	case resp.StatusCode == http.StatusUnauthorized:
		if token, err = s.current(req.Context(), token); err != nil {
			return nil, err
		}
	case wait > 0 && wait <= longestWait && repeatable(req, resp):
		select {
		case <-time.After(wait):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	default:
		return resp, nil
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return send(req, token)
}

// send sends a request, which may have been sent before.
func send(req *http.Request, token string) (*http.Response, error) {
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		again.Body = body
	}
	again.Header.Set("token", token)
	return http.DefaultClient.Do(again)
}

// current returns a token that is not the one known to be refused.
func (s *session) current(ctx context.Context, refused string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != refused {
		return s.token, nil
	}
	api, err := frontdesk.NewClientWithResponses(s.base)
	if err != nil {
		return "", err
	}
	answer, err := api.AuthenticateWithResponse(ctx, &frontdesk.AuthenticateParams{ApiKey: s.key, Username: s.username, Password: s.password})
	if err != nil {
		return "", err
	}
	if answer.JSON200 == nil {
		return "", refusal(answer.StatusCode(), answer.Body)
	}
	s.token = answer.JSON200.Token.String()
	return s.token, nil
}

// repeatable reports whether a refused request does no harm when it is sent again:
// after 429 nothing was done, after 500 nobody knows.
func repeatable(req *http.Request, resp *http.Response) bool {
	return resp.StatusCode == http.StatusTooManyRequests ||
		resp.StatusCode >= 500 && (req.Method != http.MethodPost || req.Header.Get("Idempotency-Key") != "")
}

func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

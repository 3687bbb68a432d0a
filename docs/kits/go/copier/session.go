package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// session asks the interface. It logs in when there is no token or it is no longer valid, waits
// where it is told to, and tries again what failed.
type session struct {
	base, key, username, password string
	token                         string
}

// refusal is an answer that is an error. Go by the reason; the message is for people.
type refusal struct {
	Status    int    `json:"errorCode"`
	Message   string `json:"message"`
	Reason    string `json:"reason"`
	RequestID string `json:"request_id"`
}

func (r *refusal) Error() string {
	return fmt.Sprintf("status %d: %s (request %s)", r.Status, r.Message, r.RequestID)
}

func is(err error, reason string) bool {
	var r *refusal
	return errors.As(err, &r) && r.Reason == reason
}

// query makes a query of names and values.
func query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

// get asks until there is an answer.
func (s *session) get(path string, q url.Values, into any) (err error) {
	wait := 100 * time.Millisecond
	for range 12 {
		if s.token == "" {
			var answer struct{ Token string }
			login := query("api_key", s.key, "organization_name", "", "username", s.username, "password", s.password)
			if err = s.ask("/authenticate", login, &answer, &wait); err == nil {
				s.token = answer.Token
			}
		}
		if s.token != "" {
			err = s.ask(path, q, into, &wait)
		}
		var r *refusal
		switch {
		case err == nil:
			return nil
		case errors.As(err, &r) && r.Status == http.StatusUnauthorized && s.token != "":
			s.token = ""
			continue
		case errors.As(err, &r) && r.Status < 500 && r.Status != http.StatusTooManyRequests:
			return err
		}
		time.Sleep(wait)
		wait = min(2*wait, 30*time.Second)
	}
	return err
}

// ask sends one request. wait becomes what the service says, if it says something.
func (s *session) ask(path string, q url.Values, into any, wait *time.Duration) error {
	req, err := http.NewRequest(http.MethodGet, s.base+path+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	if s.token != "" {
		req.Header.Set("token", s.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) { // it quotes the address, which has the password in it
			err = of.Err
		}
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusOK {
		return json.Unmarshal(body, into)
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		*wait = time.Duration(seconds) * time.Second
	}
	r := &refusal{Status: resp.StatusCode}
	if err := json.Unmarshal(body, r); err != nil {
		return fmt.Errorf("status %d, and no JSON: %w", resp.StatusCode, err)
	}
	return r
}

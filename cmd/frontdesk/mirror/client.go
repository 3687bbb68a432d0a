package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"frontdesk/cmd/frontdesk/terminal"
)

// refusal is an answer that is an error.
type refusal struct {
	Status    int    `json:"errorCode"`
	Message   string `json:"message"`
	Reason    string `json:"reason"`
	RequestID string `json:"request_id"`
	path      string
}

func (r *refusal) Error() string {
	if r.RequestID == "" {
		return fmt.Sprintf("GET %s: %d %s", r.path, r.Status, terminal.Safe(r.Message))
	}
	return fmt.Sprintf("GET %s: %d %s (request %s)", r.path, r.Status, terminal.Safe(r.Message), terminal.Safe(r.RequestID))
}

// is tells whether an error is an answer with that reason.
func is(err error, reason string) bool {
	var r *refusal
	return errors.As(err, &r) && r.Reason == reason
}

// The reasons that are acted upon.
const (
	cursorGone         = "cursor_gone"
	parametersRequired = "parameters_required"
	endpointUnknown    = "endpoint_unknown"
	recordNotFound     = "record_not_found"
)

const (
	firstPause = 500 * time.Millisecond
	// longestPause is the longest that is waited after a failure, unless the service names a
	// longer time.
	longestPause = 30 * time.Second
	// patience is how long a service may fail without interruption.
	patience = 5 * time.Minute
	// answerLimit is more than any answer has: pages end at 32 MiB of texts and contents.
	answerLimit = 256 << 20
)

// client asks a service. It logs in, again where a session has ended, waits where the service
// wants to be left alone, and comes back after failures. It is safe for concurrent use.
type client struct {
	base  string
	usual string // path of the interface, where nobody says otherwise
	login url.Values
	http  *http.Client
	after func(time.Duration) <-chan time.Time
	say   func(format string, args ...any)
	// patience is how long the service may fail without interruption; 0 for any time. It
	// begins with the first answer: a service that never answered is not waited for.
	patience time.Duration

	mu       sync.Mutex
	token    string
	answered bool
	failing  time.Time // since when; zero while it does not
}

// get asks for a path and reads the answer into a value.
func (c *client) get(ctx context.Context, path string, query url.Values, into any) error {
	refused := "" // the token that was
	for try := 0; ; try++ {
		token, wait, err := c.session(ctx, refused)
		if err == nil {
			wait, err = c.ask(ctx, path, query, token, into)
		}
		var answer *refusal
		switch {
		case err == nil:
			c.succeeded()
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &answer) && answer.Status == http.StatusUnauthorized && token != "" && refused == "":
			refused = token
			continue
		case errors.As(err, &answer) && answer.Status < 500:
			c.succeeded() // no failure of the service
			if answer.Status != http.StatusTooManyRequests {
				return err
			}
		}
		if err := c.pause(ctx, err, wait, try); err != nil {
			return err
		}
		refused = ""
	}
}

// pause waits after a failure, or where the api_key has asked for too much: as long as the
// service says, else longer with each try.
func (c *client) pause(ctx context.Context, failure error, wait time.Duration, try int) error {
	var answer *refusal
	status := 0
	if errors.As(failure, &answer) {
		status = answer.Status
	}
	limited := status == http.StatusTooManyRequests // what the api_key may ask for comes back
	c.mu.Lock()
	begins := !limited && c.failing.IsZero()
	if begins {
		c.failing = time.Now()
	}
	since, answered := c.failing, c.answered
	c.mu.Unlock()
	switch {
	case limited:
	case !answered && status != http.StatusServiceUnavailable:
		return failure
	case c.patience > 0 && time.Since(since) > c.patience:
		return fmt.Errorf("the service has failed for %s: %w", c.patience, failure)
	}
	if wait == 0 {
		wait = min(firstPause<<min(try, 10), longestPause)
		wait = wait/2 + rand.N(wait/2+1) // not all programs at once
	}
	switch {
	case wait > longestPause:
		c.say("%v; trying again in %s", failure, wait)
	case begins:
		c.say("%v; trying again", failure)
	}
	select {
	case <-c.after(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *client) succeeded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered, c.failing = true, time.Time{}
}

// session returns a token that is not the one that was refused. Only one request logs in.
func (c *client) session(ctx context.Context, refused string) (token string, wait time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == "" || c.token == refused {
		var answer struct{ Token string }
		c.token = ""
		if wait, err = c.ask(ctx, "/authenticate", c.login, "", &answer); err != nil {
			if !c.answered {
				err = c.elsewhere(err)
			}
			return "", wait, err
		}
		c.token = answer.Token
	}
	return c.token, 0, nil
}

// elsewhere words the answer to a first login where no such interface is.
func (c *client) elsewhere(err error) error {
	var answer *refusal
	if !errors.As(err, &answer) || answer.Status >= 500 || answer.Reason != "" && answer.Reason != endpointUnknown {
		return err
	}
	hint := "look at its path"
	if base, err := url.Parse(c.base); err == nil && base.Path != c.usual {
		base.Path = c.usual
		hint += ", which is mostly " + c.usual + ": " + base.String()
	}
	return Wrong{fmt.Errorf("at %s there is no such interface (%w); %s", terminal.Safe(c.base), answer, terminal.Safe(hint))}
}

// ask sends one request. The query of a login holds secrets, so no error has a query in it.
func (c *client) ask(ctx context.Context, path string, query url.Values, token string, into any) (wait time.Duration, err error) {
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, fmt.Errorf("GET %s: the address is not valid", path)
	}
	if token != "" {
		req.Header.Set("token", token)
	}
	resp, err := c.http.Do(req)
	var bare *url.Error
	if errors.As(err, &bare) {
		err = bare.Err
	}
	if err != nil {
		return 0, fmt.Errorf("GET %s: %w", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if err != nil {
		return 0, fmt.Errorf("GET %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		refused := &refusal{path: path}
		if json.Unmarshal(body, refused) != nil || refused.Message == "" {
			refused = &refusal{path: path, Message: "is no answer of this interface"}
		}
		refused.Status = resp.StatusCode
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return time.Duration(seconds) * time.Second, refused
	}
	if err := json.Unmarshal(body, into); err != nil {
		return 0, &refusal{Status: resp.StatusCode, path: path, Message: "is no answer of this interface: " + err.Error()}
	}
	return 0, nil
}

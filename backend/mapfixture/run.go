package mapfixture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Gateway is where fixtures are run.
type Gateway struct {
	BaseURL string // without a slash at its end
	APIKey  string
	HTTP    *http.Client
	Now     func() time.Time
	// Record takes what is answered for what is expected.
	Record bool
}

// Result is what became of a case.
type Result struct {
	Fixture, Case string
	// Differences are the lines in which the answer differs; none where it is as
	// expected.
	Differences []string
	Took        time.Duration
}

// Passed tells whether the answer is as expected.
func (r Result) Passed() bool { return len(r.Differences) == 0 }

// Run runs the cases of a fixture, each in the same session. The error is that
// of a session that could not begin, or of a gateway that does not answer.
func (g Gateway) Run(ctx context.Context, f *Fixture) ([]Result, error) {
	token, err := g.login(ctx, f.Login)
	if err != nil {
		return nil, err
	}
	if token != "" {
		defer func() {
			_, _, _ = g.send(context.WithoutCancel(ctx), token, Request{Method: http.MethodGet, Path: "/authenticate/logout"})
		}()
	}
	kept := map[string]string{}
	var all []Result
	for i := range f.Cases {
		c := &f.Cases[i]
		began := g.Now()
		resp, body, err := g.send(ctx, token, c.Request.with(kept))
		if err != nil {
			return all, fmt.Errorf("%s: %s: %w", f.File, c.Name, err)
		}
		if g.Record {
			c.record(resp, body)
		}
		r := Result{Fixture: f.File, Case: c.Name, Differences: c.differences(resp, body), Took: g.Now().Sub(began)}
		for _, name := range slices.Sorted(maps.Keys(c.Keep)) {
			if v, ok := at(body, c.Keep[name]); ok {
				kept[name] = v
			} else {
				r.Differences = append(r.Differences, fmt.Sprintf("- keep %s: the answer has no %s", name, c.Keep[name]))
			}
		}
		all = append(all, r)
	}
	return all, nil
}

func (g Gateway) login(ctx context.Context, l Login) (string, error) {
	if l.Username == "" {
		return "", nil
	}
	resp, body, err := g.send(ctx, "", Request{Method: http.MethodGet, Path: "/authenticate?api_key=" + url.QueryEscape(g.APIKey) +
		"&organization_name=&username=" + url.QueryEscape(l.Username) + "&password=" + url.QueryEscape(l.Password)})
	if err != nil {
		return "", err
	}
	var answer struct{ Token, Message string }
	if json.Unmarshal(body, &answer) != nil || resp.StatusCode != http.StatusOK || answer.Token == "" {
		return "", fmt.Errorf("user %s cannot log in: %d %s", l.Username, resp.StatusCode, answer.Message)
	}
	return answer.Token, nil
}

func (g Gateway) send(ctx context.Context, token string, q Request) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, q.Method, g.BaseURL+q.Path, strings.NewReader(q.Body))
	if err != nil {
		return nil, nil, errors.New("its path makes no address")
	}
	if q.Body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("token", token)
	}
	for name, value := range q.Headers {
		req.Header.Set(name, value)
	}
	resp, err := g.HTTP.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may hold a password
		}
		return nil, nil, fmt.Errorf("no answer: %w", err)
	}
	body, err := io.ReadAll(resp.Body)
	return resp, body, errors.Join(err, resp.Body.Close())
}

var keptName = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// with puts kept values where they are named.
func (q Request) with(kept map[string]string) Request {
	put := func(text string) string {
		return keptName.ReplaceAllStringFunc(text, func(s string) string {
			if v, ok := kept[s[1:len(s)-1]]; ok {
				return v
			}
			return s
		})
	}
	q.Path, q.Body = put(q.Path), put(q.Body)
	headers := map[string]string{}
	for name, value := range q.Headers {
		headers[name] = put(value)
	}
	q.Headers = headers
	return q
}

// differences compares an answer with the expected one.
func (c *Case) differences(resp *http.Response, body []byte) (all []string) {
	if resp.StatusCode != c.Answer.Status {
		all = append(all, "- status: "+strconv.Itoa(c.Answer.Status), "+ status: "+strconv.Itoa(resp.StatusCode))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Answer.Headers)) {
		if e, s := c.Answer.Headers[name], resp.Header.Get(name); e != s && (e != anyValue || s == "") {
			all = append(all, "- "+name+": "+e, "+ "+name+": "+s)
		}
	}
	if c.Answer.Body == "" {
		return all
	}
	expected, err := parse(c.Answer.Body)
	if err != nil {
		return append(all, "- body: "+c.Answer.Body)
	}
	seen, err := parse(string(body))
	if err != nil {
		return append(all, "- body: JSON", fmt.Sprintf("+ body: %.70q", body))
	}
	return append(all, differences("", expected, seen)...)
}

// record takes an answer for the expected one.
func (c *Case) record(resp *http.Response, body []byte) {
	c.Answer.Status = resp.StatusCode
	for name, value := range c.Answer.Headers {
		if value != anyValue {
			c.Answer.Headers[name] = resp.Header.Get(name)
		}
	}
	seen := jsontext.Value(body)
	if !seen.IsValid() {
		c.Answer.Body = ""
		return
	}
	var expected any
	if c.Answer.Body != "" {
		expected, _ = parse(c.Answer.Body) // judged when it was read
	}
	seen = recorded(expected, seen, "", c.Request.Method == http.MethodPost)
	_ = seen.Indent(jsontext.WithIndent("  ")) // it is valid
	c.Answer.Body = string(seen)
}

// at is the value at a path of an answer: data.id, data.0.number.
func at(body []byte, path string) (string, bool) {
	v, err := parse(string(body))
	if err != nil {
		return "", false
	}
	for step := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return "", false
			}
			v = in[i]
		default:
			return "", false
		}
	}
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

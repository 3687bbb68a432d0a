package backendtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Exchange is a request and its answer, without secrets.
type Exchange struct {
	Method, URL string
	Request     []string // headers, "name: value"
	RequestBody string
	Status      int // 0 if there was no answer
	Answer      []string
	AnswerBody  string
	Error       string // why there was no answer
}

// answer is an answer of the gateway.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// failure is the one shape of an error answer.
type failure struct {
	ErrorCode int          `json:"errorCode"`
	Message   string       `json:"message"`
	Reason    string       `json:"reason"`
	Field     string       `json:"field"`
	RequestID string       `json:"request_id"`
	Errors    []errorEntry `json:"errors"`
}

type errorEntry struct {
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Field   string `json:"field"`
}

func (a answer) failure() (f failure, err error) {
	err = json.Unmarshal(a.body, &f)
	return f, err
}

// data reads {"data": {…}}; nil if the body has none.
func (a answer) data() map[string]any {
	var body struct {
		Data map[string]any `json:"data"`
	}
	_ = json.Unmarshal(a.body, &body) // any other body has no data
	return body.Data
}

// page reads a page of a list.
type page struct {
	Data     []map[string]any `json:"data"`
	Page     *int             `json:"page"`
	PageSize *int             `json:"page_size"`
	Next     *string          `json:"next"`
	Total    *int             `json:"total"`
	Until    string           `json:"until"`
}

func (a answer) page() (p page, err error) {
	err = json.Unmarshal(a.body, &p)
	return p, err
}

// order are the members of data, or of its first element, in the order they
// came in.
func (a answer) order() (names []string) {
	var body struct{ Data json.RawMessage }
	if json.Unmarshal(a.body, &body) != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body.Data))
	token, err := d.Token()
	if token == json.Delim('[') {
		_, err = d.Token()
	}
	for err == nil && d.More() {
		token, err = d.Token()
		names = append(names, fmt.Sprint(token))
		var value json.RawMessage
		err = cmp.Or(err, d.Decode(&value))
	}
	return names
}

func idOf(rec map[string]any) int {
	id, _ := rec["id"].(float64)
	return int(id)
}

// do sends one request, and sends it again if the rate of the api_key says to wait a little. It
// returns the exchange even with an error.
func (s *suite) do(token, method, path, body string, headers ...string) (answer, Exchange, error) {
	for try := 0; ; try++ {
		a, x, err := s.once(token, method, path, body, headers)
		wait, parsed := strconv.Atoi(a.header.Get("Retry-After"))
		if err != nil || a.status != http.StatusTooManyRequests || parsed != nil || wait > 10 || try == 3 {
			return a, x, err
		}
		select {
		case <-time.After(time.Duration(wait) * time.Second):
		case <-s.ctx.Done():
			return a, x, s.ctx.Err()
		}
	}
}

func (s *suite) once(token, method, path, body string, headers []string) (answer, Exchange, error) {
	x := Exchange{Method: method, URL: s.redact(redactQuery(s.base + path)), RequestBody: s.redact(shorten(body))}
	req, err := http.NewRequestWithContext(s.ctx, method, s.base+path, strings.NewReader(body))
	if err != nil {
		x.Error = err.Error()
		return answer{}, x, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("token", token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	x.Request = s.headerLines(req.Header)
	resp, err := s.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = fmt.Errorf("no answer: %w", u.Err) // u.Err lacks the address, which may hold secrets
		}
		x.Error = s.redact(err.Error())
		return answer{}, x, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	a := answer{status: resp.StatusCode, header: resp.Header, body: data}
	x.Status, x.Answer, x.AnswerBody = a.status, s.headerLines(a.header), s.redact(shorten(string(data)))
	if err != nil {
		err = fmt.Errorf("the answer broke off: %w", err)
		x.Error = err.Error()
	}
	return a, x, err
}

// secretQuery matches the parameters whose values are never shown.
var secretQuery = regexp.MustCompile(`([?&](?:api_key|password|token)=)[^&]*`)

// secretAnswer matches a session token in an answer.
var secretAnswer = regexp.MustCompile(`("token"\s*:\s*")[^"]+`)

const redacted = "[redacted]"

func redactQuery(u string) string { return secretQuery.ReplaceAllString(u, "${1}"+redacted) }

// redact removes secrets, which a report must not hold, wherever they are.
func (s *suite) redact(text string) string {
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return secretAnswer.ReplaceAllString(text, "${1}"+redacted)
}

// secret has a text redacted from now on. A short one may be an everyday word (the demo's password
// is demo), and is redacted only in places of passwords.
func (s *suite) secret(text string) {
	if len(text) >= 8 {
		s.secrets = append(s.secrets, text, url.QueryEscape(text))
	}
}

func (s *suite) headerLines(h http.Header) []string {
	var lines []string
	for name, values := range h {
		for _, v := range values {
			if strings.EqualFold(name, "token") && v != "" {
				v = redacted
			}
			lines = append(lines, strings.ToLower(name)+": "+s.redact(shorten(v)))
		}
	}
	slices.Sort(lines)
	return lines
}

// shorten keeps a report readable.
func shorten(text string) string {
	const most = 2000
	if len(text) <= most {
		return text
	}
	cut := most
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:cut], len(text))
}

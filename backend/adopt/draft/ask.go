package draft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Asked is a service that is asked for lists. Only GET is sent.
type Asked struct {
	URL   string
	Token string // sent as Authorization: Bearer; "" for none
}

// mostAnswered is the largest answer that is read of a service.
const mostAnswered = 16 << 20

// ErrAddress tells that what is to be asked for is no address.
var ErrAddress = errors.New("no address")

// Sample asks for the list at a path. A list without anything around it is asked for in a
// page of one record as well, since its parts may be told in headers alone.
func (a Asked) Sample(ctx context.Context, path string) (Sample, error) {
	s, err := a.get(ctx, path)
	if err != nil || strings.Contains(path, "?") {
		s.Path, _, _ = strings.Cut(s.Path, "?")
		return s, err
	}
	if s.Sorts = a.sorts(ctx, path, s.Body); s.Sorts {
		return s, nil
	}
	if s.records() > 1 {
		if one, err := a.get(ctx, path+"?_page=1&_limit=1"); err == nil && one.records() == 1 {
			s.Header = one.Header
		}
	}
	return s, nil
}

// records is how many records an answer lists without anything around them.
func (s Sample) records() int {
	whole, err := decodeJSON(s.Body)
	if list, ok := whole.([]any); err == nil && ok {
		return len(list)
	}
	return 0
}

func (a Asked) get(ctx context.Context, path string) (s Sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(a.URL, "/")+path, http.NoBody)
	if err != nil {
		return s, ErrAddress
	}
	request.Header.Set("Accept", "application/json, "+jsonAPIMedia)
	if a.Token != "" {
		request.Header.Set("Authorization", "Bearer "+a.Token)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		return s, fmt.Errorf("ask for %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return s, fmt.Errorf("ask for %s: the service answers %s, expected 200", path, answer.Status)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswered))
	return Sample{Path: path, Body: body, Header: answer.Header}, err
}

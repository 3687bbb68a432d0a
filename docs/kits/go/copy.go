package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// copyOf is a copy of some records, in a JSON file. With a database it would be a table, and
// the cursor a row of another one: what matters is that both are stored together.
type copyOf struct {
	Cursor  string                               `json:"cursor"`
	Records map[string]map[int32]json.RawMessage `json:"records"` // by resource and id
}

var copied = []string{"contact", "order"}

var errCursorGone = errors.New("the cursor is gone")

// keepCopy brings a copy up to date. With --follow 5 it goes on, and asks every 5 seconds.
// The recipe, and what else there is to know, is chapter 9 of docs/integrators.md.
func keepCopy(ctx context.Context, s *session) error {
	file := os.Args[2]
	var c copyOf
	if text, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(text, &c); err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for {
		if err := c.catchUp(ctx, s, file); err != nil {
			return err
		}
		if len(os.Args) < 5 || os.Args[3] != "--follow" {
			break
		}
		seconds, err := strconv.ParseFloat(os.Args[4], 64)
		if err != nil {
			return err
		}
		time.Sleep(time.Duration(seconds * float64(time.Second)))
	}
	for _, resource := range copied {
		fmt.Println(resource, len(c.Records[resource]))
	}
	return nil
}

func (c *copyOf) catchUp(ctx context.Context, s *session, file string) error {
	for {
		if c.Cursor == "" {
			if err := c.readEverything(ctx, s); err != nil {
				return err
			}
		}
		var page struct {
			Data []struct {
				Resource string
				ID       int32
				Record   json.RawMessage
			}
			Cursor string
			More   bool
		}
		err := get(ctx, s, "/changes", url.Values{"after": {c.Cursor}, "resource": {strings.Join(copied, ",")}, "records": {"1"}, "page_size": {"1000"}}, &page)
		if errors.Is(err, errCursorGone) {
			c.Cursor = ""
			continue
		}
		if err != nil {
			return err
		}
		for _, change := range page.Data {
			if string(change.Record) == "null" {
				delete(c.Records[change.Resource], change.ID)
			} else {
				c.Records[change.Resource][change.ID] = change.Record
			}
		}
		c.Cursor = page.Cursor
		if err := c.store(file); err != nil || !page.More {
			return err
		}
	}
}

// readEverything takes the cursor first: what changes while it reads comes after the cursor.
func (c *copyOf) readEverything(ctx context.Context, s *session) error {
	var begin struct{ Cursor string }
	if err := get(ctx, s, "/changes", url.Values{"resource": {strings.Join(copied, ",")}}, &begin); err != nil {
		return err
	}
	all := map[string]map[int32]json.RawMessage{}
	for _, resource := range copied {
		all[resource] = map[int32]json.RawMessage{}
		for after, more := int32(0), true; more; {
			var page struct {
				Data []json.RawMessage
				Next *string
			}
			if err := get(ctx, s, "/"+resource, url.Values{"after": {fmt.Sprint(after)}, "page_size": {"1000"}}, &page); err != nil {
				return err
			}
			for _, record := range page.Data {
				var known struct{ ID int32 }
				if err := json.Unmarshal(record, &known); err != nil {
					return err
				}
				after, all[resource][known.ID] = known.ID, record
			}
			more = page.Next != nil
		}
	}
	c.Cursor, c.Records = begin.Cursor, all
	return nil
}

// store replaces the file at once: the records and the cursor together, or neither.
func (c *copyOf) store(file string) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// get asks until there is an answer; the session logs in, and waits where it is told to.
func get(ctx context.Context, s *session, path string, query url.Values, into any) error {
	var failed error
	for try := range 10 {
		if try > 0 {
			time.Sleep(min(time.Second<<try, 30*time.Second))
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path+"?"+query.Encode(), nil)
		if err != nil {
			return err
		}
		resp, err := s.Do(req)
		if err != nil {
			failed = err
			continue
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		switch {
		case err != nil:
			failed = err
		case resp.StatusCode == http.StatusOK:
			return json.Unmarshal(body, into)
		case resp.StatusCode == http.StatusGone:
			return errCursorGone
		default:
			if failed = refusal(resp.StatusCode, body); resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < 500 {
				return failed
			}
		}
	}
	return failed
}

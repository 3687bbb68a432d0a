// Command copier keeps a copy of records in a JSON file: copier FILE. With --follow 5 it goes on,
// and asks every 5 seconds. With --verify it compares the copy with the service, mends what
// differs, and ends with 3 where something did.
//
// It needs nothing but Go's own library. Where to log in is in BASE, API_KEY,
// FRONTDESK_USER and FRONTDESK_PASSWORD. The recipe, and what else there is to know, is
// chapter 9 of docs/integrators.md.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

// copyOf is a copy of some records. With a database each resource would be a table, and the
// cursor a row of another one: what matters is that they are stored together.
type copyOf struct {
	Cursor  string                               `json:"cursor"`
	Records map[string]map[int64]json.RawMessage `json:"records"` // by resource and id
}

type copier struct {
	*session
	copyOf
	file      string
	resources []string
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: copier FILE [--resource contact,order] [--follow SECONDS] [--verify]")
		os.Exit(2)
	}
	flags := flag.NewFlagSet("copier", flag.ExitOnError)
	resources := flags.String("resource", "contact,order", "what is copied")
	seconds := flags.Float64("follow", 0, "ask so often")
	verify := flags.Bool("verify", false, "compare, and mend what differs")
	_ = flags.Parse(os.Args[2:])
	c := &copier{file: os.Args[1], resources: strings.Split(*resources, ","), session: &session{
		base:     cmp.Or(os.Getenv("BASE"), "http://127.0.0.1:8080/webservice_v2"),
		key:      cmp.Or(os.Getenv("API_KEY"), "11111111-1111-4111-8111-111111111111"),
		username: cmp.Or(os.Getenv("FRONTDESK_USER"), "demo"), password: cmp.Or(os.Getenv("FRONTDESK_PASSWORD"), "demo"),
	}}
	mended, err := c.run(time.Duration(*seconds*float64(time.Second)), *verify)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case mended > 0:
		fmt.Fprintf(os.Stderr, "the copy differed in %d record(s), which were mended\n", mended)
		os.Exit(3)
	}
}

func (c *copier) run(follow time.Duration, verify bool) (mended int, err error) {
	if err := c.load(); err != nil {
		return 0, err
	}
	for {
		if err := c.catchUp(); err != nil {
			return 0, err
		}
		if follow == 0 {
			break
		}
		time.Sleep(follow)
	}
	for _, resource := range c.resources {
		if verify {
			n, err := c.verify(resource)
			if err != nil {
				return mended, err
			}
			mended += n
		}
		fmt.Println(resource, len(c.Records[resource]))
	}
	return mended, nil
}

// catchUp takes over what has changed.
func (c *copier) catchUp() error {
	for {
		if c.Cursor == "" {
			if err := c.readEverything(); err != nil {
				return err
			}
		}
		var page struct {
			Data []struct {
				Resource string
				ID       int64
				Record   json.RawMessage
			}
			Cursor string
			More   bool
		}
		err := c.get("/changes", query("after", c.Cursor, "resource", strings.Join(c.resources, ","), "records", "1", "page_size", "1000"), &page)
		if is(err, "cursor_gone") {
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
		if c.Cursor != page.Cursor {
			c.Cursor = page.Cursor
			if err := c.store(); err != nil {
				return err
			}
		}
		if !page.More {
			return nil
		}
	}
}

// readEverything takes the cursor first: what changes while it reads comes after the cursor.
func (c *copier) readEverything() error {
	var begin struct{ Cursor string }
	if err := c.get("/changes", query("resource", strings.Join(c.resources, ",")), &begin); err != nil {
		return err
	}
	all := map[string]map[int64]json.RawMessage{}
	for _, resource := range c.resources {
		all[resource] = map[int64]json.RawMessage{}
		err := c.readList(resource, all[resource])
		if is(err, "parameters_required") { // lines are listed by what they belong to: the digests tell which there are
			err = c.readRange(resource, 1, 0, all[resource])
		}
		if err != nil {
			return err
		}
	}
	c.Cursor, c.Records = begin.Cursor, all
	return c.store()
}

func (c *copier) readList(resource string, into map[int64]json.RawMessage) error {
	for after, more := int64(0), true; more; {
		var page struct {
			Data []json.RawMessage
			Next *string
		}
		if err := c.get("/"+resource, query("after", fmt.Sprint(after), "page_size", "1000"), &page); err != nil {
			return err
		}
		for _, record := range page.Data {
			after = about(record).ID
			into[after] = record
		}
		more = page.Next != nil
	}
	return nil
}

// readRange reads the records from one id to another, each by itself.
func (c *copier) readRange(resource string, from, to int64, into map[int64]json.RawMessage) error {
	ranges, err := c.digest(resource, from, to)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		if r.Count == 0 {
			continue
		}
		if r.From < r.To {
			if err := c.readRange(resource, r.From, r.To, into); err != nil {
				return err
			}
			continue
		}
		record, err := c.one(resource, r.From)
		if err != nil {
			return err
		}
		if record != nil {
			into[r.From] = record
		}
	}
	return nil
}

// one reads a record; nil if there is none.
func (c *copier) one(resource string, id int64) (json.RawMessage, error) {
	var answer struct{ Data json.RawMessage }
	err := c.get(fmt.Sprintf("/%s/%d", resource, id), nil, &answer)
	if is(err, "record_not_found") {
		return nil, nil
	}
	return answer.Data, err
}

// about is what the copier itself needs to know of a record.
func about(record json.RawMessage) (known struct {
	ID         int64
	ModifiedAt string `json:"modified_at"`
}) {
	_ = json.Unmarshal(record, &known)
	return known
}

func (c *copier) load() error {
	text, err := os.ReadFile(c.file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &c.copyOf)
}

// store replaces the file at once: the records and the cursor together, or neither.
func (c *copier) store() error {
	text, err := json.Marshal(c.copyOf)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(c.file+".new", c.file)
}

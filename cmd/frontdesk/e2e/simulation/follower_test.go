package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// follower keeps a copy of all contacts by what has changed.
type follower struct {
	*asking
	cursor string
	copy   map[int]map[string]any
}

func (c *follower) work(ctx context.Context) {
	for ; ctx.Err() == nil; sleep(ctx, time.Duration(c.random.Int64N(int64(3*time.Second)))) {
		if c.cursor != "" || c.begin() {
			c.next()
		}
	}
}

type changesPage struct {
	Data []struct {
		ID     int
		Kind   string
		Record map[string]any
	}
	Cursor string
	More   bool
}

// begin takes the cursor of now, and then reads everything.
func (c *follower) begin() bool {
	a, known := c.want([]int{200, 503}, "GET", "/changes?resource=contact", "")
	var page changesPage
	if !known || a.Status != 200 || json.Unmarshal(a.Body, &page) != nil {
		return false
	}
	all, _, whole := c.pages(50, "/contact")
	if !whole {
		return false
	}
	c.copy = map[int]map[string]any{}
	for _, rec := range all {
		c.copy[number(rec["id"])] = rec
	}
	c.cursor = page.Cursor
	return true
}

// next applies a page of changes, and reports whether there may be more.
func (c *follower) next() bool {
	a, known := c.want([]int{200, 410}, "GET", "/changes?resource=contact&records=1&page_size=20&after="+c.cursor, "")
	if !known {
		return false
	}
	var page changesPage
	if a.Status == 410 {
		c.fault("%s: its cursor is gone: %s", c.name, a.Body)
		c.cursor = ""
		return false
	}
	if err := json.Unmarshal(a.Body, &page); err != nil {
		c.fault("%s: %v in %s", c.name, err, a.Body)
	}
	for _, change := range page.Data {
		if change.Kind == "deleted" {
			c.isGone(c.copy[change.ID])
			delete(c.copy, change.ID)
		} else {
			c.copy[change.ID] = change.Record
			if name := fmt.Sprint(change.Record["name"]); strings.HasPrefix(name, "stranger") || strings.Contains(name, " other ") {
				c.fault("%s: it is told of %q, which is another client's", c.name, name)
			}
		}
	}
	c.cursor = page.Cursor
	return page.More
}

// isGone holds a deletion that was told to what the system has; what a writer makes is never there again.
func (c *follower) isGone(rec map[string]any) {
	name := fmt.Sprint(rec["name"])
	if _, there := c.system.names(c.world, 1)[name]; there && strings.HasPrefix(name, "writer") {
		c.fault("%s: %q is told as deleted, and is there", c.name, name)
	}
}

// check brings the copy up to date: it is the list.
func (c *follower) check() {
	if c.cursor == "" && !c.begin() {
		c.fault("%s: it cannot begin while all is well", c.name)
		return
	}
	list := c.list("/contact", "Cache-Control", "no-cache")
	for c.next() {
	}
	want := map[int]map[string]any{}
	for _, rec := range list {
		want[number(rec["id"])] = rec
	}
	for id, rec := range want {
		if !reflect.DeepEqual(rec, c.copy[id]) {
			c.fault("%s: contact %d is %v, and in the copy %v", c.name, id, rec, c.copy[id])
		}
	}
	var digest struct{ Data []struct{ Count int } }
	if a, known := c.want([]int{200}, "GET", "/changes/digest?resource=contact&ranges=1", ""); known {
		c.read(a, &digest)
		if len(digest.Data) != 1 || digest.Data[0].Count != len(want) {
			c.fault("%s: the list has %d contacts, and the digest %s", c.name, len(want), a.Body)
		}
	}
	for id, rec := range c.copy {
		if want[id] == nil {
			c.fault("%s: the copy has contact %d, which is gone: %v", c.name, id, rec)
		}
	}
}

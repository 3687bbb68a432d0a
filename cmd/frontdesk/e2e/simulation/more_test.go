package simulation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"
)

// limitedKey may ask every two and a half seconds, three times at once, of each client.
const limitedKey = "55555555-5555-4555-8555-555555555555"

// limited asks by an api_key with limits: the first client as often as it may, the other seldom. Who has
// waited for as long as he was told to is let in, and who asks seldom always is.
type limited struct {
	*asking
	taken []time.Time
}

func (c *limited) work(ctx context.Context) {
	c.key = limitedKey
	for ctx.Err() == nil {
		a, known := c.ask("GET", "/contact?page_size=1", "")
		if known && a.Status == 429 {
			seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
			if c.user == "other" || err != nil {
				c.fault("%s: asked seldom, and was answered 429 %s", c.name, a.Header.Get("Retry-After"))
			}
			time.Sleep(time.Duration(seconds) * time.Second)
			life := c.serving.Load()
			if a, known = c.ask("GET", "/contact?page_size=1", ""); known && a.Status == 429 && life == c.serving.Load() {
				c.fault("%s: waited for %d seconds as it was told to, and was answered 429", c.name, seconds)
			}
		}
		if known && a.Status == 200 {
			c.taken = append(c.taken, time.Now())
		}
		c.holds()
		if c.user == "other" {
			sleep(ctx, 3*time.Second)
		}
		sleep(ctx, time.Duration(c.random.IntN(100))*time.Millisecond)
	}
}

// holds wants no more to be let in within ten seconds of one life than there may be.
func (c *limited) holds() {
	if n := len(c.taken) - 10; n >= 0 && c.taken[len(c.taken)-1].Sub(c.taken[n]) < 10*time.Second && c.serving.Load() != nil && !c.excuses(c.taken[n]) {
		c.fault("%s: ten requests were let in within ten seconds", c.name)
		c.taken = nil
	}
}

// waiter waits for changes by callback, and gives some of it up.
type waiter struct {
	*asking
	waits map[string]time.Time // by id: when each is over
	ended map[string]string    // given up, surely or perhaps
}

func (c *waiter) work(ctx context.Context) {
	if c.waits == nil {
		c.waits, c.ended = map[string]time.Time{}, map[string]string{}
	}
	for ; ctx.Err() == nil; sleep(ctx, time.Duration(c.random.Int64N(int64(map[string]time.Duration{"demo": time.Second, "other": 6 * time.Second}[c.user])))) {
		resource := "contact"
		if _, ok := c.system.(*builtIn); ok && c.random.IntN(2) == 0 {
			resource = "turnovergroup" // which nobody changes
		}
		a, known := c.want([]int{200, 503}, "GET", "/changes?resource="+resource, "")
		var page changesPage
		if !known || a.Status != 200 {
			continue
		}
		c.read(a, &page)
		wait, under := 1+c.random.IntN(60), 0
		for _, until := range c.waits {
			if until.After(time.Now().Add(-5 * time.Second)) {
				under++
			}
		}
		began := time.Now()
		a, known = c.want([]int{202, 429}, "POST", "/changes", fmt.Sprintf(`{"webhook_url":"https://hooks.example.com/%s?wait=1","after":%q,"resource":%q,"wait":%d}`, c.user, page.Cursor, resource, wait))
		if !known || a.Status != 202 {
			if known && under < 18 && !c.excuses(began) {
				c.fault("%s: it waits for little, and was answered 429", c.name)
			}
			continue
		}
		id := promiseID.FindStringSubmatch(a.Header.Get("Location"))[1]
		c.waits[id] = began.Add(time.Duration(wait) * time.Second)
		if c.random.IntN(3) > 0 {
			continue
		}
		if a, known := c.want([]int{200, 404}, "DELETE", "/changes?id="+id, ""); !known || a.Status == 200 && c.hooks.heard(id) == 0 {
			c.ended[id] = map[bool]string{true: "surely", false: "perhaps"}[known]
		}
	}
}

// close wants a call for each wait that is over, and none for what was given up.
func (c *waiter) close() {
	for id, until := range c.waits {
		heard := c.hooks.heard(id)
		if heard == 0 && c.ended[id] == "" {
			a, _ := c.ask("GET", "/webhook?id="+id, "")
			c.fault("%s: its wait %s until %s was never answered: %d %s", c.name, id, until, a.Status, a.Body)
		}
		if heard > 0 && c.ended[id] == "surely" {
			c.fault("%s: it was called about %s, which it had given up", c.name, id)
		}
	}
}

// lister keeps a copy by modified_since and until where there is that, and asks for lists in all ways.
type lister struct {
	*asking
	since string
	copy  map[int]map[string]any
}

func (c *lister) work(ctx context.Context) {
	_, since := c.system.(*builtIn)
	for ; ctx.Err() == nil; sleep(ctx, time.Duration(c.random.Int64N(int64(2*time.Second)))) {
		if since {
			c.follow()
		} else { // asked anew, while others write
			c.want([]int{200}, "GET", "/contact?page_size=20", "", "Cache-Control", "no-cache")
		}
	}
}

// follow reads what has changed; it goes on from there where it got all of it.
func (c *lister) follow() {
	if c.copy == nil {
		c.copy, c.since = map[int]map[string]any{}, "2000-01-01T00:00:00Z"
	}
	until, news := "", map[int]map[string]any{}
	for after := 0; ; {
		a, known := c.want([]int{200}, "GET", fmt.Sprintf("/contact?page_size=200&after=%d&modified_since=%s", after, url.QueryEscape(c.since)), "")
		if !known {
			return
		}
		var page struct {
			Data  []map[string]any
			Until string
		}
		c.read(a, &page)
		until = cmp.Or(until, page.Until)
		for _, rec := range page.Data {
			after = number(rec["id"])
			news[after] = rec
		}
		if len(page.Data) == 0 {
			break
		}
	}
	maps.Copy(c.copy, news)
	c.since = cmp.Or(until, c.since)
}

func (c *lister) check() {
	if _, since := c.system.(*builtIn); since {
		c.follow()
	}
	all := c.list("/contact", "Cache-Control", "no-cache")
	for _, rec := range all {
		if got := c.copy[number(rec["id"])]; c.copy != nil && !reflect.DeepEqual(got, rec) {
			c.fault("%s: by modified_since contact %v is %v, and is %v", c.name, rec["id"], got, rec)
		}
	}
	c.same("filtered", slices.DeleteFunc(slices.Clone(all), func(rec map[string]any) bool { return number(rec["payment_days"]) < 450 }), "/contact?page_size=1000&payment_days[gte]=450")
}

// same holds a list to what it should have; a system may not offer it.
func (c *lister) same(what string, want []map[string]any, path string) {
	a, known := c.want([]int{200, 400}, "GET", path, "", "Cache-Control", "max-age=0")
	var page struct{ Data []map[string]any }
	if !known || a.Status != 200 {
		return
	}
	if c.read(a, &page); len(page.Data) != len(want) || len(want) > 0 && !reflect.DeepEqual(page.Data, want) {
		c.fault("%s: the contacts %s are %d, and should be %d", c.name, what, len(page.Data), len(want))
	}
}

// leaver asks several times at once and does not wait for the answers, which the gateway may not notice before it
// has them: of a system that hangs it would take all slots, and more, if clients did not share them.
type leaver struct{ *asking }

// leaves is how often it asks at once.
const leaves = 6

func (c *leaver) work(ctx context.Context) {
	for ; ctx.Err() == nil; c.pause() {
		if c.token == "" && !c.logIn() {
			continue
		}
		leave, stop := context.WithTimeout(ctx, 30*time.Millisecond)
		var all sync.WaitGroup
		for range leaves {
			all.Go(func() { c.sendIn(leave, "GET", "/contact?page_size=1", c.token, "") })
		}
		all.Wait()
		if stop(); c.life != c.serving.Load() || time.Since(c.born) > sessionLives {
			c.token = ""
		}
	}
}

// blocker has a user blocked in the administration: his sessions end within five seconds, and stay ended
// when he is not blocked any more.
type blocker struct {
	*asking
	s *builtIn
}

func (c *blocker) work(ctx context.Context) {
	for ; ctx.Err() == nil; sleep(ctx, time.Duration(c.random.Int64N(int64(4*time.Second)))) {
		if c.token = ""; !c.logIn() {
			continue
		}
		token, life := c.token, c.life
		now := time.Now().UnixMilli()
		c.s.users(c.world, "UPDATE app_user SET is_blocked = 1, sessions_end = max(coalesce(sessions_end, 0) + 1, ?), sessions_end_why = 'user_blocked' WHERE username = 'third'", now)
		if c.random.IntN(2) == 0 {
			time.Sleep(6 * time.Second)
			c.out("is blocked", token)
			if a, known := c.send("GET", "/authenticate?api_key="+c.key+"&organization_name=&username=third&password=demo", "", ""); known && a.Status == 200 {
				c.fault("%s: who is blocked logs in", c.name)
			}
		} else {
			time.Sleep(time.Second)
		}
		c.s.users(c.world, "UPDATE app_user SET is_blocked = 0 WHERE username = 'third'")
		time.Sleep(6 * time.Second)
		c.out("was blocked", token)
		if !c.logIn() || life != c.serving.Load() {
			continue
		}
		if a, known := c.send("GET", "/contact?page_size=1", c.token, ""); known && a.Status != 200 && c.life == c.serving.Load() {
			c.fault("%s: who is not blocked any more is answered %d: %s", c.name, a.Status, a.Body)
		}
	}
}

// out wants a session to have ended.
func (c *blocker) out(why, token string) {
	if a, known := c.send("GET", "/contact?page_size=1", token, ""); known && a.Status != 401 {
		c.fault("%s: a session of who %s is answered %d", c.name, why, a.Status)
	}
}

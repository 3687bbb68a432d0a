package simulation

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// promised asks for long work, two new contacts at once, and keeps what it was promised.
type promised struct {
	*asking
	all   []*promise
	count int
}

type promise struct {
	ids   []string                 // of one work that was asked for under one key
	names []string                 // of contacts that it makes
	is    func(result string) bool // of other work: whether its result may be this
	at    time.Time                // it was asked for
	over  bool                     // it was seen to be done
}

var promiseID = regexp.MustCompile(`/webhook\?id=([0-9A-Za-z_-]+)$`)

func (c *promised) work(ctx context.Context) {
	for ; ctx.Err() == nil; sleep(ctx, time.Duration(c.random.Int64N(int64(1500*time.Millisecond)))) {
		c.inTime()
		c.count++
		p := &promise{at: time.Now()}
		if _, ok := c.system.(*builtIn); ok && c.random.IntN(2) > 0 {
			c.other(p)
			continue
		}
		records, n := "", 2
		if c.system.again() && c.random.IntN(3) == 0 {
			n = 62 // which is more than is kept within a job
		}
		for i := range n {
			p.names = append(p.names, fmt.Sprintf("%s %d-%d", c.name, c.count, i))
			records += fmt.Sprintf(`,{"kind":"person","name":%q}`, p.names[i])
		}
		c.all = append(c.all, p)
		headers := keyed([]string{"", fmt.Sprintf("job-%d", c.count)}[c.random.IntN(2)])
		body := fmt.Sprintf(`{"records":[%s],"webhook_url":"https://hooks.example.com/%s?n=%d"}`, records[1:], c.user, c.count)
		for try := range 4 {
			known := c.accepted(p, "POST", "/contact/bulk", body, headers...)
			if headers == nil || known && try == 0 && c.random.IntN(3) > 0 {
				break
			}
			if !known {
				time.Sleep(time.Second)
			}
		}
	}
}

// accepted asks for work, and notes what is promised.
func (c *promised) accepted(p *promise, method, path, body string, headers ...string) (known bool) {
	a, known := c.want([]int{202, 409}, method, path, body, headers...)
	if known && a.Status == 202 {
		p.ids = append(p.ids, promiseID.FindStringSubmatch(a.Header.Get("Location"))[1])
		c.moment("promised")
	}
	return known
}

// other asks for a backup, or for a flat rate, one that has been made just now, to be changed, deleted or read.
func (c *promised) other(p *promise) {
	to := fmt.Sprintf("https://hooks.example.com/%s?n=%d", c.user, c.count)
	body, in := fmt.Sprintf(`{"webhook_url":%q}`, to), "?webhook_url="+url.QueryEscape(to)
	c.all = append(c.all, p)
	kind := c.random.IntN(8)
	if kind == 0 {
		p.is = isBackup
		c.accepted(p, "POST", "/backup/owner", body)
		return
	}
	number := fmt.Sprintf("%s-%d", c.user, c.count)
	has := func(text string) func(string) bool {
		return func(result string) bool { return strings.Contains(result, text) }
	}
	p.is = has(number)
	made, known := c.want([]int{201}, "POST", "/flatrate", fmt.Sprintf(`{"number":%q,"description":"first"}`, number))
	if !known {
		return
	}
	path, tag := fmt.Sprint("/flatrate/", record(made)["id"]), made.Header.Get("ETag")
	switch kind {
	case 1:
		p.is = has(`"second"`)
		c.accepted(p, "PUT", path, `{"description":"second",`+body[1:], "If-Match", tag)
	case 2:
		p.is = has(`"successCode":200`)
		c.accepted(p, "DELETE", path+in, "", "If-Match", tag)
	default:
		c.accepted(p, "GET", path+in, "")
	}
}

// takes is how long a work may take while nothing is wrong for its client.
func (p *promise) takes() time.Duration {
	return 8*time.Second + time.Duration(len(p.names))*time.Second/15
}

// inTime wants what was asked for to be done, and told, soon, whatever is wrong for others.
func (c *promised) inTime() {
	for _, p := range c.all {
		if p.over || time.Since(p.at) < p.takes() {
			continue
		}
		for _, id := range p.ids {
			if c.hooks.heard(id) == 0 && !c.excuses(p.at) && !(c.user == "demo" && c.excused(p.at, "receivers")) {
				a, _ := c.ask("GET", "/webhook?id="+id, "")
				c.fault("%s: nobody was called within %s about %s: %d %s", c.name, p.takes(), id, a.Status, a.Body)
			}
		}
		p.over = true
	}
}

func (c *promised) check() { c.inTime() }

// close holds everything to what was promised: the call, the result, and the contacts, once.
func (c *promised) close() {
	there := map[string][]int{}
	for _, rec := range c.list("/contact", "Cache-Control", "no-cache") {
		name := fmt.Sprint(rec["name"])
		there[name] = append(there[name], number(rec["id"]))
	}
	for _, p := range c.all {
		first := ""
		for _, id := range p.ids {
			if c.hooks.heard(id) == 0 {
				c.fault("%s: nobody was called about %s", c.name, id)
			}
			result, done := c.result(p, id)
			if !done {
				continue
			}
			// Where nothing is done again a record may have been left open, and what a work says of that is not final.
			isFinal := c.system.again() || !strings.Contains(result, `"errors"`)
			if first == "" && isFinal {
				first = result
			}
			if p.is != nil {
				if !p.is(result) {
					c.fault("%s: the result of %s of %s is %.300s", c.name, id, p.at, result)
				}
				continue
			}
			if isFinal && result != first {
				c.fault("%s: two works under one key have the results %s and %s", c.name, first, result)
			}
			c.holds(p, id, result, there)
		}
		for _, name := range p.names {
			if len(there[name]) > 1 {
				c.fault("%s: %q was made %d times", c.name, name, len(there[name]))
			}
		}
	}
}

func isBackup(result string) bool {
	_, err := zip.NewReader(strings.NewReader(result), int64(len(result)))
	return err == nil
}

// result is that of a work. There may be none where the system failed, or where work that was cut off
// is not done again.
func (c *promised) result(p *promise, id string) (text string, done bool) {
	a, known := c.ask("GET", "/webhook?id="+id, "")
	if known && a.Status == 500 {
		if !c.mayFail(p, id) {
			c.fault("%s: the work %s of %s failed", c.name, id, p.at)
		}
		return "", false
	}
	if !known || a.Status != 200 {
		c.fault("%s: the result of %s was answered %d: %s", c.name, id, a.Status, a.Body)
		return "", false
	}
	address, _ := record(a)["url"].(string)
	file, known := c.send("GET", address, "", "")
	if !known || file.Status != 200 {
		c.fault("%s: the file of %s was answered %d: %s", c.name, id, file.Status, file.Body)
		return "", false
	}
	return string(file.Body), true
}

// unclear are troubles after which nobody knows whether a system that does nothing again has done something.
var unclear = []string{"life", "stop", "the administration is away", "the administration breaks off", "the administration takes long", "the administration answers", "the administration has"}

// mayFail reports whether work may have failed by what went wrong before its end was told.
func (c *promised) mayFail(p *promise, id string) bool {
	told := c.hooks.told(id)
	if !c.system.again() {
		return c.happened(p.at, told, unclear...)
	}
	// Two works under one key: for who waits for the other the time that the gateway is away counts as waiting.
	return c.happened(p.at, told, "the administration panics") || len(p.ids) > 1 && c.happened(p.at, told, "life")
}

// holds holds what there is to a result.
func (c *promised) holds(p *promise, id, result string, there map[string][]int) {
	var body struct {
		Data []struct{ Index, Status, ID int }
	}
	if err := json.Unmarshal([]byte(result), &body); err != nil || len(body.Data) != len(p.names) {
		c.fault("%s: the result of %s is %s", c.name, id, result)
		return
	}
	for i, one := range body.Data {
		ids := there[p.names[i]]
		if one.Status == 201 && (len(ids) != 1 || ids[0] != one.ID) {
			c.fault("%s: the result of %s has %q as %d, and the list %v", c.name, id, p.names[i], one.ID, ids)
		}
		unknown := one.Status == 409 && !c.system.again() && c.mayFail(p, id)
		if one.Status != 201 && one.Status < 500 && !unknown {
			c.fault("%s: %q was refused: %s", c.name, p.names[i], result)
		}
	}
}

package simulation

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/rig"
)

// writer creates, changes and deletes contacts that are its own, and knows what each may be.
type writer struct {
	*asking
	made  []*contact
	count int
}

// contact is one that was asked for, by its name, which no other has.
type contact struct {
	name    string
	id      int               // 0 while nobody has said it
	may     []string          // what it may be: its payment days, or gone
	settles time.Time         // until then, what was not answered may still be done
	key     string            // it was created under; "" for none
	at      time.Time         // it was created
	body    string            // it was created with
	first   string            // answer under the key
	again   time.Time         // it was last asked for in vain
	tagged  time.Time         // the latest of the etags
	etags   map[string]string // by what it was
}

const gone = "gone"

// late is how long what was not answered may still be done: a service may take so long.
const late = time.Minute

func (c *writer) work(ctx context.Context) {
	for ; ctx.Err() == nil; c.pause() {
		known := slices.DeleteFunc(slices.Clone(c.made), func(r *contact) bool { return r.id == 0 || slices.Contains(r.may, gone) || r.settles.After(time.Now()) })
		if len(known) < 3 || c.random.IntN(4) == 0 {
			c.create()
			continue
		}
		r := known[c.random.IntN(len(known))]
		switch c.random.IntN(8) {
		case 0:
			// One that may be changed yet, by what it hung up on, is gone then all the same.
			known = slices.DeleteFunc(slices.Clone(c.made), func(r *contact) bool { return r.id == 0 || slices.Contains(r.may, gone) })
			c.remove(known[c.random.IntN(len(known))])
		case 1:
			c.again(r)
		case 2:
			c.contend(r)
		case 3, 4:
			c.read(r)
		default:
			c.change(r)
		}
	}
}

func days(value string) string { return fmt.Sprintf(`{"payment_days":%s}`, value) }

func (c *writer) value() string { return fmt.Sprint(1 + c.random.IntN(899)) }

// create makes a contact, half of them under a key, which is sent again until there is an answer.
func (c *writer) create() {
	c.count++
	v := c.value()
	r := &contact{name: fmt.Sprintf("%s %d", c.name, c.count), may: []string{gone, v}, settles: time.Now().Add(late), etags: map[string]string{}}
	r.body = fmt.Sprintf(`{"kind":"person","name":%q,"payment_days":%s}`, r.name, v)
	c.made = append(c.made, r)
	if c.random.IntN(2) == 0 {
		r.key = strings.ReplaceAll(r.name, " ", "-")
	}
	for range 3 {
		a, known := c.want([]int{201, 409}, "POST", "/contact", r.body, keyed(r.key)...)
		if known && a.Status == 201 {
			r.id, r.may, r.first, r.settles = number(record(a)["id"]), []string{v}, string(a.Body), time.Time{}
			if r.at = time.Now(); r.key == "" {
				r.first = ""
			}
			r.tag(v, a)
			c.matches(r, a)
			return
		}
		if r.key == "" {
			if known {
				c.fault("%s: 409 without a key: %s", c.name, a.Body)
			}
			if a.Status == undone {
				r.may = r.may[:1]
			}
			return
		}
		r.settles = time.Now().Add(late)
		time.Sleep(time.Second)
	}
}

func keyed(key string) []string {
	if key == "" {
		return nil
	}
	return []string{"Idempotency-Key", key}
}

// again sends what created a record again, under its key: the answer is the first one.
func (c *writer) again(r *contact) {
	if r.first == "" || time.Since(r.at) > 23*time.Hour {
		return
	}
	began := time.Now()
	a, known := c.want([]int{201, 409}, "POST", "/contact", r.body, keyed(r.key)...)
	if a.Status == 409 && (c.excuses(began) || r.again.After(began.Add(-late))) { // another one like it is under way
		return
	}
	if !known {
		r.again = began
	}
	if known && (string(a.Body) != r.first || a.Header.Get("Idempotent-Replayed") != "true") {
		c.fault("%s: the answer under %q was %s, and is %s", c.name, r.key, r.first, a.Body)
	}
}

// maybe notes that one value may have become another, by what nobody answered.
func (r *contact) maybe(value string, a rig.Answer) {
	if a.Status == undone {
		return
	}
	r.settles = time.Now().Add(late)
	if !slices.Contains(r.may, value) {
		r.may = append(r.may, value)
	}
}

// ifMatch is a precondition, if it is known what the record is.
func (r *contact) ifMatch() []string {
	if tag := r.etags[r.may[0]]; len(r.may) == 1 && tag != "" {
		return []string{"If-Match", tag}
	}
	return nil
}

// tag notes the entity tag of what it is.
func (r *contact) tag(value string, a rig.Answer) {
	r.etags, r.tagged = map[string]string{value: a.Header.Get("ETag")}, time.Now()
}

func (c *writer) change(r *contact) {
	v := c.value()
	headers := r.ifMatch()
	if c.random.IntN(2) == 0 {
		headers = nil
	}
	statuses := []int{200}
	if headers != nil && c.excuses(r.tagged) { // what is read of a system that is not well may be another state of it
		statuses = append(statuses, 412)
	}
	a, known := c.want(statuses, "PUT", fmt.Sprint("/contact/", r.id), days(v), headers...)
	if !known {
		r.maybe(v, a)
		return
	}
	if a.Status == 412 {
		r.etags = map[string]string{}
		return
	}
	r.may = []string{v}
	r.tag(v, a)
	c.matches(r, a)
}

func (c *writer) remove(r *contact) {
	if a, known := c.want([]int{200}, "DELETE", fmt.Sprint("/contact/", r.id), ""); !known {
		r.maybe(gone, a)
		return
	}
	r.may = []string{gone}
}

func (c *writer) read(r *contact) {
	if a, known := c.want([]int{200}, "GET", fmt.Sprint("/contact/", r.id), ""); known {
		c.matches(r, a)
	}
}

// matches holds an answer to what a record may be.
func (c *writer) matches(r *contact, a rig.Answer) {
	got := record(a)
	if got["name"] != r.name || number(got["id"]) != r.id || !slices.Contains(r.may, fmt.Sprint(got["payment_days"])) {
		c.fault("%s: contact %d %q may be %v, and was answered %s", c.name, r.id, r.name, r.may, a.Body)
	}
}

// contend changes a record three times at once from the same state: one wins, or none where no
// answer came.
func (c *writer) contend(r *contact) {
	tag := r.ifMatch()
	if tag == nil {
		return
	}
	type result struct {
		value  string
		answer rig.Answer
		known  bool
	}
	results, began := make(chan result), time.Now()
	token := c.token
	all := []string{r.may[0]} // what changes nothing is no contender
	for range 3 {
		v := c.value()
		for slices.Contains(all, v) {
			v = c.value()
		}
		all = append(all, v)
		go func() {
			a, known := c.send("PUT", fmt.Sprint("/contact/", r.id), token, days(v), tag...)
			results <- result{v, a, known}
		}()
	}
	var won, unknown []string
	before := slices.Clone(r.may)
	for range 3 {
		switch got := <-results; {
		case !got.known || got.answer.Status == http.StatusUnauthorized:
			unknown = append(unknown, got.value)
		case got.answer.Status == http.StatusOK:
			won = append(won, got.value)
			r.may = []string{got.value}
			r.tag(got.value, got.answer)
		case got.answer.Status != http.StatusPreconditionFailed:
			c.fault("%s: If-Match was answered %d: %s", c.name, got.answer.Status, got.answer.Body)
		}
	}
	switch {
	case len(won) > 1:
		c.fault("%s: contact %d was changed from one state to %v", c.name, r.id, won)
	case len(won) == 1 && c.happened(began, time.Now(), "the administration takes long before"):
		// A service does later what it was asked before the winner, and has no precondition of its own.
		for _, v := range unknown {
			r.maybe(v, rig.Answer{})
		}
	case len(won) == 0:
		r.may = before
		for _, v := range unknown {
			r.maybe(v, rig.Answer{})
		}
		r.etags = map[string]string{}
		if len(unknown) == 0 && !c.excuses(r.tagged) {
			c.fault("%s: nobody changed contact %d, which was as it was said to be", c.name, r.id)
		}
	}
}

// check reads all of them as a list, and one by one those of which nobody knew.
func (c *writer) check() {
	c.hasty = false // what it hung up on might be done meanwhile
	defer func() { c.hasty = true }()
	for _, r := range c.made {
		if r.key != "" && r.id == 0 && time.Since(r.settles) < 23*time.Hour {
			c.retry(r)
		}
	}
	found := map[string][]map[string]any{}
	for _, rec := range c.list("/contact", "Cache-Control", "no-cache") {
		name := fmt.Sprint(rec["name"])
		found[name] = append(found[name], rec)
	}
	for _, r := range c.made {
		is, seen := gone, found[r.name]
		if len(seen) > 1 {
			c.fault("%s: %q is there %d times", c.name, r.name, len(seen))
			continue
		}
		if len(seen) == 1 {
			is = fmt.Sprint(seen[0]["payment_days"])
			if r.id != 0 && r.id != number(seen[0]["id"]) {
				c.fault("%s: %q was %d, and is %v", c.name, r.name, r.id, seen[0]["id"])
			}
			r.id = number(seen[0]["id"])
		}
		if !slices.Contains(r.may, is) {
			c.fault("%s: %q may be %v, and the list has %s", c.name, r.name, r.may, is)
		}
		if len(r.may) > 1 {
			r.may, r.etags = []string{is}, map[string]string{}
		}
		if r.id == 0 {
			continue
		}
		if a, known := c.ask("GET", fmt.Sprint("/contact/", r.id), ""); known && (a.Status == 404) != (is == gone) {
			c.fault("%s: the list has %q as %s, and by itself it is %d", c.name, r.name, is, a.Status)
		} else if known && is != gone {
			c.matches(r, a)
			r.tag(is, a)
		}
	}
	c.agrees(found)
	c.made = slices.DeleteFunc(c.made, func(r *contact) bool { return r.may[0] == gone && r.id != 0 })
}

// retry asks once more for what nobody has answered: its key is free, unless the system may have been asked.
func (c *writer) retry(r *contact) {
	asked := r.settles.Add(-late)
	a, known := c.want([]int{201, 409}, "POST", "/contact", r.body, keyed(r.key)...)
	switch {
	case !known:
	case a.Status == 201:
		r.id, r.may = number(record(a)["id"]), []string{fmt.Sprint(record(a)["payment_days"])}
		r.tag(r.may[0], a)
	case c.system.again() || !c.system.mayHave(r.name) && !c.happened(asked, asked.Add(2*late), "life", "connections"): // else it may have left, and not come
		c.fault("%s: %q cannot have been made, and its key is not free: %s", c.name, r.name, a.Body)
	}
}

// agrees holds the list to what the system itself has.
func (c *writer) agrees(found map[string][]map[string]any) {
	for name := range found {
		if of, _, _ := strings.Cut(name, " "); of == "writer" && c.user != "demo" || of == "stranger" && c.user != "other" {
			c.fault("%s: it sees %q, which is another client's", c.name, name)
		}
	}
	names := c.system.names(c.world, map[string]int{"demo": 1, "other": 2}[c.user])
	if names == nil {
		return
	}
	for name, is := range names {
		if seen := found[name]; len(seen) != 1 || fmt.Sprint(seen[0]["payment_days"]) != is {
			c.fault("%s: the system has %q as %s, and the list has %v", c.name, name, is, seen)
		}
	}
	for name := range found {
		if _, ok := names[name]; !ok {
			c.fault("%s: the list has %q, and the system has not", c.name, name)
		}
	}
}

package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// course is what happens to the copies of a rack: the steps of a case of testdata/copy, whose README says
// how they are written.
type course struct {
	*testing.T
	*remotetest.Rack
	gateways      []*Driver // that share a copy
	ids           map[string]int32
	told          map[int64]string // cursors of changes, by the client
	crossing      *crossing
	adds, counted int // records that others add while contacts are walked, and what is counted too much
}

// crossing is what others do while a call is answered: once, before the call that fits is judged, or
// after it is, while its answer is on its way.
type crossing struct {
	method, path string
	after        bool
	steps        []string
}

// TestCopy plays the cases of testdata/copy.
func TestCopy(t *testing.T) {
	text := must.Have(os.ReadFile("testdata/copy/courses.txt"))(t)
	for part := range strings.SplitSeq("\n"+string(text), "\n=== ") {
		head, steps, _ := strings.Cut(part, "\n")
		name, ways, is := strings.Cut(strings.TrimSuffix(head, ")"), " (")
		for way := range strings.SplitSeq(ways, "; ") {
			if is {
				t.Run(name+"/"+way, func(t *testing.T) {
					t.Parallel()
					playCourse(t, way, steps)
				})
			}
		}
	}
}

// playCourse plays steps before a rack that tells what has changed (since), or does not (walks).
func playCourse(t *testing.T, way, steps string) {
	c := &course{T: t, Rack: remotetest.NewRack(), ids: map[string]int32{}, told: map[int64]string{}}
	c.Meddle = c.meddle
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	says := "every: 1h"
	if strings.Contains(way, "since") {
		says = remotetest.WithSince
	}
	if strings.Contains(way, "counted") {
		says = "paging: {style: page, size: 10, total: total}, " + says
	}
	if strings.Contains(way, "slow") {
		says = "every: 1h, " + says
	}
	rack := strings.Replace(remotetest.RackSheet, "SINCE", says, 1)
	if strings.Contains(way, "keyed") {
		rack = strings.Replace(rack, "path: /contacts", "path: /contacts\n    create: {key: id}", 1)
	}
	db := keepDB(t, map[bool]string{true: "postgres"}[strings.Contains(way, "postgres")])
	for range 1 + strings.Count(way, "two") {
		c.gateways = append(c.gateways, openOn(t, rack, server.URL, db))
	}
	for _, d := range c.gateways { // what comes is compared with what there was
		for _, s := range d.copy.sources {
			await.True(t, func() bool {
				known, err := d.copy.state(bg(), s.of(d.copy, north))
				return err == nil && !known.walked.IsZero()
			}, "the first walk")
		}
	}
	var all []string
	for line := range strings.Lines(steps) {
		switch line = strings.TrimRight(line, "\n"); {
		case strings.HasPrefix(line, "  "):
			all[len(all)-1] += "\n" + line[2:]
		case line != "" && line[0] != '#':
			all = append(all, line)
		}
	}
	require.NotEmpty(t, all)
	for _, step := range all {
		if c.step(step); t.Failed() {
			return
		}
	}
	require.Nil(t, c.crossing, "no call fits")
}

func (c *course) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var x *crossing
	c.Do(func() {
		if c.crossing != nil && r.Method == c.crossing.method && (c.crossing.path == "" || r.URL.Path == c.crossing.path) {
			x, c.crossing = c.crossing, nil
		}
	})
	if x == nil {
		c.Rack.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	if x.after {
		c.Rack.ServeHTTP(answer, r)
	}
	for _, step := range x.steps {
		c.step(step)
	}
	if !x.after {
		c.Rack.ServeHTTP(answer, r)
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// meddle has others add a record before those that come, once a walk has its first page.
func (c *course) meddle(of, page string) int {
	if of == "contacts" && page == "2" && c.adds > 0 {
		c.adds--
		added := c.Set(of, fmt.Sprint("new", len(c.Records[of])), map[string]any{"org": 1, "kind": "P", "name": "New"})
		c.Records[of] = slices.Insert(c.Records[of][:len(c.Records[of])-1], 0, added)
	}
	return c.counted
}

// step does what a line says, and compares what comes of it.
func (c *course) step(line string) {
	line, more, crosses := strings.Cut(line, "\n")
	line, want, _ := strings.Cut(line, " -> ")
	d, who := c.gateways[0], north
	if rest, is := strings.CutPrefix(line, "other: "); is {
		line, d = rest, c.gateways[1]
	}
	if rest, is := strings.CutPrefix(line, "south: "); is {
		line, who = rest, south
	}
	verb, rest, _ := strings.Cut(line, " ")
	if crosses {
		method, path, _ := strings.Cut(rest, " ")
		c.Do(func() { c.crossing = &crossing{method, path, verb == "after", strings.Split(more, "\n")} })
		return
	}
	got, isOfService := c.service(verb, rest)
	if !isOfService {
		got = c.asks(d, who, verb, rest)
	}
	if found := listWanted.FindStringSubmatch(want); verb == "list" && found != nil {
		all := strings.Split(got, ", ")
		assert.Equal(c, found[1], strconv.Itoa(len(all)), line)
		assert.Subset(c, append(all, ""), strings.Split(found[2], ", "), line)
		for without := range strings.SplitSeq(found[3], ", ") {
			assert.NotContains(c, all, without, line)
		}
		return
	}
	kind, words, _ := strings.Cut(want, ": ")
	is, text, _ := strings.Cut(got, ": ")
	assert.Equal(c, kind, is, "%s -> %s", line, got)
	assert.Contains(c, text, words, line)
}

// listWanted is how many there are, some of them, and what is not among them.
var listWanted = regexp.MustCompile(`^(\d+) records(?: with (.*?))?(?: without (.*))?$`)

// service does something with the service.
func (c *course) service(verb, rest string) (got string, is bool) {
	at, members, _ := strings.Cut(rest, " ")
	switch of, key, _ := strings.Cut(at, "/"); verb {
	case "put":
		var all map[string]any
		assert.NoError(c, json.Unmarshal([]byte(members), &all), members)
		c.Put(of, key, all)
	case "remove":
		c.Remove(of, key)
	case "max":
		c.Do(func() { c.Max = number(rest) })
	case "rename":
		c.Do(func() { c.Rename = map[string]string{at: members} })
	case "wrap":
		c.Do(func() { c.Wrap = rest })
	case "away":
		c.Do(func() { c.Away = true })
	case "well":
		c.Do(func() { c.Rename, c.Wrap, c.Away, c.counted = nil, "", false, 0 })
	case "adds":
		c.Do(func() { c.adds = number(rest) })
	case "counts":
		c.Do(func() { c.counted = number(rest) })
	case "seen": // since it was asked last
		calls := slices.DeleteFunc(c.Seen(), func(call string) bool { return !regexp.MustCompile(rest).MatchString(call) })
		if rest == "" {
			return "", true
		}
		return strconv.Itoa(len(calls)), true
	default:
		return "", false
	}
	return "", true
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// asks asks a gateway for something, or has its copy do it.
func (c *course) asks(d *Driver, who auth.Client, verb, rest string) string {
	contact := d.Sheet.Model.Resource("contact")
	p := d.copy.sources[contact].of(d.copy, north)
	name, sent, _ := strings.Cut(rest, " ")
	wish := &backend.Copy{StaleIfError: time.Hour}
	q := backend.Query{Client: who, ID: c.ids[name], Copy: wish}
	switch verb {
	case "know":
		for name := range strings.FieldsSeq(rest) {
			c.ids[name] = idOf(c, d, who, name)
		}
		return ""
	case "list":
		return c.lists(d, who, strings.Fields(rest))
	case "get":
		return c.shown(d.Get(bg(), contact, q))
	case "stale":
		rec, err := d.Stale(bg(), contact, q)
		assert.True(c, err != nil || wish.Stale && wish.Used)
		return c.shown(rec, err)
	case "create":
		rec, err := writer(c, d).Create(bg(), who, body(c, contact, rest), backend.Write{})
		if err == nil {
			c.ids[rec.Get("name").Text()] = rec.ID()
		}
		return c.failed(err)
	case "update":
		return c.shown(writer(c, d).Update(bg(), who, c.ids[name], patch(c, contact, sent), backend.Write{}))
	case "delete":
		return c.failed(writer(c, d).Delete(bg(), who, contact, c.ids[name], backend.Write{}))
	case "drop": // as if the service had said to this client that it is gone
		before, err := d.copy.held(bg(), d.Sheet.Resources[contact], c.ids[name])
		assert.NoError(c, err)
		return c.failed(d.copy.drop(bg(), d.Sheet.Resources[contact], who, c.ids[name], before))
	case "walk":
		if name == "orders" {
			p = d.copy.sources[d.Sheet.Model.Resource("order")].of(d.copy, north)
		}
		return c.failed(walkNow(d, p))
	case "walk-once":
		return c.failed(d.copy.walk(bg(), p))
	case "ask":
		return c.failed(d.copy.ask(bg(), p))
	case "set":
		_, err := d.copy.set(bg(), p, rest, "")
		return c.failed(err)
	case "forget":
		_, err := sqlrecord.Change(bg(), d.copy.db, "DELETE FROM "+stateTable)
		return c.failed(err)
	case "closed":
		var all []string
		for _, of := range d.Closed() {
			all = append(all, of.What)
		}
		return strings.Join(all, "; ")
	case "left-out":
		return fmt.Sprint(d.LeftOut())
	case "changes", "begin":
		return c.changes(d, who, verb == "begin", strings.Fields(rest))
	}
	assert.Fail(c, "no step", "%s %s", verb, rest)
	return ""
}

// failed is what an error is: "" for none.
func (c *course) failed(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errOthers):
		return "others"
	}
	return errorKind(err) + ": " + err.Error()
}

func (c *course) shown(rec mapping.Record, err error) string {
	if err != nil {
		return c.failed(err)
	}
	return strings.TrimSuffix(rec.Get("name").Text()+" "+rec.Get("note").Text(), " ")
}

// lists are the values of a field, in a list that is as new as its client wishes.
func (c *course) lists(d *Driver, who auth.Client, words []string) string {
	all, age := listed(c, d, who, words[0], words[1], func(q *backend.Query) {
		for _, word := range words[2:] {
			name, value, _ := strings.Cut(word, "=")
			switch name {
			case "fresh":
				q.Copy.Fresh = true
			case "within":
				q.Copy.Within, _ = time.ParseDuration(value)
			case "down":
				q.Sort = []backend.Order{{Field: d.Sheet.Model.Resource(words[0]).Field(value), Descending: true}}
			}
		}
	})
	assert.True(c, age.Used && !age.Stale)
	switch words[len(words)-1] {
	case "new":
		assert.Zero(c, age.Age)
	case "old":
		assert.GreaterOrEqual(c, age.Age, 5*time.Second)
	}
	return strings.Join(all, ", ")
}

// changes are those since it was asked last, or begun.
func (c *course) changes(d *Driver, who auth.Client, begin bool, resources []string) string {
	q := backend.ChangesQuery{Client: who, Begin: begin, After: c.told[who.ID], Limit: 100}
	for _, name := range resources {
		q.Resources = append(q.Resources, d.Sheet.Model.Resource(name))
	}
	page, err := d.Changes(bg(), q)
	assert.NoError(c, err)
	c.told[who.ID] = page.Cursor
	var all []string
	for _, of := range page.Changes {
		what := of.Resource.Name
		for name, id := range c.ids {
			if id == of.ID && what == "contact" {
				what = name
			}
		}
		all = append(all, string(of.Kind)+" "+what)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

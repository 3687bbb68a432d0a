package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

// client does something all day, and knows what has to be true of it.
type client interface {
	work(ctx context.Context) // until ctx ends
	check()                   // what it was answered, while all is well
	close()                   // at the end of the day
	away()                    // it asks no more
}

// operator is whoever looks at the operators' pages.
const operator = "operator"

// addressOf is where somebody is: the operator on the gateway's machine, and the guard elsewhere each time, since who
// guesses is throttled by his address.
func (w *world) addressOf(owner string) net.IP {
	switch owner {
	case operator:
		return net.IPv4(127, 0, 0, 1)
	case "guard":
		return net.IPv4(203, 0, 113, byte(w.guesses.Add(1)))
	}
	return net.IPv4(198, 51, 100, 7)
}

// asking is what all clients have in common: a session, and a judge of each answer.
type asking struct {
	*world
	name      string
	user      string
	random    *rand.Rand
	hasty     bool // it hangs up on some of its writes
	http      http.Client
	transport *http.Transport
	base      string

	key, token string
	born       time.Time // of the token
	life       *gateway  // that gave it
}

func (w *world) asker(user, name string) *asking {
	n := uint64(len(name))
	for _, c := range name {
		n = n*31 + uint64(c)
	}
	a := &asking{world: w, name: name, user: user, hasty: slices.Contains([]string{"writer", "stranger", "promised"}, strings.Fields(name)[0]), random: rand.New(rand.NewPCG(w.seed, n)), base: "http://" + public + "/webservice_v2", key: rig.FullKey}
	a.transport = &http.Transport{DialContext: w.net.Dialer(name), MaxIdleConnsPerHost: 8, DisableCompression: true, DisableKeepAlives: name == "guard" || strings.HasPrefix(name, "limited") /* by one that was used net/http asks again where it breaks, which counts twice */}
	a.http.Transport = a.transport
	if c, err := desk.LoadConfig(w.folder() + "/" + configName); err == nil {
		held, err := rig.ContractOf(c, desk.ProductionEnvironment)
		if err != nil {
			w.t.Fatal(err)
		}
		a.http.Transport = &rig.Holding{RoundTripper: a.transport, Contract: held, Base: &a.base, Fault: func(err error) { w.fault("%s: %v", name, err) }}
	}
	return a
}

func (c *asking) check() {}
func (c *asking) close() {}

func (c *asking) away() {
	c.transport.CloseIdleConnections()
}

// pause is what a client thinks for, so that time passes.
func (c *asking) pause() {
	time.Sleep(time.Duration(1+c.random.IntN(500)) * time.Millisecond)
}

// send sends one request. There is no answer if the connection failed, which needs an excuse, as an
// answer of 500 and above does: then nobody knows whether it was done.
func (c *asking) send(method, path, token, body string, headers ...string) (a rig.Answer, known bool) {
	return c.sendIn(context.Background(), method, path, token, body, headers...)
}

// sendIn is send that hangs up when ctx ends.
func (c *asking) sendIn(ctx context.Context, method, path, token, body string, headers ...string) (a rig.Answer, known bool) {
	began := time.Now()
	c.asked.Add(1)
	target := path
	if strings.HasPrefix(path, "/") {
		target = c.base + path
	}
	req, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("token", token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.http.Do(req)
	if err == nil {
		a.Status, a.Header = resp.StatusCode, resp.Header
		a.Body, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
	}
	if strings.HasPrefix(path, "/webhook?") && a.Status == 500 { // as a work ended
		return a, true
	}
	switch {
	case err == nil && a.Status < 500:
		return a, true
	case err != nil && ctx.Err() != nil:
	case !c.excused(began, c.concerned(map[bool]string{true: "writes"}[method != "GET"])...):
		c.fault("%s: %s %s while all is well: %d %s %v", c.name, method, path, a.Status, a.Body, err)
	case err != nil && c.onlyStopped(began):
		a.Status = undone
	case err == nil && c.alone("the administration has", began.Add(-recovers)) && !strings.Contains(string(a.Body), `"backend_changed"`):
		c.fault("%s: %s %s while the administration has changed: %d %s", c.name, method, path, a.Status, a.Body)
	}
	return a, false
}

// undone is the status of what a stop left without an answer: it was not begun.
const undone = -1

// excuses reports whether something was not as it should be for this client at some time since then.
func (c *asking) excuses(since time.Time) bool {
	return c.excused(since, c.concerned("writes")...)
}

// concerned are the names by which troubles concern this client.
func (c *asking) concerned(more string) []string {
	of := map[string]string{"third": "demo"}[c.user] // whose client's user he is, too
	return []string{c.user, of, strings.Fields(c.name)[0], more}
}

// sessionLives is how long a session lives at least; those in memory end with their gateway.
const sessionLives = 29 * time.Minute

// ask sends a request with a session; it logs in where there is none, or none any more.
func (c *asking) ask(method, path, body string, headers ...string) (a rig.Answer, known bool) {
	for range 3 {
		if c.token == "" && !c.logIn() {
			return a, false
		}
		began, life := time.Now(), c.life
		ctx, stay := context.Background(), func() {}
		if c.hasty && method != "GET" && c.random.IntN(20) == 0 {
			ctx, stay = context.WithTimeout(ctx, time.Duration(1+c.random.IntN(6000))*time.Microsecond)
		}
		a, known = c.sendIn(ctx, method, path, c.token, body, headers...)
		if stay(); !known {
			return a, false
		}
		if a.Status != http.StatusUnauthorized {
			return a, true
		}
		if began.Sub(c.born) < sessionLives && life == c.serving.Load() {
			c.fault("%s: %s %s: a session that lives was refused: %s", c.name, method, path, a.Body)
		}
		c.token = ""
	}
	return a, false
}

func (c *asking) logIn() bool {
	life := c.serving.Load()
	a, known := c.send("GET", rig.LoginPath(c.key, c.user, map[string]string{"other": "other"}[c.user]+map[bool]string{true: "demo"}[c.user != "other"]), "", "")
	if !known {
		return false
	}
	var body struct{ Token string }
	if json.Unmarshal(a.Body, &body) != nil || a.Status != http.StatusOK {
		c.fault("%s: a log-in was answered %d: %s", c.name, a.Status, a.Body)
		return false
	}
	c.token, c.born = body.Token, time.Now()
	if c.life = life; life != c.serving.Load() || life == nil { // nobody knows which gave it
		c.token = ""
		return false
	}
	return true
}

// want sends a request that has to be answered with one of these, if it is answered at all.
func (c *asking) want(statuses []int, method, path, body string, headers ...string) (a rig.Answer, known bool) {
	if a, known = c.ask(method, path, body, headers...); !known {
		return a, false
	}
	for _, s := range statuses {
		if a.Status == s {
			return a, true
		}
	}
	c.fault("%s: %s %s %s was answered %d, not %v: %s", c.name, method, path, body, a.Status, statuses, a.Body)
	return a, false
}

// record is a record of an answer.
func record(a rig.Answer) map[string]any {
	var body struct{ Data map[string]any }
	_ = json.Unmarshal(a.Body, &body)
	return body.Data
}

// read reads the body of an answer.
func (c *asking) read(a rig.Answer, into any) {
	if err := json.Unmarshal(a.Body, into); err != nil {
		c.fault("%s: %v in %s", c.name, err, a.Body)
	}
}

func number(v any) int {
	f, _ := v.(float64)
	return int(f)
}

// settled is how old a list may be when clients check what there is: as long before nobody changed anything.
// Where a service is too slow to say what has changed, a list may be of any time before.
const settled = quiet - 2*recovers

// list reads a list to its end, as all is since it is quiet. What was not answered is a fault.
func (c *asking) list(path string, headers ...string) []map[string]any {
	for range 5 {
		all, age, whole := c.pages(200, path, headers...)
		if !whole {
			c.fault("%s: the list %s was not answered", c.name, path)
		}
		if !whole || age < settled {
			return all
		}
		c.tell("%s: the list %s is %s old", c.name, path, age)
		time.Sleep(10 * time.Second)
	}
	c.fault("%s: the list %s is of some time before, though all is well", c.name, path)
	return nil
}

// pages reads a list in pages, and tells how old the oldest is, and whether each was answered.
func (c *asking) pages(size int, path string, headers ...string) (all []map[string]any, age time.Duration, whole bool) {
	for after := 0; ; {
		a, known := c.want([]int{200}, "GET", fmt.Sprintf("%s?page_size=%d&after=%d", path, size, after), "", headers...)
		var page struct{ Data []map[string]any }
		if !known || json.Unmarshal(a.Body, &page) != nil {
			return all, age, false
		}
		old, _ := strconv.Atoi(a.Header.Get("Age"))
		age = max(age, time.Duration(old)*time.Second)
		if len(page.Data) == 0 {
			return all, age, true
		}
		all = append(all, page.Data...)
		after = number(page.Data[len(page.Data)-1]["id"])
	}
}

// ready holds the gateway to what operators see while all is well.
func (w *world) ready() {
	o := http.Client{Transport: &http.Transport{DialContext: w.net.Dialer(operator), DisableKeepAlives: true, DisableCompression: true}}
	for _, path := range []string{"/readyz", "/metrics", "/", "/keys", "/refusals", "/callbacks", "/backends"} {
		resp, err := o.Get("http://" + operators + path)
		if err != nil {
			w.fault("operators: %s: %v", path, err)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			w.fault("operators: %s while all is well: %d %.600s %v", path, resp.StatusCode, body, err)
		}
		if path == "/readyz" {
			w.judgeReady(body)
		}
	}
	w.judgeLogs(w.serving.Load())
}

// judgeReady wants all to be well, and every kill to be told of for an hour.
func (w *world) judgeReady(body []byte) {
	var now struct {
		Status, Circuit string
		Reasons         []string
		LookAt          []string `json:"look_at"`
	}
	_ = json.Unmarshal(body, &now)
	now.Reasons = slices.DeleteFunc(now.Reasons, func(reason string) bool {
		return strings.Contains(reason, "callback") || strings.Contains(reason, "circuit") // receivers are tried for long, and half-open is a circuit until somebody asks
	})
	if now.Circuit == "open" || len(now.Reasons) > 0 || now.Status == "unavailable" {
		w.fault("operators: /readyz while all is well: %s", body)
	}
	sure, perhaps := 0, 0
	for _, at := range w.kills {
		if time.Since(at) < time.Hour-time.Minute {
			sure++
		}
		if time.Since(at) < time.Hour+time.Minute {
			perhaps++
		}
	}
	told := 0
	for _, line := range now.LookAt {
		if n, rest, _ := strings.Cut(line, " time(s)"); strings.Contains(rest, "without being stopped") {
			told, _ = strconv.Atoi(n)
		}
	}
	if told < sure || told > perhaps {
		w.fault("operators: the gateway was killed %d times in the last hour, and /readyz tells of %d", sure, told)
	}
}

// injected are the words of faults that the simulation makes itself.
var injected = regexp.MustCompile(`panic in a driver of the simulation`)

// judgeLogs finds what no log may have: a panic of our own, and an error without a cause.
func (w *world) judgeLogs(of ...*gateway) {
	for _, g := range of {
		for line := range strings.Lines(g.log.String()) {
			isError := strings.HasPrefix(line, `{"level":"error"`) && !strings.Contains(line, `"endpoint":"/webhook"`) // which tells how work has ended
			if !isError && !strings.Contains(line, "panic") {
				continue
			}
			var is struct{ TS string }
			_ = json.Unmarshal([]byte(line), &is)
			at, err := time.Parse("2006-01-02T15:04:05.000Z0700", is.TS)
			isCaused := err != nil || at.Before(g.judged) || w.excused(at.Add(-20*time.Second), "demo", "other", "guard", "nobody", "writes", "receivers")
			if strings.Contains(line, "panic") && !injected.MatchString(line) || isError && !isCaused {
				w.fault("%s logged %s", g.name, line)
			}
		}
		g.judged = time.Now()
	}
}

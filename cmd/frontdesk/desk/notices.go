package desk

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"frontdesk/cmd/frontdesk/history"
)

// Notice is something of the last minutes that stands out, the page that shows it, and the
// command that tells more.
type Notice struct {
	Class   string `json:"class"` // bad or warn
	Text    string `json:"text"`
	Page    string `json:"page"`
	Command string `json:"command"`
}

// What stands out, of the last noticed.
const (
	noticeSpan     = "10m"
	noticed        = 10 * time.Minute
	noticedRefused = 3   // 401 of one cause; what failed; slow requests
	noticedLimited = 20  // 429 by one limit
	noticeSlow     = 500 // ms
	noticesMost    = 3   // of one sort
)

// notices are what stands out now. They hold names of keys and clients, and so are for operators.
func (h *Desk) notices(r *StatusReport) []Notice {
	all := ofHealth(r)
	all = append(all, notices(h.past.History, r.Now)...)
	slices.SortStableFunc(all, func(a, b Notice) int { return cmp.Compare(a.Class, b.Class) }) // bad before warn
	return all
}

// ofHealth are the notices of what /readyz says.
func ofHealth(r *StatusReport) (all []Notice) {
	if r.Health.Config.Error != "" {
		all = append(all, Notice{"bad", "The files of the configuration are refused; what was in force before still is", "/", "frontdesk check --config FILE"})
	}
	if slices.ContainsFunc(r.Health.Disks, func(d Disk) bool { return d.state() != "" }) {
		all = append(all, Notice{"bad", "A disk is full or does not answer: writes fail, reads do not", "/refusals?status=500", "frontdesk healthcheck --config FILE"})
	}
	if n := r.Callbacks.Failing; n > 0 {
		all = append(all, Notice{"warn", fmt.Sprintf("Receivers did not take the callbacks of %d job(s)", n), "/callbacks?failing=yes", "frontdesk callbacks list --failing --config FILE"})
	}
	return all
}

// notices are what stands out of a history.
func notices(of *history.History, now time.Time) []Notice {
	since := now.Add(-noticed)
	return slices.Concat(failed(of, since, now), lockedOut(of, since, now), floods(of, since), slow(of))
}

// alike are refusals of the same sort.
type alike struct {
	history.Refusal // the last of them
	n               int

	clients, addresses map[string]bool
}

// group counts the refusals since a moment that are of a sort, most frequent first. sort is
// not ok for those that are of none.
func group(of *history.History, since time.Time, sort func(*history.Refusal) (name [4]string, ok bool)) (all []*alike) {
	sorts := map[[4]string]*alike{}
	for _, r := range of.Refusals(func(r *history.Refusal) bool { _, ok := sort(r); return ok && !r.At.Before(since) }) {
		name, _ := sort(&r)
		a := sorts[name]
		if a == nil {
			a = &alike{Refusal: r, clients: map[string]bool{}, addresses: map[string]bool{}}
			sorts[name], all = a, append(all, a)
		}
		a.n++
		a.clients[r.Client], a.addresses[r.Address] = true, true
	}
	slices.SortStableFunc(all, func(a, b *alike) int { return cmp.Compare(b.n, a.n) })
	return slices.DeleteFunc(all, func(a *alike) bool { return a.n < noticedRefused })
}

// whose names their client, if it is one.
func (a *alike) whose() string {
	if len(a.clients) == 1 {
		return cmp.Or(a.Client, "nobody known")
	}
	return fmt.Sprintf("%d clients", len(a.clients))
}

// usual are the causes of a 401 that clients recover from by themselves.
var usual = []string{"expired", "logged_out"}

func causeOf(r *history.Refusal) string { return cmp.Or(r.Cause, r.Reason) }

// lockedOut are customers who cannot log in, or whose sessions open nothing.
func lockedOut(of *history.History, since, now time.Time) (all []Notice) {
	sorts := group(of, since, func(r *history.Refusal) ([4]string, bool) {
		login := r.Endpoint == "/authenticate"
		return [4]string{r.Key, r.Client, causeOf(r), strconv.FormatBool(login)}, r.Status == http.StatusUnauthorized && !slices.Contains(usual, r.Cause) && (login || r.Key != "")
	})
	for _, a := range sorts[:min(len(sorts), noticesMost)] {
		what, whose, from := "requests", "of nobody known", a.Address
		if a.Endpoint == "/authenticate" {
			what = "logins"
		}
		switch {
		case a.Client != "":
			whose = "of " + a.Client + " with the key " + a.Key
		case a.Key != "":
			whose = "of the key " + a.Key
		}
		if n := len(a.addresses); n > 1 {
			from = fmt.Sprintf("%d addresses", n)
		}
		text := fmt.Sprintf("%d %s %s were refused: %s, the last %s from %s", a.n, what, whose, causeOf(&a.Refusal), ago(now, a.At), from)
		all = append(all, Notice{"warn", text, "/refusals?" + url.Values{"reason": {causeOf(&a.Refusal)}, "key": {a.Key}, "client": {a.Client}}.Encode(), "frontdesk why " + a.ID + " LOG"})
	}
	return all
}

// failed is what is not the clients' fault.
func failed(of *history.History, since, now time.Time) (all []Notice) {
	sorts := group(of, since, func(r *history.Refusal) ([4]string, bool) {
		return [4]string{causeOf(r)}, r.Status >= http.StatusInternalServerError
	})
	for _, a := range sorts[:min(len(sorts), noticesMost)] {
		text := fmt.Sprintf("%d requests of %s failed: %s, the last %s at %s %s", a.n, a.whose(), causeOf(&a.Refusal), ago(now, a.At), a.Method, a.Endpoint)
		all = append(all, Notice{"bad", text, "/refusals?" + url.Values{"reason": {causeOf(&a.Refusal)}}.Encode(), "frontdesk why " + a.ID + " LOG"})
	}
	return all
}

// floods are keys that run into their limits, and those that ask far more than they use to.
func floods(of *history.History, since time.Time) (all []Notice) {
	busiest, rest := of.Busiest(history.Key, history.Spans[noticeSpan])
	total := rest.Sum().Requests
	for _, key := range busiest {
		total += key.Sum().Requests
	}
	limited := group(of, since, func(r *history.Refusal) ([4]string, bool) {
		return [4]string{r.Key, causeOf(r)}, r.Status == http.StatusTooManyRequests && r.Key != ""
	})
	for _, key := range busiest {
		sum, name := key.Sum(), key.Name.Word
		text := fmt.Sprintf("The key %s makes %d of %d requests", name, sum.Requests, total)
		at := slices.IndexFunc(limited, func(a *alike) bool { return a.Key == name })
		switch usually := usualRate(of, key.Name); {
		case at >= 0 && limited[at].n >= noticedLimited:
			text += fmt.Sprintf(", and its limit refused %s%d of them, of %s: %s", atLeast(limited[at].n), limited[at].n, limited[at].whose(), causeOf(&limited[at].Refusal))
		case usually > 0 && sum.Requests >= 1000 && 2*sum.Requests >= total && float64(sum.Requests)/noticed.Minutes() >= 5*usually:
			text += fmt.Sprintf(", %.0f a minute; it makes %.0f usually", float64(sum.Requests)/noticed.Minutes(), usually)
		default:
			continue
		}
		all = append(all, Notice{"warn", text, "/history?" + url.Values{"key": {name}}.Encode(), "frontdesk why --key " + Quoted(name) + " LOG"})
	}
	return all[:min(len(all), noticesMost)]
}

// atLeast is what a count is told with that the list of refusals bounds.
func atLeast(n int) string {
	if n >= history.MostRefusals {
		return "at least "
	}
	return ""
}

// usualRate is how many requests a minute a key makes usually: in the day before noticed; 0
// where that is less than an hour.
func usualRate(of *history.History, key history.Name) float64 {
	day, there := of.Of(history.Key, key, history.Spans["24h"])
	if !there {
		return 0
	}
	before := day.Points[:len(day.Points)-int(noticed/history.Long)]
	for len(before) > 0 && before[0].Requests == 0 { // from when there is something on
		before = before[1:]
	}
	if len(before) < 60 {
		return 0
	}
	day.Points = before
	return float64(day.Sum().Requests) / float64(len(before))
}

// slow is the slowest endpoint, and whether that is the backend's doing. A login is slow
// because it is delayed after failed ones, unless the backend takes the time.
func slow(of *history.History) []Notice {
	busiest, _ := of.Busiest(history.Endpoint, history.Spans[noticeSpan])
	var worst history.Point
	var name history.Name
	others := -1
	for _, endpoint := range busiest {
		slowest, requests := history.Point{}, uint32(0)
		for _, p := range endpoint.Points {
			if inMs(p.Took) < noticeSlow || endpoint.Name.Word == "/authenticate" && !mostlyBackend(p) {
				continue
			}
			if requests += p.Requests; p.Took.Of(95) > slowest.Took.Of(95) {
				slowest = p
			}
		}
		if requests < noticedRefused {
			continue
		}
		if others++; slowest.Took.Of(95) > worst.Took.Of(95) {
			worst, name = slowest, endpoint.Name
		}
	}
	if others < 0 {
		return nil
	}
	text := fmt.Sprintf("%s took up to %s (p95)", name, inMillis(inMs(worst.Took)))
	if mostlyBackend(worst) {
		text += ", the backend nearly all of it"
	} else {
		text += fmt.Sprintf(", the backend only %s of it", inMillis(inMs(worst.Backend)))
	}
	if others > 0 {
		text += fmt.Sprintf("; so did %d more", others)
	}
	return []Notice{{"warn", text, "/backends#slowest", ""}}
}

// mostlyBackend tells whether nearly all the time was the backend's.
func mostlyBackend(p history.Point) bool { return inMs(p.Backend) >= 0.8*inMs(p.Took) }

// inMs is the 95th percentile in ms.
func inMs(t history.Times) float64 { return ms(t, true) }

package desk

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/instrument"
)

// Notice is something of the last minutes that stands out, with the page that shows it and the
// command that shows more.
type Notice struct {
	Class   string `json:"class"` // bad or warn
	Text    string `json:"text"`
	Page    string `json:"page"`
	Command string `json:"command"`
}

// What stands out in the last noticed.
const (
	noticeSpan     = "10m"
	noticed        = 10 * time.Minute
	noticedRefused = 3   // 401 of one cause, failures of one cause, or slow requests
	noticedLimited = 20  // 429 by one limit
	noticeSlow     = 500 // ms
	noticesMost    = 5   // notices of one sort
)

// notices returns what stands out now, of all gateways. They hold names of keys and clients, and so are
// for operators only.
func (h *Desk) notices(ctx context.Context, r *StatusReport) []Notice {
	all := ofHealth(r)
	lately := h.past.inSpan(ctx, instrument.Spans[noticeSpan], h.past.others != nil)
	all = append(all, silentGateways(lately, r.Now)...)
	all = append(all, notices(lately, h.past.inSpan(ctx, instrument.Spans["24h"], false).View, r.Now)...)
	slices.SortStableFunc(all, func(a, b Notice) int { return cmp.Compare(a.Class, b.Class) }) // bad before warn
	return all
}

// silentGateways returns a notice for each gateway that reports nothing any more.
func silentGateways(lately *gathered, now time.Time) (all []Notice) {
	for _, g := range lately.Gateways {
		if g.Silent {
			all = append(all, Notice{"bad", fmt.Sprintf("The gateway %s was heard last %s, and did not stop", g.Name, ago(now, g.LastSeen)), "/?gateways=all", ""})
		}
	}
	return all
}

// ofHealth returns notices of what /readyz reports.
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

// notices returns what stands out in lately; day is the last day of this gateway.
func notices(lately *gathered, day *instrument.View, now time.Time) []Notice {
	of := slices.DeleteFunc(slices.Clone(lately.Refusals), func(r instrument.Refusal) bool { return r.At.Before(now.Add(-noticed)) })
	return slices.Concat(failed(of, now), lockedOut(of, now), floods(of, lately.View, day), slow(lately.View))
}

// alike is a group of refusals of the same sort.
type alike struct {
	instrument.Refusal // the last of them
	n                  int
	first              time.Time

	clients, addresses map[string]bool
}

// group groups refusals by sort, most frequent first. It leaves out refusals for which sort returns
// false, and groups of less than noticedRefused.
func group(of []instrument.Refusal, sort func(*instrument.Refusal) (name [4]string, ok bool)) (all []*alike) {
	sorts := map[[4]string]*alike{}
	for i := range of {
		r := &of[i]
		name, ok := sort(r)
		if !ok {
			continue
		}
		a := sorts[name]
		if a == nil {
			a = &alike{Refusal: *r, clients: map[string]bool{}, addresses: map[string]bool{}}
			sorts[name], all = a, append(all, a)
		}
		a.n, a.first = a.n+1, r.At // the newest come first
		a.clients[r.Client], a.addresses[r.Address] = true, true
	}
	slices.SortStableFunc(all, func(a, b *alike) int { return cmp.Compare(b.n, a.n) })
	return slices.DeleteFunc(all, func(a *alike) bool { return a.n < noticedRefused })
}

// whose names the client of the group, or counts its clients.
func (a *alike) whose() string {
	if len(a.clients) == 1 {
		return cmp.Or(a.Client, "nobody known")
	}
	return fmt.Sprintf("%d clients", len(a.clients))
}

// usual are the causes of a 401 that clients recover from by themselves.
var usual = []string{"expired", "logged_out"}

// lockedOut returns notices of clients who cannot log in, or whose sessions are refused.
func lockedOut(of []instrument.Refusal, now time.Time) (all []Notice) {
	sorts := group(of, func(r *instrument.Refusal) ([4]string, bool) {
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
		text := fmt.Sprintf("%d %s %s were refused: %s, the first %s, the last %s from %s", a.n, what, whose, causeOf(&a.Refusal), ago(now, a.first), ago(now, a.At), from)
		all = append(all, Notice{"warn", text, "/refusals?" + url.Values{"reason": {causeOf(&a.Refusal)}, "key": {a.Key}, "client": {a.Client}}.Encode(), "frontdesk why " + a.ID + " LOG"})
	}
	return all
}

// failed returns notices of failures that are not the clients' fault.
func failed(of []instrument.Refusal, now time.Time) (all []Notice) {
	sorts := group(of, func(r *instrument.Refusal) ([4]string, bool) {
		return [4]string{causeOf(r)}, r.Status >= http.StatusInternalServerError
	})
	for _, a := range sorts[:min(len(sorts), noticesMost)] {
		text := fmt.Sprintf("%d requests of %s failed: %s, the first %s, the last %s at %s %s", a.n, a.whose(), causeOf(&a.Refusal), ago(now, a.first), ago(now, a.At), a.Method, a.Endpoint)
		all = append(all, Notice{"bad", text, "/refusals?" + url.Values{"reason": {causeOf(&a.Refusal)}}.Encode(), "frontdesk why " + a.ID + " LOG"})
	}
	return all
}

// floods returns notices of keys that run into their limits, or make far more requests than usual.
func floods(of []instrument.Refusal, lately, day *instrument.View) (all []Notice) {
	busiest, rest := lately.Busiest(instrument.Key)
	total := rest.Requests
	for _, key := range busiest {
		total += key.Sum.Requests
	}
	limited := group(of, func(r *instrument.Refusal) ([4]string, bool) {
		return [4]string{r.Key, causeOf(r)}, r.IsByLimit() && r.Key != ""
	})
	for _, key := range busiest {
		sum, name := key.Sum, key.Name
		text := fmt.Sprintf("The key %s makes %d of %d requests", name, sum.Requests, total)
		at := slices.IndexFunc(limited, func(a *alike) bool { return a.Key == name })
		switch usually := usualRate(day, name); {
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

// atLeast qualifies a count of refusals: the list holds at most MostRefusals.
func atLeast(n int) string {
	if n >= instrument.MostRefusals {
		return "at least "
	}
	return ""
}

// usualRate returns how many requests a minute a key makes usually: its average before noticed, since its
// first request of the day; 0 if that is less than an hour.
func usualRate(day *instrument.View, key string) float64 {
	of, there := day.Of(instrument.Key, key)
	if !there {
		return 0
	}
	before := of.Points[:len(of.Points)-int(noticed/instrument.Long)]
	for len(before) > 0 && before[0].Requests == 0 { // skip the time before its first request
		before = before[1:]
	}
	if len(before) < 60 {
		return 0
	}
	sum := uint32(0)
	for _, p := range before {
		sum += p.Requests
	}
	return float64(sum) / float64(len(before))
}

// slow returns a notice of the slowest endpoint, with the backend's share of the time. It skips
// logins, which are delayed after failed ones, unless the backend took the time.
func slow(lately *instrument.View) []Notice {
	busiest, _ := lately.Busiest(instrument.Endpoint)
	var worst instrument.Entry
	name, others := "", -1
	for _, endpoint := range busiest {
		slowest, requests := instrument.Entry{}, uint32(0)
		for _, p := range endpoint.Points {
			if p95(p) < noticeSlow || strings.HasSuffix(endpoint.Name, " /authenticate") && !mostlyBackend(p) {
				continue
			}
			if requests += p.Requests; p95(p) > p95(slowest) {
				slowest = p
			}
		}
		if requests < noticedRefused {
			continue
		}
		if others++; p95(slowest) > p95(worst) {
			worst, name = slowest, endpoint.Name
		}
	}
	if others < 0 {
		return nil
	}
	text := fmt.Sprintf("%s took up to %s (p95)", name, inMillis(p95(worst)))
	if mostlyBackend(worst) {
		text += ", the backend nearly all of it"
	} else {
		text += fmt.Sprintf(", the backend only %.0f %% of it", 100*worst.Backend/max(worst.Took, 1e-9))
	}
	if others > 0 {
		text += fmt.Sprintf("; so did %d more", others)
	}
	return []Notice{{"warn", text, "/backends#slowest", ""}}
}

// mostlyBackend reports whether nearly all the time was the backend's.
func mostlyBackend(p instrument.Entry) bool { return p.Backend >= 0.8*p.Took }

// p95 returns the 95th percentile in ms.
func p95(p instrument.Entry) float64 { return 1000 * float64(p.Percentiles[1]) }

package pages

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

// TestBrowserWindow: the operators' pages in a browser: what is refused is found by clicking,
// without the mouse too, and the page renews itself until it is told to pause.
func TestBrowserWindow(t *testing.T) {
	faults := new(rig.Faults)
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Wrap: faults.Wrap, Bound: rig.Circuit(2, time.Hour), Edit: strings.NewReplacer(`    allow: ["* /*"]`, `    allow: ["* /*"]
    rate: {per_second: 50, burst: 100}
    concurrent: 4
    per_day: 20`)})

	full, orders := d.Login(rig.FullKey, "demo"), d.Login(rig.OrdersKey, "demo")
	for _, path := range []string{"/vehicle?page_size=3", "/order/1", "/order?nope=1", "/vehicle/99999", "/nowhere"} {
		d.Call("GET", path, full, "")
		d.Call("GET", path, orders, "")
	}
	p := startBrowser(t).open(t, "http://"+d.Ops)
	p.visit("/")
	p.await(`document.querySelectorAll("svg.chart").length > 4`)
	p.accessible("window-now")
	p.click(`a[href="/history?key=full"]`)
	p.await(`document.querySelector("h1").textContent === "key full"`)
	p.await(`["rate", "concurrent", "per_day"].every(name => [...document.querySelectorAll("th")].some(th => th.textContent === name))`)
	p.accessible("window-key")
	p.click(`main a[href="/history?endpoint=GET+%2Forder"]`)
	p.await(`document.querySelector("h1").textContent === "endpoint GET /order"`)
	p.accessible("window-endpoint")
	p.click(`main a[href="/history?key=full"]`)
	p.await(`document.querySelector("h1").textContent === "key full"`)
	p.click(`a[href="/refusals?key=full"]`)
	p.await(`document.querySelectorAll("tbody tr").length === 3`)
	p.eval(`document.querySelector('tbody a[href*="record_not_found"]').focus()`)
	p.eval(`document.activeElement.click()`)
	p.await(`document.querySelectorAll("tbody tr").length === 1`)
	require.Equal(t, "404", p.text("tbody td:nth-child(2)"))
	p.accessible("window-refusals")

	d.Call("GET", "/vehicle/99999", full, "")
	p.await(`document.querySelectorAll("tbody tr").length === 2`) // by itself
	p.click("#live")
	require.Equal(t, "true", p.eval(`document.getElementById("live").getAttribute("aria-pressed")`))
	p.click(`a.filter`)
	p.await(`document.querySelectorAll("a.filter").length === 1`)
	require.Equal(t, "Paused: go on", p.text("#live"), "also on the next page")

	faults.Set(rig.Fails)
	for range 2 {
		d.Call("GET", "/country/528", full, "")
	}
	p.click(`a[href="/backends"]`)
	p.await(`document.querySelector("h1").textContent === "Backend"`)
	require.Contains(t, p.text("tbody tr"), "reads of country")
	p.accessible("window-backend")
	p.click(`a[href="/backends?resource=order#slowest"]`)
	p.await(`document.querySelector("#slowest h2").textContent === "The slowest calls of order"`)
	p.click("#slowest details summary")
	require.Contains(t, p.text("#slowest details[open]"), "frontdesk why ")
	p.shot("window-backend-order")
}

// TestBrowserCallbacks: from the receivers to one job and its calls by clicking.
func TestBrowserCallbacks(t *testing.T) {
	dsn, now := rig.Engines[0].DSN(t), time.Now()
	rig.OnJobs(t, dsn, func(s *jobstore.Store) {
		for n, state := range []webhook.State{webhook.Done, webhook.Exhausted, webhook.Exhausted, webhook.CalledBack, webhook.Collected, webhook.Failed} {
			j := webhook.Job{
				ID: fmt.Sprintf("x3tovvqs2dvlxwyccgo5a5nv7%d", n), Callback: fmt.Sprintf("https://hooks%d.garage-jansen.example:8443/frontdesk?secret=x", n/3), State: state, Tries: 3,
				Owner: webhook.Owner{Key: "webshop", User: auth.User{Username: "jan", Client: auth.Client{ID: 1, Name: "Garage Jansen en Zonen"}}},
				Work:  webhook.Work{Kind: "backup"}, Created: now.Add(-time.Duration(n+1) * 10 * time.Minute), Finished: now.Add(-9 * time.Minute),
			}
			if state == webhook.Done || state == webhook.Failed {
				j.NextTry, j.Failing = now.Add(time.Hour), j.Finished
			}
			if state == webhook.Failed {
				j.Failure = "outcome unknown: the connection broke"
			}
			require.NoError(t, s.Add(t.Context(), j))
			for try := range 3 {
				_, err := s.Change(t.Context(), j.ID, func(j webhook.Job) (webhook.Job, *webhook.Try, error) {
					return j, &webhook.Try{Job: j.ID, Number: try + 1, At: j.Finished.Add(time.Duration(try) * time.Second), Status: 503 * (try % 2), Error: []string{webhook.ErrTimeout, webhook.ErrStatus}[try%2], Duration: 15 * time.Second}, nil
				})
				require.NoError(t, err)
			}
		}
	})
	d := rig.Start(t, rig.Options{DSN: dsn})
	p := startBrowser(t).open(t, "http://"+d.Ops)
	p.visit("/")
	p.click(`nav a[href="/callbacks"]`)
	p.await(`document.querySelectorAll("tbody tr").length === 8`)
	p.accessible("window-callbacks")
	p.click(`a[href^="/callbacks?receiver=hooks0"][href$="state=exhausted"]`)
	p.await(`document.querySelectorAll("a.filter").length === 2 && document.querySelectorAll("section:nth-child(2) tbody tr").length === 2`)
	p.click(`a[href="/callbacks/x3tovvqs2dvlxwyccgo5a5nv71"]`)
	p.await(`document.querySelector("h1").textContent === "Job x3tovvqs2dvlxwyccgo5a5nv71"`)
	require.Contains(t, p.text("main"), "No further call.")
	p.visit("/callbacks/x3tovvqs2dvlxwyccgo5a5nv70")
	p.await(`document.querySelectorAll("tbody tr").length >= 3`)
	require.Contains(t, p.text("main"), "the further ones are at about")
	p.accessible("window-job")
}

// TestBrowserNight has everything go wrong that wakes people, and looks whether the first
// screen of the first page says what it is, on a desktop and on a phone, before anybody scrolls
// or clicks. What the pages say without a browser, TestNight holds in every run.
func TestBrowserNight(t *testing.T) {
	if !sqltest.Soak() && os.Getenv("FRONTDESK_SCREENSHOTS") == "" {
		t.Skip("pictures: make pages makes them")
	}
	b, folder := startBrowser(t), t.TempDir()
	rig.TinyDisk(t, folder, "16m")
	n := rig.StartNight(t, folder)
	p := b.open(t, "http://"+n.Ops)
	for i, step := range append(n.Steps(), n.DiskFills()) {
		step.Play()
		notice, _ := n.NightNotice(step)
		p.visit("/")
		for _, width := range []int64{1280, 390} {
			p.look(width, "light")
			bottom := p.eval(fmt.Sprintf(`[...document.querySelectorAll(".notices a")].find((a) => a.textContent.startsWith(%q)).getBoundingClientRect().bottom`, step.Shows))
			require.Less(t, bottom, 800.0, "%s at %d pixels is below the first screen", step.Name, width)
			p.shot(fmt.Sprintf("night-%d-%s-%d", i+1, step.Name, width))
		}
		p.judge("night-"+step.Name, look{1280, "light"}, look{390, "dark"})
		p.visit(notice.Page)
		for _, width := range []int64{1280, 390} {
			p.look(width, "light")
			p.shot(fmt.Sprintf("night-%d-%s-then-%d", i+1, step.Name, width))
		}
		if step.Mend != nil {
			step.Mend()
		}
	}
}

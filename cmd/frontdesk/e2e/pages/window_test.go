package pages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestBrowserWindow: the operators' pages in a browser: what is refused is found by clicking,
// without the mouse too, and the page renews itself until it is told to pause.
func TestBrowserWindow(t *testing.T) {
	faults := new(rig.Faults)
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Wrap: faults.Wrap, Backend: ", circuit: {failures: 2, pause: 1h}", Edit: strings.NewReplacer(`    allow: ["* /*"]`, `    allow: ["* /*"]
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
	p.await(`document.querySelectorAll("meter").length === 3`)
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

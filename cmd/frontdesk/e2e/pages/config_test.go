package pages

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestBrowserConfig: a mark of the charts leads to what a bad deploy was refused for, and a
// change that was taken can be read by what it means.
func TestBrowserConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "frontdesk.yaml")
	k := rig.StartKept(t, file, rig.KeptConfig(t, rig.Engines[0].DSN(t), "", rig.KeptKey(`"GET /order"`)+rig.KeptOrders), false)
	text := rig.Read(t, file)
	changed := strings.NewReplacer(`["GET /order"]`+"\n\n  - name: orders", `["* /order", "GET /vehicle"]`+"\n    rate: {per_second: 5, burst: 10}\n\n  - name: office", "vendor: Example", "vendor: Garage Jansen").Replace(text)
	require.NotEqual(t, text, changed)
	k.Write(changed)
	k.HangUp()
	k.Write(strings.Replace(changed, "GET /vehicle", "GET /vehicel", 1))
	k.HangUp()

	p := startBrowser(t).open(t, "http://"+k.Ops)
	p.visit("/")
	p.await(`document.querySelectorAll("svg.over a").length > 1`)
	p.judge("window-marks", look{1280, "light"})
	p.eval(`document.querySelector('svg.over a[href="/config#c3"]').focus()`)
	p.eval(`document.activeElement.dispatchEvent(new MouseEvent("click", {bubbles: true}))`)
	p.await(`location.pathname + location.hash === "/config#c3" && document.querySelector("#c3 .bad")`)
	require.Contains(t, p.text("#c3"), "did you mean GET /vehicle?")
	require.Contains(t, p.text("#c2"), "full gains POST /order")
	require.Contains(t, p.text("#c3"), "nothing else that could be read")
	require.Contains(t, p.text("h1"), "The files were refused")
	p.accessible("window-config")
}

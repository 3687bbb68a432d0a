package pages

import (
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// BenchmarkPages opens each page in a real browser that has nothing kept, and
// tells where the time goes: waiting for the desk, running scripts (on the
// processor, whoever else wants it), and all in all until the page can be used.
func BenchmarkPages(b *testing.B) {
	chromium := startBrowser(b)
	d := rig.Start(b, rig.Options{DSN: rig.Engines[0].DSN(b)})
	for _, page := range []struct{ name, path, key, ready string }{
		{"home", "/", "", "document.readyState === 'complete' && document.body.dataset.state"},
		{"errors", "/errors", "", "document.readyState === 'complete'"},
		{"callback", "/testpage/callback", "", "document.querySelector('#request').textContent.includes('webhook-signature')"},
		{"explorer", "/testpage/explorer", rig.FullKey, "document.querySelectorAll('#operations a').length > 2"},
		{"explorer-restricted", "/testpage/explorer", rig.OrdersKey, "document.querySelectorAll('#operations a').length > 2"},
	} {
		b.Run(page.name, func(b *testing.B) {
			total := map[string]float64{}
			for range b.N {
				openOnce(b, chromium, d, page.path, page.key, page.ready, total)
			}
			for name, value := range total {
				b.ReportMetric(value/float64(b.N), name)
			}
			b.ReportMetric(0, "ns/op") // most of it is the browser's own start
		})
	}
}

// openOnce adds up the figures of one visit in a new tab.
func openOnce(b *testing.B, chromium *browser, d *rig.Desk, path, key, ready string, total map[string]float64) {
	p := chromium.open(b, d.Base)
	defer func() { require.NoError(b, chromedp.Cancel(p.ctx)) }()
	must.Have(chromedp.Call(p.ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}))(b)
	p.onNewDocument(`sessionStorage.setItem("frontdesk", '{"key":"` + key + `"}');
		{ const look = () => (` + ready + `) ? (window.usable = performance.now()) : requestAnimationFrame(look);
		  addEventListener("DOMContentLoaded", look) }`)
	p.visit(path)
	p.await("window.usable")
	total["ready-ms"] += p.eval("window.usable").(float64)
	total["server-ms"] += p.eval(`performance.getEntries().filter((e) => e.requestStart).reduce((sum, e) => sum + e.responseStart - e.requestStart, 0)`).(float64)
	metrics := must.Have(chromedp.Call(p.ctx, performance.GetMetrics, cdp.Empty{}))(b)
	for _, m := range metrics.Metrics {
		if m.Name == "ScriptDuration" {
			total["script-ms"] += m.Value * 1000
		}
	}
	kib, requests := p.loaded()
	total["KiB"] += kib
	total["requests"] += float64(requests)
}

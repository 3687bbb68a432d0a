package pages

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// onNewDocument runs a script before any of a page's own.
func (p *tab) onNewDocument(script string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	require.NoError(p.t, err)
}

// set gives a field a value at once, as pasting does.
func (p *tab) set(selector, value string) {
	p.t.Helper()
	p.eval(fmt.Sprintf("{ const e = document.querySelector(%q); e.value = %q; e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')) }", selector, value))
}

var pressEnter = chromedp.KeyEvent(kb.Enter)

// move has the page's clock, which stands still, go ahead by so many seconds.
func (p *tab) move(seconds int) {
	p.t.Helper()
	p.eval(fmt.Sprintf("sessionStorage.setItem('test-moved', %d); document.dispatchEvent(new Event('visibilitychange'))", seconds*1000))
}

// signOut ends the session by the page's button.
func (p *tab) signOut(d *rig.Desk) {
	p.t.Helper()
	p.visit("/")
	token := p.text("[data-token]")
	p.click("[data-sign-out]")
	p.await("document.querySelector('#announcer').textContent === 'Signed out.'")
	await.True(p.t, func() bool { return d.Call("GET", "/authenticate", token, "").Status == 401 })
}

// checkShown verifies a request as the callback helper writes it.
func checkShown(t *testing.T, request, secret string) {
	t.Helper()
	header := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `: (.+)$`).FindStringSubmatch(request)
		require.NotNil(t, m, "%s in %s", name, request)
		return m[1]
	}
	require.Regexp(t, `^GET /frontdesk\?id=`+regexp.QuoteMeta(header("webhook-id"))+` HTTP/1\.1\n`, request)
	seconds, err := strconv.ParseInt(header("webhook-timestamp"), 10, 64)
	require.NoError(t, err)
	w, err := webhooks.NewWebhook(secret)
	require.NoError(t, err)
	want, err := w.Sign(header("webhook-id"), time.Unix(seconds, 0), nil)
	require.NoError(t, err)
	require.Equal(t, want, header("webhook-signature"))
}

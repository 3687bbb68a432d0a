package pages

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// browser is a real Chromium with a fresh profile.
type browser struct {
	ctx context.Context
	end func() error
}

// chromium is the one that all tests open tabs in, each with a storage of its own, once the
// first of them wanted it.
var chromium struct {
	once sync.Once
	*browser
	err error
}

// startBrowser returns the browser; the test is skipped where there is none, unless
// FRONTDESK_REQUIRE names chromium.
func startBrowser(t testing.TB) *browser {
	t.Helper()
	program := sqltest.Tool(t, "chromium", "chromium")
	chromium.once.Do(func() { chromium.browser, chromium.err = launch(program) })
	require.NoError(t, chromium.err)
	return chromium.browser
}

func launch(program string) (*browser, error) {
	profile, err := os.MkdirTemp("", "frontdesk-chromium-")
	if err != nil {
		return nil, err
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(program), chromedp.UserDataDir(profile), chromedp.WSURLReadTimeout(60*time.Second),
		chromedp.Flag("headless", true), chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("no-first-run", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", true),
	)
	ctx, stop := chromedp.NewContext(ctx)
	b := &browser{ctx: ctx, end: func() error {
		err := chromedp.Cancel(ctx)
		stop()
		cancel()
		return errors.Join(err, os.RemoveAll(profile))
	}}
	if err := chromedp.Do(ctx); err != nil {
		return nil, errors.Join(err, b.end())
	}
	return b, nil
}

// endBrowser is called after the last test.
func endBrowser() error {
	if chromium.browser == nil {
		return nil
	}
	return chromium.end()
}

// tab is one page of its own, with no storage from any other. It fails its test
// on an error in the console, on an exception, and on a request to anywhere but
// the desk.
type tab struct {
	t    testing.TB
	ctx  context.Context
	base string

	mu       sync.Mutex
	problems []string
	requests []string
	bytes    float64
	refused  []string // what the console may say of answers that are meant to be errors
}

func (b *browser) open(t testing.TB, base string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, base: base}
	require.NoError(t, chromedp.Listen(ctx, p.hear))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	_, err2 := chromedp.Call(ctx, cdplog.Enable, cdp.Empty{})
	_, err3 := chromedp.Call(ctx, runtime.Enable, cdp.Empty{})
	require.NoError(t, errors.Join(err, err2, err3))
	t.Cleanup(func() {
		if t.Failed() {
			p.shot("failed")
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Empty(t, p.problems, "what the browser complained of")
	})
	return p
}

func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if strings.HasSuffix(e.Request.URL, "/favicon.ico") {
			return // the browser asks for one beside what is not HTML
		}
		p.requests = append(p.requests, e.Request.URL)
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "data" && u.Scheme != "blob" && !strings.HasPrefix(e.Request.URL, p.base) {
			p.problems = append(p.problems, "request to "+e.Request.URL)
		}
	case *network.EventLoadingFinished:
		p.bytes += e.EncodedDataLength
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, fmt.Sprintf("exception: %+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			p.problems = append(p.problems, fmt.Sprintf("console %s: %s", e.Type, spelled(e.Args)))
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level != "error" && e.Entry.Level != "warning" || strings.HasSuffix(e.Entry.URL, "/favicon.ico") {
			return
		}
		if !slices.ContainsFunc(p.refused, func(s string) bool { return strings.Contains(e.Entry.Text, s) }) {
			p.problems = append(p.problems, fmt.Sprintf("%s: %s (%s)", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	}
}

// mayAnswer says that an answer with this status is meant to come.
func (p *tab) mayAnswer(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = append(p.refused, fmt.Sprintf("status of %d", status))
}

func (p *tab) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, actions...), what)
}

// visit opens a page below the base path, and forgets what was loaded before.
func (p *tab) visit(path string) {
	p.t.Helper()
	p.mu.Lock()
	p.requests, p.bytes = nil, 0
	p.mu.Unlock()
	p.do("open "+path, chromedp.Navigate(p.base+path))
}

// loaded tells what the page weighs and of how many requests.
func (p *tab) loaded() (kib float64, requests int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes / 1024, len(p.requests)
}

// weighs holds the page to so many KiB and requests at most.
func (p *tab) weighs(kib float64, requests int) {
	p.t.Helper()
	weight, n := p.loaded()
	require.Less(p.t, weight, kib)
	require.LessOrEqual(p.t, n, requests)
}

// signIn types who somebody is, and says so.
func (p *tab) signIn(key, username, password string) {
	p.t.Helper()
	p.typeInto("#api-key", key)
	p.typeInto("#username", username)
	p.typeInto("#password", password+"\r")
}

// await waits until an expression of JavaScript is true.
func (p *tab) await(expression string) {
	p.t.Helper()
	// Not chromedp.Poll: it makes a function of a text, which the pages' policy forbids.
	await.True(p.t, func() bool {
		holds, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		return err == nil && holds
	}, "%s", expression)
}

// eval returns what an expression of JavaScript is.
func (p *tab) eval(expression string) any {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[any](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, expression)
	return value
}

func (p *tab) text(selector string) string {
	p.t.Helper()
	return fmt.Sprint(p.eval(fmt.Sprintf("document.querySelector(%q)?.innerText", selector)))
}

func (p *tab) typeInto(selector, text string) {
	p.t.Helper()
	p.do("type into "+selector, chromedp.SendKeys(chromedp.CSS(selector), text))
}

func (p *tab) click(selector string) {
	p.t.Helper()
	click := chromedp.Click(chromedp.CSS(selector))
	p.do("click "+selector, func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		for {
			done, err := click(ctx, target)
			// A page that shows what is new by itself may have drawn it anew in between.
			if err == nil || !strings.Contains(err.Error(), "Could not find node") {
				return done, err
			}
		}
	})
}

// look sets the width of the window, in pixels, and light or dark.
func (p *tab) look(width int64, scheme string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
	require.NoError(p.t, err)
	must.Have(chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}))(p.t)
}

// shot keeps a picture of the whole page in the folder FRONTDESK_SCREENSHOTS; where that
// names none, nothing is drawn.
func (p *tab) shot(name string) {
	dir := os.Getenv("FRONTDESK_SCREENSHOTS")
	if dir == "" {
		return
	}
	whole := true
	picture, err := chromedp.Call(p.ctx, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{CaptureBeyondViewport: &whole})
	if err != nil {
		p.t.Logf("no picture of %s: %v", name, err)
		return
	}
	require.NoError(p.t, os.MkdirAll(dir, 0o755))
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), picture.Data, 0o644))
}

// axe is the accessibility checker of that name.
var axe = sync.OnceValues(func() (string, error) {
	file, err := os.Open("testdata/axe.min.js.gz")
	if err != nil {
		return "", err
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		return "", err
	}
	source, err := io.ReadAll(r)
	return string(source), err
})

// accessible checks the page as it stands, in light and dark, at the width of a phone and of a
// desktop, and that it needs no scrolling sideways. All four combinations are looked at where
// pictures are wanted, and in the soak; else two, in which each width and each scheme is.
func (p *tab) accessible(name string) {
	p.t.Helper()
	looks := []look{{1280, "light"}, {390, "dark"}}
	if sqltest.Soak() || os.Getenv("FRONTDESK_SCREENSHOTS") != "" {
		looks = append(looks, look{1280, "dark"}, look{390, "light"})
	}
	p.judge(name, looks...)
}

// look is how a page is shown.
type look struct {
	width  int64
	scheme string
}

func (p *tab) judge(name string, looks ...look) {
	p.t.Helper()
	p.eval(must.Have(axe())(p.t) + ";true")
	for _, l := range looks {
		at := fmt.Sprintf("%s-%s-%d", name, l.scheme, l.width)
		p.look(l.width, l.scheme)
		p.eval("scrollTo(0, 0); new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(() => f(1))))")
		p.shot(at)
		found := must.Have(json.MarshalIndent(p.eval(`axe.run(document, {resultTypes: ["violations"]}).then((r) =>
			r.violations.map((v) => [v.id, v.nodes.slice(0, 5).map((n) => n.html + " " + n.failureSummary)]))`), "", "  "))(p.t)
		require.Equal(p.t, "[]", string(found), at)
		require.LessOrEqual(p.t, p.eval("document.documentElement.scrollWidth"), float64(l.width), at)
	}
	p.look(360, "light")
	require.LessOrEqual(p.t, p.eval("document.documentElement.scrollWidth"), 360.0, name)
	p.look(1280, "light")
}

// spelled is what was logged, as JSON.
func spelled(args []*runtime.RemoteObject) string {
	text, err := json.Marshal(args)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// onNewDocument runs a script before any of a page's own.
func (p *tab) onNewDocument(script string) {
	p.t.Helper()
	must.Have(chromedp.Call(p.ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script}))(p.t)
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
	seconds := must.Have(strconv.ParseInt(header("webhook-timestamp"), 10, 64))(t)
	want := must.Have(must.Have(webhooks.NewWebhook(secret))(t).Sign(header("webhook-id"), time.Unix(seconds, 0), nil))(t)
	require.Equal(t, want, header("webhook-signature"))
}

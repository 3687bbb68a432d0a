package pages

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// pageWeight is the most that a page but the explorer may weigh, in KiB as sent; guideWeight that of
// the guide, which has whole programs in three languages.
const (
	pageWeight  = 40
	guideWeight = 50
)

// TestBrowserFirstHour is what somebody does who was given a key: the first
// link, a session, a call, an error, the session's end and its renewal.
func TestBrowserFirstHour(t *testing.T) {
	b := startBrowser(t)
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Extra: "sessions: {ttl: 20m}"})
	p := b.open(t, d.Base)
	p.onNewDocument(`{
		const kept = (name, value) => Number(sessionStorage[name] ??= value);
		Date.now = ((real) => () => kept("test-began", real()) + kept("test-moved", 0))(Date.now);
	}`)

	p.visit("/")
	require.Equal(t, d.Base+"/openapi.json?api_key=", p.eval("document.querySelector('a[href]').href"))
	p.click("#description")
	p.await("!document.querySelector('#key-problem').hidden")
	require.Equal(t, d.Base+"/", p.eval("location.href"), "without a key the link leads nowhere")
	p.typeInto("#api-key", "99999999-1111-4111-8111-111111111111")
	p.mayAnswer(http.StatusUnauthorized)
	p.click("[data-described][href*='version=3.0']")
	p.await("document.querySelector('#key-problem').textContent.includes('not known here')")
	require.Equal(t, d.Base+"/", p.eval("location.href"), "a key that nobody knows leads to no JSON")
	p.accessible("home-unknown-key")
	p.set("#api-key", "")
	p.typeInto("#api-key", rig.FullKey)
	link := p.eval("document.querySelector('a[href]').href").(string)
	require.Equal(t, d.Base+"/openapi.json?api_key="+rig.FullKey, link)
	p.click("a[href]")
	p.await("location.pathname.endsWith('/openapi.json')")
	require.Contains(t, p.text("body"), `"openapi":"3.1`)

	p.visit("/")
	require.Equal(t, rig.FullKey, p.eval("document.querySelector('#api-key').value"), "the tab remembers")
	p.mayAnswer(http.StatusUnauthorized)
	p.typeInto("#username", "demo")
	p.typeInto("#password", "wrong\r")
	p.await("!document.querySelector('#sign-in-problem').hidden")
	require.Contains(t, p.text("#sign-in-problem"), "Not authorized")
	p.set("#password", "")
	p.typeInto("#password", "demo\r")
	p.await("document.querySelector('#operations').children.length > 20")
	require.Equal(t, "20:00", p.text(".count"))
	first := p.text("[data-token]")
	p.accessible("home")
	kept := p.eval("JSON.stringify([localStorage.length, document.cookie, location.href])")
	require.Equal(t, `[0,"","`+d.Base+`/"]`, kept, "nothing is kept beyond the tab")

	p.move(15*60 + 5)
	p.await("document.querySelector('#announcer').textContent === '5 minutes of the session left.'")
	require.Equal(t, "ending", p.eval("document.body.dataset.state"))
	p.move(19*60 + 5)
	p.await("document.querySelector('#announcer').textContent === '1 minute of the session left.'")
	p.move(20*60 + 1)
	p.await("document.querySelector('#announcer').textContent.includes('has expired')")
	require.Equal(t, "0:00", p.text(".count"))
	p.accessible("home-expired")
	p.click(".session [data-renew]")
	p.await("document.body.dataset.state === 'live'")
	require.NotEqual(t, first, p.text("[data-token]"))
	await.True(t, func() bool { return d.Call("GET", "/authenticate", first, "").Status == 401 }, "the old token is not ended")
	require.Equal(t, 200, d.Call("GET", "/authenticate", p.text("[data-token]"), "").Status)
	p.move(0)

	p.visit("/testpage/explorer")
	p.await("document.querySelector('#operations a')")
	require.Equal(t, "live", p.eval("document.body.dataset.state"), "the session goes along")
	p.click("#operations a[href='#listOrders']")
	p.click("#send")
	p.await("document.querySelector('.outcome .status')?.textContent === '200'")
	require.Contains(t, p.text("#answer-body"), `"order_status"`)

	p.visit("/testpage/requests")
	p.await("document.querySelector('#found').textContent === 'Nothing was refused yet.'")
	require.Equal(t, 403, d.Call("POST", "/order", p.eval("JSON.parse(sessionStorage.frontdesk).token").(string), `{"colour":"<b>red</b>"}`).Status)
	p.click("#again")
	p.await("document.querySelector('#refusals article')")
	require.Contains(t, p.text("#refusals article"), "POST /order")
	require.Contains(t, p.text("#refusals article"), "field_not_in_model")
	require.Contains(t, p.text("#refusals article"), "GET /model/<resource> lists all fields")
	require.NotContains(t, p.text("#refusals"), "red")
	p.accessible("requests")
	p.click("#refusals a")
	p.await("location.pathname.endsWith('/errors') && document.querySelector(':target')")

	p.signOut(d)
	p.visit("/testpage/requests")
	p.await("!document.querySelector('.notice[data-when]').hidden")
	p.visit("/")
	require.Equal(t, "none", p.eval("document.body.dataset.state"))
	require.Equal(t, "", p.eval("(({username, password, token}) => username + password + token)(JSON.parse(sessionStorage.frontdesk))"), "nothing but the key is left")
}

// TestBrowserExpires lets a token end by the service's clock, not the page's.
func TestBrowserExpires(t *testing.T) {
	b := startBrowser(t)
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Extra: "sessions: {ttl: 6s}"})
	p := b.open(t, d.Base)
	p.visit("/")
	p.signIn(rig.FullKey, "demo", "demo")
	p.await("document.body.dataset.state === 'expired'")
	token := p.text("[data-token]")
	// The page counts from when it asked, the service from when it answered.
	await.True(t, func() bool { return d.Call("GET", "/contact", token, "").Status == 401 })
	// On a busy machine the new session may have ended before anybody looks.
	p.eval("window.states = new MutationObserver(() => states.seen.push(document.body.dataset.state)), states.seen = [], states.observe(document.body, {attributes: true})")
	p.eval("document.querySelector('.session [data-renew]').focus()")
	p.do("renew by the keyboard", pressEnter)
	p.await("states.seen.some(state => state !== 'expired') && document.querySelector('[data-token]').textContent !== '" + token + "'")
}

// TestBrowserRestrictedKey shows a key no more than it may call.
func TestBrowserRestrictedKey(t *testing.T) {
	b := startBrowser(t)
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	p := b.open(t, d.Base)
	p.visit("/")
	p.signIn(rig.OrdersKey, "demo", "demo")
	p.await("document.querySelector('#operations').children.length > 0")
	require.Equal(t, "/order GET|/orderline GET|/model/* GET", p.eval("[...document.querySelectorAll('#operations li')].map((e) => e.textContent).join('|')"))
	p.click("#operations a")
	p.await("document.querySelector('#found')?.textContent.startsWith('4 of')")
	require.Equal(t, "/order", p.eval("document.querySelector('#words').value"), "the list of the test page leads to the operations")
	p.visit("/testpage/explorer")
	p.await("document.querySelector('#operations a')")
	for _, line := range p.eval("[...document.querySelectorAll('#operations a')].map((e) => e.querySelector('.method').textContent + ' ' + e.querySelector('code').textContent)").([]any) {
		require.Regexp(t, `^(GET /order|GET /orderline|GET /model|(GET|POST) /authenticate)(/|$)`, line)
	}
	p.shot("explorer-restricted")
}

// TestBrowserErrors finds what an answer meant, from its type and by searching.
func TestBrowserErrors(t *testing.T) {
	b := startBrowser(t)
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	var problem struct{ Type, Detail string }
	a := d.Call("GET", "/order?pagesize=2", d.Login(rig.FullKey, "demo"), "", "Accept", "application/problem+json")
	require.NoError(t, json.Unmarshal(a.Body, &problem))
	require.True(t, strings.HasPrefix(problem.Type, d.Base), problem.Type)

	p := b.open(t, d.Base)
	p.visit(strings.TrimPrefix(problem.Type, d.Base))
	require.Equal(t, "query_parameter_unsupported", p.eval("document.querySelector(':target').id"))
	require.Equal(t, true, p.eval("document.querySelector(':target').getBoundingClientRect().top < innerHeight"))
	p.weighs(pageWeight, 7)
	p.accessible("errors")
	p.typeInto("#words", problem.Detail)
	p.await("document.querySelector('#found').textContent.startsWith('1 of')")
	require.Equal(t, "query_parameter_unsupported", p.text(".reason:not([hidden]) h2"))
	p.set("#words", "")
	p.typeInto("#words", "no such thing")
	p.await("!document.querySelector('#nothing').hidden")
	p.accessible("errors-none")
	p.click("#clear")
	p.await("document.querySelector('#nothing').hidden")
	p.set("#status", "412")
	require.Equal(t, "record_changed", p.text(".reason:not([hidden]) h2"))
}

// TestBrowserGuide reads the guide with a key, and searches it and the errors together.
func TestBrowserGuide(t *testing.T) {
	b := startBrowser(t)
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Server: "  environment: acceptance\n"})
	p := b.open(t, d.Base)
	p.visit("/guide")
	require.Equal(t, "Test: acceptance", p.text(".env"))
	require.Contains(t, p.text("#text pre"), "export BASE="+d.Base+"\nexport API_KEY=your-api_key\n")
	p.weighs(guideWeight, 10)
	p.accessible("guide")
	p.eval(`sessionStorage.frontdesk = JSON.stringify({key: "` + rig.OrdersKey + `"})`)
	p.visit("/guide")
	p.await("document.querySelector('#yours li')")
	require.Contains(t, p.text("#text pre"), "export API_KEY="+rig.OrdersKey)
	require.Equal(t, rig.OrdersKey, p.text("#text pre .secret"), "paper does not show it")
	p.click(".yours summary")
	require.Contains(t, p.text("#yours"), "GET /order/{id}")
	require.NotContains(t, p.text("#yours"), "POST /order")
	p.typeInto("#words", "idempotency")
	p.await("!document.querySelector('#elsewhere').hidden")
	require.Contains(t, p.text("#elsewhere"), "idempotency_key_reused")
	require.Contains(t, p.text("#text"), "Create, once")
	require.NotContains(t, p.text("#text"), "Keep a copy")
	p.accessible("guide-found")
	p.click("#elsewhere a")
	p.await("location.pathname.endsWith('/errors') && document.querySelector(':target')")
	p.typeInto("#words", "idempotency")
	p.await("!document.querySelector('#elsewhere').hidden")
	require.Contains(t, p.text("#elsewhere"), "Create, once")
	p.accessible("errors-guide")
}

// TestBrowserCallback checks that what the helper shows is what would be sent.
func TestBrowserCallback(t *testing.T) {
	b := startBrowser(t)
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	p := b.open(t, d.Base)
	p.visit("/testpage/callback")
	p.await("document.querySelector('#request').textContent.includes('webhook-signature')")
	require.Regexp(t, `(?m)^webhook-id: [a-z2-7]{26}$`, p.text("#request"))
	checkShown(t, p.text("#request"), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	p.weighs(pageWeight, 7)
	p.accessible("callback")
	for _, language := range []string{"go", "py", "php", "js"} {
		p.click("label[for=lang-" + language + "]")
		require.NotEmpty(t, p.text("#code-"+language))
	}
	p.set("#webhook-url", "http://hooks.example.com/x")
	p.typeInto("#webhook-url", "?a=1")
	p.await("!document.querySelector('#url-problem').hidden")
	p.await("document.querySelector('#request').textContent.startsWith('Nothing')")
	p.accessible("callback-refused")
}

package pages

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// explorerWeight is the most that the explorer may weigh, in KiB as sent.
const explorerWeight = 150

// signedIn opens the explorer in a tab that has a session already.
func signedIn(t *testing.T, b *browser, d *rig.Desk, key string) *tab {
	t.Helper()
	p := b.open(t, d.Base)
	p.onNewDocument(fmt.Sprintf(`sessionStorage.frontdesk ??= JSON.stringify({key: %q, username: "demo", password: "demo", token: %q, expires: Date.now() + 1700000})`, key, d.Login(key, "demo")))
	p.visit("/testpage/explorer")
	p.await("document.querySelector('#operations a')")
	return p
}

// press presses a key, as often as it is said.
func (p *tab) press(key string, times ...int) {
	p.t.Helper()
	n := 1
	if len(times) > 0 {
		n = times[0]
	}
	for range n {
		p.do("press", chromedp.KeyEvent(key))
	}
}

// tabTo presses Tab until an element has the focus.
func (p *tab) tabTo(selector string) {
	p.t.Helper()
	for range 80 {
		p.press(kb.Tab)
		if p.eval(fmt.Sprintf("document.activeElement.matches(%q)", selector)) == true {
			return
		}
	}
	require.Fail(p.t, "Tab does not reach "+selector)
}

// write types into what has the focus, in place of what is there.
func (p *tab) write(text string) {
	p.t.Helper()
	p.eval("document.activeElement.select?.()")
	for _, r := range text {
		p.press(string(r))
	}
}

// field is the selector of the field of that name.
func (p *tab) field(name string) string {
	p.t.Helper()
	id := p.eval(fmt.Sprintf(`[...document.querySelectorAll("#fields label")].find((l) => l.querySelector("code")?.textContent === %q)?.htmlFor`, name))
	require.NotNil(p.t, id, "no field %s", name)
	return "#" + id.(string)
}

// route opens an operation of the explorer by its address.
func (p *tab) route(id string) {
	p.t.Helper()
	p.eval("location.hash = " + fmt.Sprintf("%q", id))
	p.await(fmt.Sprintf("document.querySelector('#operation').dataset.id === %q", strings.Split(id, "/")[0]))
}

// TestBrowserExplorer is an order that is found, made and mended without the mouse, with
// all that the explorer shows on the way: nothing that was not typed, the cause and the cure
// of an error, the request as code that runs, the history, the question before a deletion.
func TestBrowserExplorer(t *testing.T) {
	b := startBrowser(t)
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	p := signedIn(t, b, d, rig.FullKey)
	p.weighs(explorerWeight, 20)
	require.Equal(t, "Live: production", p.text(".env"))
	p.accessible("explorer")
	p.eval("location.hash = '#updateTurnovergroup'")
	p.await("document.querySelector('#operation').dataset.id === 'updateTurnovergroup'")
	require.Equal(t, true, p.eval(`(({top, bottom}) => top >= 0 && bottom <= innerHeight)(document.querySelector("#operations [aria-current]").getBoundingClientRect())`), "the list shows what is open")
	p.eval("location.hash = ''")
	p.await("document.querySelector('#operation').hidden")

	p.press(kb.Tab)
	require.Equal(t, "Skip to the content", p.eval("document.activeElement.textContent"))
	p.tabTo("#words")
	p.write("nothing has this")
	p.await("!document.querySelector('#nothing').hidden")
	p.accessible("explorer-none")
	p.write("post order_date")
	p.await("document.querySelector('#operations a').hash === '#createOrder'")
	require.Equal(t, "has order_date", p.text("#operations .what"), "the field that was meant")
	p.press(kb.ArrowDown, 2)
	require.Equal(t, "#createManyOrders", p.eval("document.activeElement.hash"))
	p.press(kb.ArrowUp)
	p.press(kb.Enter)
	p.await("!document.querySelector('#operation').hidden")
	require.Equal(t, "operation", p.eval("document.activeElement.id"))
	require.True(t, strings.HasSuffix(p.eval("location.href").(string), "/testpage/explorer#createOrder"))
	require.Equal(t, true, p.eval("document.querySelector('#send').getBoundingClientRect().bottom <= innerHeight"), "sent without scrolling")
	p.accessible("explorer-form")

	p.tabTo(p.field("contact_id"))
	p.await("document.querySelectorAll('datalist option').length > 50") // its contacts are suggested
	require.Contains(t, p.text(p.field("contact_id")+"-hint"), "type a name to search")
	p.mayAnswer(http.StatusForbidden)
	p.press(kb.Enter)
	p.await("document.querySelector('.refusal .why dd')")
	require.Equal(t, []any{"field_required", 4.0}, p.eval("[[...document.querySelectorAll('.refusal > p:last-child')].map((e) => e.textContent).join(), document.querySelectorAll('.refusal strong').length]"), "what is wrong four times is explained once")
	require.Equal(t, 0.0, p.eval("scrollY"), "what can be seen is not moved")
	p.write("Bakkerij")
	p.await("((all) => all.length < 10 && [...all].some((o) => o.textContent.includes('Bakkerij')))(document.querySelectorAll('datalist option'))") // searched for
	p.write("1")
	p.tabTo(p.field("kind"))
	p.press("w")
	p.tabTo(p.field("order_status"))
	p.press("o")
	p.tabTo(p.field("order_date"))
	p.write("soon")
	p.tabTo("#send")
	p.press(kb.Enter)
	p.await("document.querySelector('.refusal .why dd')?.textContent.includes('ISO 8601')")
	require.Equal(t, "send", p.eval("document.activeElement.id"), "the focus stays")
	require.Contains(t, p.text(".refusal"), "Field: order_date has an invalid value: soon for datatype: timestamp(ISO 8601)")
	require.Contains(t, p.text(".refusal .why"), "Send 2026-07-01T10:00:00Z")
	p.accessible("explorer-refused")
	p.tabTo(".refusal button")
	p.press(kb.Enter)
	require.Equal(t, p.field("order_date"), "#"+p.eval("document.activeElement.id").(string))
	p.write("2026-07-01")
	p.press(kb.Enter)
	p.await("document.querySelector('.outcome .status').textContent === '201'")
	require.Equal(t, "", p.text(p.field("order_date")+"-problem"), "what was wrong is told no more")
	require.Regexp(t, `^201, after \d+ ms$`, p.text("#announcer"))
	made := must.JSON[struct{ Data struct{ ID int } }](t, p.text("#answer-body"))

	p.samples(t, "JavaScript", "Go")
	p.again(d, made.Data.ID)
	p.route("createOrder/403")
	require.Equal(t, true, p.eval("document.querySelector('#answers-403').open"))
	p.accessible("explorer-answers")
	p.deletes(d, made.Data.ID)
	p.nothingFilledIn()

	p.signOut(d)
	p.visit("/testpage/explorer")
	p.await("document.querySelector('#operations a')")
	require.Equal(t, 0.0, p.eval("document.querySelectorAll('#history li').length"), "the history goes with the session")
	p.accessible("explorer-signed-out")
}

// TestBrowserFirstOrder: on the demo, a first order with lines is made from the address of the
// explorer in five acts, of which signing in is one.
func TestBrowserFirstOrder(t *testing.T) {
	b := startBrowser(t)
	base := strings.TrimSuffix(strings.TrimPrefix(rig.StartDemo(t, rig.FreeAddress(t)), "ready: "), "/")
	d := &rig.Desk{T: t, Base: base, HTTP: http.DefaultClient}
	p := b.open(t, base)
	p.visit("/testpage/explorer")
	p.await("!document.querySelector('#no-key').hidden")
	p.click("#no-key a") // 1
	p.await("document.querySelector('#username')")
	p.signIn(desk.DemoFullKey, "demo", "demo") // 2
	p.await("document.querySelector('#operations').children.length > 20")
	p.click("a[href$='testpage/explorer']") // 3
	p.await("document.querySelector('#operations a')")
	p.click("#operations a[href='#createOrder']") // 4
	made := func() string {
		p.await("document.querySelector('#send')")
		p.eval("document.querySelector('#answer').replaceChildren()")
		p.click("#send") // 5
		p.await("document.querySelector('.outcome .status')?.textContent === '201'")
		answer := must.JSON[struct{ Data struct{ ID int } }](t, p.text("#answer-body"))
		return string(d.Call("GET", fmt.Sprintf("/order/%d?fields=orderlines", answer.Data.ID), d.Login(desk.DemoFullKey, "demo"), "").Body)
	}
	p.accessible("explorer-example")
	require.Contains(t, made(), `"description":"`)

	choose := func(example string) {
		p.eval(fmt.Sprintf(`{ const e = document.querySelector(".body .as select"); e.selectedIndex = [...e.options].findIndex((o) => o.textContent === %q); e.dispatchEvent(new Event("change", {bubbles: true})) }`, example))
	}
	choose("example")
	require.Equal(t, `{"data":{"orderlines":[]}}`, made())
	p.eval(`[...document.querySelectorAll("#fields button")].find((b) => b.textContent === "Add one to orderlines").click()`)
	require.Contains(t, made(), `"description":"`, "a line that is added is filled in")
	choose("no example")
	require.Equal(t, "", p.eval(fmt.Sprintf("document.querySelector(%q).value", p.field("contact_id"))))
	p.route("createManyOrders")
	require.Contains(t, p.text("#sample"), "orderlines", "many records begin as one")
}

// TestForeignExplorerSamples runs the request that is shown in other languages.
func TestForeignExplorerSamples(t *testing.T) {
	b := startBrowser(t)
	signedIn(t, b, rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)}), rig.FullKey).samples(t, "curl", "PHP", "Python")
}

// samples runs the request that is shown, in some languages; others are only read. Its quotes
// and blanks each language writes in its own way.
func (p *tab) samples(t *testing.T, run ...string) {
	p.t.Helper()
	p.route("createContact")
	p.eval(`{ const e = document.querySelector("#body-as-json"); e.click() }`)
	body := `{"kind": "person", "name": "D'Angelo \"Zoë\" \\ $x", "notes": 1}` // no such field: each language is refused alike
	p.set("#body-json", body)
	p.eval(`document.querySelector("#body-json").dispatchEvent(new Event("input", {bubbles: true}))`)
	env := append(os.Environ(), "TOKEN="+p.eval("JSON.parse(sessionStorage.frontdesk).token").(string))
	for _, l := range []struct {
		name, file string
		program    func(t *testing.T) []string // that runs it
	}{
		{"curl", "sample.sh", func(t *testing.T) []string { return []string{sqltest.Tool(t, "bash", "bash")} }},
		{"JavaScript", "sample.mjs", func(t *testing.T) []string { return []string{sqltest.Tool(t, "node", "node")} }},
		{"PHP", "sample.php", func(t *testing.T) []string { return []string{sqltest.Tool(t, "php", "php")} }},
		{"Python", "sample.py", func(t *testing.T) []string { return []string{sqltest.Tool(t, "python3", "python3")} }},
		{"Go", "sample.go", func(*testing.T) []string { return []string{"go", "run"} }},
		{"C#", "sample.cs", nil},
	} {
		p.eval(fmt.Sprintf(`{ const e = document.querySelector("#language"); e.value = %q; e.dispatchEvent(new Event("change")) }`, l.name))
		p.await("document.querySelector('#sample').textContent.includes('Zoë')")
		code := p.eval("document.querySelector('#sample').textContent").(string)
		require.NotContains(p.t, code, strings.TrimPrefix(env[len(env)-1], "TOKEN="), "a sample can be shown to others")
		if !slices.Contains(run, l.name) {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			program, file := l.program(t), filepath.Join(t.TempDir(), l.file)
			require.NoError(t, os.WriteFile(file, []byte(code), 0o600))
			command := exec.Command(program[0], append(program[1:], file)...)
			command.Env = env
			said, err := command.CombinedOutput()
			require.NoError(t, err, "%s\n%s", said, code)
			require.Contains(t, string(said), `notes`, "%s", code)
			require.Contains(t, string(said), `"errorCode":403`, "%s", code)
		})
	}
}

// again has a request of the history sent once more, filled in as it was.
func (p *tab) again(d *rig.Desk, id int) {
	p.t.Helper()
	p.route("listOrders")
	require.Equal(p.t, "", p.eval("[...document.querySelectorAll('#fields input')].map((e) => e.value).join('')"), "after is refused beside page")
	p.eval("document.querySelector('.filters > button').focus()")
	p.press(kb.Enter)
	p.eval(`{ const e = document.activeElement; e.value = "order_status"; e.dispatchEvent(new Event("change")) }`)
	p.eval(`{ const e = document.querySelector(".filter .grow select"); e.value = '"open"'; e.dispatchEvent(new Event("input", {bubbles: true})) }`)
	p.tabTo(p.field("after"))
	p.write(fmt.Sprint(id - 1))
	p.press(kb.Enter)
	p.await("document.querySelector('.outcome .status')?.textContent === '200'")
	p.accessible("explorer-list")
	p.route("getOrder")
	p.eval("document.querySelector('#history button').focus()")
	p.press(kb.Enter)
	p.await("location.hash === '#listOrders' && document.querySelector('.outcome .status')?.textContent === '200'")
	require.Equal(p.t, fmt.Sprint(id-1), p.eval("document.querySelector('"+p.field("after")+"').value"))
	require.Contains(p.t, p.text("#sample"), "order_status=open")
	require.Contains(p.t, p.text("#answer-body"), fmt.Sprintf(`"id": %d`, id))
	require.Equal(p.t, "send", p.eval("document.activeElement.id"))
}

// deletes asks first, and takes Escape for no.
func (p *tab) deletes(d *rig.Desk, id int) {
	p.t.Helper()
	p.route("deleteOrder")
	p.tabTo(p.field("id"))
	p.press(kb.Enter)
	require.Contains(p.t, p.text("#fields"), "Type the id first.")
	p.write(fmt.Sprint(id))
	p.press(kb.Enter)
	p.await("document.querySelector('#confirm').open")
	require.Equal(p.t, fmt.Sprintf("order %d, in production", id), p.text("#confirm-what"))
	require.Equal(p.t, "Cancel", p.eval("document.activeElement.textContent"))
	p.accessible("explorer-delete")
	p.press(kb.Escape)
	p.await("!document.querySelector('#confirm').open")
	require.Equal(p.t, 200, d.Call("GET", fmt.Sprintf("/order/%d", id), d.Login(rig.FullKey, "demo"), "").Status)
	p.press(kb.Enter)
	p.await("document.querySelector('#confirm').open")
	p.eval("document.querySelector('#confirm').close(); document.querySelector('#form').requestSubmit()") // asked again before it is told of the no
	p.press(kb.Tab)
	p.press(kb.Enter)
	p.await("document.querySelector('.outcome .status')?.textContent === '200'")
	require.Equal(p.t, p.field("id"), "#"+p.eval("document.activeElement.id").(string), "the focus stays")
	require.Equal(p.t, 404, d.Call("GET", fmt.Sprintf("/order/%d", id), d.Login(rig.FullKey, "demo"), "").Status)
}

// nothingFilledIn opens every operation: what can be sent is only what somebody typed.
func (p *tab) nothingFilledIn() {
	p.t.Helper()
	filled := p.eval(`(async () => {
		const filled = [], words = document.querySelector("#words");
		words.value = "";
		words.dispatchEvent(new Event("input"));
		for (const hash of [...document.querySelectorAll("#operations a")].map((a) => a.hash)) {
			location.hash = hash;
			while ("#" + document.querySelector("#operation").dataset.id !== hash) await new Promise((f) => requestAnimationFrame(f));
			for (const e of document.querySelectorAll("#fields :is(input:not([type=radio], [type=checkbox]), select, textarea)")) if (e.value !== "") filled.push(hash + " " + e.value);
		}
		return filled.join("\n");
	})()`)
	require.Equal(p.t, "", filled)
}

package testpage_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/gateway/testpage"
	"frontdesk/mapping"
)

func pages() map[string]*testpage.Page {
	all := map[string]*testpage.Page{}
	for _, p := range testpage.Pages(testpage.Options{
		BasePath: "/webservice_v2", BaseURL: "https://api.example.nl/webservice_v2", Vendor: "Ex<ample", Version: "1.2.3",
		SessionTTL: 30 * time.Minute, Catalogue: mapping.NewCatalogue(),
	}) {
		all[p.Path] = p
	}
	return all
}

func text(p *testpage.Page) string {
	body, _, _ := p.Body("")
	return string(body)
}

// TestFirstLink keeps the promise of the interface: the first link of the test
// page is the description.
func TestFirstLink(t *testing.T) {
	home := pages()["/"]
	for _, p := range []*testpage.Page{home, home.Bare} {
		first := regexp.MustCompile(`<a [^>]*href="([^"]*)"`).FindStringSubmatch(text(p))
		require.Contains(t, []string{"./openapi.json?api_key=", "webservice_v2/openapi.json?api_key="}, first[1])
		require.Contains(t, text(p), "30 minutes")
		require.NotContains(t, text(p), "Ex<ample")
	}
}

// TestNothingInline keeps the pages within their policies: no script, style or
// handler in the text, and no address but of our own.
func TestNothingInline(t *testing.T) {
	for path, p := range pages() {
		if p.Policy == "" {
			continue
		}
		html := text(p)
		require.NotRegexp(t, `(?i)<style|\sstyle=|\son[a-z]+=|<script(?: type="module")?>|javascript:`, html, path)
		for _, link := range regexp.MustCompile(`(?:src|href|action)="([^"]*)"`).FindAllStringSubmatch(html, -1) {
			require.NotContains(t, link[1], ":", path)
		}
		require.Contains(t, p.Policy, "default-src 'none'")
		require.NotContains(t, p.Policy, "unsafe")
		require.NotContains(t, p.Policy, "data:")
	}
}

// TestErrors finds every row of the interface on the page of errors.
func TestErrors(t *testing.T) {
	html := text(pages()[testpage.ErrorsPath])
	for _, e := range mapping.NewCatalogue().Entries() {
		require.Contains(t, html, `id="`+string(e.Reason)+`"`)
	}
}

// TestForAgents has one page that says what there is, and the guide as it was written.
func TestForAgents(t *testing.T) {
	one, guide := text(pages()[testpage.AgentsPath]), text(pages()[testpage.MarkdownPath])
	require.Less(t, len(one), 4<<10)
	require.Contains(t, one, "https://api.example.nl/webservice_v2/mcp")
	require.NotContains(t, one, "{{")
	require.Contains(t, guide, "\n### Agents\n")
	for _, foreign := range []string{"127.0.0.1", "](docs/", ".md)", "<!--", "{{", "11111111"} {
		require.False(t, strings.Contains(guide, foreign), foreign)
	}
}

// TestGuide is readable by those who have an address and a key: it names this installation,
// needs no source, and leads nowhere that is not there.
func TestGuide(t *testing.T) {
	html := text(pages()[testpage.GuidePath])
	require.Contains(t, html, "export BASE=https://api.example.nl/webservice_v2\nexport API_KEY=your-api_key\nexport FRONTDESK_USER=your-username FRONTDESK_PASSWORD=your-password\n")
	for _, foreign := range []string{"127.0.0.1", "bin/frontdesk", "docs/kits", "<!--", "go build", ".md", "11111111", "(more)", ".ci/", "{{"} {
		require.False(t, strings.Contains(html, foreign), foreign)
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(html, -1) {
		require.True(t, strings.Contains(html, `id="`+link[1]+`"`), link[1])
	}
	for _, chapter := range []string{"Log in", "Keep a copy", "Create, once", "Filters", "Callbacks", "Errors that say everything", "Generators of clients", "Python", "PHP", "C#"} {
		require.True(t, regexp.MustCompile(`<h[234] id="[^"]+">`+chapter+`</h`).MatchString(html), chapter)
	}
	for _, topic := range []string{"session", "paging", "keep a copy", "idempotency", "conditional", "limits", "hey-api", "nswag", "def get(", "<?php"} {
		require.True(t, strings.Contains(strings.ToLower(html), template.HTMLEscapeString(topic)), topic)
	}
}

// TestEncodings answers what a client takes, and the same in all of them.
func TestEncodings(t *testing.T) {
	for path, p := range pages() {
		plain, encoding, plainTag := p.Body("identity, br;q=0, gzip;q=0.0")
		require.Empty(t, encoding, path)
		packed, encoding, tag := p.Body("deflate, GZIP;q=0.5")
		require.Equal(t, "gzip", encoding, path)
		require.NotEqual(t, plainTag, tag)
		r, err := gzip.NewReader(bytes.NewReader(packed))
		require.NoError(t, err)
		unpacked, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, plain, unpacked, path)
	}
	_, encoding, _ := pages()["/"].Body("")
	require.Empty(t, encoding)
}

// snippet is what the page shows in a language, and what has it judge signatures.
type snippet struct {
	id, file, driver string
	program          func(*testing.T) string
	args             []string
}

// run compares its verdicts with those of the library of Standard Webhooks.
func (s snippet) run(t *testing.T) {
	program := s.program(t)
	code, err := os.ReadFile("snippets/verify." + s.id + ".txt")
	require.NoError(t, err)
	source := string(code) + s.driver
	if s.id == "go" {
		source = strings.Replace(source, "package hook\n\nimport (", "package main\n\nimport (\n\"bufio\"\n\"fmt\"\n\"os\"", 1)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, s.file), []byte(source), 0o600))
	input, want := signatures(t)
	run := exec.Command(program, s.args...)
	run.Dir, run.Stdin = dir, strings.NewReader(input)
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, want, strings.TrimSpace(string(out)))
}

// TestSnippets runs what the page shows in JavaScript and Go.
func TestSnippets(t *testing.T) {
	for _, s := range []snippet{
		{"js", "verify.mjs", `
for (const line of (await import("node:fs")).readFileSync(0, "utf8").trim().split("\n")) {
  const [id, at, sent, now, ...secrets] = line.split("|");
  console.log(verify({ "webhook-id": id, "webhook-timestamp": at, "webhook-signature": sent }, secrets, Number(now) * 1000));
}`, func(t *testing.T) string { return sqltest.Tool(t, "node", "node") }, []string{"verify.mjs"}},
		{"go", "hook.go", `
func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		part := strings.Split(lines.Text(), "|")
		h := http.Header{}
		h.Set("webhook-id", part[0])
		h.Set("webhook-timestamp", part[1])
		h.Set("webhook-signature", part[2])
		now, _ := strconv.ParseInt(part[3], 10, 64)
		fmt.Println(Verify(h, part[4:], time.Unix(now, 0)))
	}
}`, func(*testing.T) string { return "go" }, []string{"run", "hook.go"}},
	} {
		t.Run(s.id, s.run)
	}
}

// TestForeignSnippets runs what it shows in other languages.
func TestForeignSnippets(t *testing.T) {
	for _, s := range []snippet{
		{"py", "verify.py", `
import sys
for line in sys.stdin.read().splitlines():
    id, at, sent, now, *secrets = line.split("|")
    print(str(verify({"webhook-id": id, "webhook-timestamp": at, "webhook-signature": sent}, secrets, int(now))).lower())
`, func(t *testing.T) string { return sqltest.Tool(t, "python3", "python3") }, []string{"verify.py"}},
		{"php", "verify.php", `
while (($line = fgets(STDIN)) !== false) {
    $part = explode('|', rtrim($line, "\n"));
    echo verify(['webhook-id' => $part[0], 'webhook-timestamp' => $part[1], 'webhook-signature' => $part[2]], array_slice($part, 4), (int) $part[3]) ? "true\n" : "false\n";
}`, func(t *testing.T) string { return sqltest.Tool(t, "php", "php") }, []string{"verify.php"}},
	} {
		t.Run(s.id, s.run)
	}
}

// signatures are lines id|timestamp|signature|now|secrets…, and the verdicts.
func signatures(t *testing.T) (input, want string) {
	const now = 1795286327
	secret, other := "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "plain secret é"
	sign := func(secret string, at int64) string {
		if !strings.HasPrefix(secret, "whsec_") {
			secret = base64.StdEncoding.EncodeToString([]byte(secret))
		}
		w, err := webhooks.NewWebhook(secret)
		require.NoError(t, err)
		s, err := w.Sign("an-id_1", time.Unix(at, 0), nil)
		require.NoError(t, err)
		return s
	}
	var lines, verdicts []string
	add := func(verdict bool, id, at, sent string, secrets ...string) {
		lines = append(lines, strings.Join(append([]string{id, at, sent, fmt.Sprint(now)}, secrets...), "|"))
		verdicts = append(verdicts, strconv.FormatBool(verdict))
	}
	at := strconv.Itoa(now)
	add(true, "an-id_1", at, sign(secret, now), secret)
	add(true, "an-id_1", at, sign(other, now), other)
	add(true, "an-id_1", at, sign(other, now)+" "+sign(secret, now), secret)
	add(true, "an-id_1", at, sign(secret, now), other, secret)
	add(true, "an-id_1", strconv.Itoa(now-299), sign(secret, now-299), secret)
	add(false, "an-id_1", strconv.Itoa(now-301), sign(secret, now-301), secret)
	add(false, "an-id_1", strconv.Itoa(now+301), sign(secret, now+301), secret)
	add(false, "an-id_2", at, sign(secret, now), secret)
	add(false, "an-id_1", strconv.Itoa(now-1), sign(secret, now), secret)
	add(false, "an-id_1", at, sign(secret, now), other)
	add(false, "an-id_1", at, "", secret)
	add(false, "an-id_1", at, "v1,é", secret)
	add(false, "an-id_1", at, strings.TrimPrefix(sign(secret, now), "v1,"), secret)
	add(false, "", at, sign(secret, now), secret)
	add(false, "an-id_1", "soon", sign(secret, now), secret)
	add(false, "an-id_1", at, sign(secret, now))
	return strings.Join(lines, "\n") + "\n", strings.Join(verdicts, "\n")
}

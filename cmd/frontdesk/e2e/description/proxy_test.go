package description

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestForeignProxy sends requests that are drawn from the description through Prism, which
// nobody here wrote: as a proxy it holds each request and each answer to the description. It
// takes more than ten seconds, most of which Prism takes to start; the soak sends more requests,
// to everything.
func TestForeignProxy(t *testing.T) {
	node, folder := foreign(t)
	allow, requests := `"* /order", "GET /contact", "GET /model/*"`, 1000
	if sqltest.Soak() {
		allow, requests = `"* /*"`, 5000
	}
	d, file := described(t, allow, "/openapi.json")
	doc := must.Have(openapi3.NewLoader().LoadFromData(must.Have(os.ReadFile(file))(t)))(t)
	proxy := startPrism(t, node, folder, file, d.Base)
	draw := newDraw(t, doc)
	token := d.Login(rig.ArrayKey(0), "demo")
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	statuses := map[int]int{}
	for range requests {
		method, path, body, headers := draw.request()
		req := must.Have(http.NewRequest(method, proxy+path, strings.NewReader(body)))(t)
		req.Header.Set("token", token)
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		for name, value := range headers {
			req.Header.Set(name, value)
		}
		resp := must.Have(client.Do(req))(t)
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		require.Empty(t, resp.Header.Get("sl-violations"), "%s %s %s\n%d %.500s", method, path, body, resp.StatusCode, answer)
		require.NotEmpty(t, resp.Header.Get("X-Request-Id"), "Prism answered itself: %s %s %s\n%.500s", method, path, body, answer)
		statuses[resp.StatusCode]++
	}
	require.Subset(t, slices.Collect(maps.Keys(statuses)), []int{200, 201, 304, 404, 406, 409}, "%v", statuses)
	t.Logf("answers by status: %v", statuses)
}

// startPrism starts it in front of a desk, and returns where it is.
func startPrism(t *testing.T, node, folder, file, base string) (address string) {
	address = rig.FreeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	command := exec.Command(node, filepath.Join(folder, "node_modules/@stoplight/prism-cli/dist/index.js"), "proxy", file, base, "--port", port, "--validate-request", "true")
	command.Env = append(os.Environ(), "NO_COLOR=1")
	out := must.Have(command.StdoutPipe())(t)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		command.Process.Signal(syscall.SIGTERM)
		io.Copy(io.Discard, out)
		command.Wait()
	})
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "Prism is listening") {
			go io.Copy(io.Discard, out)
			return "http://" + address
		}
	}
	t.Fatalf("Prism did not start:\n%s", &said)
	return ""
}

// drawing makes requests that are as the description wants them.
type drawing struct {
	*rand.Rand
	operations []target
}

type target struct {
	method, path string
	op           *openapi3.Operation
}

// apart are operations that the requests after them would feel, or that wait for a callback.
var apart = []string{"authenticate", "logout", "forgotPassword", "backupOwner", "waitForChanges", "getWebhookResult", "downloadResult", "listChanges"}

func newDraw(t testing.TB, doc *openapi3.T) *drawing {
	d := &drawing{Rand: rand.New(rand.NewPCG(sqltest.Seed(t), 21))}
	paths := doc.Paths.Map()
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		operations := paths[path].Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			// Bodies are drawn from their examples.
			op := operations[method]
			if drawable := op.RequestBody == nil || len(op.RequestBody.Value.Content["application/json"].Examples) > 0; drawable && !slices.Contains(apart, op.OperationID) {
				d.operations = append(d.operations, target{method, path, op})
			}
		}
	}
	return d
}

func (d *drawing) request() (method, path, body string, headers map[string]string) {
	one := d.operations[d.IntN(len(d.operations))]
	path, headers = one.path, map[string]string{}
	var query []string
	for _, p := range one.op.Parameters {
		p := p.Value
		if !p.Required && d.IntN(12) > 0 {
			continue
		}
		switch value := d.value(p); p.In {
		case "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", value)
		case "header":
			headers[p.Name] = value
		default:
			query = append(query, url.QueryEscape(p.Name)+"="+value)
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	if one.op.RequestBody != nil {
		body = d.body(one.op.RequestBody.Value.Content["application/json"])
	}
	return one.method, path, body, headers
}

// value is one that a parameter may have, as it is written in an address.
func (d *drawing) value(p *openapi3.Parameter) string {
	s := p.Schema.Value
	if s.Type.Is("array") {
		values := make([]string, 1+d.IntN(3))
		for i := range values {
			values[i] = url.QueryEscape(d.of(s.Items.Value, p.Name))
		}
		return strings.Join(values, ",")
	}
	text := d.of(s, p.Name)
	if p.In == "header" {
		return text
	}
	return url.QueryEscape(text)
}

func (d *drawing) of(s *openapi3.Schema, name string) string {
	switch {
	case len(s.Enum) > 0:
		return fmt.Sprint(s.Enum[d.IntN(len(s.Enum))])
	case strings.HasSuffix(name, "[in]") && listed.MatchString(s.Pattern):
		choices := strings.Split(listed.FindStringSubmatch(s.Pattern)[1], "|")
		return choices[d.IntN(len(choices))] + "," + choices[0]
	case name == "If-Match" || name == "If-None-Match":
		return "*"
	case name == "Idempotency-Key":
		return fmt.Sprintf("drawn-%d", d.IntN(40))
	case s.Type.Is("integer"):
		return fmt.Sprint(1 + d.IntN(320))
	case s.Type.Is("number"):
		return fmt.Sprint(d.IntN(100))
	case strings.Contains(s.Pattern, `\d{4}-\d{2}`):
		return fmt.Sprintf("2026-%02d-%02d", 1+d.IntN(12), 1+d.IntN(28))
	case len(s.Examples) > 0:
		return fmt.Sprint(s.Examples[0])
	case s.Pattern == `^[0-9]{4} [A-Za-z]{2}$`:
		return "3511 AB"
	case strings.Contains(name, "[in]"):
		return fmt.Sprint(1 + d.IntN(320))
	}
	if s.MaxLength != nil && *s.MaxLength < 3 {
		return "nl"[:*s.MaxLength]
	}
	return "abc"
}

// body is an example, without some of what may be left out.
func (d *drawing) body(media *openapi3.MediaType) string {
	examples := slices.Sorted(maps.Keys(media.Examples))
	text, _ := json.Marshal(media.Examples[examples[d.IntN(len(examples))]].Value.Value)
	var members map[string]any
	json.Unmarshal(text, &members)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(media.Schema.Value.Required, name) && d.IntN(3) == 0 {
			delete(members, name)
		}
	}
	text, _ = json.Marshal(members)
	return string(text)
}

package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// moreKeys are an api_key that is used, and one that has ended.
const moreKeys = `  - name: used
    key_sha256: ["%x"]
    allow: ["GET /order"]
    expires: 2099-12-31
  - name: ended
    key_sha256: ["%x"]
    allow: ["GET /order"]
    expires: 2020-01-31
`

const usedKey = "55555555-5555-4555-8555-555555555555"

// busyDesk is a desk of which all is counted that can be.
func busyDesk(t *testing.T) *rig.Desk {
	t.Helper()
	spans := rig.NewSpanReceiver(t)
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Extra: spans.Options() + "model: {dir: " + agingModel(t) + "}\n", Keys: fmt.Sprintf(moreKeys, sha256.Sum256([]byte(usedKey)), sha256.Sum256([]byte("no key")))})
	token := d.Login(rig.FullKey, "demo")
	require.Equal(t, 200, d.Call("GET", "/order/1", token, "").Status)
	require.Equal(t, 404, d.Call("GET", "/order/999999", token, "", "X-Request-Id", "asked-behind").Status)
	require.Equal(t, 400, d.Call("GET", "/nowhere/made-up-by-a-client", token, "", "X-Request-Id", "asked-nothing").Status)
	require.Equal(t, 400, d.Call("BREW", "/order", token, "").Status)
	require.Equal(t, 200, d.Call("PUT", "/article/bulk", token, `{"records":[{"id":999999},{"id":999998}]}`).Status)
	require.Equal(t, 200, d.Call("GET", "/order/1", d.Login(usedKey, "demo"), "").Status)
	require.Equal(t, "@1796083200", d.Call("GET", "/country/528", token, "").Header.Get("Deprecation"))
	return d
}

// agingModel is a folder for model.dir whose country is going away.
func agingModel(t *testing.T) (dir string) {
	t.Helper()
	text := must.Have(os.ReadFile(filepath.Join("..", "..", "mapping", "resources", "country.yaml")))(t)
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "country.yaml"), append(text, "\ndeprecated: {since: 2026-12-01}\n"...), 0o600))
	return dir
}

var (
	metricName = regexp.MustCompile(`\bfrontdesk_[a-z_]+`)
	metricType = regexp.MustCompile(`(?m)^# TYPE (frontdesk_[a-z_]+) `)
	suffix     = regexp.MustCompile(`_(bucket|count|sum)$`)
)

// TestMetrics: names and labels are bounded, and every metric is there that the
// documentation, the dashboard and the alerts speak of, and no other.
func TestMetrics(t *testing.T) {
	d := busyDesk(t)
	text := d.OpsText("/metrics")
	require.Positive(t, accessed(t, d, "asked-behind").Backend)
	require.Zero(t, accessed(t, d, "asked-nothing").Backend)
	for _, line := range []string{
		`frontdesk_request_duration_seconds_count{endpoint="/order/{id}",method="GET",status="200"} 2`,
		`frontdesk_request_duration_seconds_count{endpoint="/order/{id}",method="GET",status="404"} 1`,
		`frontdesk_request_duration_seconds_count{endpoint="",method="",status="400"} 2`,
		`frontdesk_refusals_total{key="full",reason="record_not_found",status="404"} 1`,
		`frontdesk_deprecated_total{how="named",key="full",what="GET /country/{id}"} 1`,
		`frontdesk_bulk_records_total{endpoint="/article/bulk",method="PUT",status="404"} 2`,
		`frontdesk_logins_total{outcome="done"} 2`,
		`frontdesk_sessions 2`,
		`frontdesk_callbacks{state="exhausted"} 0`,
		`frontdesk_backend_calls_total{operation="get",outcome="answered",resource="order"} 3`,
		`frontdesk_backend_calls_total{operation="account",outcome="answered",resource=""} 2`,
		`frontdesk_key_expires_timestamp_seconds{key="ended"} 1.5805116e+09`,
		fmt.Sprintf(`frontdesk_key_hash_expires_timestamp_seconds{key="ended",sha256="%.4x"} 1.5805116e+09`, sha256.Sum256([]byte("no key"))),
	} {
		require.Contains(t, text, line+"\n")
	}
	require.Regexp(t, fmt.Sprintf(`(?m)^frontdesk_key_hash_last_used_timestamp_seconds\{key="used",sha256="%.4x"\} 1\.\d+e\+09$`, sha256.Sum256([]byte(usedKey))), text)
	require.NotContains(t, text, "made-up")
	require.NotContains(t, text, "BREW")

	there := map[string]bool{}
	for _, match := range metricType.FindAllStringSubmatch(text, -1) {
		there[match[1]] = true
	}
	there["frontdesk_backup_timestamp_seconds"] = true // with ops.backups
	descs := make(chan *prometheus.Desc, 64)
	desk.NewReloadMetrics(nil).Describe(descs) // that of the certificate is there only with TLS
	desk.UntilLag(nil).Describe(descs)
	desk.SessionStore(nil).Describe(descs)
	desk.GatewayDrift(nil).Describe(descs)
	desk.ChangesScans(nil).Describe(descs) // behind a sheet
	desk.ClosedResources(nil).Describe(descs)
	desk.CopiesState(nil).Describe(descs) // in front of a service
	for range len(descs) {
		there[metricName.FindString((<-descs).String())] = true
	}
	named := func(file string) map[string]bool {
		text := must.Have(os.ReadFile(filepath.Join("..", "..", file)))(t)
		names := map[string]bool{}
		for _, name := range metricName.FindAllString(string(text), -1) {
			if !there[name] {
				name = suffix.ReplaceAllString(name, "")
			}
			names[name] = true
		}
		return names
	}
	require.Equal(t, slices.Sorted(maps.Keys(there)), slices.Sorted(maps.Keys(named("docs/observability.md"))), "docs/observability.md")
	for _, file := range []string{"deploy/grafana/frontdesk.json", "deploy/prometheus/frontdesk.rules.yml", "deploy/prometheus/frontdesk.rules.test.yml"} {
		for name := range named(file) {
			require.True(t, there[name], "%s: %s", file, name)
		}
	}
}

// notOfOneDesk are metrics of the dashboard that a desk has only with a second gateway, on
// PostgreSQL or behind a sheet.
var notOfOneDesk = []string{"frontdesk_backend_until_lag_seconds", "frontdesk_changes_scan_age_seconds", "frontdesk_changes_scan_failures_total", "frontdesk_changes_scan_records_total", "frontdesk_gateway_differs"}

// panelsHaveData is a test for promtool: of what a desk told at two moments, a minute apart,
// each expression finds something.
func panelsHaveData(t *testing.T, expressions []string, before, after string) []byte {
	t.Helper()
	type series struct {
		Series string `json:"series"`
		Values string `json:"values"`
	}
	type finding struct {
		Expr    string           `json:"expr"`
		At      string           `json:"eval_time"`
		Samples []map[string]any `json:"exp_samples"`
	}
	samples := func(text string) map[string]string {
		all := map[string]string{}
		for line := range strings.Lines(text) {
			if at := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") && at > 0 {
				value := must.Have(strconv.ParseFloat(strings.TrimSpace(line[at:]), 64))(t)
				name, labels, _ := strings.Cut(strings.TrimSuffix(line[:at], "}"), "{")
				all[fmt.Sprintf(`%s{instance="gw1",job="frontdesk",%s}`, name, labels)] = strconv.FormatFloat(value, 'f', -1, 64)
			}
		}
		return all
	}
	was, is := samples(before), samples(after)
	var given []series
	for name, value := range is {
		given = append(given, series{strings.Replace(name, ",}", "}", 1), cmp.Or(was[name], "0") + " " + value})
	}
	var wanted []finding
	for _, expression := range expressions {
		if slices.ContainsFunc(notOfOneDesk, func(name string) bool { return strings.Contains(expression, name) }) {
			continue
		}
		expression = strings.TrimSuffix(expression, " > 0") // which all well has nothing of
		wanted = append(wanted, finding{"count(" + expression + ") > bool 0", "1m", []map[string]any{{"labels": "{}", "value": 1}}})
	}
	require.Greater(t, len(wanted), 40)
	return must.Have(json.Marshal(map[string]any{"tests": []any{map[string]any{"interval": "1m", "input_series": given, "promql_expr_test": wanted}}}))(t)
}

// TestForeignPromtool has Prometheus' own tool judge the metrics, the rules with their
// tests, and every expression of the dashboard, each of which finds something in the metrics
// of a desk.
func TestForeignPromtool(t *testing.T) {
	program := sqltest.Tool(t, "promtool", "promtool")
	promtool := func(input string, args ...string) {
		t.Helper()
		c := exec.Command(program, args...)
		c.Dir, c.Stdin = filepath.Join("..", "..", "deploy", "prometheus"), strings.NewReader(input)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	d := busyDesk(t)
	text := d.OpsText("/metrics")
	promtool(text, "check", "metrics")
	promtool("", "check", "rules", "frontdesk.rules.yml")
	promtool("", "test", "rules", "frontdesk.rules.test.yml")

	data := must.Have(os.ReadFile("../../deploy/grafana/frontdesk.json"))(t)
	var dashboard struct {
		Panels []struct {
			ID      int
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(data, &dashboard))
	var rules bytes.Buffer
	var expressions []string
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for _, panel := range dashboard.Panels {
		for i, target := range panel.Targets {
			expression := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*", "$job", "frontdesk").Replace(target.Expr)
			expressions = append(expressions, expression)
			fmt.Fprintf(&rules, "  - record: panel_%d_%d\n    expr: %q\n", panel.ID, i, expression)
		}
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	require.NoError(t, os.WriteFile(file, rules.Bytes(), 0o600))
	promtool("", "check", "rules", file)
	d.Call("GET", "/order/1", d.Login(rig.FullKey, "demo"), "")
	require.NoError(t, os.WriteFile(file, panelsHaveData(t, expressions, text, d.OpsText("/metrics")), 0o600))
	promtool("", "test", "rules", file)
}

// TestStatusPage looks at the page as a browser gets it, and at its facts.
func TestStatusPage(t *testing.T) {
	d := busyDesk(t)
	answered := d.AskOps("/")
	require.Equal(t, "text/html; charset=utf-8", answered.Header.Get("Content-Type"))
	require.Contains(t, answered.Header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'sha256-")
	page := string(answered.Body)
	require.Contains(t, answered.Header.Get("Content-Security-Policy"), "; script-src 'sha256-")
	require.Equal(t, 1, strings.Count(page, "<script"), "the one that renews the page")
	require.NotContains(t, page, "ZgotmplZ", "the template refused a value")
	for _, words := range []string{"All works.", ">ended</span>", "record_not_found"} {
		require.Contains(t, page, words)
	}
	text := d.OpsText("/status.json")
	report := must.JSON[desk.StatusReport](t, text)
	host := must.Have(os.Hostname())(t)
	require.Equal(t, host, report.Host)
	require.Contains(t, page, " on "+host+" · ")
	require.Equal(t, 2, *report.Load.Sessions)
	require.Equal(t, "ended", report.Keys.Expired[0].Name)
	require.Empty(t, report.Keys.Expiring)
	require.Equal(t, 404, d.AskOps("/anything").Status)
}

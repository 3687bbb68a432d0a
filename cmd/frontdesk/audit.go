package main

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/gateway"
)

type auditCommand struct {
	Config string        `required:"" placeholder:"FILE" help:"Configuration (YAML)."`
	Format string        `default:"text" enum:"text,json" help:"text, or json."`
	FailOn string        `default:"error" enum:"error,warning,note,never" help:"The least severity that makes the exit code 1: error, warning, note or never."`
	Since  terminal.When `placeholder:"WHEN" help:"Read only what is newer in the logs: 14d, 36h, 2026-11-01 or 2026-11-01T12:00:00Z."`
	Logs   []string      `arg:"" optional:"" name:"log" help:"Access logs (JSON lines), rotated ones too, plain or gzip: they tell which grants nobody uses."`
}

// Help tells what the short help has no room for.
func (auditCommand) Help() string {
	return "It looks for what is allowed but unwise: keys without an end, wildcards that write, limits that are missing, listeners open to the world. Nothing is started, and no backend is asked. docs/configuration.md says what each rule means."
}

// Run tells what is unwise about a configuration.
func (c auditCommand) Run(p desk.Program) error {
	read, err := desk.LoadConfig(c.Config)
	if err != nil {
		return err
	}
	t, err := newTools(read, desk.ProductionEnvironment)
	if err != nil {
		return err
	}
	a := newAuditor(t, time.Now())
	a.all(t)
	if len(c.Logs) > 0 {
		during, before, summary, err := readUses(p, logFlags{Since: c.Since, Logs: c.Logs}, "")
		if err != nil {
			return err
		}
		a.unused(t, during, before, summary)
		a.period = summary.String()
		a.short = shortNotice(summary)
	}
	a.sort()
	if c.Format == "json" {
		err = a.writeJSON(p.Stdout)
	} else {
		err = a.writeText(p.Stdout)
	}
	if n := a.atLeast(severity(c.FailOn)); err == nil && n > 0 {
		return fmt.Errorf("%s of severity %s or worse", terminal.SeveralOrNo(n, "finding"), c.FailOn)
	}
	return err
}

// severity is how bad a finding is.
type severity string

// The severities, worst first; an error is what must not be so in production.
const (
	failure severity = "error"
	warning severity = "warning"
	note    severity = "note"
)

var severities = []severity{failure, warning, note}

// finding is what is unwise.
type finding struct {
	Rule     string   `json:"rule"`
	Severity severity `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Key      string   `json:"key,omitempty"`
	Found    string   `json:"found"`
	Remedy   string   `json:"remedy"`
}

// auditor collects what is unwise about a configuration.
type auditor struct {
	now      time.Time
	config   *config.Config
	gateway  *gateway.Gateway
	grants   []gateway.Grant
	written  map[config.Rule][]string // of the rules that were looked at, what they let a key change
	expected map[string]bool          // keys that an expectation is about
	findings []finding
	period   string // that the logs cover; "" without logs
	short    string // why that says little; "" where it does not
}

func newAuditor(t *tools, now time.Time) *auditor {
	a := &auditor{now: now, config: t.config, gateway: t.gateway, grants: t.grants, written: map[config.Rule][]string{}, expected: map[string]bool{}}
	for i := range t.config.Expect {
		a.expected[t.config.Expect[i].Key] = true
	}
	return a
}

func (a *auditor) all(t *tools) {
	a.listeners()
	a.certificate()
	if len(t.keys) == 0 {
		a.add(note, "no-keys", nil, a.config.At("api_keys"), "there is no api_key, so that nobody can log in", "make one: frontdesk key new NAME")
	}
	for i := range t.keys {
		a.key(&t.keys[i])
	}
}

func (a *auditor) add(s severity, rule string, key *toolKey, at config.Place, found, remedy string) {
	f := finding{Rule: rule, Severity: s, File: at.File, Line: at.Line, Found: found, Remedy: remedy}
	if key != nil {
		f.Key = key.Name
	}
	a.findings = append(a.findings, f)
}

// listeners looks at who can reach what.
func (a *auditor) listeners() {
	s := a.config.Server
	if !s.TLS.Enabled() && reach(s.Listen) != loopback {
		level, remedy := warning, "give server.tls a certificate, or listen on a loopback address behind a proxy that has one"
		if len(s.TrustedProxies) > 0 {
			level, remedy = note, "see to it that only server.trusted_proxies can reach it"
		}
		a.add(level, "tls-off", nil, a.config.At("server.listen"), "passwords and tokens come in over plain HTTP on "+s.Listen, remedy)
	}
	if r := reach(a.config.Ops.Listen); r == anywhere || r == public {
		a.add(warning, "ops-public", nil, a.config.At("ops.listen"), "health, metrics and status are told to whoever reaches "+a.config.Ops.Listen, "listen on a loopback or an internal address")
	}
	for _, proxy := range s.TrustedProxies {
		if proxy.Bits() == 0 {
			a.add(failure, "trusts-everybody", nil, a.config.At("server.trusted_proxies"), fmt.Sprintf("%s is every address: whoever calls says where he calls from", proxy), "name the load balancers")
		}
	}
	for _, host := range a.config.Webhooks.AllowHosts {
		a.add(note, "callback-host", nil, a.config.At("webhooks.allow_hosts"), "callbacks may go to "+host+" although it is not public", "keep it only while a client has its webhook there")
	}
}

// certificate looks at when the server's ends. One that cannot be read is a problem that check tells.
func (a *auditor) certificate() {
	files := a.config.Server.TLS
	if !files.Enabled() {
		return
	}
	c, err := desk.CertificateOf(files)
	at := a.config.At("server.tls.cert_file")
	switch {
	case err != nil:
	case a.now.After(c.NotAfter):
		a.add(failure, "certificate-expired", nil, at, files.CertFile+" ended on "+terminal.Minute(c.NotAfter)+": clients that look at it do not connect", "put its successor there: it is taken up without a restart")
	case desk.CertificateEndsSoon(c, a.now):
		a.add(warning, "certificate-expires-soon", nil, at, files.CertFile+" ends on "+terminal.Minute(c.NotAfter), "renew it: its successor is taken up without a restart")
	}
}

// reached is from where a listener can be reached.
type reached int

const (
	nowhere reached = iota
	loopback
	internal
	public
	anywhere
)

func reach(address string) reached {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nowhere
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "localhost", err == nil && ip.IsLoopback():
		return loopback
	case host == "", err == nil && ip.IsUnspecified():
		return anywhere
	case err == nil && !ip.IsPrivate() && !ip.IsLinkLocalUnicast():
		return public
	default:
		return internal
	}
}

func (a *auditor) sort() {
	slices.SortStableFunc(a.findings, func(x, y finding) int {
		return cmp.Or(cmp.Compare(slices.Index(severities, x.Severity), slices.Index(severities, y.Severity)),
			cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
}

func (a *auditor) count(s severity) (n int) {
	for _, f := range a.findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// atLeast counts the findings of a severity and worse; none where it is no severity.
func (a *auditor) atLeast(s severity) (n int) {
	for _, worse := range severities[:slices.Index(severities, s)+1] {
		n += a.count(worse)
	}
	return n
}

// totals sums up: 1 error, 2 warnings, no notes.
func (a *auditor) totals() string {
	var parts []string
	for _, s := range severities {
		parts = append(parts, terminal.SeveralOrNo(a.count(s), string(s)))
	}
	return strings.Join(parts, ", ")
}

func (a *auditor) writeJSON(w io.Writer) error {
	if a.findings == nil {
		a.findings = []finding{}
	}
	return terminal.WriteJSON(w, struct {
		Config   string    `json:"config"`
		Findings []finding `json:"findings"`
		Errors   int       `json:"errors"`
		Warnings int       `json:"warnings"`
		Notes    int       `json:"notes"`
		Logs     string    `json:"logs,omitempty"`
	}{a.config.Hash(), a.findings, a.count(failure), a.count(warning), a.count(note), a.period})
}

func (a *auditor) writeText(w io.Writer) error {
	var b strings.Builder
	for _, f := range a.findings {
		who := ""
		if f.Key != "" {
			who = f.Key + ": "
		}
		fmt.Fprintf(&b, "%s:%d: %s: %s%s [%s]\n", f.File, f.Line, f.Severity, who, f.Found, f.Rule)
		fmt.Fprintf(&b, "    → %s\n", f.Remedy)
	}
	if len(a.findings) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s in %s: %s\n", terminal.SeveralOrNo(len(a.config.APIKeys), "api_key"), terminal.SeveralOrNo(len(a.config.Files()), "file"), a.totals())
	if a.period == "" {
		b.WriteString("Unused grants were not looked for: name the access logs to have that done too.\n")
	} else {
		fmt.Fprintf(&b, "Access logs: %s.\n", a.period)
		if a.short != "" {
			fmt.Fprintf(&b, "Mind that %s.\n", a.short)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

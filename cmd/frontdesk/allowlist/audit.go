package allowlist

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
)

// Severity is how bad a finding is.
type Severity string

// The severities, worst first; an error is what must not be so in production.
const (
	Failure Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

var severities = []Severity{Failure, Warning, Note}

// finding is an unwise setting.
type finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Key      string   `json:"key,omitempty"`
	Found    string   `json:"found"`
	Remedy   string   `json:"remedy"`
}

// Audit is the list of unwise settings of a configuration.
type Audit struct {
	Config   string             `json:"config"` // its hash
	Findings []finding          `json:"findings"`
	Logs     *accesslog.Summary `json:"logs,omitempty"`

	now   time.Time
	lists *Lists
	used  *Used // what access logs say; nil without any
}

// Audit looks for settings that are allowed but unwise.
func (l *Lists) Audit(now time.Time) *Audit {
	a := &Audit{Config: l.config.Hash(), Findings: []finding{}, now: now, lists: l}
	a.listeners()
	a.certificate()
	a.includes()
	if len(l.keys) == 0 {
		a.add(Note, "no-keys", nil, l.config.At("api_keys"), "there is no api_key, so that nobody can log in", "make one: frontdesk key new NAME")
	}
	for i := range l.keys {
		a.key(&l.keys[i])
	}
	a.sort()
	return a
}

func (a *Audit) add(s Severity, rule string, key *Key, at config.Place, found, remedy string) {
	f := finding{Rule: rule, Severity: s, File: at.File, Line: at.Line, Found: found, Remedy: remedy}
	if key != nil {
		f.Key = key.Name
	}
	a.Findings = append(a.Findings, f)
}

// listeners checks from where each listener can be reached.
func (a *Audit) listeners() {
	s := a.lists.config.Server
	if loopback, _ := reach(s.Listen); !s.TLS.Enabled() && !loopback {
		level, remedy := Warning, "give server.tls a certificate, or listen on a loopback address behind a proxy that has one"
		if len(s.TrustedProxies) > 0 {
			level, remedy = Note, "see to it that only server.trusted_proxies can reach it"
		}
		a.add(level, "tls-off", nil, a.lists.config.At("server.listen"), "passwords and tokens come in over plain HTTP on "+s.Listen, remedy)
	}
	if _, open := reach(a.lists.config.Ops.Listen); open {
		a.add(Warning, "ops-public", nil, a.lists.config.At("ops.listen"), "health, metrics and status are told to whoever reaches "+a.lists.config.Ops.Listen, "listen on a loopback or an internal address")
	}
	for _, proxy := range s.TrustedProxies {
		if proxy.Bits() == 0 {
			a.add(Failure, "trusts-everybody", nil, a.lists.config.At("server.trusted_proxies"), fmt.Sprintf("%s is every address: whoever calls says where he calls from", proxy), "name the load balancers")
		}
	}
	if stop := s.DrainDelay + s.ShutdownTimeout; stop >= unitStops {
		a.add(Note, "stop-takes-long", nil, a.lists.config.At("server.drain_delay"), fmt.Sprintf("drain_delay and shutdown_timeout together are %s: the unit of systemd kills it after %s", stop, unitStops), "raise TimeoutStopSec of the unit, or shorten them")
	}
}

// unitStops is TimeoutStopSec of the unit in deploy/systemd.
const unitStops = time.Minute

// includes finds patterns that read nothing, and files of their folders that none of them reads.
func (a *Audit) includes() {
	c := a.lists.config
	main, at := filepath.Dir(c.Files()[0]), c.At("include")
	for _, pattern := range c.Include {
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(main, pattern)
		}
		folder := filepath.Dir(pattern)
		found, _ := filepath.Glob(pattern) // which was judged
		switch {
		case len(found) == 0 && !config.IsFolder(folder):
			a.add(Warning, "include-finds-nothing", nil, at, pattern+" matches no file: there is no folder "+folder, "correct it, or make the folder")
		case len(found) == 0:
			a.add(Note, "include-finds-nothing", nil, at, pattern+" matches no file", "put files there, or take the entry out")
		}
		beside, _ := filepath.Glob(filepath.Join(folder, "*.y*ml"))
		for _, file := range beside {
			if folder != main && filepath.Base(file)[0] != '.' && !slices.Contains(c.Files(), file) {
				a.add(Warning, "include-misses", nil, at, file+" is not read", "name it as the others there, or as an entry of its own")
			}
		}
	}
}

// certificate looks at when the server's ends. One that cannot be read is a problem that check tells.
func (a *Audit) certificate() {
	files := a.lists.config.Server.TLS
	if !files.Enabled() {
		return
	}
	if file := files.ClientCAFile; file != "" && !desk.HasAuthority(file) {
		a.add(Warning, "client-ca-signs-nothing", nil, a.lists.config.At("server.tls.client_ca_file"), file+" has no certificate of an authority: no certificate of a client holds", "put the certificate there that signed those of clients")
	}
	c, err := desk.CertificateOf(files)
	at := a.lists.config.At("server.tls.cert_file")
	switch {
	case err != nil:
	case a.now.After(c.NotAfter):
		a.add(Failure, "certificate-expired", nil, at, files.CertFile+" ended on "+terminal.Minute(c.NotAfter)+": clients that look at it do not connect", "put its successor there: it is taken up without a restart")
	case desk.CertificateEndsSoon(c, a.now):
		a.add(Warning, "certificate-expires-soon", nil, at, files.CertFile+" ends on "+terminal.Minute(c.NotAfter), "renew it: its successor is taken up without a restart")
	}
}

// reach tells whether only this machine reaches a listener, and whether everybody may.
func reach(address string) (loopback, open bool) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, false
	}
	ip, err := netip.ParseAddr(host)
	loopback = host == "localhost" || err == nil && ip.IsLoopback()
	return loopback, host == "" || err == nil && !loopback && !ip.IsPrivate() && !ip.IsLinkLocalUnicast()
}

func (a *Audit) sort() {
	slices.SortStableFunc(a.Findings, func(x, y finding) int {
		return cmp.Or(cmp.Compare(slices.Index(severities, x.Severity), slices.Index(severities, y.Severity)),
			cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
}

// AtLeast counts the findings of a severity and worse; none if the severity is unknown.
func (a *Audit) AtLeast(s Severity) (n int) {
	for _, f := range a.Findings {
		if slices.Index(severities, f.Severity) <= slices.Index(severities, s) {
			n++
		}
	}
	return n
}

// Totals sums up: 1 error, 2 warnings, 0 notes.
func (a *Audit) Totals() string {
	errors, warnings := a.AtLeast(Failure), a.AtLeast(Warning)
	return fmt.Sprintf("%s, %s, %s", terminal.Several(errors, "error"), terminal.Several(warnings-errors, "warning"), terminal.Several(a.AtLeast(Note)-warnings, "note"))
}

// Write writes it for people.
func (a *Audit) Write(w io.Writer) error {
	var b strings.Builder
	for _, f := range a.Findings {
		who := ""
		if f.Key != "" {
			who = f.Key + ": "
		}
		fmt.Fprintf(&b, "%s:%d: %s: %s%s [%s]\n    → %s\n", f.File, f.Line, f.Severity, who, f.Found, f.Rule, f.Remedy)
	}
	if len(a.Findings) > 0 {
		b.WriteByte('\n')
	}
	c := a.lists.config
	fmt.Fprintf(&b, "%s in %s: %s\n", terminal.Several(len(c.APIKeys), "api_key"), terminal.Several(len(c.Files()), "file"), a.Totals())
	if a.used == nil {
		b.WriteString("Unused grants were not looked for: name the access logs to have that done too.\n")
	} else {
		fmt.Fprintf(&b, "Access logs: %s.\n", a.used.Read)
		if notice := a.used.Notice(); notice != "" {
			fmt.Fprintf(&b, "Mind that %s.\n", notice)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

package allowlist

import (
	"cmp"
	"crypto/sha256"
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
	"frontdesk/gateway"
	"frontdesk/gateway/webhook"
)

// Severity is how bad a finding is.
type Severity string

// The severities, worst first. A Failure must not occur in production.
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
	used  *Used // the use according to access logs; nil without any
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

// includes finds patterns that match no file, and files in their folders that no pattern matches.
func (a *Audit) includes() {
	c := a.lists.config
	main, at := filepath.Dir(c.Files()[0]), c.At("include")
	for _, pattern := range c.Include {
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(main, pattern)
		}
		folder := filepath.Dir(pattern)
		found, _ := filepath.Glob(pattern) // the loader has judged the pattern
		switch {
		case len(found) == 0 && !config.IsFolder(folder):
			a.add(Warning, "include-finds-nothing", nil, at, pattern+" matches no file: there is no folder "+folder, "correct it, or make the folder")
		case len(found) == 0:
			a.add(Note, "include-finds-nothing", nil, at, pattern+" matches no file", "put files there, or take the entry out")
		}
		siblings, _ := filepath.Glob(filepath.Join(folder, "*.y*ml"))
		for _, file := range siblings {
			if folder != main && filepath.Base(file)[0] != '.' && !slices.Contains(c.Files(), file) {
				a.add(Warning, "include-misses", nil, at, file+" is not read", "name it as the others there, or as an entry of its own")
			}
		}
	}
}

// certificate checks the server's certificates. One that cannot be read is a problem that check reports.
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

// reach reports whether only this machine reaches a listener, and whether everybody may.
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

// key checks one api_key. Of one that has ended it reports nothing else.
func (a *Audit) key(key *Key) {
	if a.ends(key) {
		return
	}
	a.hashesOf(key)
	a.allowlist(key)
	a.arrays(key)
	a.fieldRights(key)
	a.limits(key)
	a.secrets(key)
}

// shortestSecret is the least number of bytes that Standard Webhooks asks for.
const shortestSecret = 24

func (a *Audit) secrets(key *Key) {
	for i, secret := range key.WebhookSecret {
		if parsed, err := webhook.ParseSecret(string(secret)); err == nil && len(parsed) < shortestSecret {
			a.add(Warning, "webhook-secret-short", key, key.At(), fmt.Sprintf("webhook_secret[%d] has %d bytes, and can be guessed from a signature", i, len(parsed)),
				fmt.Sprintf("take %d random bytes or more", shortestSecret))
		}
	}
}

// ends checks the end of a key, and reports whether it has passed.
func (a *Audit) ends(key *Key) bool {
	end := key.Expires
	switch {
	case end.IsZero() && !slices.ContainsFunc(key.Hashes, func(h config.KeyHash) bool { return h.Expires.IsZero() }):
		// each of its hashes has an end
	case end.IsZero():
		a.add(Warning, "key-without-expiry", key, key.At(), "it never expires", "give it an end (expires: 2027-12-31), and rotate it before that")
	case end.Passed(a.now):
		a.add(Warning, "key-expired", key, key.At(), "it expired on "+end.String(), "take it out once no log names it any more, or give it a later end")
		return true
	case desk.EndsSoon(end.Time, a.now):
		a.add(Warning, "key-expires-soon", key, key.At(), "it expires on "+end.String(), "rotate it (frontdesk key rotate "+key.Name+"), or give it a later end")
	}
	return false
}

// demoHashes are the hashes of the demo's keys, which everybody knows.
var demoHashes = [...]config.Digest{sha256.Sum256([]byte(desk.DemoFullKey)), sha256.Sum256([]byte(desk.DemoOrdersKey))}

func (a *Audit) hashesOf(key *Key) {
	endless := 0
	for i, hash := range key.Hashes {
		if slices.Contains(demoHashes[:], hash.Hash) {
			a.add(Failure, "demo-key", key, key.At(), "it has the hash of a key of the demo, which everybody knows", "make one of its own: frontdesk key rotate "+key.Name)
		}
		switch {
		case hash.Expires.IsZero():
			endless++
		case !hash.Expires.Passed(a.now) && desk.EndsSoon(hash.Expires.Time, a.now):
			a.add(Warning, "key-expires-soon", key, key.At(), fmt.Sprintf("key_sha256[%d] expires on %s: whoever still uses it is refused from then on", i, hash.Expires),
				"frontdesk key list tells when it was used last, frontdesk key rotate gives another")
		}
	}
	if endless > 1 {
		a.add(Warning, "hashes-overlap", key, key.At(), fmt.Sprintf("%d hashes are valid side by side without an end", endless),
			"give those that are to go an end: {hash: …, expires: 2026-12-31}")
	}
}

func (a *Audit) allowlist(key *Key) {
	for i, rule := range key.Allow {
		if rule.Method != "GET" && (rule.Method == "*" || strings.HasSuffix(rule.Path, "/*")) {
			if writes := a.writes(rule); len(writes) > 0 {
				a.add(Warning, "wildcard-write", key, key.AllowAt(i), fmt.Sprintf("%s lets it change data: %s", rule, shortList(writes, 4)),
					"name what it needs; frontdesk allow learn finds that in the access log")
			}
		}
	}
}

// arrays finds array fields that the key cannot use, although it may use the records
// that have them.
func (a *Audit) arrays(key *Key) {
	for _, need := range a.lists.gateway.ArraysWithheld(key.auth) {
		at := slices.IndexFunc(key.Allow, func(rule config.Rule) bool { return rule.Matches(need.Operation.Method, need.Operation.Path) })
		what := "it does not see the " + need.Field
		if need.Operation.Method == "POST" {
			what = "it cannot send " + need.Field
		}
		a.add(Note, "array-withheld", key, key.AllowAt(at), fmt.Sprintf("%s without %s: %s", need.Operation, need.Grant, what),
			fmt.Sprintf("allow %s where it needs them, which is that endpoint too", need.Grant))
	}
}

// fieldRights finds side effects of withheld fields, and entries that withhold none.
func (a *Audit) fieldRights(key *Key) {
	for _, need := range a.lists.gateway.EndpointsWithheld(key.auth) {
		at := slices.IndexFunc(key.Allow, func(rule config.Rule) bool { return rule.Matches(need.Grant.Method, need.Grant.Path) })
		a.add(Note, "endpoint-withheld", key, key.AllowAt(at), fmt.Sprintf("%s grants %s, which is not offered to a key without %s", key.Allow[at], need.Grant, strings.Join(need.Lacks, ", ")),
			"give it to a key of its own, or grant what it needs")
	}
	for i, rule := range key.Allow {
		if rule.TakesFields() && !slices.ContainsFunc(a.lists.offered, func(e config.Endpoint) bool { return len(rule.Takes(e)) > 0 }) {
			a.add(Note, "fields-all-granted", key, key.AllowAt(i), fmt.Sprintf("%s takes no field away: it names all there are", rule), "name those that it is to have, or take the list out")
		}
	}
}

// writes returns the operations other than GET that a rule grants.
func (a *Audit) writes(rule config.Rule) (found []gateway.Grant) {
	for _, grant := range a.lists.grants {
		if grant.Method != "GET" && rule.Matches(grant.Method, grant.Path) {
			found = append(found, grant)
		}
	}
	return found
}

// shortList joins the first n of a list, and counts the others.
func shortList(list []gateway.Grant, n int) string {
	var names []string
	for _, grant := range list {
		names = append(names, grant.String())
	}
	return config.Listed(names, n)
}

func (a *Audit) limits(key *Key) {
	if key.Rate == nil && key.PerDay == 0 {
		a.add(Warning, "no-limit", key, key.At(), "nothing limits how many requests its clients make", "give it a rate, such as rate: {per_second: 20, burst: 40}, or per_day")
	}
}

// Unused adds findings about grants that the access logs never show in use.
func (a *Audit) Unused(used *Used) {
	a.used, a.Logs = used, &used.Read
	found := a.lists.grantUsesOf(used)
	for i := range a.lists.keys {
		key := &a.lists.keys[i]
		uses := found[key.Name]
		switch {
		case key.Expires.Passed(a.now):
			continue
		case len(uses.used) == 0:
			a.add(Warning, "key-unused", key, key.At(), "it was not used in "+used.Read.String(), "take it out if nobody needs it")
			continue
		}
		for j, rule := range key.Allow {
			switch yes, no := a.lists.covered(rule, uses.used); {
			case len(yes) == 0:
				a.add(Warning, "grant-unused", key, key.AllowAt(j), fmt.Sprintf("%s was not used in %s", rule, used.Read), "take it out if nobody needs it")
			case len(no) > 0:
				a.add(Note, "grant-used-in-part", key, key.AllowAt(j), fmt.Sprintf("%s was used but for %s", rule, shortList(no, 4)), "name what is used: frontdesk allow learn --key "+key.Name)
			}
		}
	}
	a.sort()
}

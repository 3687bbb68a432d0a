package config

import (
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"frontdesk/config/strictyaml"
)

// checker collects what is wrong with a file.
type checker struct {
	judging
	doc      *strictyaml.Document
	now      time.Time
	problems strictyaml.Problems
}

// validator checks what only the main file has.
type validator struct {
	*Config
	*checker
}

// fail reports a problem at path, unless decoding has already reported one there.
func (c *checker) fail(path, rule, format string, args ...any) {
	c.problems = append(c.problems, c.doc.Fault(path, rule, fmt.Sprintf(format, args...))...)
}

func (c *checker) found(path, text string) string { return c.doc.Found(path, text) }

func (v *validator) validate() {
	if v.blank { // as a rule it was cut short by what writes it, and all keys would be gone
		v.fail("", ruleBlank, "nothing is written in it, expected a configuration; one without api_keys says api_keys: []")
		return
	}
	v.server()
	v.ops()
	v.backend()
	v.sessions()
	v.mail()
	v.webhooks()
	v.changes()
	v.callbacks()
	v.tracing()
}

func (v *validator) server() {
	s := v.Server
	v.address("server.listen", s.Listen)
	if !basePathForm.MatchString(s.BasePath) || pathFault(s.BasePath) != "" {
		v.fail("server.base_path", ruleBasePath, "found %s, expected a path that begins with / and does not end with it, such as /webservice_v2", v.found("server.base_path", s.BasePath))
	}
	if s.PublicURL != "" && !isPublicURL(s.PublicURL) {
		v.fail("server.public_url", RulePublicURL, "expected an absolute http or https URL without user, query and fragment, such as https://api.example.nl/webservice_v2")
	}
	if strings.TrimSpace(s.Vendor) == "" {
		v.fail("server.vendor", ruleVendor, "found %s, expected the vendor's name", v.found("server.vendor", s.Vendor))
	}
	if strings.TrimSpace(s.Environment) == "" || s.Environment == "demo" {
		v.fail("server.environment", ruleEnvironment, "found %s, expected production, or a name such as test or acceptance", v.found("server.environment", s.Environment))
	}
	if s.BodyLimit < Byte || s.BodyLimit > GiB {
		v.fail("server.body_limit", ruleBodyLimit, "found %d bytes, expected from 1B to 1GiB", s.BodyLimit)
	}
	if (s.TLS.CertFile == "") != (s.TLS.KeyFile == "") {
		v.fail("server.tls", ruleTLSPair, "found one of cert_file and key_file, expected both or none")
	}
	if s.TLS.ClientCAFile != "" && !s.TLS.Enabled() {
		v.fail("server.tls.client_ca_file", ruleClientCA, "clients show certificates only where the server has one, expected cert_file and key_file too")
	}
	for i, proxy := range s.TrustedProxies {
		if path := fmt.Sprintf("server.trusted_proxies[%d]", i); proxy.IsValid() && slices.Contains(s.TrustedProxies[:i], proxy) {
			v.fail(path, ruleRepeated, "found %s again", proxy)
		}
	}
	v.positive("server.read_timeout", s.ReadTimeout)
	v.positive("server.shutdown_timeout", s.ShutdownTimeout)
	if s.DrainDelay < 0 {
		v.fail("server.drain_delay", ruleRange, "found %s, expected 0s or more", short(s.DrainDelay))
	}
}

var basePathForm = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

func isPublicURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" &&
		u.User == nil && !strings.ContainsAny(text, "?#")
}

func (v *validator) backend() {
	b := v.Backend
	switch {
	case b.BySheet():
		v.sheet()
	case b.Sheet != "":
		v.fail("backend.sheet", ruleSheetUnused, "found a mapping sheet, which driver %s does not use, expected driver legacy or remote", b.Driver)
	case !isDSN(string(b.DSN)):
		v.fail("backend.dsn", RuleDSN, "expected sqlite:FILE, such as sqlite:frontdesk.db, or postgres://user:password@host/database")
	case strings.HasPrefix(string(b.DSN), "sqlite://") && !strings.HasPrefix(string(b.DSN), "sqlite:///"):
		v.fail("backend.dsn", RuleDSN, "found // before the name of a SQLite file, which would begin with a host, expected sqlite:FILE, such as sqlite:frontdesk.db")
	default:
		v.plainPassword("backend.dsn", RuleDSN, string(b.DSN))
	}
	v.positive("backend.timeout", b.Timeout)
	v.atLeastOne("backend.max_concurrent", b.MaxConcurrent)
}

// sheet refuses settings of a backend behind a mapping sheet that the sheet itself
// contains.
func (v *validator) sheet() {
	if v.Backend.Sheet == "" {
		v.fail("backend.sheet", ruleSheetMissing, "missing, expected the file of the mapping sheet, which driver %s works with", v.Backend.Driver)
	}
	if v.doc.Has("backend.dsn") {
		v.fail("backend.dsn", ruleSheetInstead, "driver %s does not use it: the mapping sheet says where the records are", v.Backend.Driver)
	}
}

func (v *validator) atLeastOne(path string, n int) {
	if n < 1 {
		v.fail(path, ruleRange, "found %d, expected 1 or more", n)
	}
}

// isDSN judges the form only as far as it is the same for every database; the
// driver reads the rest.
func isDSN(text string) bool {
	for _, prefix := range []string{"sqlite:", "postgres://", "postgresql://"} {
		if strings.HasPrefix(text, prefix) {
			return len(text) > len(prefix)
		}
	}
	return false
}

// plainPassword refuses an address whose password contains a character that ends the user
// information. The rest of the password would be read as a host and a database, and
// messages would show it. The same holds for parts of an address that cannot be parsed.
func (v *validator) plainPassword(path, r, dsn string) {
	if !IsPostgres(dsn) {
		return
	}
	_, address, _ := strings.Cut(dsn, "://")
	address, query, _ := strings.Cut(address, "?")
	_, err := url.Parse(dsn)
	if at := strings.IndexAny(address, "/#"); at >= 0 && strings.Contains(address[at:], "@") {
		v.fail(path, r, "found an @ behind the host, expected / in a password to be written as %%2F, @ as %%40, # as %%23 and ? as %%3F")
	} else if err != nil || !strings.Contains(address, "@") && strings.Contains(address, ":") && strings.Contains(query, "@") {
		v.fail(path, r, "cannot be read, expected postgres://user:password@host/database, with / in the password written as %%2F, @ as %%40, # as %%23, ? as %%3F and %% as %%25")
	}
}

// IsPostgres tells whether the address of a database is one of PostgreSQL; else it is a SQLite file.
func IsPostgres(dsn string) bool { return isDSN(dsn) && !strings.HasPrefix(dsn, "sqlite:") }

func (v *validator) sessions() {
	s := v.Sessions
	switch store := string(s.Store); {
	case strings.ContainsAny(store, ":/@"): // not to be repeated: it may hold a password
		if !isRedis(store) {
			v.fail("sessions.store", RuleRedis, "expected memory, or redis://user:password@host:6379, or rediss:// for TLS; further nodes as ?addr=host:port, sentinels with ?master_set=name")
		}
	case store != MemoryStore:
		v.fail("sessions.store", strictyaml.RuleWord, "found %s, expected %s%s", v.found("sessions.store", store), MemoryStore, strictyaml.Suggest(store, []string{MemoryStore}))
	}
	if s.CAFile != "" && !strings.HasPrefix(string(s.Store), "rediss://") {
		v.fail("sessions.ca_file", RuleRedis, "found a file of authorities, expected sessions.store to be rediss://, which they are for")
	}
	v.positive("sessions.ttl", s.TTL)
	if s.TTL > MaxSessionTTL {
		v.fail("sessions.ttl", ruleSessionTTL, "found %s, expected at most 30m, as the interface has it", short(s.TTL))
	}
}

// isRedis judges the form of a server's address. It refuses parameters that weaken TLS,
// or that change what the gateway relies on.
func isRedis(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Host == "" || u.Fragment != "" {
		return false
	}
	for name, values := range u.Query() {
		if name != "addr" && (name != "master_set" && name != "db" || len(values) > 1) || slices.Contains(values, "") {
			return false
		}
	}
	return true
}

func (v *validator) mail() {
	m := v.Mail
	if m.SMTP != "" && !isSMTP(string(m.SMTP)) {
		v.fail("mail.smtp", RuleSMTP, "expected smtp://user:password@host:587 or smtps://user:password@host:465, or nothing to write files")
	}
	if _, err := mail.ParseAddress(m.From); err != nil {
		v.fail("mail.from", RuleMailFrom, "found %s, expected an e-mail address such as Example <noreply@example.nl>", v.found("mail.from", m.From))
	} else if m.SMTP != "" && m.From == defaultSender {
		v.fail("mail.from", RuleMailFrom, "missing, expected the sender's e-mail address, since mail.smtp is given")
	}
	if m.SMTP == "" && m.Folder == "" {
		v.fail("mail.folder", ruleMailFolder, "found \"\", expected a folder for mail, or mail.smtp")
	}
}

func isSMTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "smtp" || u.Scheme == "smtps") && isHost(u.Hostname()) &&
		strings.Trim(u.Path, "/") == "" && !strings.ContainsAny(text, "?#")
}

func (v *validator) tracing() {
	t := v.Tracing
	if u, err := url.Parse(string(t.Endpoint)); t.Endpoint != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil) {
		v.fail("tracing.endpoint", ruleTracing, "expected an http or https URL without user and password, such as http://127.0.0.1:4318")
	}
	if !(t.Ratio >= 0 && t.Ratio <= 1) {
		v.fail("tracing.ratio", ruleRange, "found %v, expected from 0 (none) to 1 (all)", t.Ratio)
	}
}

// callbacks requires existing endpoints whose answer can wait: everything under
// /authenticate and /webhook answers directly.
func (v *validator) callbacks() {
	for i, rule := range v.Callbacks {
		path := fmt.Sprintf("callbacks[%d]", i)
		if fault := v.fault(rule); fault != "" {
			v.fail(path, ruleCallbackEndpoint, "found %s, %s", strictyaml.Quote(rule.String()), fault)
		} else if isUnder(rule.Path, "/authenticate") || isUnder(rule.Path, "/webhook") || rule.Path == "/backup/owner" || rule.String() == "POST /changes" {
			v.fail(path, ruleCallbackEndpoint, "%s answers as it does", rule)
		} else if rule.Method == "*" || strings.HasSuffix(rule.Path, "/*") && rule.Path != "/model/*" {
			v.fail(path, ruleCallbackEndpoint, "found %s, expected one endpoint, such as GET /order", strictyaml.Quote(rule.String()))
		} else if slices.Contains(v.Callbacks[:i], rule) {
			v.fail(path, ruleRepeated, "%s is there already", rule)
		}
	}
}

func (v *validator) webhooks() {
	v.hosts("webhooks.allow_hosts", ruleWebhookHost, v.Webhooks.AllowHosts)
	for i, port := range v.Webhooks.Ports {
		path := fmt.Sprintf("webhooks.ports[%d]", i)
		if port == 0 {
			v.fail(path, ruleRange, "found 0, expected a port from 1 to 65535")
		} else if slices.Contains(v.Webhooks.Ports[:i], port) {
			v.fail(path, ruleRepeated, "found %d again", port)
		}
	}
}

func (v *validator) changes() {
	if v.Changes.Keep < time.Hour {
		v.fail("changes.keep", ruleRange, "found %s, expected at least 1h", short(v.Changes.Keep))
	}
}

func (v *validator) positive(path string, length time.Duration) {
	if length <= 0 {
		v.fail(path, ruleRange, "found %s, expected more than 0s", short(length))
	}
}

// short writes a duration the way people do: 45m rather than 45m0s.
func short(length time.Duration) string {
	text := length.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// isUnder tells whether a path is the one given or lies under it.
func isUnder(path, of string) bool { return path == of || strings.HasPrefix(path, of+"/") }

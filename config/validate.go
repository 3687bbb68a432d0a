package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/config/strictyaml"
)

// checker collects what is wrong with a file beyond its single values, which the decoder judges.
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
	v.backend()
	v.sessions()
	v.mail()
	v.callbacks()
}

func (v *validator) server() {
	s := v.Server
	if (s.TLS.CertFile == "") != (s.TLS.KeyFile == "") {
		v.fail("server.tls", ruleTLSPair, "found one of cert_file and key_file, expected both or none")
	}
	if s.TLS.ClientCAFile != "" && !s.TLS.Enabled() {
		v.fail("server.tls.client_ca_file", ruleClientCA, "clients show certificates only where the server has one, expected cert_file and key_file too")
	}
	if collide(s.Listen, v.Ops.Listen) {
		v.fail("ops.listen", ruleListenTwice, "found %s, which server.listen, %s, takes as well, expected a port of its own",
			v.found("ops.listen", v.Ops.Listen), v.found("server.listen", s.Listen))
	}
}

// collide tells whether two listeners would use the same port of an address. It does not
// resolve names, except localhost.
func collide(a, b string) bool {
	hostA, portA, errA := splitAddress(a)
	hostB, portB, errB := splitAddress(b)
	if errA != nil || errB != nil || portA != portB || portA == 0 {
		return false
	}
	ipA, ipB := listenedOn(hostA), listenedOn(hostB)
	if ipA.IsUnspecified() || ipB.IsUnspecified() { // Go listens on all addresses of IPv6 too where it is told 0.0.0.0
		return true
	}
	return ipA == ipB && (ipA.IsValid() || strings.EqualFold(hostA, hostB))
}

// listenedOn is the address that a listener gets for that host; none if the name would
// have to be resolved.
func listenedOn(host string) netip.Addr {
	switch ip, err := netip.ParseAddr(host); {
	case host == "":
		return netip.IPv6Unspecified()
	case strings.EqualFold(host, "localhost"):
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case err != nil:
		return netip.Addr{}
	default:
		return ip.Unmap()
	}
}

func (v *validator) backend() {
	switch b := v.Backend; {
	case b.BySheet():
		v.sheet()
	case b.Sheet != "":
		v.fail("backend.sheet", ruleSheetUnused, "found a mapping sheet, which driver %s does not use, expected driver legacy or remote", b.Driver)
	default:
		if fault := dsnFault(string(b.DSN)); fault != "" {
			v.fail("backend.dsn", RuleDSN, "%s", fault)
		}
	}
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

// IsPostgres tells whether the address of a database is one of PostgreSQL; else it is a SQLite file.
func IsPostgres(dsn string) bool { return isDSN(dsn) && !strings.HasPrefix(dsn, "sqlite:") }

// dsnFault is what is wrong with the address of a database; "" for nothing. It refuses a password
// that contains a character that ends the user information: the rest of it would be read as a host
// and a database, and messages would show it.
func dsnFault(dsn string) string {
	scheme, address, _ := strings.Cut(dsn, "://")
	address, query, _ := strings.Cut(address, "?")
	at := strings.IndexAny(address, "/#")
	_, err := url.Parse(dsn)
	switch isNamed := strings.Contains(address, "@"); {
	case !isDSN(dsn):
		return "expected sqlite:FILE, such as sqlite:frontdesk.db, or postgres://user:password@host/database"
	case scheme == "sqlite" && !strings.HasPrefix(address, "/"):
		return "found // before the name of a SQLite file, which would begin with a host, expected sqlite:FILE, such as sqlite:frontdesk.db"
	case !IsPostgres(dsn):
		return ""
	case at >= 0 && strings.Contains(address[at:], "@"):
		return "found an @ behind the host, expected / in a password to be written as %2F, @ as %40, # as %23 and ? as %3F"
	case err != nil || !isNamed && strings.Contains(address, ":") && strings.Contains(query, "@"):
		return "cannot be read, expected postgres://user:password@host/database, with / in the password written as %2F, @ as %40, # as %23, ? as %3F and % as %25"
	}
	return ""
}

func (v *validator) sessions() {
	s := v.Sessions
	if store := string(s.Store); store != MemoryStore && isWord(store) {
		v.fail("sessions.store", strictyaml.RuleWord, "found %s, expected %s%s", v.found("sessions.store", store), MemoryStore, strictyaml.Suggest(store, []string{MemoryStore}))
	}
	if s.CAFile != "" && !strings.HasPrefix(string(s.Store), "rediss://") {
		v.fail("sessions.ca_file", RuleRedis, "found a file of authorities, expected sessions.store to be rediss://, which they are for")
	}
}

func (v *validator) mail() {
	m := v.Mail
	if m.SMTP != "" && m.From == defaultSender {
		v.fail("mail.from", RuleMailFrom, "missing, expected the sender's e-mail address, since mail.smtp is given")
	}
	if m.SMTP == "" && m.Folder == "" {
		v.fail("mail.folder", ruleMailFolder, "found \"\", expected a folder for mail, or mail.smtp")
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

// isUnder tells whether a path is the one given or lies under it.
func isUnder(path, of string) bool { return path == of || strings.HasPrefix(path, of+"/") }

// keys checks the api_keys of a file and resolves their dates in the time zone. That
// names and hashes are unique is checked when all files are read.
func (c *checker) keys(keys []Key) {
	for i := range keys {
		key, path := &keys[i], keyPath(i)
		key.Expires.resolve(c.zone)
		for j := range key.Hashes {
			key.Hashes[j].Expires.resolve(c.zone)
		}
		key.named = !c.doc.Broken(path + ".name")
		c.allow(key.Allow, path+".allow")
		if len(key.Certificates) > 0 && !c.clientCA {
			c.fail(path+".client_certificates", ruleCertificate, "the server asks for no certificates, expected server.tls.client_ca_file, the authorities that issue them")
		}
	}
}

func (c *checker) allow(rules []Rule, path string) {
	first := c.seen
	clear(first)
	for i, rule := range rules {
		if rule == (Rule{}) {
			continue // it could not be read
		}
		if j, twice := first[rule]; twice {
			at := fmt.Sprintf("%s[%d]", path, i)
			c.fail(at, ruleAllowTwice, "found %s again, first at %s[%d]", c.found(at, rule.String()), path, j)
			continue
		}
		first[rule] = i
		if fault := c.fault(rule); fault != "" {
			at := fmt.Sprintf("%s[%d]", path, i)
			c.fail(at, ruleAllowUnknown, "found %s, %s", c.found(at, rule.String()), fault)
		}
	}
}

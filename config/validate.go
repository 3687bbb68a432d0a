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

// checker judges what the decoder cannot judge by single values, and collects the problems of a file.
type checker struct {
	judging
	*Config  // the settings of the main file; nil for included files
	doc      *strictyaml.Document
	problems strictyaml.Problems
}

// fail reports a problem at path, unless decoding has already reported one there.
func (c *checker) fail(path, rule, format string, args ...any) {
	c.problems = append(c.problems, c.doc.Fault(path, rule, fmt.Sprintf(format, args...))...)
}

func (c *checker) failIf(is bool, path, rule, format string, args ...any) {
	if is {
		c.fail(path, rule, format, args...)
	}
}

// validate judges what only the main file has.
func (c *checker) validate() {
	if !c.doc.Has("") { // usually a program was interrupted while it wrote the file; all keys would be gone
		c.fail("", ruleBlank, "nothing is written in it, expected a configuration; one without api_keys says api_keys: []")
		return
	}
	tls, listen, token, store, mail := c.Server.TLS, c.Server.Listen, c.Ops.Token, string(c.Sessions.Store), c.Mail
	c.failIf((tls.CertFile == "") != (tls.KeyFile == ""), "server.tls", ruleTLSPair, "found one of cert_file and key_file, expected both or none")
	c.failIf(tls.ClientCAFile != "" && !tls.Enabled(), "server.tls.client_ca_file", ruleClientCA, "clients show certificates only where the server has one, expected cert_file and key_file too")
	c.failIf(collide(listen, c.Ops.Listen), "ops.listen", ruleListenTwice, "found %s, which server.listen, %s, takes as well, expected a port of its own",
		c.doc.Found("ops.listen", c.Ops.Listen), c.doc.Found("server.listen", listen))
	c.failIf(token != "" && len(token) < leastToken, "ops.token", ruleOpsToken, "found one of %d characters, expected at least %d: it is guessed from anywhere that reaches ops.listen", len(token), leastToken)
	c.backend()
	c.failIf(store != MemoryStore && isWord(store), "sessions.store", strictyaml.RuleWord, "found %s, expected %s%s", c.doc.Found("sessions.store", store), MemoryStore, c.doc.Suggest("sessions.store", store, []string{MemoryStore}))
	c.failIf(c.Sessions.CAFile != "" && !strings.HasPrefix(store, "rediss://"), "sessions.ca_file", RuleRedis, "found a file of authorities, expected sessions.store to be rediss://, which they are for")
	c.failIf(mail.SMTP != "" && mail.From == defaultSender, "mail.from", RuleMailFrom, "missing, expected the sender's e-mail address, since mail.smtp is given")
	c.failIf(mail.SMTP == "" && mail.Folder == "", "mail.folder", ruleMailFolder, "found \"\", expected a folder for mail, or mail.smtp")
	c.callbacks()
}

// leastToken is the least length of ops.token: 128 bits in base64.
const leastToken = 22

// collide reports whether two listeners would use the same port of an address. It does not
// resolve names, except localhost.
func collide(a, b string) bool {
	hostA, portA, errA := splitAddress(a)
	hostB, portB, errB := splitAddress(b)
	if errA != nil || errB != nil || portA != portB || portA == 0 {
		return false
	}
	ipA, ipB := listenedOn(hostA), listenedOn(hostB)
	if ipA.IsUnspecified() || ipB.IsUnspecified() { // for 0.0.0.0, Go listens on all IPv6 addresses too
		return true
	}
	return ipA == ipB && (ipA.IsValid() || strings.EqualFold(hostA, hostB))
}

// listenedOn returns the address that a listener gets for that host; invalid if the name would
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

// backend refuses a dsn for drivers whose sheet has it, and a sheet for the driver that does not use
// one.
func (c *checker) backend() {
	b, fault := c.Backend, dsnFault(string(c.Backend.DSN))
	if !b.BySheet() {
		c.failIf(b.Sheet != "", "backend.sheet", ruleSheetUnused, "found a mapping sheet, which driver %s does not use, expected driver legacy or remote", b.Driver)
		c.failIf(b.Sheet == "" && fault != "", "backend.dsn", RuleDSN, "%s", fault)
		return
	}
	c.failIf(b.Sheet == "", "backend.sheet", ruleSheetMissing, "missing, expected the file of the mapping sheet, which driver %s works with", b.Driver)
	c.failIf(c.doc.Has("backend.dsn"), "backend.dsn", ruleSheetInstead, "driver %s does not use it: the mapping sheet says where the records are", b.Driver)
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

// IsPostgres reports whether the address of a database is one of PostgreSQL; else it is a SQLite file.
func IsPostgres(dsn string) bool { return isDSN(dsn) && !strings.HasPrefix(dsn, "sqlite:") }

// dsnFault returns what is wrong with the address of a database; "" for nothing. It refuses a password
// that contains a character that ends the user information: the rest of the password would be read as
// a host and a database, and messages would show it.
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

// callbacks requires existing endpoints whose answer can wait: everything under
// /authenticate and /webhook answers directly.
func (c *checker) callbacks() {
	for i, rule := range c.Callbacks {
		path, fault := fmt.Sprintf("callbacks[%d]", i), c.fault(rule)
		switch {
		case fault != "":
			c.fail(path, ruleCallbackEndpoint, "found %s, %s", strictyaml.Quote(rule.String()), fault)
		case isUnder(rule.Path, "/authenticate"), isUnder(rule.Path, "/webhook"), rule.Path == "/backup/owner", rule.String() == "POST /changes":
			c.fail(path, ruleCallbackEndpoint, "%s answers as it does", rule)
		case rule.TakesFields(), rule.Method == "*", strings.HasSuffix(rule.Path, "/*") && rule.Path != "/model/*":
			c.fail(path, ruleCallbackEndpoint, "found %s, expected one endpoint, such as GET /order", strictyaml.Quote(rule.String()))
		case slices.Contains(c.Callbacks[:i], rule):
			c.fail(path, ruleRepeated, "%s is there already", rule)
		}
	}
}

// isUnder reports whether a path is the one given or lies under it.
func isUnder(path, of string) bool { return path == of || strings.HasPrefix(path, of+"/") }

// keys checks the api_keys of a file and resolves their dates in the time zone. merge checks that
// names and hashes are unique.
func (c *checker) keys(keys []Key) {
	for i := range keys {
		key, path := &keys[i], keyPath(i)
		key.Expires.resolve(c.zone)
		for j := range key.Hashes {
			key.Hashes[j].Expires.resolve(c.zone)
		}
		key.named = !c.doc.Broken(path + ".name")
		c.allow(key.Allow, path+".allow")
		c.failIf(len(key.Certificates) > 0 && !c.clientCA, path+".client_certificates", ruleCertificate, "the server asks for no certificates, expected server.tls.client_ca_file, the authorities that issue them")
	}
}

func (c *checker) allow(rules []Rule, path string) {
	first := c.seen
	clear(first)
	for i, rule := range rules {
		if rule == (Rule{}) {
			continue // the rule could not be decoded
		}
		if j, twice := first[rule]; twice {
			at := fmt.Sprintf("%s[%d]", path, i)
			c.fail(at, ruleAllowTwice, "found %s again, first at %s[%d]", c.doc.Found(at, rule.String()), path, j)
			continue
		}
		first[rule] = i
		if fault := c.fault(rule); fault != "" {
			at := fmt.Sprintf("%s[%d]", path, i)
			c.fail(at, ruleAllowUnknown, "found %s, %s", c.doc.Found(at, rule.grant()), fault)
		} else if rule.TakesFields() {
			c.fields(rule, fmt.Sprintf("%s[%d]", path, i))
		}
	}
	c.contradictions(rules, path)
}

// judging is the part of the whole configuration by which the keys of one file are judged.
type judging struct {
	endpoints []Endpoint
	basePath  string
	zone      *time.Location
	clientCA  bool // the server asks for certificates of clients

	faults map[Rule]string // cache: why a rule matches nothing; "" if it matches
	seen   map[Rule]int    // index of each rule in the allowlist being checked
}

func newJudging(c *Config, endpoints []Endpoint) judging {
	return judging{
		endpoints: endpoints, basePath: c.Server.BasePath, zone: c.Server.TimeZone.Location,
		clientCA: c.Server.TLS.ClientCAFile != "",
	}.forOne()
}

// forOne returns a copy for the use of one goroutine.
func (j judging) forOne() judging {
	j.faults, j.seen = map[Rule]string{}, map[Rule]int{}
	return j
}

func (j judging) equal(other judging) bool {
	return j.basePath == other.basePath && j.zone.String() == other.zone.String() && j.clientCA == other.clientCA &&
		(j.endpoints == nil) == (other.endpoints == nil) && slices.Equal(j.endpoints, other.endpoints)
}

// fault returns why a rule covers none of the endpoints; "" if it covers one. It caches the
// results, because thousands of keys have the same few rules.
func (j judging) fault(r Rule) string {
	fault, seen := j.faults[r]
	if !seen {
		fault = r.unmatched(j.endpoints, j.basePath)
		j.faults[r] = fault
	}
	return fault
}

package sheet

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// loadSource compiles where the records are; it is false if the sheet names no system.
func (l *loader) loadSource() bool {
	switch {
	case l.Source.sql != nil:
		l.sheet.Source.SQL = l.loadSQL(l.Source.sql)
	case l.Source.HTTP != nil:
		l.sheet.Source.HTTP = l.loadHTTP(l.Source.HTTP)
	default:
		l.fail("source", "found no system, expected one of sql and http")
		return false
	}
	return true
}

func (l *loader) loadSQL(f *sqlFile) *SQL {
	if f.Engine == "" {
		l.fail("source.sql.engine", "missing, expected %s", strictyaml.OneOf(strictyaml.Words[sqlFile]("engine")))
	}
	for i, statement := range f.Session {
		if strings.TrimSpace(statement) == "" {
			l.fail(fmt.Sprintf("source.sql.session[%d]", i), "found an empty statement")
		}
	}
	return &SQL{
		Engine: f.Engine, DSN: l.secret("source.sql", "dsn", f.DSN, f.DSNFile, true), Schema: f.Schema,
		Connections: l.count("source.sql.connections", f.Connections, 16), Session: f.Session, Idempotency: f.Idempotency,
	}
}

func (l *loader) loadHTTP(f *httpFile) *HTTP {
	const at = "source.http"
	l.xml = f.Format == "xml"
	h := &HTTP{
		URL: l.address(at+".url", f.URL), XML: l.xml, CAFile: l.certificates(at+".ca_file", f.CAFile), Secrets: f.Secrets,
		Timeout:     l.duration(at+".timeout", f.Timeout, 5*time.Second),
		Connections: 64,
		MaxAnswer:   cmp.Or(f.MaxAnswer, 16*config.MiB), Retries: 1,
	}
	if !f.Connections.fresh {
		h.Connections = l.count(at+".connections", f.Connections.most, 64)
	}
	if h.Parallel = l.count(at+".parallel", f.Parallel, 1); h.Parallel > maxParallel {
		l.fail(at+".parallel", "found %d, expected %d at most", h.Parallel, maxParallel)
	}
	if h.MaxAnswer < config.KiB {
		l.fail(at+".max_answer", "found %d bytes, expected at least 1KiB", h.MaxAnswer)
	}
	if f.Retries != nil {
		if h.Retries = *f.Retries; h.Retries < 0 || h.Retries > 5 {
			l.fail(at+".retries", "found %d, expected 0 to 5", h.Retries)
		}
	}
	if f.Envelope != "" && !l.xml {
		l.fail(at+".envelope", "found an envelope around JSON, expected format: xml with it")
	}
	l.loadExpressions(at+".expressions", f.Expressions)
	known := []string{"client.id", "client.name"}
	h.Headers = l.headers(at+".headers", f.Headers, known)
	if f.LogOn != nil {
		h.LogOn = l.loadLogOn(at+".log_on", f.LogOn)
	}
	return h
}

// maxParallel bounds source.http.parallel: others wait for the service meanwhile.
const maxParallel = 32

func (l *loader) loadLogOn(at string, f *logOnFile) *LogOn {
	on := &LogOn{
		Request:        l.request(at+".request", f.Request, callContext{method: "POST", known: []string{"client.id", "client.name"}}),
		AccountsClient: f.AccountsClient,
		Token:          f.Token, ExpiresIn: f.ExpiresIn,
		Lifetime: l.duration(at+".lifetime", f.Lifetime, 15*time.Minute),
		Headers:  l.headers(at+".headers", f.Headers, []string{"token", "client.id", "client.name"}),
		RenewOn:  l.matcher(at+".renew_on", f.RenewOn),
	}
	on.PerClient = on.Request.Uses("client.id") || on.Request.Uses("client.name")
	if f.Request.Path == "" {
		l.fail(at+".request.path", "missing, expected the path of the log-on")
	}
	if !on.PerClient && f.AccountsClient != "" {
		l.fail(at+".accounts_client", "found a client, but the request names none, expected {client.name} in it")
	}
	if f.Token == "" {
		l.fail(at+".token", "missing, expected the path of the token in the answer")
	}
	if on.RenewOn.IsZero() {
		on.RenewOn = matchStatus("401")
	}
	return on
}

// headers compiles headers of a request that has nothing else.
func (l *loader) headers(at string, f pairs, known []string) *Request {
	q := &Request{secrets: l.httpSecrets(), language: l.language()}
	for _, p := range f {
		path := strictyaml.Child(at, p.Key)
		q.headers = append(q.headers, l.namedTemplate(path, p, headerTemplate, callContext{known: known}))
	}
	return q
}

func (l *loader) httpSecrets() map[string]config.Secret {
	if l.Source.HTTP == nil {
		return nil
	}
	return l.Source.HTTP.Secrets
}

// address checks the address of a service. Messages do not show it, since it may come from a
// variable.
func (l *loader) address(path, text string) string {
	u, err := url.Parse(text)
	if text == "" {
		l.fail(path, "missing, expected the address of the service, such as https://dms.example.nl/api")
	} else if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.ContainsAny(text, "?#") {
		l.fail(path, "expected an http or https address without user, query and fragment, such as https://dms.example.nl/api")
	}
	return strings.TrimRight(text, "/")
}

// certificates checks a file of authorities, and returns its path.
func (l *loader) certificates(path, file string) string {
	if file == "" {
		return ""
	}
	file = l.relative(file)
	if text, err := os.ReadFile(file); err != nil {
		l.fail(path, "cannot read the file: %v", errorOf(err))
	} else if !x509.NewCertPool().AppendCertsFromPEM(text) {
		l.fail(path, "no certificate in PEM form is in the file")
	}
	return file
}

func (l *loader) duration(path string, given, otherwise time.Duration) time.Duration {
	if given < 0 || given == 0 && l.doc.Has(path) {
		l.fail(path, "found %s, expected more than 0s", given)
	}
	return cmp.Or(given, otherwise)
}

func (l *loader) count(path string, given, otherwise int) int {
	if given < 0 || given == 0 && l.doc.Has(path) {
		l.fail(path, "found %d, expected 1 or more", given)
	}
	return cmp.Or(given, otherwise)
}

// loadAccounts compiles who may log in.
func (l *loader) loadAccounts() {
	f, a := &l.file.Accounts, &l.sheet.Accounts
	kinds := []string{}
	for kind, given := range map[string]bool{"users": l.doc.Has("accounts.users"), "table": f.found.Table != "", "query": f.found.Query != "", "verify": f.Verify != nil} {
		if given {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	switch {
	case len(kinds) == 0:
		l.fail("accounts", "missing, expected one of %s", l.word("users and verify", "users, table and query"))
	case len(kinds) > 1:
		l.fail("accounts", "found %s, expected one of them", strings.Join(kinds, " and "))
	}
	a.Table, a.Query, a.ForgotPassword = f.found.Table, f.found.Query, f.ForgotPassword
	l.loadUsernameCase()
	l.judgeRead("accounts.query", a.Query, "username")
	if a.Query != "" && FindParameter(a.Query, ":username") < 0 {
		l.fail("accounts.query", "found no :username, expected a query with that parameter")
	}
	if f.ForgotPassword != "" {
		if u, err := url.Parse(f.ForgotPassword); err != nil || u.Scheme != "https" || u.Hostname() == "" {
			l.fail("accounts.forgot_password", "found %s, expected an https address", l.found("accounts.forgot_password", f.ForgotPassword))
		}
	}
	l.loadUsers()
	if a.Table != "" || a.Query != "" {
		a.Hash = l.loadHashes()
		needed := []string{"password", "client_id"}
		if a.Table != "" { // it is searched by it; a query has :username
			needed = append(needed, "username")
		}
		a.Facts = l.loadFacts("accounts.columns", f.columns, needed...)
	}
	if f.Verify != nil {
		a.Verify = l.userCall("accounts.verify", f.Verify, callContext{method: "POST", known: []string{"username", "password", "token"}})
		if f.Find != nil {
			a.Find = l.userCall("accounts.find", f.Find, callContext{method: "GET", known: []string{"username", "token"}})
		}
		a.Facts = l.loadFacts("accounts.result", f.Result, "client_id")
		if a.Refused = l.matcher("accounts.refused", f.Refused); a.Refused.IsZero() {
			a.Refused = matchStatus("401")
		}
	}
}

// userCall compiles a call that answers a user.
func (l *loader) userCall(at string, f *userCallFile, c callContext) *Operation {
	if f.Path == "" {
		l.fail(at+".path", "missing, expected a path")
	}
	if f.Result != "" {
		l.isPlace(at+".result", f.Result)
	}
	return &Operation{Request: l.request(at, f.requestFile, c), Result: f.Result}
}

// loadUsernameCase says how the name in an answer is compared. Where frontdesk looks
// names up itself, it does so letter by letter.
func (l *loader) loadUsernameCase() {
	f, path := &l.file.Accounts, "accounts.username_case"
	if f.UsernameCase == "" {
		return
	}
	l.sheet.Accounts.FoldNames = f.UsernameCase == "ignore"
	if f.Verify == nil {
		l.fail(path, "found where frontdesk looks names up itself, expected it with verify")
	}
}

func (l *loader) loadUsers() {
	seen := map[string]bool{}
	for i, u := range l.file.Accounts.Users {
		path := fmt.Sprintf("accounts.users[%d]", i)
		switch {
		case u.Username == "":
			l.fail(path+".username", "missing, expected a name to log in with")
		case seen[strings.ToLower(u.Username)]:
			l.fail(path+".username", "found %s again", l.found(path+".username", u.Username))
		case !mapping.IsPlain(u.Username):
			l.fail(path+".username", "found %s, expected characters that can be seen", l.found(path+".username", u.Username))
		}
		seen[strings.ToLower(u.Username)] = true
		if !strings.HasPrefix(string(u.PasswordHash), "$argon2id$") {
			l.fail(path+".password_hash", "expected argon2id, as frontdesk user hash prints it")
		}
		if u.Client.ID < 1 && u.Client.key == "" || u.Client.Name == "" {
			l.fail(path+".client", "expected {id: %s", map[bool]string{false: "NUMBER, name: TEXT}, a number from 1", true: "TEXT, name: TEXT}"}[l.sheet.ClientsKept])
		} else if !mapping.IsPlain(u.Client.Name) {
			l.fail(path+".client.name", "found %s, expected characters that can be seen", l.found(path+".client.name", u.Client.Name))
		}
		l.sheet.Accounts.Users = append(l.sheet.Accounts.Users, User{PasswordHash: u.PasswordHash, ClientKey: u.Client.key, User: auth.User{
			Username: u.Username, Email: u.Email, External: u.External, Blocked: u.Blocked,
			Client: auth.Client{ID: u.Client.ID, Name: u.Client.Name},
		}})
	}
}

func (l *loader) loadHashes() []auth.ForeignHash {
	hashes := l.file.Accounts.found.Hash
	if len(hashes) == 0 {
		l.fail("accounts.hash", "missing, expected how passwords are hashed, such as [bcrypt]")
	}
	var all []auth.ForeignHash
	for i, h := range hashes {
		path := fmt.Sprintf("accounts.hash[%d]", i)
		at := path
		if l.doc.Has(path + ".algorithm") {
			at = path + ".algorithm"
		}
		l.oneOf(at, h.Algorithm, strictyaml.Words[hashSettings]("algorithm")...) // which may stand alone, as [bcrypt]
		plain := slices.Contains([]string{"sha256", "sha1", "md5"}, h.Algorithm)
		if !plain && (h.Salt != "" || h.Order != "" || h.Encoding != "") {
			l.fail(path, "%s has salt and encoding in the hash itself, expected neither salt, order nor encoding", h.Algorithm)
		}
		all = append(all, auth.ForeignHash{Algorithm: h.Algorithm, Salt: h.Salt, PasswordSalt: h.Order == "password+salt", Base64: h.Encoding == "base64"})
	}
	return all
}

package sheet

import (
	"cmp"
	"crypto/x509"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"frontdesk/config"
)

// httpLoader compiles a sheet in front of a service.
type httpLoader struct {
	*loader
	file        httpSheetFile
	service     *Service
	definitions string // jq that all programs may use
	broken      bool   // those do not compile
	secrets     known
	perClient   bool // every call names the client
	// within are the resources whose records stand within those of others, with the field that
	// refers to those.
	within map[string]string
}

func (l *httpLoader) head() *headFile { return &l.file.headFile }

func (l *httpLoader) words() words {
	return words{place: "path", language: "jq", elements: "path, or read, and "}
}

// maxParallel bounds source.http.parallel: others wait for the service meanwhile.
const maxParallel = 32

// source compiles where the service is.
func (l *httpLoader) source() bool {
	const at = "source.http"
	f := l.file.Source.HTTP
	s := &Service{
		URL: l.address(at+".url", f.URL), XML: f.Format == "xml", CAFile: l.certificates(at+".ca_file", f.CAFile), Secrets: f.Secrets,
		Timeout: positive(l.loader, at+".timeout", f.Timeout, 5*time.Second), Connections: positive(l.loader, at+".connections", f.Connections, 64),
		Parallel: positive(l.loader, at+".parallel", f.Parallel, 1), MaxAnswer: cmp.Or(f.MaxAnswer, 16*config.MiB), Retries: 1,
		MaxAge: positive(l.loader, "copy.max_age", l.file.Copy.MaxAge, 15*time.Minute),
	}
	positive(l.loader, "copy.every", l.file.Copy.Every, 0)
	l.service, l.sheet.Source.Service = s, s
	if s.Parallel > maxParallel {
		l.fail(at+".parallel", "found %d, expected %d at most", s.Parallel, maxParallel)
	}
	if s.MaxAnswer < config.KiB {
		l.fail(at+".max_answer", "found %d bytes, expected at least 1KiB", s.MaxAnswer)
	}
	if f.Retries != nil {
		if s.Retries = *f.Retries; s.Retries < 0 || s.Retries > 5 {
			l.fail(at+".retries", "found %d, expected 0 to 5", s.Retries)
		}
	}
	for _, name := range sortedKeys(f.Secrets) {
		l.secrets = append(l.secrets, "secret."+name)
	}
	l.prelude(f.JQ)
	every := &call{}
	s.Headers = l.headers(every, f.Headers, append(known{"client.id", "client.name"}, l.secrets...))
	if f.LogOn != nil {
		s.LogOn = l.loggedOn(at+".log_on", f.LogOn, every)
	}
	l.perClient = every.names("client") || s.LogOn != nil && s.LogOn.PerClient
	return true
}

// address checks the address of a service. Messages do not show it, since it may come from a
// variable.
func (l *httpLoader) address(path, text string) string {
	u, err := url.Parse(text)
	if text == "" {
		l.fail(path, "missing, expected the address of the service, such as https://dms.example.nl/api")
	} else if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.ContainsAny(text, "?#") {
		l.fail(path, "expected an http or https address without user, query and fragment, such as https://dms.example.nl/api")
	}
	return strings.TrimRight(text, "/")
}

// certificates checks a file of authorities, and returns its path.
func (l *httpLoader) certificates(path, file string) string {
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

// loggedOn compiles the log-on; every notes what every other call names.
func (l *httpLoader) loggedOn(at string, f *httpLogOnFile, every *call) *ServiceLogOn {
	clients := known{"client.id", "client.name"}
	c := l.call(at+".request", f.Request, "POST", append(slices.Clone(clients), l.secrets...))
	on := &ServiceLogOn{
		Call: c.ServiceCall, Token: l.spot(f.Token), PerClient: c.names("client"), AccountsClient: f.AccountsClient, ExpiresIn: l.spot(f.ExpiresIn),
		Lifetime: positive(l.loader, at+".lifetime", f.Lifetime, 15*time.Minute),
		Headers:  l.headers(every, f.Headers, append(append(slices.Clone(clients), "token"), l.secrets...)),
		RenewOn:  l.match(at+".renew_on", f.RenewOn, "401"),
	}
	if !on.PerClient && f.AccountsClient != "" {
		l.fail(at+".accounts_client", "found a client, but the request names none, expected {client.name} in it")
	}
	if !f.Token.given() {
		l.fail(at+".token", "missing, expected where the answer has the token")
	}
	return on
}

var statusForm = regexp.MustCompile(`^[1-5]([0-9]{2}|xx)$`)

// match compiles what recognises an answer; otherwise is the status where the sheet says nothing.
func (l *httpLoader) match(at string, f answerFile, otherwise string) Match {
	if f.Status != "" && !statusForm.MatchString(f.Status) {
		l.fail(at+".status", "found %s, expected a status such as 409, or 4xx", l.quote(at+".status", f.Status))
	}
	if f.Status == "" && !f.JQ.given() {
		return Match{Status: otherwise}
	}
	return Match{Status: f.Status, JQ: l.answered(f.JQ)}
}

// answered compiles jq over an answer.
func (l *httpLoader) answered(f exprFile) *JQ {
	p := l.jq(f)
	if p == nil {
		return nil
	}
	l.judgeJQ(f, p, known{"status", "body.*"})
	return p.JQ
}

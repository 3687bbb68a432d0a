package sheet

import (
	"cmp"
	"crypto/x509"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
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

func (l *httpLoader) words() words {
	return words{place: "path", language: "jq", elements: "path, or read, and "}
}

// maxParallel bounds source.http.parallel: others wait for the service meanwhile.
const maxParallel = 32

// source compiles where the service is.
func (l *httpLoader) source() bool {
	const at = "source.http"
	s := l.file.Source.HTTP
	l.service, l.sheet.Source.Service = s, s
	s.URL, s.XML = l.address(at+".url", s.URL), s.Format == "xml"
	s.CAFile = l.certificates(at+".ca_file", s.CAFile)
	s.Timeout = positive(l.loader, at+".timeout", s.Timeout, 5*time.Second)
	s.Connections = positive(l.loader, at+".connections", s.Connections, 64)
	s.MaxAge = positive(l.loader, "copy.max_age", l.file.Copy.MaxAge, 15*time.Minute)
	positive(l.loader, "copy.every", l.file.Copy.Every, 0)
	if s.Parallel = positive(l.loader, at+".parallel", s.Parallel, 1); s.Parallel > maxParallel {
		l.fail(at+".parallel", "found %d, expected %d at most", s.Parallel, maxParallel)
	}
	if s.MaxAnswer = cmp.Or(s.MaxAnswer, 16*config.MiB); s.MaxAnswer < config.KiB {
		l.fail(at+".max_answer", "found %d bytes, expected at least 1KiB", s.MaxAnswer)
	}
	if !l.doc.Has(at + ".retries") {
		s.Retries = 1
	} else if s.Retries < 0 || s.Retries > 5 {
		l.fail(at+".retries", "found %d, expected 0 to 5", s.Retries)
	}
	for _, name := range sortedKeys(s.Secrets) {
		l.secrets = append(l.secrets, "secret."+name)
	}
	l.jq(s.Definitions)
	l.compile("", reflect.ValueOf(&l.file))
	clients := known{"client.id", "client.name"}
	header := func(section string) func(string) string {
		return func(name string) string { return strictyaml.Child(section, "headers", name) }
	}
	l.headers(s.Headers, append(clients, l.secrets...), header(at))
	every := call{Headers: s.Headers}
	if on := s.LogOn; on != nil {
		l.logOn(at+".log_on", on)
		l.headers(on.Headers, slices.Concat(clients, known{"token"}, l.secrets), header(at+".log_on"))
		every.Query = on.Headers
	}
	l.perClient = every.Names("client") || s.LogOn != nil && s.LogOn.PerClient
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
	if text, ok := l.read(path, file); ok && !x509.NewCertPool().AppendCertsFromPEM(text) {
		l.fail(path, "no certificate in PEM form is in the file")
	}
	return file
}

// logOn compiles the log-on.
func (l *httpLoader) logOn(at string, on *ServiceLogOn) {
	l.call(&on.Request, "POST", append(known{"client.id", "client.name"}, l.secrets...), at+".request")
	on.Call.call, on.PerClient = on.Request, on.Request.Names("client")
	on.Lifetime = positive(l.loader, at+".lifetime", on.Lifetime, 15*time.Minute)
	on.RenewOn = l.match(at+".renew_on", on.RenewOn, "401")
	if !on.PerClient && on.AccountsClient != "" {
		l.fail(at+".accounts_client", "found a client, but the request names none, expected {client.name} in it")
	}
	if on.Token.IsZero() {
		l.fail(at+".token", "missing, expected where the answer has the token")
	}
}

var statusForm = regexp.MustCompile(`^[1-5]([0-9]{2}|xx)$`)

// match judges what recognises an answer; otherwise is the status where the sheet says nothing.
func (l *httpLoader) match(at string, m Match, otherwise string) Match {
	if m.Status != "" && !statusForm.MatchString(m.Status) {
		l.fail(at+".status", "found %s, expected a status such as 409, or 4xx", l.doc.Found(at+".status", m.Status))
	}
	if m == (Match{}) {
		m.Status = otherwise
	}
	l.answered(m.JQ)
	return m
}

// answered judges jq over an answer.
func (l *httpLoader) answered(q *JQ) *JQ {
	l.judgeJQ(q, known{"status", "body.*"})
	return q
}

package sheet

import (
	"cmp"
	"crypto/x509"
	"reflect"
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
	definitions string // jq definitions that all programs may use
	broken      bool   // definitions do not compile
	secrets     known
	perClient   bool // every call names the client
	// within holds the resources whose records are elements within the records of others, with the
	// field that refers to those.
	within map[string]string
}

func (l *httpLoader) words() words {
	return words{place: "path", language: "jq", elements: "path, or read, and "}
}

// source compiles the section source.
func (l *httpLoader) source() bool {
	const at = "source.http"
	s := l.file.Source.HTTP
	l.service, l.sheet.Source.Service = s, s
	s.URL, s.XML = strings.TrimRight(s.URL, "/"), s.Format == "xml"
	s.CAFile = l.certificates(at+".ca_file", s.CAFile)
	s.Timeout, s.Connections, s.Parallel = cmp.Or(s.Timeout, 5*time.Second), cmp.Or(s.Connections, 64), cmp.Or(s.Parallel, 1)
	s.MaxAnswer, s.MaxAge = cmp.Or(s.MaxAnswer, 16*config.MiB), cmp.Or(l.file.Copy.MaxAge, 15*time.Minute)
	if !l.doc.Has(at + ".retries") {
		s.Retries = 1
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
	on.Lifetime = cmp.Or(on.Lifetime, 15*time.Minute)
	on.RenewOn = l.match(at+".renew_on", on.RenewOn, "401")
	if !on.PerClient && on.AccountsClient != "" {
		l.fail(at+".accounts_client", "found a client, but the request names none, expected {client.name} in it")
	}
	if on.Token.IsZero() {
		l.fail(at+".token", "missing, expected where the answer has the token")
	}
}

// match judges a Match; otherwise is the status if the sheet gives none.
func (l *httpLoader) match(at string, m Match, otherwise string) Match {
	if m == (Match{}) {
		m.Status = otherwise
	}
	l.answerJQ(m.JQ)
	return m
}

// answerJQ judges and returns jq that runs on an answer; q may be nil.
func (l *httpLoader) answerJQ(q *JQ) *JQ {
	l.judgeJQ(q, known{"status", "body.*"})
	return q
}

package mapfixture

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
)

// Fixture is a file of cases, in their order.
type Fixture struct {
	File   string `yaml:"-"`
	Source []byte `yaml:"-"` // the file as it was read
	Login  Login  `yaml:"login"`
	Cases  []Case `yaml:"cases"`

	head string // the comments that the file begins with
	// written is the login as the file has it, with variables not expanded.
	written Login
}

// Login is the user whose session requests are made in.
type Login struct {
	Username string `yaml:"username"`
	Password string `yaml:"password"`
}

// Case is a request with its documented answer.
type Case struct {
	Name    string            `yaml:"name"`
	Request Request           `yaml:"request"`
	Answer  Answer            `yaml:"answer"`
	Keep    map[string]string `yaml:"keep"` // names of values, and where in the answer they are
}

// Request is what is sent. Path is put after the address of the gateway, with
// its query.
type Request struct {
	Method  string            `yaml:"method"`
	Path    string            `yaml:"path"`
	Headers map[string]string `yaml:"headers"`
	Body    string            `yaml:"body"`
}

// Answer is what is expected. Headers that are not named, and a body that is not
// given, may be anything.
type Answer struct {
	Status  int               `yaml:"status"`
	Headers map[string]string `yaml:"headers"`
	Body    string            `yaml:"body"`
}

// Read reads a fixture. expand puts variables into the login. The error is
// strictyaml.Problems where the file can be read. Where answers are to be
// recorded, they may be missing.
func Read(path string, expand func(string) (string, error), record bool) (*Fixture, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("fixture: %w", err)
	}
	f := &Fixture{File: path, Source: src}
	doc, problems := strictyaml.Decode(path, src, f)
	fail := func(at, format string, args ...any) {
		if !doc.Broken(at) {
			p := doc.At(at)
			p.Message = fmt.Sprintf(format, args...)
			problems = append(problems, p)
		}
	}
	f.written = f.Login
	for key, text := range map[string]*string{"username": &f.Login.Username, "password": &f.Login.Password} {
		expanded, err := expand(*text)
		if err != nil {
			fail("login."+key, "%v", err)
		}
		*text = expanded
	}
	if (f.Login.Username == "") != (f.Login.Password == "") {
		fail("login", "expected username and password, or none of them")
	}
	if len(f.Cases) == 0 {
		fail("cases", "missing, expected at least one case")
	}
	names := map[string]bool{}
	for i := range f.Cases {
		f.Cases[i].judge(fmt.Sprintf("cases[%d]", i), fail, record, names)
	}
	problems.Sort()
	for line := range strings.Lines(string(src)) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		f.head += line
	}
	return f, problems.Err()
}

var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead}

func (c *Case) judge(at string, fail func(at, format string, args ...any), record bool, names map[string]bool) {
	if c.Name == "" || names[c.Name] {
		fail(at+".name", "found %q, expected a name that no other case has", c.Name)
	}
	names[c.Name] = true
	if c.Request.Method == "" {
		c.Request.Method = http.MethodGet
	}
	if !slices.Contains(methods, c.Request.Method) {
		fail(at+".request.method", "found %q, expected one of %s%s", c.Request.Method, strings.Join(methods, ", "), strictyaml.Suggest(c.Request.Method, methods))
	}
	if !strings.HasPrefix(c.Request.Path, "/") {
		fail(at+".request.path", "found %q, expected a path such as /contact/17", c.Request.Path)
	}
	switch {
	case record && c.Answer.Status == 0:
	case c.Answer.Status < 100 || c.Answer.Status > 599:
		fail(at+".answer.status", "found %d, expected a status such as 200, or map test --record", c.Answer.Status)
	}
	if c.Answer.Body != "" && !json.Valid([]byte(c.Answer.Body)) {
		fail(at+".answer.body", "is no JSON")
	}
}

// Text is the fixture for its file, with what its answers are now. Comments
// at its beginning stay, others are lost. JSON texts are YAML's in double quotes.
func (f *Fixture) Text() []byte {
	var b strings.Builder
	b.WriteString(f.head)
	if f.written.Username != "" {
		fmt.Fprintf(&b, "login: {username: %s, password: %s}\n", plain(f.written.Username), plain(f.written.Password))
	}
	b.WriteString("cases:\n")
	for _, c := range f.Cases {
		fmt.Fprintf(&b, "  - name: %s\n    request:\n      method: %s\n      path: %s\n", plain(c.Name), c.Request.Method, plain(c.Request.Path))
		writeHeaders(&b, c.Request.Headers)
		writeBody(&b, c.Request.Body)
		fmt.Fprintf(&b, "    answer:\n      status: %d\n", c.Answer.Status)
		writeHeaders(&b, c.Answer.Headers)
		writeBody(&b, c.Answer.Body)
		if len(c.Keep) > 0 {
			b.WriteString("    keep:\n")
			for _, name := range slices.Sorted(maps.Keys(c.Keep)) {
				fmt.Fprintf(&b, "      %s: %s\n", name, plain(c.Keep[name]))
			}
		}
	}
	return []byte(b.String())
}

func writeHeaders(b *strings.Builder, headers map[string]string) {
	if len(headers) == 0 {
		return
	}
	b.WriteString("      headers:\n")
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		fmt.Fprintf(b, "        %s: %s\n", name, plain(headers[name]))
	}
}

func writeBody(b *strings.Builder, body string) {
	if body == "" {
		return
	}
	if strings.TrimSpace(body) == "" || strings.HasPrefix(body, " ") {
		fmt.Fprintf(b, "      body: %s\n", plain(body))
		return
	}
	b.WriteString("      body: |\n")
	for line := range strings.Lines(strings.TrimRight(body, "\n") + "\n") {
		b.WriteString("        " + line)
	}
}

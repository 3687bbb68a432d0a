package sheet

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
)

var (
	placeholder = regexp.MustCompile(`\{([A-Za-z][A-Za-z0-9_.-]*)\}`)
	headerName  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	ownHeaders  = []string{"host", "content-length", "transfer-encoding", "connection", "content-type", "expect", "upgrade"}
	pathForm    = regexp.MustCompile(`^/[A-Za-z0-9/._~!$&'()*+,;=:@%{}-]*$`)
)

// call is a call that is compiled, with what is known of it.
type call struct {
	ServiceCall
	file     callFile
	programs []*program
	paths    []Path // of its placeholders
}

// names tells whether a call names what it knows: client, or page number.
func (c *call) names(path ...string) bool {
	for _, p := range c.paths {
		if len(p) >= len(path) && slices.Equal(p[:len(path)], path) {
			return true
		}
	}
	return slices.ContainsFunc(c.programs, func(p *program) bool { return p.mentions(path...) })
}

// places tells whether a placeholder is that path.
func (c *call) places(p Path) bool {
	return slices.ContainsFunc(c.paths, func(of Path) bool { return slices.Equal(of, p) })
}

// call compiles a call that knows k.
func (l *httpLoader) call(at string, f callFile, method string, k known) *call {
	c := &call{file: f}
	c.Method, c.Form, c.Timeout = cmp.Or(f.Method, method), f.Form, f.Timeout
	if f.Timeout < 0 {
		l.fail(strictyaml.Child(at, "timeout"), "found %s, expected more than 0s", f.Timeout)
	}
	if !f.Path.given() {
		l.fail(at, "path is missing, expected that of the call")
	} else if !pathForm.MatchString(f.Path.text) {
		l.fail(f.Path.at, "found %s, expected a path that begins with /, its parameters in query", l.quote(f.Path.at, f.Path.text))
	}
	c.Path = l.text(c, f.Path, k)
	c.Query, c.Headers = l.named(c, f.Query, k), l.headers(c, f.Headers, k)
	if p := l.jq(f.Body); p != nil {
		l.judgeJQ(f.Body, p, k)
		c.Body, c.programs = p.JQ, append(c.programs, p)
	}
	if f.Form && l.service.XML {
		l.fail(strictyaml.Child(at, "form"), "found with format: xml, expected a body of XML")
	}
	if f.Body.given() && c.Method == "GET" {
		l.fail(f.Body.at, "found with GET, expected method: POST, or query")
	}
	return c
}

// text compiles a text with placeholders.
func (l *httpLoader) text(c *call, f textFile, k known) (t Text) {
	literal := func(text string) {
		if strings.ContainsAny(text, "{}") {
			l.fail(f.at, "found a brace that is no placeholder, expected {NAME}")
		}
		if text != "" {
			t = append(t, TextPart{Literal: text})
		}
	}
	end := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(f.text, -1) {
		literal(f.text[end:at[0]])
		end = at[1]
		name := f.text[at[2]:at[3]]
		path := ParsePath(name)
		switch is, below := k.knows(path); {
		case below:
			l.fail(f.at, "found {%s}, which is several values: expected one of them, such as {%[1]s.%s}", name, k.within(name))
		case !is:
			var names []string
			for _, name := range k {
				names = append(names, "{"+strings.Replace(name, "*", "NAME", 1)+"}")
			}
			l.unknownHere(f.at, "{"+name+"}", names)
		}
		t, c.paths = append(t, TextPart{Path: path}), append(c.paths, path)
	}
	literal(f.text[end:])
	return t
}

// within is the first name below another.
func (k known) within(name string) string {
	i := slices.IndexFunc(k, func(known string) bool { return strings.HasPrefix(known, name+".") })
	return strings.TrimPrefix(k[i], name+".")
}

// named compiles the query's parameters.
func (l *httpLoader) named(c *call, f namedFile, k known) (all []Named) {
	for _, e := range f {
		switch {
		case e.Value.none:
		case e.Value.JQ.given():
			p := l.jq(e.Value.JQ)
			if l.judgeJQ(e.Value.JQ, p, k); p != nil {
				c.programs = append(c.programs, p)
				all = append(all, Named{Name: e.Key, JQ: p.JQ})
			}
		default:
			all = append(all, Named{Name: e.Key, Text: l.text(c, e.Value.textFile, k)})
		}
	}
	return all
}

// headers compiles headers.
func (l *httpLoader) headers(c *call, f namedFile, k known) []Named {
	for _, e := range f {
		name := strings.ToLower(e.Key)
		if !headerName.MatchString(e.Key) || name != "content-type" && slices.Contains(ownHeaders, name) {
			l.fail(e.Value.at, "found header %s, expected one that is not the client's own to set", strictyaml.Quote(e.Key))
		}
		if strings.ContainsFunc(e.Value.text, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
			l.fail(e.Value.at, "found a character that headers cannot have")
		}
	}
	return l.named(c, f, k)
}

// over is a call as it is where f says nothing else.
func (f callFile) over(base callFile) callFile {
	out := callFile{
		Method: cmp.Or(f.Method, base.Method), Path: cmp.Or(f.Path, base.Path), Body: cmp.Or(f.Body, base.Body),
		Form: f.Form || base.Form, Timeout: cmp.Or(f.Timeout, base.Timeout),
	}
	out.Query, out.Headers = f.Query.over(base.Query), f.Headers.over(base.Headers)
	return out
}

// over are entries with those of base that they do not have.
func (o ordered[T]) over(base ordered[T]) ordered[T] {
	out := slices.Clone(base)
	for _, e := range o {
		if i := slices.IndexFunc(out, func(of entry[T]) bool { return of.Key == e.Key }); i >= 0 {
			out[i] = e
		} else {
			out = append(out, e)
		}
	}
	return out
}

// walkKnows is what a walk knows.
func (l *httpLoader) walkKnows() known {
	return l.knows("client.id", "client.name", "page.number", "page.offset", "page.limit", "page.cursor", "page.after")
}

// knows is what a call knows, and the secrets and the token that every call does.
func (l *httpLoader) knows(names ...string) known {
	k := known(names)
	if l.file.Source.HTTP.LogOn != nil {
		k = append(k, "token")
	}
	return append(k, l.secrets...)
}

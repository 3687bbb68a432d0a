package sheet

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
)

var (
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	ownHeaders = []string{"host", "content-length", "transfer-encoding", "connection", "content-type", "expect", "upgrade"}
	pathForm   = regexp.MustCompile(`^/[A-Za-z0-9/._~!$&'()*+,;=:@%{}-]*$`)
)

// params returns all parts of a call as parameters, its path and body included.
func (c *call) params() Parameters {
	return slices.Concat(Parameters{{Text: c.Path, JQ: c.Body}}, c.Query, c.Headers)
}

// Names reports whether a call uses a name, such as client, or page and number.
func (c *call) Names(path ...string) bool {
	return slices.ContainsFunc(c.params(), func(n Named) bool {
		return n.JQ.mentions(path...) || slices.ContainsFunc(n.Text, func(part TextPart) bool {
			return len(part.Path) >= len(path) && slices.Equal(part.Path[:len(path)], path)
		})
	})
}

// places reports whether a call has a placeholder for that path.
func (c *call) places(p Path) bool {
	return slices.ContainsFunc(c.params(), func(n Named) bool { return n.Text.places(p) })
}

func (t Text) places(p Path) bool {
	return slices.ContainsFunc(t, func(part TextPart) bool { return slices.Equal(part.Path, p) })
}

// call compiles a call that knows k. at are the sections that its keys may come from, in order of
// precedence.
func (l *httpLoader) call(c *call, method string, k known, at ...string) {
	place := func(keys ...string) string { return l.keyPath(at, keys...) }
	c.Method = cmp.Or(c.Method, method)
	if path := place("path"); len(c.Path) == 0 {
		l.fail(at[0], "path is missing, expected that of the call")
	} else if text := c.Path.String(); !pathForm.MatchString(text) {
		l.fail(path, "found %s, expected a path that begins with /, its parameters in query", l.doc.Found(path, text))
	}
	l.text(place("path"), c.Path, k)
	l.named(c.Query, k, func(name string) string { return place("query", name) })
	l.headers(c.Headers, k, func(name string) string { return place("headers", name) })
	l.judgeJQ(c.Body, k)
	if c.Form && l.service.XML {
		l.fail(place("form"), "found with format: xml, expected a body of XML")
	}
	if c.Body != nil && c.Method == "GET" {
		l.fail(c.Body.at, "found with GET, expected method: POST, or query")
	}
}

// keyPath returns the path of a key in the first of some sections that has it.
func (l *httpLoader) keyPath(at []string, keys ...string) string {
	i := slices.IndexFunc(at, func(section string) bool { return l.doc.Has(strictyaml.Child(section, keys...)) })
	return strictyaml.Child(at[max(i, 0)], keys...)
}

// text judges a text with placeholders.
func (l *httpLoader) text(at string, t Text, k known) {
	for _, part := range t {
		if strings.ContainsAny(part.Literal, "{}") {
			l.fail(at, "found a brace that is no placeholder, expected {NAME}, or for a parameter with braces {jq: TEXT}")
		}
		if part.Path == nil {
			continue
		}
		name := part.Path.String()
		switch is, below := k.knows(part.Path); {
		case below:
			l.fail(at, "found {%s}, which is several values: expected one of them, such as {%[1]s.%s}", name, k.within(name))
		case !is:
			var names []string
			for _, name := range k {
				names = append(names, "{"+strings.Replace(name, "*", "NAME", 1)+"}")
			}
			l.unknownHere(at, "{"+name+"}", names)
		}
	}
}

// within returns the first known name below another.
func (k known) within(name string) string {
	i := slices.IndexFunc(k, func(known string) bool { return strings.HasPrefix(known, name+".") })
	return strings.TrimPrefix(k[i], name+".")
}

// named judges parameters.
func (l *httpLoader) named(all Parameters, k known, at func(name string) string) {
	for _, n := range all {
		l.judgeJQ(n.JQ, k)
		l.text(at(n.Name), n.Text, k)
		for _, part := range n.Text {
			if len(n.Text) > 1 && part.Path != nil && slices.Contains(chosen, part.Path[0]) {
				l.fail(at(n.Name), "found {%s} within a text, where it could become more than a value: expected it by itself, or jq, which can quote it", part.Path)
			}
		}
	}
}

// chosen are the placeholders whose values clients choose.
var chosen = []string{"username", "password", "key", "record", "value"}

// headers judges headers.
func (l *httpLoader) headers(all Parameters, k known, at func(name string) string) {
	for _, n := range all {
		name := strings.ToLower(n.Name)
		if !headerName.MatchString(n.Name) || name != "content-type" && slices.Contains(ownHeaders, name) {
			l.fail(at(n.Name), "found header %s, expected one that is not the client's own to set", strictyaml.Quote(n.Name))
		}
		if strings.ContainsFunc(n.Text.String(), func(r rune) bool { return r < ' ' || r >= 0x7f }) {
			l.fail(at(n.Name), "found a character that headers cannot have")
		}
	}
	l.named(all, k, at)
}

// over returns the call c, with what it does not set taken from base.
func (c call) over(base call) call {
	return call{
		Method: cmp.Or(c.Method, base.Method), Path: c.Path.over(base.Path), Body: cmp.Or(c.Body, base.Body),
		Form: c.Form || base.Form, Timeout: cmp.Or(c.Timeout, base.Timeout), Query: c.Query.over(base.Query), Headers: c.Headers.over(base.Headers),
	}
}

func (t Text) over(base Text) Text {
	if len(t) == 0 {
		return base
	}
	return t
}

// over returns p, with the parameters of base that it does not have.
func (p Parameters) over(base Parameters) Parameters {
	out := slices.Clone(base)
	for _, n := range p {
		if i := slices.IndexFunc(out, func(of Named) bool { return of.Name == n.Name }); i >= 0 {
			out[i] = n
		} else {
			out = append(out, n)
		}
	}
	return slices.DeleteFunc(out, func(n Named) bool { return n.none })
}

// over returns s, or base if s is zero.
func (s Spot) over(base Spot) Spot {
	if s.IsZero() {
		return base
	}
	return s
}

// walkKnows returns the names that a walk knows.
func (l *httpLoader) walkKnows() known {
	return l.knows("client.id", "client.name", "page.number", "page.offset", "page.limit", "page.cursor", "page.after")
}

// knows returns names, and those that every call knows: the secrets and the token.
func (l *httpLoader) knows(names ...string) known {
	k := known(names)
	if l.service.LogOn != nil {
		k = append(k, "token")
	}
	return append(k, l.secrets...)
}

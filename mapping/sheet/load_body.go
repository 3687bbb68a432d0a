package sheet

import (
	"errors"
	"strings"

	"frontdesk/config/strictyaml"
)

// loadBody compiles the body of a call, by its content type.
func (l *loader) loadBody(path, text string, f requestFile, q *Request, c callContext) {
	at := strictyaml.Child(path, "body")
	q.ContentType = f.ContentType
	if q.ContentType == "" {
		q.ContentType = "application/json"
		if l.xml {
			q.ContentType = "text/xml; charset=utf-8"
		}
	}
	if q.Method == "GET" {
		l.fail(at, "found a body of a GET, expected method POST")
	}
	media, _, _ := strings.Cut(strings.ToLower(q.ContentType), ";")
	media = strings.TrimSpace(media)
	use := func(name string) {
		l.placeholder(at, name, c, true)
		q.uses[name] = true
	}
	var err error
	switch {
	case strings.HasSuffix(media, "json"):
		var n jsonNode
		n, err = parseJSON(text)
		n.names(use)
		q.body = &n
	case strings.HasSuffix(media, "xml"):
		q.body, err = l.xmlBody(text, use)
	case media == formURLEncode:
		q.body, err = parseForm(text, use)
	default:
		l.fail(strictyaml.Child(path, "content_type"), "found %s, expected one of JSON, of XML, or %s", l.found(strictyaml.Child(path, "content_type"), f.ContentType), formURLEncode)
	}
	if err != nil {
		l.fail(at, "%s", l.detail(at, err))
	}
	if q.body != nil {
		q.body.texts(func(t *template) { l.judgeText(at, t, c) })
	}
}

// xmlBody compiles an XML body, with the envelope around it.
func (l *loader) xmlBody(text string, use func(string)) (body, error) {
	b, err := parseXML(text)
	if err != nil {
		return nil, err
	}
	b.texts(func(t *template) { t.names(use) })
	if l.Source.HTTP == nil || l.Source.HTTP.Envelope == "" {
		return b, nil
	}
	const at = "source.http.envelope"
	envelope, err := parseXML(l.Source.HTTP.Envelope)
	if err != nil {
		l.once(at, "%s", l.detail(at, err))
		return b, nil
	}
	known := callContext{known: []string{"token", "client.id", "client.name", "body"}}
	if !l.judged[at] {
		envelope.texts(func(t *template) {
			t.names(func(name string) { l.placeholder(at, name, known, true) })
		})
	}
	wrapped, found := envelope.wrap(b)
	if !found {
		l.once(at, "found no {body}, expected it where the bodies of operations go")
	}
	l.reported(at)
	return wrapped, nil
}

// once reports a problem of a part that several operations share.
func (l *loader) once(path, format string, args ...any) {
	if !l.judged[path] {
		l.fail(path, format, args...)
	}
	l.reported(path)
}

func (l *loader) reported(path string) {
	if l.judged == nil {
		l.judged = map[string]bool{}
	}
	l.judged[path] = true
}

// parseForm compiles name=value pairs between &, all plain text.
func parseForm(text string, use func(string)) (body, error) {
	var b formBody
	for _, p := range strings.Split(strings.TrimSpace(text), "&") {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" || placeholder.MatchString(name) {
			return nil, errors.New("expected name=value, several with & between them")
		}
		t := template{name: name, parts: split(value)}
		t.names(use)
		b = append(b, t)
	}
	return b, nil
}

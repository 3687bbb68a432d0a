package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"frontdesk/auth"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// known has the values of placeholders in a call, and the input of jq.
type known struct {
	source    *sheet.Service
	client    auth.Client
	clientKey any            // what identifies the client in the service
	record    map[string]any // what is written, in the service's form
	fields    mapping.Record // the same as clients see it
	key       any            // of the record; a list if it has several parts
	page      *pageRequest
	since     any
	token     string
	username  string
	password  string
	version   any
	once      string   // the idempotency key
	attempt   *attempt // of a write
}

// pageRequest is the page that a walk requests.
type pageRequest struct {
	number, offset, limit int
	cursor, after         any
	address               string // of a link, which replaces path and query
}

// get returns the value at a path; false if it is missing or null.
func (k *known) get(p sheet.Path) (any, bool) {
	v, ok := p[1:].Of(k.member(p[0]))
	return v, ok && v != nil
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// member returns one of members. Objects are made on demand.
func (k *known) member(name string) any {
	switch name {
	case "record":
		if k.record == nil {
			return nil
		}
		return k.record
	case "value":
		if k.fields.Resource == nil {
			return nil
		}
		return shown(k.fields)
	case "key":
		return k.key
	case "client":
		return map[string]any{"id": k.clientKey, "name": orNull(k.client.Name)}
	case "page":
		if k.page == nil {
			return nil
		}
		return map[string]any{"number": k.page.number, "offset": k.page.offset, "limit": k.page.limit, "cursor": k.page.cursor, "after": k.page.after}
	case "since":
		return k.since
	case "secret":
		all := map[string]any{}
		for name, secret := range k.source.Secrets {
			all[name] = string(secret)
		}
		return all
	case "token":
		return orNull(k.token)
	case "username":
		return orNull(k.username)
	case "password":
		return orNull(k.password)
	case "version":
		return k.version
	default:
		return orNull(k.once)
	}
}

// members are the names that placeholders and jq may use.
var members = []string{"record", "value", "key", "client", "page", "since", "secret", "token", "username", "password", "version", "idempotency_key"}

// input is all of it, for jq.
func (k *known) input() map[string]any {
	all := make(map[string]any, len(members))
	for _, name := range members {
		all[name] = k.member(name)
	}
	return all
}

// asText is the text of a value in a path, a query or a header: an object is JSON there.
func asText(v any) string {
	if text, ok := sheet.ScalarText(v); ok {
		return text
	}
	return string(sheet.AppendJSON(nil, v))
}

// textsOf are the values of a header or a parameter of the query: none if a placeholder or jq has no
// value, several if it is a list.
func (k *known) textsOf(ctx context.Context, n *sheet.Named) ([]string, error) {
	if n.JQ == nil {
		return k.texts(n.Text)
	}
	v, err := n.JQ.First(ctx, k.input())
	if errors.Is(err, sheet.ErrNothing) || err == nil && v == nil {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name, err)
	}
	return asTexts(v), nil
}

// texts are the values of a text with placeholders. A list by itself is several.
func (k *known) texts(t sheet.Text) ([]string, error) {
	text := ""
	for _, part := range t {
		if part.Path == nil {
			text += part.Literal
			continue
		}
		v, ok := k.get(part.Path)
		if !ok {
			return nil, nil
		}
		if len(t) == 1 {
			return asTexts(v), nil
		}
		text += asText(v)
	}
	return []string{text}, nil
}

func asTexts(v any) []string {
	all, several := v.([]any)
	if !several {
		return []string{asText(v)}
	}
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = asText(v)
	}
	return texts
}

func breaksOut(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar
}

// errUnsendable is the error of a value that a request cannot carry, or that would not be read as a
// value there. The request was not sent. The error does not show the value.
var errUnsendable = errors.New("the request cannot be made")

// appendTarget appends the path of a call and its query, escaped.
func (k *known) appendTarget(ctx context.Context, dst []byte, on *call) (_ []byte, err error) {
	for _, part := range on.Path {
		if part.Path == nil {
			dst = append(dst, part.Literal...)
			continue
		}
		v, _ := k.get(part.Path)
		text := asText(v)
		if v == nil || text == "" || strings.ContainsFunc(text, breaksOut) || leadsElsewhere(text) {
			return nil, fmt.Errorf("%w: {%s} is no part of a path", errUnsendable, part.Path)
		}
		dst = append(dst, url.PathEscape(text)...)
	}
	query := url.Values{}
	for i := range on.Query {
		name := on.Query[i].Name
		if query[name], err = k.textsOf(ctx, &on.Query[i]); err != nil {
			return nil, err
		}
	}
	if text := encoded(query); text != "" {
		dst = append(append(dst, '?'), text...)
	}
	return dst, nil
}

// leadsElsewhere reports whether a value has . or .. as a part of a path, also for services that take an
// escaped slash or a backslash for a slash.
func leadsElsewhere(text string) bool {
	if !strings.Contains(text, ".") {
		return false
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.Contains(parts, ".") || slices.Contains(parts, "..")
}

// encoded encodes a query or a form. A blank becomes %20, which all services understand, and a colon
// stays: services that read queries by RFC 3986, such as OData's, take + for a plus, and recognise
// times by their colons.
func encoded(pairs url.Values) string { return readQuery.Replace(pairs.Encode()) }

var readQuery = strings.NewReplacer("+", "%20", "%3A", ":")

// form is an object as the body of a form: a list repeats its name, and null is left out.
func form(object map[string]any) []byte {
	all := url.Values{}
	for name, v := range object {
		if v != nil {
			all[name] = asTexts(v)
		}
	}
	return []byte(encoded(all))
}

// keyOf is a key as calls use it: a list if it has several parts.
func keyOf(parts []any) any {
	if len(parts) == 1 {
		return parts[0]
	}
	return parts
}

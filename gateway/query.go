package gateway

import (
	"bytes"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// appendParams decodes a raw query in the order it was sent. Empty parts
// (&&) count as nothing. A % that begins no escape stands for itself.
func appendParams(dst []Param, raw []byte) []Param {
	for part := range bytes.SplitSeq(raw, []byte{'&'}) {
		if name, value, _ := bytes.Cut(part, []byte{'='}); len(part) > 0 {
			dst = append(dst, Param{Name: unescape(name), Value: unescape(value)})
		}
	}
	return dst
}

// list returns the values that a parameter holds, separated by commas; a comma within a value is \,. So
// a client may write a comma as it is or, as URL libraries do, as %2C.
func (p Param) list() (values []string) {
	from := 0
	for i := 0; i <= len(p.Value); i++ {
		if i == len(p.Value) || p.Value[i] == ',' && (i == 0 || p.Value[i-1] != '\\') {
			values = append(values, strings.ReplaceAll(p.Value[from:i], `\,`, ","))
			from = i + 1
		}
	}
	return values
}

// appendTo appends the parameter to a query.
func (p Param) appendTo(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, '&')
	}
	dst = append(append(dst, url.QueryEscape(p.Name)...), '=')
	return append(dst, url.QueryEscape(p.Value)...)
}

func unescape(b []byte) string {
	if bytes.IndexByte(b, '%') < 0 && bytes.IndexByte(b, '+') < 0 {
		return string(b)
	}
	var s strings.Builder
	s.Grow(len(b))
	for i := 0; i < len(b); i++ {
		c := []byte{b[i]}
		switch {
		case b[i] == '+':
			c[0] = ' '
		case b[i] == '%' && i+2 < len(b):
			if _, err := hex.Decode(c, b[i+1:i+3]); err == nil {
				i += 2
			}
		}
		s.WriteByte(c[0])
	}
	return s.String()
}

// maxParams bounds how many parameters are compared with each other.
const maxParams = 500

// repeated refuses parameters that are given more than once, each named once.
func repeated(params []Param) error {
	if len(params) > maxParams {
		return mapping.Fail(mapping.QueryUnsupported, params[maxParams].Name)
	}
	var v mapping.Violations
	for i, p := range params {
		same := func(o Param) bool { return o.Name == p.Name }
		if slices.ContainsFunc(params[i+1:], same) && !slices.ContainsFunc(params[:i], same) {
			v = append(v, mapping.Fail(mapping.QueryRepeated, p.Name))
		}
	}
	return v.Err()
}

// unsupported refuses parameters that the operation does not take.
func unsupported(params []Param, takes map[string]bool) error {
	var v mapping.Violations
	for i := range params {
		if !takes[params[i].Name] {
			v = append(v, mapping.Fail(mapping.QueryUnsupported, params[i].Name))
		}
	}
	return v.Err()
}

// withoutSecrets hides names of parameters that are not plain words: if a password in the
// query contains an &, its rest looks like a name.
func withoutSecrets(params []Param) {
	for i, p := range params {
		if strings.Trim(p.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
			params[i].Name = "…"
		}
	}
}

// required returns one violation for all names that are missing or empty.
func required(x *Exchange, names ...string) mapping.Violations {
	var missing []any
	for _, name := range names {
		if x.Param(name) == "" {
			missing = append(missing, mapping.Literal(name))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return mapping.Violations{mapping.Fail(mapping.ParametersRequired, missing...)}
}

// parseID parses a primary ID: an int4 above 0 in plain digits.
func parseID(s string) (int32, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int32(n), err == nil && s[0] != '0' // #nosec G115 -- of 31 bits
}

func isBlank(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }

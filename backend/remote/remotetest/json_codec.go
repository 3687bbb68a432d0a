package remotetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// object is a JSON object.
type object = map[string]any

// momentForm shows milliseconds only where there are any.
const momentForm = "2006-01-02T15:04:05.999Z07:00"

// show returns a row as Garage Cloud shows it. Objects of which nothing is
// filled in are null.
func (g *JSON) show(l *ledger, s *skin, r row, apart string) object {
	out := object{
		"id": r.id, "version": r.version,
		"createdAt": r.created.In(zone).Format(momentForm), "updatedAt": r.updated.In(zone).Format(momentForm),
		"deletedAt": nil,
	}
	if !r.alive() {
		out["deletedAt"] = r.deleted.In(zone).Format(momentForm)
	}
	e := l.entities[s.entity]
	for i := range s.fields {
		w := &s.fields[i]
		if w.apart && w.path != apart {
			continue
		}
		f, v := e.field(w.name), r.values[w.name]
		if w.via != "" {
			ref := e.field(w.via)
			f, v = l.entities[ref.to].field(w.name), nil
			if other := l.row(ref.to, r.values.text(w.via)); other != nil {
				v = other.values[w.name]
			}
		}
		put(out, w.path, toJSON(f, w, v))
	}
	for name, v := range out {
		if inner, ok := v.(object); ok && allNil(inner) {
			out[name] = nil
		}
	}
	return out
}

func put(o object, path string, v any) {
	outer, inner, nested := strings.Cut(path, ".")
	if !nested {
		o[path] = v
		return
	}
	child, ok := o[outer].(object)
	if !ok {
		child = object{}
		o[outer] = child
	}
	put(child, inner, v)
}

func allNil(o object) bool {
	for _, v := range o {
		if v != nil {
			return false
		}
	}
	return true
}

func toJSON(f *field, w *wire, v any) any {
	switch v := v.(type) {
	case *big.Rat:
		return v.FloatString(f.scale)
	case time.Time:
		switch {
		case f.kind == day:
			return v.Format(time.DateOnly)
		case w.style == millis:
			return v.UnixMilli()
		default:
			return v.In(zone).Format(momentForm)
		}
	case int64:
		if w.style == quoted {
			return strconv.FormatInt(v, 10)
		}
		return v
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case string:
		if f.kind == choice {
			return w.spell(v)
		}
		return v
	default:
		return v
	}
}

// take reads the fields of a record from a body. Empty ones are nil, absent
// ones absent.
func (s *skin) take(e *entity, body object, prefix string) (values, *problem) {
	out := values{}
	for _, name := range slices.Sorted(maps.Keys(body)) {
		path, v := prefix+name, body[name]
		if prefix == "" && slices.Contains([]string{"id", "version", "createdAt", "updatedAt", "deletedAt"}, name) {
			return nil, &problem{trouble: readOnly, field: name}
		}
		if i := slices.IndexFunc(s.fields, func(w wire) bool { return w.path == path }); i >= 0 {
			w := &s.fields[i]
			f := e.field(w.name)
			if w.via != "" || f.readOnly {
				return nil, &problem{trouble: readOnly, field: path}
			}
			value, ok := fromJSON(f, w, v)
			if !ok {
				return nil, &problem{trouble: invalid, field: w.name, detail: fmt.Sprint(v)}
			}
			out[w.name] = value
			continue
		}
		inner, p := s.takeObject(e, path, v)
		if p != nil {
			return nil, p
		}
		maps.Copy(out, inner)
	}
	return out, nil
}

// takeObject reads a nested object; null empties everything in it.
func (s *skin) takeObject(e *entity, path string, v any) (values, *problem) {
	out, known := values{}, false
	for i := range s.fields {
		w := &s.fields[i]
		if !strings.HasPrefix(w.path, path+".") {
			continue
		}
		known = true
		if w.via == "" && !e.field(w.name).readOnly {
			out[w.name] = nil
		}
	}
	inner, isObject := v.(object)
	switch {
	case !known:
		return nil, &problem{trouble: unknownField, field: path}
	case isObject:
		return s.take(e, inner, path+".")
	case len(out) == 0:
		return nil, &problem{trouble: readOnly, field: path}
	case v != nil:
		return nil, &problem{trouble: invalid, field: path, detail: fmt.Sprint(v)}
	}
	return out, nil
}

func fromJSON(f *field, w *wire, v any) (any, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case bool:
		return v, f.kind == flag
	case json.Number:
		n, err := strconv.ParseInt(v.String(), 10, 64)
		switch {
		case err != nil || w.style == quoted:
			return nil, false
		case f.kind == moment && w.style == millis:
			return time.UnixMilli(n), true
		}
		return n, f.kind == whole
	case string:
		if f.kind == moment && w.style == millis || f.kind == whole && w.style != quoted || f.kind == flag {
			return nil, false
		}
		return jsonText.read(f, w, v)
	default:
		return nil, false
	}
}

// jsonText is how Garage Cloud writes values as text: in a body, or in a query.
var jsonText = notation{"true", "false", func(s string) (time.Time, error) { return time.Parse(time.RFC3339, s) }}

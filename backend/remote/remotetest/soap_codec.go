package remotetest

import (
	"encoding/base64"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// AutoLijn's moments are local time without saying so, and a date in the year 1
// where there is none.
const (
	localForm = "2006-01-02T15:04:05"
	noMoment  = "0001-01-01T00:00:00"
)

// print writes a record as AutoLijn does.
func (s *skin) print(p *printer, e *entity, r row, apart bool) {
	p.open(s.one)
	p.leaf(s.one+"ID", r.id)
	for i := range s.fields {
		w := &s.fields[i]
		if !w.apart || apart {
			printField(p, e.field(w.name), w, r.values[w.name])
		}
	}
	p.leaf("Aangemaakt", r.created.In(zone).Format(localForm))
	p.leaf("Gewijzigd", r.updated.In(zone).Format(localForm))
	p.close(s.one)
}

func printField(p *printer, f *field, w *wire, v any) {
	switch v := v.(type) {
	case nil:
		switch {
		case f.kind == reference || w.style == zero:
			p.leaf(w.path, "0")
		case f.kind == moment:
			p.leaf(w.path, noMoment)
		case f.kind == text:
			p.leaf(w.path, "")
		case f.kind == flag:
			p.leaf(w.path, "N")
		default:
			p.none(w.path)
		}
	case bool:
		p.leaf(w.path, map[bool]string{true: "J", false: "N"}[v])
	case int64:
		p.leaf(w.path, strconv.FormatInt(v, 10))
	case *big.Rat:
		s := v.FloatString(f.scale)
		if w.style == comma {
			s = strings.Replace(s, ".", ",", 1)
		}
		p.leaf(w.path, s)
	case time.Time:
		if f.kind == day {
			p.leaf(w.path, v.Format(time.DateOnly))
			return
		}
		p.leaf(w.path, v.In(zone).Format(localForm))
	case []byte:
		p.leaf(w.path, base64.StdEncoding.EncodeToString(v))
	case string:
		if f.kind == choice {
			v = w.spell(v)
		}
		p.leaf(w.path, v)
	}
}

// scan reads the fields of a record. Empty ones are nil, absent ones absent.
func (s *skin) scan(e *entity, n *node) (values, *problem) {
	out := values{}
	for _, c := range n.Children {
		name := c.XMLName.Local
		if name == s.one+"ID" {
			continue
		}
		i := slices.IndexFunc(s.fields, func(w wire) bool { return w.path == name })
		if i < 0 || c.XMLName.Space != autolijnNS {
			return nil, &problem{trouble: unknownField, field: name}
		}
		w := &s.fields[i]
		f := e.field(w.name)
		if f.readOnly {
			return nil, &problem{trouble: readOnly, field: w.name}
		}
		v, ok := scanField(f, w, c)
		if !ok {
			return nil, &problem{trouble: invalid, field: w.name, detail: c.Text}
		}
		out[w.name] = v
	}
	return out, nil
}

func scanField(f *field, w *wire, n *node) (any, bool) {
	s := strings.TrimSpace(n.Text)
	switch {
	case len(n.Children) > 0:
		return nil, false
	case n.Nil, s == "", s == "0" && (f.kind == reference || w.style == zero), f.kind == moment && s == noMoment:
		return nil, true
	}
	if f.kind == text {
		return n.Text, true
	}
	return soapText.read(f, w, s)
}

// soapText is how AutoLijn writes values.
var soapText = notation{"J", "N", func(s string) (time.Time, error) { return time.ParseInLocation(localForm, s, zone) }}

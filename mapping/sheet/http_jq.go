package sheet

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"frontdesk/config/strictyaml"
)

// compile compiles all jq in a part of the sheet, and judges its paths.
func (l *httpLoader) compile(at string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if q, is := v.Interface().(*JQ); is {
			l.jq(q)
		} else if !v.IsNil() {
			l.compile(at, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			below := strictyaml.Child(at, f.Tag.Get("yaml"))
			if name := f.Tag.Get("yaml"); name == "" || !l.doc.Has(below) { // an embedded struct, or the short form
				below = at
			}
			if f.IsExported() || f.Anonymous {
				l.compile(below, v.Field(i))
			}
		}
	case reflect.Slice:
		switch of := v.Interface().(type) {
		case Text: // judged with its call
			return
		case Path:
			l.path(at, of)
			return
		}
		for i := range v.Len() {
			below := item(at, i)
			if !l.doc.Has(below) {
				below = at
			}
			l.compile(below, v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			l.compile(strictyaml.Child(at, key.String()), v.MapIndex(key))
		}
	}
}

// jq compiles a program and reports its faults. A faulty program has no code.
func (l *httpLoader) jq(q *JQ) {
	switch {
	case q == nil || q.code != nil:
	case strings.TrimSpace(q.text) == "":
		l.fail(q.at, "found an empty text, expected jq")
	case q == l.service.Definitions:
		if err := (&JQ{text: "."}).compile(q.text); err != nil {
			l.fail(q.at, "%s", l.jqFault(q, err, 0))
			l.broken = true
		} else {
			l.definitions = q.text
		}
	case l.broken: // the fault of the definitions has been reported
	default:
		if err := q.compile(l.definitions); err != nil {
			l.fail(q.at, "%s", l.jqFault(q, err, len(l.definitions)+1))
		}
	}
}

// jqFault describes a fault in jq's words, with its position.
func (l *httpLoader) jqFault(f *JQ, err error, skip int) string {
	if _, expanded := l.doc.Written(f.at); expanded {
		return l.detail(f.at, err)
	}
	where := ""
	if parsed, is := errors.AsType[*gojq.ParseError](err); is {
		before := f.text[:min(max(parsed.Offset-len(parsed.Token)-skip, 0), len(f.text))]
		line := strings.LastIndexByte(before, '\n') + 1
		where = fmt.Sprintf(" at character %d", utf8.RuneCountInString(before[line:])+1)
		if line > 0 {
			where = fmt.Sprintf(" in line %d%s", strings.Count(before, "\n")+1, where)
		}
	}
	return fmt.Sprintf("found %s, which is no jq: %s%s", l.doc.Found(f.at, f.text), err, where)
}

// names returns all names and texts in the program, and in the definitions that it uses.
func (p *JQ) names() map[string]bool {
	seen, visited, defs := map[string]bool{}, map[string]bool{}, map[string]*gojq.FuncDef{}
	for _, def := range p.query.FuncDefs {
		defs[def.Name] = def
	}
	own := *p.query
	own.FuncDefs = nil
	var visit func(v reflect.Value)
	visit = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if f, is := v.Interface().(*gojq.Func); is && f != nil && defs[f.Name] != nil && !visited[f.Name] {
				visited[f.Name] = true
				visit(reflect.ValueOf(defs[f.Name].Body))
			}
			if !v.IsNil() {
				visit(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				visit(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				visit(v.Index(i))
			}
		case reflect.String:
			seen[strings.TrimPrefix(v.String(), ".")] = true
		}
	}
	visit(reflect.ValueOf(&own))
	return seen
}

// mentions reports whether a program may read the member at a path of its input.
func (p *JQ) mentions(path ...string) bool {
	if p == nil || p.query == nil {
		return false
	}
	names := p.names()
	return !slices.ContainsFunc(path, func(name string) bool { return !names[name] })
}

// roots returns the members of its input that a program certainly names: client.id for .client.id.
func (p *JQ) roots() (all []Path) {
	var of func(q *gojq.Query)
	term := func(t *gojq.Term) {
		switch {
		case t.Index != nil && t.Index.Name != "":
			path := Path{t.Index.Name}
			for _, s := range t.SuffixList {
				if s.Index == nil || s.Index.Name == "" {
					break
				}
				path = append(path, s.Index.Name)
			}
			all = append(all, path)
		case t.Query != nil:
			of(t.Query)
		case t.Array != nil:
			of(t.Array.Query)
		case t.Unary != nil:
			of(&gojq.Query{Term: t.Unary.Term})
		case t.Str != nil:
			for _, q := range t.Str.Queries {
				of(q)
			}
		case t.If != nil:
			of(t.If.Cond)
			of(t.If.Then)
			of(t.If.Else)
		case t.Object != nil:
			for _, kv := range t.Object.KeyVals {
				if of(kv.Val); kv.Val == nil && kv.Key != "" && kv.Key[0] != '$' {
					all = append(all, Path{kv.Key})
				}
			}
		}
	}
	of = func(q *gojq.Query) {
		switch {
		case q == nil:
		case q.Term != nil:
			term(q.Term)
		case q.Op == gojq.OpPipe && q.Patterns == nil:
			of(q.Left)
		default:
			of(q.Left)
			of(q.Right)
		}
	}
	of(p.query)
	return all
}

// path judges a path.
func (l *httpLoader) path(at string, p Path) {
	text := p.String()
	if slices.Contains(p, "") || strings.TrimSpace(text) != text || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
		l.fail(at, "found %s, expected a path whose steps are divided by single dots, or {read: JQ}", l.doc.Found(at, text))
	}
}

// spot compiles the place of a value.
func (l *httpLoader) spot(f spotFile) Spot {
	s := f.spot()
	l.compile(f.at, reflect.ValueOf(s))
	return s
}

// known are the names that a call may use; one that ends in .* stands for everything below it.
type known []string

// knows reports whether a path is known, or whether known names are below it.
func (k known) knows(p Path) (is, below bool) {
	name := p.String()
	for _, known := range k {
		whole := strings.TrimSuffix(known, ".*")
		switch {
		case known == name, whole != known && strings.HasPrefix(name, whole+"."):
			return true, false
		case strings.HasPrefix(known, name+"."):
			below = true
		}
	}
	return false, below
}

// roots returns the names before the first dot.
func (k known) roots() (all []string) {
	for _, name := range k {
		if root, _, _ := strings.Cut(name, "."); !slices.Contains(all, root) {
			all = append(all, root)
		}
	}
	return all
}

// judgeJQ reports names in a program that its call does not know.
func (l *httpLoader) judgeJQ(p *JQ, k known) {
	if p == nil || p.query == nil {
		return
	}
	for _, path := range p.roots() {
		if is, below := k.knows(path); is || below {
			continue
		}
		seen, names := path.String(), slices.Clone([]string(k))
		if !slices.Contains(k.roots(), path[0]) {
			seen, names = path[0], k.roots()
		}
		for i := range names {
			names[i] = "." + strings.TrimSuffix(names[i], ".*")
		}
		l.unknownHere(p.at, "."+seen, names)
	}
}

// unknownHere reports a name that is not known at a place.
func (l *httpLoader) unknownHere(at, seen string, names []string) {
	if _, expanded := l.doc.Written(at); expanded {
		l.fail(at, "found a name that is not known here")
		return
	}
	hint := strictyaml.Suggest(seen, names)
	if hint == "" {
		hint = ", expected one of " + strings.Join(names, ", ")
	}
	l.fail(at, "there is no %s here%s", seen, hint)
}

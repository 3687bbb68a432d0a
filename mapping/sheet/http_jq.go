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

// program is jq of a sheet, with what it names.
type program struct {
	*JQ
	text  string
	query *gojq.Query // with the definitions of the sheet
}

// prelude compiles the definitions that all jq of the sheet may use.
func (l *httpLoader) prelude(f exprFile) {
	if !f.given() {
		return
	}
	if l.compile(f, f.text, ".", 0) != nil {
		l.definitions = f.text
	} else {
		l.broken = true
	}
}

// jq compiles a program; nil where the sheet has none, or a faulty one.
func (l *httpLoader) jq(f exprFile) *program {
	if !f.given() {
		return nil
	}
	if strings.TrimSpace(f.text) == "" {
		l.fail(f.at, "found an empty text, expected jq")
		return nil
	}
	if l.broken { // what is wrong with the definitions was reported
		return nil
	}
	return l.compile(f, l.definitions, f.text, len(l.definitions)+1)
}

// jqOnly is jq for its program alone.
func (l *httpLoader) jqOnly(f exprFile) *JQ {
	if p := l.jq(f); p != nil {
		return p.JQ
	}
	return nil
}

// compile compiles a program; skip is what comes before the text of f.
func (l *httpLoader) compile(f exprFile, definitions, text string, skip int) *program {
	compiled, err := NewJQ(definitions, text)
	if err != nil {
		l.fail(f.at, "%s", l.jqFault(f, err, skip))
		return nil
	}
	query, _ := gojq.Parse(definitions + "\n" + text) // which compiled
	return &program{compiled, text, query}
}

// jqFault says in the words of jq what is wrong, and where.
func (l *httpLoader) jqFault(f exprFile, err error, skip int) string {
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
	return fmt.Sprintf("found %s, which is no jq: %s%s", l.quote(f.at, f.text), err, where)
}

// names are all names and texts in the program, and in the definitions that it uses.
func (p *program) names() map[string]bool {
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

// mentions tells whether a program may read a member of what it sees.
func (p *program) mentions(path ...string) bool {
	if p == nil {
		return false
	}
	names := p.names()
	return !slices.ContainsFunc(path, func(name string) bool { return !names[name] })
}

// roots are the members of its input that a program certainly names: client.id of .client.id.
func (p *program) roots() (all []Path) {
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

// spot compiles where a value is found.
func (l *httpLoader) spot(f spotFile) Spot {
	if f.Read.given() {
		return Spot{JQ: l.jqOnly(f.Read)}
	}
	return Spot{Path: l.path(f.textFile)}
}

// path reads a path; nil where there is none.
func (l *httpLoader) path(f textFile) Path {
	if !f.given() || f.text == "" {
		return nil
	}
	p := ParsePath(f.text)
	if slices.Contains(p, "") || strings.TrimSpace(f.text) != f.text || strings.ContainsFunc(f.text, func(r rune) bool { return r < ' ' }) {
		l.fail(f.at, "found %s, expected a path whose steps are divided by single dots, or {read: JQ}", l.quote(f.at, f.text))
		return nil
	}
	return p
}

// known is what a call knows: names, of which record and value stand for all that is below.
type known []string

// knows tells whether a path is known; below tells of one that others are below.
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

// roots are the names before the first dot.
func (k known) roots() (all []string) {
	for _, name := range k {
		if root, _, _ := strings.Cut(name, "."); !slices.Contains(all, root) {
			all = append(all, root)
		}
	}
	return all
}

// judgeJQ reports members that a program names and a call does not know.
func (l *httpLoader) judgeJQ(f exprFile, p *program, k known) {
	if p == nil {
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
		l.unknownHere(f.at, "."+seen, names)
	}
}

// unknownHere reports a name that is not known where it stands.
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

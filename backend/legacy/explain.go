package legacy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Explain returns the statements that an operation of a resource runs, in their order, for
// `frontdesk map explain`. Parameters are shown as the engine's placeholders. It needs no
// connection: Explainer makes a Store for it.
func (s *Store) Explain(r *mapping.Resource, op mapping.Scope) ([]string, error) {
	t, err := s.table(r)
	if err != nil {
		return nil, err
	}
	how := t.Operations[op]
	if how == nil {
		return nil, fmt.Errorf("resource %s has no operation %s", r.Name, op)
	}
	x := explainer{session: session{Store: s}, t: t, client: auth.Client{ID: 1}}
	switch op {
	case mapping.OpGet:
		return x.get(how), nil
	case mapping.OpList:
		return x.list(how)
	case mapping.OpCreate:
		return x.create(how), nil
	case mapping.OpUpdate:
		return x.update(how), nil
	default:
		return x.remove(how), nil
	}
}

// Explainer returns a Store that can only Explain: it has no connection.
func Explainer(o Options) (*Store, error) { return newStore(o) }

type explainer struct {
	session
	t      *table
	client auth.Client
}

// key stands for the key of a record.
func (x *explainer) key() []sheet.Raw {
	return slices.Repeat([]sheet.Raw{intRaw(1)}, len(x.t.keys))
}

func (x *explainer) get(how *sheet.Operation) []string {
	if how.Procedure != "" {
		return []string{x.callText(how)}
	}
	return []string{x.byKeyText(x.t, x.client, x.key(), false).String()}
}

func (x *explainer) list(how *sheet.Operation) ([]string, error) {
	if how.Procedure != "" {
		return []string{x.callText(how)}, nil
	}
	l := &listing{session: x.session, t: x.t, q: backend.Query{Client: x.client, Limit: 100}}
	b, _, err := l.text(newStatement(x.d), 0, l.q.Limit+1)
	if err != nil {
		return nil, err
	}
	return []string{b.String()}, nil
}

// held is the statement that reads the record of a write.
func (x *explainer) held() []string {
	if how := x.t.Operations[mapping.OpGet]; how != nil && how.Procedure != "" {
		return []string{x.callText(how)}
	}
	if x.t.Read != x.t.Table {
		lock := newStatement(x.d).add("SELECT 1 FROM ", x.t.name, x.d.lockHint())
		x.t.writeKey(lock, x.client, x.key())
		return []string{lock.add(x.d.lockClause()).String(), x.byKeyText(x.t, x.client, x.key(), false).String()}
	}
	return []string{x.byKeyText(x.t, x.client, x.key(), true).String()}
}

// writing is a write to every place that an operation can write.
func (x *explainer) writing(op mapping.Scope) *write {
	w := &write{session: x.session, t: x.t, client: x.client, attempt: sheet.Attempt{Resource: x.t.Resource}}
	for i := range x.t.Fields {
		if op == mapping.OpUpdate && x.t.Fields[i].Immutable {
			continue
		}
		for _, place := range x.t.Fields[i].Write {
			if place != x.t.Client && !slices.ContainsFunc(w.values, func(a sheet.Assignment) bool { return a.Place == place }) {
				w.values = append(w.values, sheet.Assignment{Place: place, Value: intRaw(1), Field: x.t.Fields[i].Field})
			}
		}
	}
	w.split()
	return w
}

// ending are the statements that end a write: those for rows of other tables, the call after
// it, and the one that reads the record again.
func (x *explainer) ending(w *write, how *sheet.Operation) (all []string) {
	for _, row := range x.t.besides(isWritten) {
		if values := w.besideOf(row); len(values) > 0 {
			all = append(all, w.besideUpdate(row, values, x.key()).String(), w.besideInsert(row, values, x.key()).String())
		}
	}
	if how.After != "" {
		all = append(all, x.callText(how))
	}
	return append(all, x.byKeyText(x.t, x.client, x.key(), false).String())
}

func (x *explainer) create(how *sheet.Operation) []string {
	w := x.writing(mapping.OpCreate)
	key, missing := w.knownKey()
	var all []string
	if how.Procedure != "" {
		all = append(all, x.callText(how))
		rest := slices.DeleteFunc(slices.Clone(w.values), func(a sheet.Assignment) bool { return slices.Contains(how.Arguments, a.Place) })
		if b := w.setText(rest, x.key(), sheet.Raw{}); b != nil {
			all = append(all, b.String())
		}
		return append(all, x.ending(w, how)...)
	}
	if x.t.Key.Generated == "identity" {
		key[len(key)-1] = sheet.Raw{}
	} else {
		for _, i := range missing {
			key[i] = intRaw(1)
			switch x.t.Key.Generated {
			case "sequence":
				b := newStatement(x.d)
				x.d.nextOf(b, qualified(x.d, x.source.Schema, x.t.Key.Sequence))
				all = append(all, b.String())
			case "max+1":
				all = append(all, w.nextText(key, i).String())
			}
		}
	}
	b, _ := w.insertText(key)
	return append(append(all, b.String()), x.ending(w, how)...)
}

func (x *explainer) update(how *sheet.Operation) []string {
	w, all := x.writing(mapping.OpUpdate), x.held()
	if how.Procedure != "" {
		all = append(all, x.callText(how))
		w.values = slices.DeleteFunc(w.values, func(a sheet.Assignment) bool { return slices.Contains(how.Arguments, a.Place) })
	}
	if b := w.setText(w.values, x.key(), x.version(w)); b != nil {
		all = append(all, b.String())
	}
	return append(all, x.ending(w, how)...)
}

func (x *explainer) version(w *write) sheet.Raw {
	return w.version(slices.Repeat([]sheet.Raw{intRaw(1)}, len(x.t.Places)))
}

func (x *explainer) remove(how *sheet.Operation) []string {
	w, all := x.writing(mapping.OpDelete), x.held()
	for _, row := range x.t.besides(isDeleted) {
		all = append(all, w.besideDelete(row, x.key()).String())
	}
	if how.Procedure != "" {
		return append(all, x.callText(how))
	}
	all = append(all, w.deleteText(x.key(), x.version(w)).String())
	if how.After != "" {
		all = append(all, x.callText(how))
	}
	return all
}

// callText is a call in a readable form; how out parameters come back differs by engine.
func (x *explainer) callText(how *sheet.Operation) string {
	name := cmp.Or(how.Procedure, how.After)
	verb := "CALL "
	switch {
	case x.functions[name]:
		verb = "SELECT * FROM "
	case x.d.engine() == "sqlserver":
		verb = "EXEC "
	}
	arguments := slices.Clone(how.Arguments)
	for _, out := range how.Out {
		if i := slices.Index(arguments, out); i >= 0 {
			arguments[i] = "INOUT " + out
		} else {
			arguments = append(arguments, "OUT "+out)
		}
	}
	return verb + qualified(x.d, x.source.Schema, name) + "(" + strings.Join(arguments, ", ") + ")"
}

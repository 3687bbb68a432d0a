package legacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// A vendor's database changes without notice. What the sheet uses of it is compared at the start,
// every minute, and at once when a statement fails in a way that only a changed schema explains. A
// resource that lacks something is closed until it has it again; others go on.

// view is what is known of the database, until it is inspected again.
type view struct {
	tables map[*mapping.Resource]*Mapped
	closed map[*mapping.Resource]*backend.Closing
	// unwritten is what writes of a readable resource lack, by the column that is written; "" for
	// all columns.
	unwritten map[*mapping.Resource]map[mapping.Scope]map[string]string
	accounts  *Builder
	known     Schema
	version   string
	refused   error // what the database refuses of the sheet
}

// learn inspects the database, and makes the tables from what it finds. before is the last view.
func (s *Store) learn(ctx context.Context, before *view) (*view, error) {
	known, err := s.inspect(ctx)
	if err != nil {
		return nil, err
	}
	v := &view{tables: map[*mapping.Resource]*Mapped{}, closed: map[*mapping.Resource]*backend.Closing{}, unwritten: map[*mapping.Resource]map[mapping.Scope]map[string]string{}, known: known.Schema, version: known.version}
	users := known.Table(s.sheet.Accounts.Table)
	v.accounts = NewBuilder(s.d)
	v.accounts.ColumnOf = func(name string) Known { return columnOf(users, name) }
	for _, r := range s.sheet.Model.Resources {
		v.tables[r] = newTable(s.sheet, s.d, s.sheet.Resources[r], known)
	}
	for _, t := range v.tables {
		t.complete(v.tables)
		for _, p := range known.refused[t.Name] {
			v.refused = errors.Join(v.refused, p)
		}
	}
	for r, t := range v.tables {
		t.keep()
		if t.Target != nil && s.decimals[t.Name] == nil {
			s.decimals[t.Name] = map[string]int{}
			for _, c := range t.Target.Columns {
				s.decimals[t.Name][c.Name] = c.decimals(t.Dialect)
			}
		}
		if c := s.closing(t, known, v); c != nil {
			c.Since = s.now()
			if before != nil && before.closed[r] != nil {
				c.Since = before.closed[r].Since
			}
			v.closed[r] = c
		}
	}
	return v, s.learnKeys(ctx, v, known, before)
}

// learnKeys notes how the database compares keys, and has the id store ignore the case of those that
// the database does. Tables of the last view are already noted.
func (s *Store) learnKeys(ctx context.Context, v *view, known *schema, before *view) error {
	for r, t := range v.tables {
		if before != nil && (t.Target == nil || before.tables[r].Target != nil) {
			continue
		}
		ignored := t.Target != nil && t.Target.IgnoresCase(t.Resource)
		read := known.reads[t.Name]
		t.Compare(ignored, func(place string) bool {
			if read == nil || read.Column(place) == nil {
				return !s.d.PadsTexts
			}
			c := read.Column(place)
			return c.CountsBlanks && !c.Sort.IsNumber()
		})
		if ignored {
			if err := s.idStore.IgnoreCase(ctx, t.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// closing is what a resource lacks of what the sheet uses; nil for nothing.
func (s *Store) closing(t *Mapped, known *schema, v *view) *backend.Closing {
	var problems []string
	for _, p := range known.refused[t.Name] {
		problems = append(problems, strings.TrimPrefix(p.Error(), "resource "+t.Name+": "))
	}
	read := known.reads[t.Name]
	for name, of := range map[string]*Table{t.Read: read, t.Table: t.Target} {
		if of == nil && name != "" && !isSelect(name) && known.isLooked(name) {
			problems = append(problems, fmt.Sprintf("there is no table %s", name))
		}
	}
	if read != nil {
		problems = append(problems, t.unread(read)...)
	}
	reads := len(problems) > 0
	if !reads && t.Target != nil {
		v.unwritten[t.Resource.Resource] = map[mapping.Scope]map[string]string{}
		for _, op := range []mapping.Scope{mapping.OpCreate, mapping.OpUpdate} {
			if !t.Operations[op] {
				continue
			}
			if lacking := t.unwritten(op, s.decimals[t.Name]); len(lacking) > 0 {
				problems = slices.AppendSeq(problems, maps.Values(lacking))
				v.unwritten[t.Resource.Resource][op] = lacking
			}
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	return &backend.Closing{Resource: t.Name, Reads: reads, What: strings.Join(slices.Compact(problems), "; ")}
}

// isLooked reports whether the schema of a table was inspected, so that what was not found does not
// exist.
func (k *schema) isLooked(name string) bool {
	schema := k.Own
	if at := strings.LastIndexByte(name, '.'); at >= 0 {
		schema = name[:at]
	}
	return slices.ContainsFunc(k.Tables, func(t Table) bool { return strings.EqualFold(t.Schema, schema) })
}

// unread returns what cannot be read as the sheet says.
func (t *Mapped) unread(read *Table) (problems []string) {
	lacks := func(name, what string) *Column {
		c := read.Column(name)
		if c == nil {
			problems = append(problems, fmt.Sprintf("%s: there is no column %s in %s", what, name, read.Name))
		} else if !c.may("select") {
			problems = append(problems, fmt.Sprintf("%s: SELECT of %s.%s is not allowed", what, read.Name, name))
		}
		return c
	}
	for _, name := range t.Key.Places {
		c := lacks(name, "key")
		if c != nil && !t.Key.Kept && c.Sort == sqlrecord.Texts && !t.Dialect.FlexibleTypes {
			problems = append(problems, fmt.Sprintf("key: %s is %s, and the key is a number", name, c.Type))
		}
	}
	for i := range t.Fields {
		f, c := t.Fields[i].Field, &t.SQL.Fields[i]
		for _, name := range c.Names {
			if col := lacks(name, "field "+f.Name); col != nil && len(c.Names) == 1 {
				if why := unlike(t.Dialect, f, c, col); why != "" {
					problems = append(problems, fmt.Sprintf("field %s: %s.%s is %s, %s", f.Name, read.Name, name, col.Type, why))
				}
			}
		}
	}
	for what, e := range map[string]sheet.Expr{"client": t.SQL.Client, "version": t.SQL.Version} {
		if e.Column != "" {
			lacks(e.Column, what)
		}
	}
	return problems
}

// unlike returns why a column cannot be read as a field; "" if it can.
func unlike(d *sqlrecord.Dialect, f *mapping.Field, c *sheet.Column, col *Column) string {
	s := col.Sort
	if len(c.Codes) > 0 || col.Type == "" || s == "" || f.Reference != "" || f.ReferenceBy != "" {
		return ""
	}
	switch f.Type {
	case mapping.Float8:
		if !s.IsNumber() {
			return "and is read as a number"
		}
	case mapping.Int4:
		if !s.IsNumber() && s != sqlrecord.Booleans {
			return "and is read as a whole number"
		}
	case mapping.Timestamp:
		isTime := s == sqlrecord.Days || s == sqlrecord.Clocks || s == sqlrecord.Instants
		if isEpoch := c.Kind == sheet.KindEpoch || c.Kind == sheet.KindEpochMillis; isEpoch != s.IsNumber() || !isEpoch && !isTime && (!d.FlexibleTypes || s != sqlrecord.Texts) {
			return "and is read as a moment"
		}
	}
	return ""
}

// unwritten returns what cannot be created, or updated, as the sheet says, by column.
func (t *Mapped) unwritten(op mapping.Scope, had map[string]int) map[string]string {
	if t.SQL.Statements[op] != nil && !slices.Contains(t.SQL.Statements[op], sheet.OwnStatement) {
		return nil
	}
	problems := map[string]string{}
	right := map[mapping.Scope]string{mapping.OpCreate: "insert", mapping.OpUpdate: "update"}[op]
	for name, sent := range t.written(op) {
		at := name
		if !sent {
			at = ""
		}
		switch c := t.Target.Column(name); {
		case c == nil:
			problems[at] = fmt.Sprintf("there is no column %s in %s to be written", name, t.Table)
		case c.decimals(t.Dialect) >= 0 && c.decimals(t.Dialect) < had[name]:
			problems[at] = fmt.Sprintf("%s.%s has %d decimals, and had %d: values would be rounded", t.Table, name, c.decimals(t.Dialect), had[name])
		case !c.may(right):
			problems[at] = fmt.Sprintf("%s of %s.%s is not allowed", strings.ToUpper(right), t.Table, name)
		}
	}
	if unfilled := t.unfilled(); op == mapping.OpCreate && len(unfilled) > 0 {
		problems[""] = strings.Join(unfilled, "; ")
	}
	return problems
}

// written are the columns that frontdesk itself writes; true for those that are written only if the
// client sends the field.
func (t *Mapped) written(op mapping.Scope) map[string]bool {
	all := map[string]bool{}
	for i := range t.Fields {
		for _, a := range t.SQL.Fields[i].Write {
			all[a.Column] = true
		}
	}
	if op == mapping.OpUpdate {
		return all
	}
	if all[t.SQL.Client.Column] = false; t.Key.Generated != "identity" {
		for _, name := range t.Key.Places {
			all[name] = false
		}
	}
	for _, a := range t.SQL.Constants {
		all[a.Column] = false
	}
	delete(all, "")
	return all
}

// unfilled returns which columns of a new row must have a value but get none.
func (t *Mapped) unfilled() (problems []string) {
	if t.SQL.Statements[mapping.OpCreate] != nil || len(t.Target.Triggers) > 0 {
		return nil
	}
	written := slices.Collect(maps.Keys(t.written(mapping.OpCreate)))
	written = append(written, t.Key.Places...)
	for _, c := range t.Target.Columns {
		isFilled := c.Nullable || c.Generated || c.Default != "" || c.Type == "timestamp" // MariaDB may fill these
		if !isFilled && !slices.ContainsFunc(written, func(name string) bool { return strings.EqualFold(name, c.Name) }) {
			problems = append(problems, fmt.Sprintf("%s.%s must have a value, and nothing writes one", t.Table, c.Name))
		}
	}
	return problems
}

// How often the database is inspected, and the shortest pause between two inspections.
const (
	lookEvery = time.Minute
	lookPause = time.Second
)

// watch inspects the database again and again, until stop.
func (s *Store) watch() {
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	s.stopped = make(chan struct{})
	go func() {
		defer close(s.stopped)
		lookAgain(ctx, s.changed, func() { s.look(ctx) })
	}()
}

// lookAgain calls look every minute, and on request, until ctx ends.
func lookAgain(ctx context.Context, requested <-chan struct{}, look func()) {
	for pause := lookEvery; ; pause = lookEvery - lookPause {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		case <-requested:
		}
		look()
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookPause):
		}
	}
}

// look inspects the database, and replaces the view if it has changed.
func (s *Store) look(ctx context.Context) {
	s.looking.Lock()
	defer s.looking.Unlock()
	before := s.view.Load()
	v, err := s.learn(ctx, before)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Warn("what the sheet uses of the database could not be looked at", zap.Error(err))
		}
		return
	}
	for r, c := range v.closed {
		if was := before.closed[r]; was == nil || was.What != c.What {
			s.log.Error("the database has changed: a resource is closed for what needs it", zap.String("resource", r.Name), zap.Bool("reads", c.Reads), zap.String("what", c.What))
		}
	}
	for r := range before.closed {
		if v.closed[r] == nil {
			s.log.Info("the database is again as the sheet has it: a resource is open", zap.String("resource", r.Name))
		}
	}
	s.view.Store(v)
}

// altered requests an inspection, and returns an error as one of a schema that has changed.
func (s *Store) altered(err error) error {
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return fmt.Errorf("%w: %w", backend.ErrChanged, err)
}

// suspect is altered for errors that only a changed schema explains; it returns others as they are.
func (s *Store) suspect(err error) error {
	f, ok := sqlrecord.FaultOf(err)
	if !ok || f.Class != sqlrecord.FaultSchema || errors.Is(err, backend.ErrChanged) {
		return err
	}
	return s.altered(err)
}

// Closed implements backend.Changing.
func (s *Store) Closed() (all []backend.Closing) {
	v := s.view.Load()
	for _, r := range s.sheet.Model.Resources {
		if c := v.closed[r]; c != nil {
			all = append(all, *c)
		}
	}
	return all
}

// LeftOut implements backend.Changing.
func (s *Store) LeftOut() map[backend.Place]int64 {
	s.leftMu.Lock()
	defer s.leftMu.Unlock()
	return maps.Clone(s.left)
}

// leftOut counts a record that cannot be shown, and logs the first one per field.
func (s *Store) leftOut(t *Mapped, f *mapping.Field) {
	at := backend.Place{Resource: t.Name, Field: f.Name}
	s.leftMu.Lock()
	s.left[at]++
	first := s.left[at] == 1
	s.leftMu.Unlock()
	if first {
		s.log.Warn("a record was left out: the value of a field cannot be converted; further ones are counted", zap.String("resource", t.Name), zap.String("field", f.Name))
	}
}

// writable refuses a write for which the database lacks something.
func (w *write) writable() error {
	lacking := w.view.Load().unwritten[w.t.Resource.Resource][w.attempt.Op]
	what := lacking[""]
	for _, s := range w.sets {
		what = cmp.Or(what, lacking[s.column])
	}
	if what != "" {
		return fmt.Errorf("%w: %s", backend.ErrChanged, what)
	}
	return nil
}

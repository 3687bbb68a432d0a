package mapdraft

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// sharedList is a code list that several fields have.
type sharedList struct {
	name    string
	entries []code
	blank   bool // the empty text is null
	flag    bool // yes and no
	fields  map[*mapping.Field]bool
	apart   bool // the same code means different things
}

// share returns a code list, or its name where other fields with the same values
// have it too: several columns that hold the same thing are written alike.
func (d *drafter) share(f *mapping.Field, list []code, blank bool) string {
	own := codeList(list, blank)
	if len(f.OneOf) < 3 {
		return own
	}
	key := strings.Join(f.OneOf, " ")
	s := d.shared[key]
	if s == nil {
		s = &sharedList{name: strings.TrimSuffix(strings.TrimSuffix(f.Name, "_type"), "_kind"), fields: map[*mapping.Field]bool{}}
		d.shared[key] = s
	}
	for _, k := range list {
		at := slices.IndexFunc(s.entries, func(e code) bool { return e.from == k.from })
		if at < 0 {
			s.entries = append(s.entries, k)
		} else if s.entries[at].to != k.to {
			s.apart = true
		}
	}
	s.fields[f], s.blank = true, s.blank || blank
	if len(s.fields) < 2 || s.apart {
		return own
	}
	return s.name
}

// shareFlag returns the name of a list of yes and no.
func (d *drafter) shareFlag(list []code) string {
	key := codeList(list, false)
	if d.shared[key] == nil {
		name := "yesno"
		for n := 2; slices.ContainsFunc(slices.Collect(maps.Values(d.shared)), func(s *sharedList) bool { return s.name == name }); n++ {
			name = fmt.Sprintf("yesno%d", n)
		}
		d.shared[key] = &sharedList{name: name, entries: list, flag: true}
	}
	return d.shared[key].name
}

// lists are the shared lists that are used, by name.
func (d *drafter) lists() map[string]string {
	all := map[string]string{}
	for _, s := range d.shared {
		if s.flag || len(s.fields) > 1 && !s.apart {
			all[s.name] = codeList(s.entries, s.blank)
		}
	}
	return all
}

// codeList writes a code list.
func codeList(list []code, blank bool) string {
	var all []string
	for _, k := range list {
		all = append(all, scalar(k.from, true)+": "+scalar(k.to, true))
	}
	if blank {
		all = append(all, `"": null`)
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// scalar writes a text as YAML, in quotes where it would be something else;
// numbers as they are where they are meant.
func scalar(text string, number bool) string {
	if number && text != "" && isNumeral(text) && (text == "0" || text[0] != '0') {
		return text
	}
	word := text != "" && strings.IndexFunc(text, func(r rune) bool { return !isLetter(r) && !isDigit(r) && r != '_' && r != '-' && r != '.' && r != '+' }) < 0 && isLetter(rune(text[0]))
	switch strings.ToLower(text) {
	case "null", "true", "false", "yes", "no", "y", "n", "on", "off", "~":
		word = word && len(text) == 1 // which are texts in YAML 1.2
	}
	if word {
		return text
	}
	return quoted(text)
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text) + `"`
}

// list writes one text, or a list of them.
func list(texts []string) string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = quoted(t)
	}
	if len(all) == 1 {
		return all[0]
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func names(columns []string) string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = scalar(c, false)
	}
	if len(all) == 1 {
		return all[0]
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// write writes the whole sheet.
func (d *drafter) write() string {
	var resources strings.Builder
	for _, name := range d.resources() { // first to see which lists are shared
		d.writeResource(&resources, d.matches[name])
	}
	resources.Reset()
	d.summary = Summary{}
	for _, name := range d.resources() {
		d.writeResource(&resources, d.matches[name])
	}
	users := d.findAccounts()
	var b strings.Builder
	fmt.Fprintf(&b, "# A first draft, out of the database's names, types, keys and some of its rows.\n"+
		"# Read every line marked guess, answer every TODO, then run frontdesk map check.\n")
	fmt.Fprintf(&b, "format: 1\nsource:\n  sql:\n    engine: %s\n    dsn: ${%s}\n", d.source.Engine, d.variable)
	if d.source.Schema != "" {
		fmt.Fprintf(&b, "    schema: %s\n", scalar(d.source.Schema, false))
	}
	fmt.Fprintf(&b, "keep: keep.db\n")
	if d.client != "" {
		fmt.Fprintf(&b, "client: %s%s\n", scalar(d.client, false), d.remark("whose record it is, in most tables", d.clientScore, nil))
	}
	if without := d.withoutRules(); len(without) > 0 {
		fmt.Fprintf(&b, "without_rules: [%s]%s\n", strings.Join(without, ", "), d.remark("their fields were not found", 0.6, []string{"must these be kept?"}))
	}
	d.writeAccounts(&b, users)
	if lists := d.lists(); len(lists) > 0 {
		fmt.Fprintf(&b, "\ncodes:\n")
		for _, name := range slices.Sorted(maps.Keys(lists)) {
			fmt.Fprintf(&b, "  %s: %s\n", name, lists[name])
		}
	}
	d.writeErrors(&b)
	fmt.Fprintf(&b, "\nresources:\n%s", resources.String())
	d.writeRest(&b, users)
	d.count()
	return b.String()
}

// remark is the comment behind a guess.
func (d *drafter) remark(why string, score float64, todo []string) string {
	text := fmt.Sprintf(" # guess: %s (%.0f%%)", why, 100*min(1, score))
	d.summary.Guesses++
	if score < 0.65 && len(todo) == 0 {
		todo = []string{"is it this one?"}
	}
	if len(todo) > 0 {
		d.summary.Doubts++
		text += "; TODO " + strings.Join(todo, "; ")
	}
	return text
}

func (d *drafter) writeAccounts(b *strings.Builder, a *accounts) {
	fmt.Fprintf(b, "\naccounts:\n")
	if a == nil {
		fmt.Fprintf(b, "  users: [] # TODO no table with passwords was found: who may log in?\n")
		d.summary.Doubts++
		return
	}
	fmt.Fprintf(b, "  table: %s%s\n  columns:\n", scalar(a.table.Name, false), d.remark("it has passwords", 0.9, a.todo))
	for _, f := range a.facts {
		fmt.Fprintf(b, "    %s: %s%s\n", f.name, f.value(), d.remark(f.why, f.score, f.todo))
	}
	fmt.Fprintf(b, "  hash: [%s]%s\n", strings.Join(a.hashes, ", "), d.remark("form of the stored hashes", 0.9, nil))
}

// value is a field as the sheet says it, in one line.
func (m *mapped) value() string {
	if len(m.settings) == 1 && m.settings[0].key == "from" {
		return scalar(m.settings[0].value, false)
	}
	var all []string
	for _, s := range m.settings {
		value := s.value
		if s.key == "from" || s.key == "time_from" {
			value = scalar(value, false)
		}
		all = append(all, s.key+": "+value)
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func (d *drafter) writeErrors(b *strings.Builder) {
	all := d.errors()
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\nerrors:\n")
	for _, e := range all {
		if e.meant {
			fmt.Fprintf(b, "  - %s%s\n", e.text, d.remark(e.why, 0.8, nil))
		} else {
			fmt.Fprintf(b, "  # - %s # TODO what does a client read? %s\n", e.text, e.why)
			d.summary.Doubts++
		}
	}
	if !slices.ContainsFunc(all, func(e entry) bool { return e.meant }) {
		fmt.Fprintf(b, "  []\n")
	}
}

func (d *drafter) writeResource(b *strings.Builder, m *match) {
	t := m.table
	fmt.Fprintf(b, "  %s:\n    table: %s%s\n", m.Name, scalar(t.Name, false), d.remark("name, columns", m.score, nil))
	if v := d.viewOf(m); v != nil {
		fmt.Fprintf(b, "    read: %s%s\n", scalar(v.Name, false), d.remark("a view of the same columns", 0.7, nil))
	}
	k := d.keyOf(m)
	made := d.creatorOf(m, k)
	if made == nil {
		made = d.numbererOf(m, k)
	}
	d.writeKey(b, m, k, made)
	if m.client(d) == nil && d.client != "" {
		fmt.Fprintf(b, "    client: %s\n", d.whose(m))
	}
	if v := d.versionOf(m); v != nil {
		fmt.Fprintf(b, "    version: %s%s\n", scalar(v.Name, false), d.remark("name, type", 0.85, nil))
	}
	if del := d.deletionOf(m); del != nil && !m.readOnly(d) {
		if d.viewOf(m) == nil {
			fmt.Fprintf(b, "    where: %s%s\n", quoted(del.where), d.remark("those not deleted", 0.8, nil))
		}
		fmt.Fprintf(b, "    soft_delete: {%s: %s}%s\n", scalar(del.column.Name, false), del.set, d.remark("name, values", 0.8, nil))
		del.column.used = "soft_delete"
	}
	switch {
	case m.readOnly(d):
		fmt.Fprintf(b, "    operations: {only: [get, list]}%s\n", d.remark("one list for all clients", 0.8, nil))
	case made != nil:
		arguments := make([]string, len(made.arguments))
		for i, a := range made.arguments {
			arguments[i] = scalar(a, false)
		}
		fmt.Fprintf(b, "    operations:\n      create: {procedure: %s, arguments: [%s], out: [%s]}%s\n", scalar(made.name, false), strings.Join(arguments, ", "), strings.Join(made.out, ", "), d.remark("its name and parameters", 0.8, nil))
	}
	fmt.Fprintf(b, "    fields:\n")
	d.writeFields(b, m)
	fmt.Fprintln(b)
}

func (d *drafter) writeKey(b *strings.Builder, m *match, k key, made *creator) {
	text := "columns: " + names(k.columns)
	if k.kept {
		text += ", id: kept"
	}
	if k.ignoresCase {
		text += ", case: ignore"
	}
	generated := k.generated
	if made != nil {
		generated, k.doubt = "answer", ""
	}
	if generated != "" {
		text += ", generated: " + generated
	}
	var todo []string
	if k.doubt != "" {
		todo = []string{k.doubt}
	}
	fmt.Fprintf(b, "    key: {%s}%s\n", text, d.remark(k.why, 0.9, todo))
}

func (d *drafter) writeFields(b *strings.Builder, m *match) {
	extra := map[string]*mapped{}
	for _, f := range append(d.states(m), d.derived(m)...) {
		extra[f.name] = f
	}
	for i := range m.Fields {
		f := &m.Fields[i]
		out := extra[f.Name]
		if x := m.fields[f.Name]; x != nil && out == nil {
			out = d.convert(m, x)
		}
		switch {
		case out != nil:
			d.summary.Fields++
			for _, s := range out.settings {
				if s.key == "from" || s.key == "time_from" {
					m.table.column(s.value).used = f.Name
				}
			}
			fmt.Fprintf(b, "      %s: %s%s\n", f.Name, out.value(), d.remark(out.why, out.score, out.todo))
		case f.Name == "is_system" && m.readOnly(d):
			fmt.Fprintf(b, "      is_system: {constant: 1}%s\n", d.remark("records of all clients", 0.8, nil))
		case f.Required && !f.Primary:
			fmt.Fprintf(b, "      %s: {absent: true} # TODO no column was found for it\n", f.Name)
			d.summary.Doubts++
		}
	}
}

// withoutRules are the rules whose fields were not found.
func (d *drafter) withoutRules() (without []string) {
	for _, name := range d.resources() {
		m := d.matches[name]
		has := func(field string) bool { return m.fields[field] != nil }
		for _, rule := range m.Rules {
			needed, _ := backend.RuleFields(rule)
			for _, alternatives := range needed {
				if !slices.ContainsFunc(strings.Split(alternatives, "|"), has) && !slices.Contains(without, rule) {
					without = append(without, rule)
				}
			}
		}
	}
	return without
}

// writeRest lists what was not used.
func (d *drafter) writeRest(b *strings.Builder, users *accounts) {
	for _, r := range d.model.Resources {
		if d.matches[r.Name] == nil {
			d.summary.Missing = append(d.summary.Missing, r.Name)
		}
	}
	if len(d.summary.Missing) > 0 {
		fmt.Fprintf(b, "# No table was found for: %s.\n", strings.Join(d.summary.Missing, ", "))
	}
	taken := map[*table]*match{}
	for _, m := range d.matches {
		taken[m.table] = m
	}
	for _, t := range d.tables {
		if t.View || users != nil && users.table == t {
			continue
		}
		m := taken[t]
		if m == nil {
			fmt.Fprintf(b, "# Not used: table %s (%s).\n", t.Name, strings.Join(columnNames(t.columns), ", "))
			continue
		}
		version := d.versionOf(m)
		rest := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool {
			return c.used != "" || c.Name == d.client || d.ofKey(t, c) || c == version
		})
		if len(rest) > 0 {
			fmt.Fprintf(b, "# Not used of %s: %s.\n", t.Name, strings.Join(columnNames(rest), ", "))
		}
	}
}

func columnNames(columns []*column) []string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.Name
	}
	return all
}

func (d *drafter) count() {
	d.summary.Resources = len(d.matches)
	for _, t := range d.tables {
		if !t.View {
			d.summary.Tables++
		}
	}
}

package legacy

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// play is a script that is under way.
type play struct {
	*tables
	t    testing.TB
	who  auth.Client
	made int32     // what was created, or found by a field, last
	from time.Time // when it began

	following following
}

// step does what a line says, and compares what comes of it.
func (p *play) step(line string) {
	p.t.Helper()
	line = strings.NewReplacer("$now", strconv.FormatInt(p.from.UnixMilli(), 10), "$most", strconv.Itoa(mostTogether)).Replace(line)
	line, want, _ := strings.Cut(strings.TrimSuffix(line, " ->"), " -> ")
	line = p.by(line)
	verb, rest, _ := strings.Cut(line, " ")
	if p.beside(verb, rest, line, want) {
		return
	}
	head, rest, _ := strings.Cut(rest, ": ")
	name, of, _ := strings.Cut(head, " ")
	r := p.model.Resource(name)
	require.NotNil(p.t, r, line)
	if p.looksFor(verb, r, of, rest) {
		return
	}
	p.calls.all = nil
	got := p.asks(verb, r, of, rest)
	told, with, _ := strings.Cut(want, " with ")
	if want == "error" && got != "" || !strings.Contains(told, ":") && strings.HasPrefix(got, told+": ") && strings.Contains(got, with) {
		got = want
	}
	outcome := backend.Answered
	if strings.HasPrefix(got, string(mapping.InternalError)) || strings.HasPrefix(got, string(mapping.BackendChanged)) {
		outcome = backend.Unexpected
	}
	for _, o := range p.calls.all { // which are none that are judged again
		require.Equal(p.t, outcome, o, line)
	}
	switch {
	case strings.Contains(want, "@"):
		want = p.named(want)
	case strings.HasPrefix(want, "SELECT "):
		want = p.answer(want)
	}
	require.Equal(p.t, want, got, line)
}

// asks makes a request, and says what comes of it.
func (p *play) asks(verb string, r *mapping.Resource, of, rest string) string {
	p.t.Helper()
	ctx := p.t.Context()
	switch verb {
	case "list":
		return p.listed(r, of, rest)
	case "get":
		rec, err := p.front.Get(ctx, r, backend.Query{Client: p.who, ID: p.id(r, of)})
		if err != nil {
			return toldOf(err)
		}
		return valuesOf(rec, strings.Split(rest, ", "))
	case "distinct":
		all := map[string]bool{}
		for _, rec := range p.list(p.who, r.Name) {
			all[valuesOf(rec, []string{of})] = true
		}
		return strconv.Itoa(len(all))
	case "owner":
		return strconv.FormatInt(p.get(p.who, r.Name, p.id(r, of)).Owner, 10)
	case "delete":
		return toldOf(p.tryDelete(p.who, r.Name, p.id(r, of)))
	}
	id := int32(0)
	if verb == "update" || verb == "change" {
		id = p.id(r, of)
	}
	return p.writes(verb, p.rec(r, rest), id, of)
}

// writes writes a record: by a client, or (raw, change) by the driver itself, past the rules.
func (p *play) writes(verb string, rec mapping.Record, id int32, of string) string {
	p.t.Helper()
	var err error
	switch verb {
	case "create":
		var stored mapping.Record
		if stored, err = p.tryCreate(p.who, rec); err == nil {
			p.made = stored.ID()
		}
	case "once":
		return p.once(of, rec)
	case "update":
		_, err = p.tryUpdate(p.who, id, rec)
	case "raw":
		err = p.Write(p.t.Context(), func(tx backend.Tx) error {
			_, err := tx.Create(p.t.Context(), p.who, rec)
			return err
		})
	case "change":
		_, err = p.Update(p.t.Context(), p.who, p.get(p.who, rec.Resource.Name, id), rec)
		p.calls.all = nil // what was read before
	default:
		p.t.Fatal("no step: " + verb)
	}
	return toldOf(err)
}

// toldOf is what a client is told: "reason: arguments; reason: arguments", or "" for nothing.
func toldOf(err error) string {
	if err == nil {
		return ""
	}
	found, ok := mapping.AsViolations(err)
	if !ok || mapping.Is(err, mapping.InternalError) {
		return string(mapping.InternalError) + ": " + err.Error()
	}
	var all []string
	for _, e := range found {
		all = append(all, string(e.Reason)+": "+strings.Join(e.Args, ", "))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func valuesOf(rec mapping.Record, fields []string) string {
	var all []string
	for _, name := range fields {
		switch v := rec.Get(name); {
		case !v.IsSet():
			all = append(all, "null")
		case v.Kind() == mapping.KindText:
			all = append(all, v.Text())
		default:
			all = append(all, v.String())
		}
	}
	return strings.Join(all, ", ")
}

// id is a number, $ for what was created or found last, or the first record that FIELD=VALUE&FIELD=VALUE holds for.
func (p *play) id(r *mapping.Resource, word string) int32 {
	p.t.Helper()
	if word == "$" {
		return p.made
	}
	if n, err := strconv.ParseInt(word, 10, 32); err == nil {
		return int32(n)
	}
	for _, rec := range p.list(p.who, r.Name) {
		is := true
		for _, pair := range strings.FieldsFunc(word, func(c rune) bool { return c == '&' }) {
			field, value, _ := strings.Cut(pair, "=")
			is = is && valuesOf(rec, []string{field}) == value
		}
		if is {
			p.made = rec.ID()
			return p.made
		}
	}
	p.t.Fatal("no " + r.Name + " has " + word)
	return 0
}

// named are words, of which @RESOURCE FIELD=VALUE stands for the ID of a record.
func (p *play) named(text string) string {
	all := strings.Split(text, ", ")
	for i, word := range all {
		if of, is := strings.CutPrefix(word, "@"); is {
			resource, which, _ := strings.Cut(of, " ")
			all[i] = strconv.Itoa(int(p.id(p.model.Resource(resource), which)))
		}
	}
	return strings.Join(all, ", ")
}

// once creates a record under an idempotency key: KEY, KEY another for another request, or KEY for DURATION.
func (p *play) once(key string, rec mapping.Record) string {
	words := strings.Fields(key)
	o := &backend.Idempotency{Key: words[0], Answer: func(rec mapping.Record) []byte { return []byte(rec.Get("name").Text() + "é") }}
	o.Sum[0] = byte(b2i(slices.Contains(words, "another")))
	if len(words) > 2 {
		life, err := time.ParseDuration(words[2])
		require.NoError(p.t, err)
		o.Life = life
	}
	_, err := p.front.Create(p.t.Context(), p.who, mapping.BodyOf(rec), backend.Write{Idempotency: o})
	p.calls.all = nil // some are of the ID store
	var replay *backend.Replay
	if errors.As(err, &replay) {
		return string(replay.Answer)
	}
	return toldOf(err)
}

// answer is what the database says itself.
func (p *play) answer(query string) string {
	return p.cell(strings.ReplaceAll(query, "= $", "= "+strconv.Itoa(int(p.made))))
}

// rec is a record of fields and their values, which may begin with one of dealerpak.records. No call
// is counted that was made to find it.
func (p *play) rec(r *mapping.Resource, text string) mapping.Record {
	first, rest, _ := strings.Cut(text, ", ")
	rec := mapping.NewRecord(r)
	switch first {
	case "new":
		rec, text = newRecords(p.tables)[r.Name][0], rest
	case "changed":
		rec, text = newRecords(p.tables)[r.Name][1], rest
	}
	if text != "" {
		for i, v := range p.record(r.Name, p.pairs(text)...).Values {
			if !v.IsAbsent() {
				rec.Values[i] = v
			}
		}
	}
	p.calls.all = nil
	return rec
}

// pairs are fields and their values.
func (p *play) pairs(text string) (all []string) {
	for _, pair := range strings.Split(text, ", ") {
		name, value, _ := strings.Cut(pair, "=")
		if value == "$" {
			value = strconv.Itoa(int(p.made))
		}
		all = append(all, name, p.named(value))
	}
	return all
}

// condition is one of lists: a field, how, and a value.
var condition = regexp.MustCompile(`^(\w+)( null$| set$| in |>=|<=|>|<|=)(.*)$`)

var operators = map[string]mapping.Operator{
	" null": mapping.IsNull, " set": mapping.IsNull, " in ": mapping.AnyOf, ">=": mapping.AtLeast, "<=": mapping.AtMost, ">": mapping.Above, "<": mapping.Below, "=": mapping.Equals,
}

// listed are the records of a list by their IDs, or by a field.
func (p *play) listed(r *mapping.Resource, shown, conds string) string {
	q := backend.Query{Client: p.who, Total: true}
	for _, cond := range strings.Split(conds, ", ") {
		name, value, _ := strings.Cut(cond, "=")
		switch {
		case cond == "":
		case name == "sort":
			field, descending := strings.CutPrefix(value, "-")
			q.Sort = append(q.Sort, backend.Order{Field: r.Field(field), Descending: descending})
		case name == "shows":
			q.Fields = []int{r.Field(value).Index}
		case name == "only":
			q.Fields, q.Unversioned = []int{r.Field(value).Index}, true
		case name == "since":
			q.ModifiedSince = p.parse(r.Field("modified_at"), value)
		case name == "limit":
			q.Limit, _ = strconv.Atoi(value)
		default:
			q.Filters = append(q.Filters, p.filter(r, cond))
		}
	}
	page, err := p.front.List(p.t.Context(), r, q)
	if err != nil {
		return toldOf(err)
	}
	if q.Limit == 0 {
		require.EqualValues(p.t, len(page.Records), page.Total, "total of %s: %s", r.Name, conds)
	}
	var all []string
	for _, rec := range page.Records {
		all = append(all, valuesOf(rec, []string{map[bool]string{true: "id", false: shown}[shown == ""]}))
	}
	text := strings.Join(all, ", ")
	if page.More {
		text += " of " + strconv.FormatInt(page.Total, 10)
	}
	return text
}

func (p *play) filter(r *mapping.Resource, cond string) backend.Filter {
	found := condition.FindStringSubmatch(cond)
	require.NotNil(p.t, found, cond)
	f := backend.Filter{Field: r.Field(found[1]), Op: operators[found[2]]}
	require.NotNil(p.t, f.Field, cond)
	switch f.Op {
	case mapping.IsNull:
		f.Value = mapping.IntValue(int64(b2i(found[2] == " null")))
	case mapping.AnyOf:
		for _, text := range strings.Split(found[3], "|") {
			f.Values = append(f.Values, p.parse(f.Field, text))
		}
	default:
		f.Value = p.parse(f.Field, found[3])
	}
	return f
}

func (p *play) parse(f *mapping.Field, text string) mapping.Value {
	text = p.pairs("=" + text)[1]
	if text == "null" {
		return mapping.NullValue()
	}
	v, err := f.Parse(text, time.UTC)
	if err != nil {
		p.t.Fatal(text, err)
	}
	return v
}

package sheet

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// Options are what loading a sheet needs from outside.
type Options struct {
	// Env looks up a variable of the environment; nil means that of the process.
	Env func(name string) (value string, ok bool)
	// RuleFields returns the fields that a rule works with, those that may stand
	// for another joined by |; none where there is no such rule. Without it rules
	// are not judged.
	RuleFields func(rule string) []string
	// Zone is the one in which clients' dates begin (server.time_zone); nil where it
	// is not known, and days are not judged by it.
	Zone *time.Location
	// Now is the clock; nil means time.Now.
	Now func() time.Time

	without map[string]bool // parts that are left out: see LoadPart
}

// Load reads the mapping sheet in the file at path and checks it against model. If the file
// can be read, the error is strictyaml.Problems with everything that is wrong with it.
func Load(path string, model *mapping.Model, o Options) (*Sheet, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("mapping sheet: %w", err)
	}
	return Parse(path, src, model, o)
}

// Parse is Load for a source that has been read already. path is its name in problems;
// relative files are looked for beside it.
func Parse(path string, src []byte, model *mapping.Model, o Options) (*Sheet, error) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	hide := &config.Redactor{}
	env := func(name string) (string, bool) {
		value, ok := o.Env(name)
		hide.Add(name, value)
		return value, ok
	}
	f, doc, problems := decode(path, src, strictyaml.Expand(config.Expander(env)))
	if len(o.without) > 0 {
		f.leaveOut(o.without, model)
		problems = others(problems, o.without)
	}
	l := &loader{
		hide: hide,
		file: f, doc: doc, problems: problems, model: model, o: o, folder: filepath.Dir(path),
		sheet: &Sheet{
			File: path, WithoutRules: f.WithoutRules, OwnRules: f.Rules == "backend", now: o.Now,
			Resources: map[*mapping.Resource]*Resource{}, byName: map[string]*Resource{}, Location: time.UTC,
		},
	}
	l.load()
	l.problems.Sort()
	if err := l.problems.Err(); err != nil {
		return nil, err
	}
	return l.sheet, nil
}

// loader compiles a decoded sheet and collects what is wrong with it.
type loader struct {
	*file
	doc      *strictyaml.Document
	problems strictyaml.Problems
	model    *mapping.Model
	o        Options
	folder   string
	sheet    *Sheet
	xml      bool // bodies are XML
	drafts   []*draft
	judged   map[string]bool // problems of shared parts that were reported
	hide     *config.Redactor
}

// fail reports a problem at path, unless decoding has already reported one there.
func (l *loader) fail(path, format string, args ...any) {
	l.problems = append(l.problems, l.doc.Fault(path, "", l.hide.Hide(fmt.Sprintf(format, args...)))...)
}

func (l *loader) found(path, text string) string { return l.doc.Found(path, text) }

func (l *loader) suggest(path, seen string, known []string) string {
	return l.doc.Suggest(path, seen, known)
}

// oneOf reports a value that is none of the possible words.
func (l *loader) oneOf(path, seen string, words ...string) {
	if !slices.Contains(words, seen) {
		l.fail(path, "found %s, expected %s%s", l.found(path, seen), strictyaml.OneOf(words), l.suggest(path, seen, words))
	}
}

// unknown reports a name that is not among the known ones.
func (l *loader) unknown(path, what, seen string, known []string) {
	hint := l.suggest(path, seen, known)
	if hint == "" && len(known) > 0 && len(known) <= 12 {
		hint = ", expected one of " + strings.Join(known, ", ")
	}
	l.fail(path, "there is no %s %s%s", what, l.found(path, seen), hint)
}

// detail is what an error says about the text at path, unless the text contains the value of a
// variable of the environment, which may be secret.
func (l *loader) detail(path string, err error) string {
	if written, expanded := l.doc.Written(path); expanded {
		return "found " + strictyaml.Quote(written) + ", which does not stand for a valid value"
	}
	return err.Error()
}

func (l *loader) sql() bool { return l.Source.sql != nil }
func (l *loader) engine() string {
	if !l.sql() {
		return ""
	}
	return l.Source.sql.Engine
}
func (l *loader) http() bool { return l.Source.HTTP != nil }

func (l *loader) load() {
	if expected := map[bool]int{true: 2, false: 1}[l.asSQL != nil]; l.Format != expected {
		l.fail("format", "%s, expected %d, the version of this format", l.seenInt("format", l.Format), expected)
	}
	if l.TimeZone.Location != nil {
		l.sheet.Location = l.TimeZone.Location
	} else if zone, err := time.LoadLocation("Europe/Amsterdam"); err == nil {
		l.sheet.Location = zone
	}
	if l.Keep != "" {
		l.sheet.Keep = l.Keep
		if file := strings.TrimPrefix(l.Keep, "sqlite:"); !strings.Contains(file, "://") {
			l.sheet.Keep = l.relative(file)
		}
	}
	if !l.loadSource() {
		return // what the rest means depends on it
	}
	l.judgeWithoutRules()
	l.loadClient()
	if l.sheet.changes = l.loadChanges("changes", l.file.Changes); l.sheet.changes.IsTold() || l.file.Changes.Deleted != nil {
		l.fail("changes", "found what is of one resource, expected it there")
	}
	l.loadResources()
	if !l.o.without["accounts"] {
		l.loadAccounts()
	}
	l.sheet.Errors = l.loadErrors()
}

// seenInt is how a message begins: found N, or missing.
func (l *loader) seenInt(path string, n int) string {
	if !l.doc.Has(path) {
		return "missing"
	}
	return fmt.Sprintf("found %d", n)
}

// relative is the path of a file that the sheet names.
func (l *loader) relative(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(l.folder, file)
}

// secret returns a secret that is given in the sheet or in a file; key is the former's name.
func (l *loader) secret(at, key string, given config.Secret, file string, needed bool) config.Secret {
	path, fileKey := strictyaml.Child(at, key), key+"_file"
	switch {
	case given != "" && file != "":
		l.fail(strictyaml.Child(at, fileKey), "%s is given too, expected one of them", key)
	case given != "":
		return given
	case file != "":
		text, err := os.ReadFile(l.relative(file))
		if err != nil {
			l.fail(strictyaml.Child(at, fileKey), "cannot read the file: %v", errorOf(err))
		}
		return config.Secret(strings.TrimSpace(string(text)))
	case needed:
		l.fail(path, "missing, expected %s: ${VARIABLE}, or %s", key, fileKey)
	}
	return ""
}

// errorOf is an error of the file system without the path, which the message already has.
func errorOf(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = inner.Unwrap()
	}
}

// judgeWithoutRules reports names under without_rules that are no rules of the model.
func (l *loader) judgeWithoutRules() {
	var known []string
	for _, r := range l.model.Resources {
		for _, rule := range r.Rules {
			if !slices.Contains(known, rule) {
				known = append(known, rule)
			}
		}
	}
	slices.Sort(known)
	for i, rule := range l.WithoutRules {
		path := fmt.Sprintf("without_rules[%d]", i)
		if !slices.Contains(known, rule) {
			l.unknown(path, "rule", rule, known)
		} else if slices.Contains(l.WithoutRules[:i], rule) {
			l.fail(path, "%s is there already", rule)
		}
	}
}

// loadResources compiles the resources: keys first, since references depend on
// them, then fields and operations, then all that depends on the narrowed model.
func (l *loader) loadResources() {
	if len(l.file.Resources) == 0 {
		l.fail("resources", "missing, expected the resources that the system has, such as contact")
	}
	known := l.model.Names()
	for _, name := range slices.Sorted(maps.Keys(l.file.Resources)) {
		path := strictyaml.Child("resources", name)
		r := l.model.Resource(name)
		if r == nil {
			l.unknown(path, "resource", name, known)
			continue
		}
		d := &draft{loader: l, path: path, file: l.file.Resources[name], of: r, narrowing: map[string]mapping.FieldNarrowing{}, writers: map[string]string{}, columns: map[string]*Column{}}
		d.resource = &Resource{sheet: l.sheet, clientAt: -1, places: map[string]int{}, Operations: map[mapping.Scope]*Operation{}}
		l.drafts = append(l.drafts, d)
		l.sheet.byName[name] = d.resource
	}
	for _, d := range l.drafts {
		d.expressions()
		d.key()
	}
	for _, d := range l.drafts {
		d.fields()
		d.operations()
		d.statements()
		d.abilities()
		d.changes()
	}
	to := map[string]mapping.Narrowing{}
	for _, d := range l.drafts {
		d.sameRows()
		to[d.of.Name] = d.narrow()
	}
	l.sheet.Model = l.model.Narrow(to)
	for _, d := range l.drafts {
		d.bind()
	}
	for _, d := range l.drafts {
		d.judge()
	}
	l.judgeClients()
	l.judgeRules()
}

// draft is a resource while it is compiled.
type draft struct {
	*loader
	path      string
	file      resourceFile
	of        *mapping.Resource // of the whole model
	resource  *Resource
	drafted   []*Field // those mapped, in the order of the model
	narrowing map[string]mapping.FieldNarrowing
	listed    []string           // fields that the list's templates filter by
	sorted    map[string]bool    // fields that a service is told to sort by
	writers   map[string]string  // what writes a place
	columns   map[string]*Column // of format 2, by field
}

func (d *draft) at(keys ...string) string { return strictyaml.Child(d.path, keys...) }

// zone is the zone of times in the resource's own places.
func (d *draft) zone() *time.Location { return cmp.Or(d.file.TimeZone.Location, d.sheet.Location) }

// place returns the position of a place that is read, and adds the place if it is new.
func (d *draft) place(name string) int { return d.placeOf(Place{Name: name}) }

func (d *draft) placeOf(p Place) int {
	if at, ok := d.resource.places[p.Name]; ok {
		return at
	}
	at := len(d.resource.Places)
	d.resource.places[p.Name] = at
	d.resource.Places = append(d.resource.Places, p)
	return at
}

// isPlace checks the name of a column or path for faults in any system.
func (l *loader) isPlace(path, name string) bool {
	fault := ""
	switch {
	case name == "":
		fault = "the name of a column or a path"
	case strings.TrimSpace(name) != name || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		fault = "a name without blanks around it"
	case !l.sql() && slices.Contains(Steps(name), ""):
		fault = "a path whose steps are divided by single dots"
	default:
		return true
	}
	l.fail(path, "found %s, expected %s", l.found(path, name), fault)
	return false
}

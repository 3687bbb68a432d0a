package sheet

import (
	"errors"
	"fmt"
	"io/fs"
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
	// Env looks up an environment variable; nil means os.LookupEnv.
	Env func(name string) (value string, ok bool)
	// RuleFields returns the fields that a rule works with, alternatives joined by |; none
	// if there is no such rule. If it is nil, rules are not judged.
	RuleFields func(rule string) []string
	// Zone is the time zone of clients' dates (server.time_zone). If it is nil, dates are
	// not judged by it.
	Zone *time.Location
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

// Parse is Load for a sheet that has been read already. path is its name in problems; files
// that it names are relative to the folder of path.
func Parse(path string, src []byte, model *mapping.Model, o Options) (*Sheet, error) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	hide := &config.Redactor{}
	env := func(name string) (string, bool) {
		value, ok := o.Env(name)
		hide.Add(name, value)
		return value, ok
	}
	l := &loader{hide: hide, model: model, o: o, folder: filepath.Dir(path)}
	l.decode(path, src, strictyaml.Options{Expand: config.Expander(env), Formats: formats})
	l.sheet = &Sheet{
		File: path, WithoutRules: l.WithoutRules, OwnRules: l.Rules == "backend",
		Resources: map[*mapping.Resource]*Resource{}, byName: map[string]*Resource{}, Location: time.UTC,
	}
	l.load()
	l.problems.Sort()
	if err := l.problems.Err(); err != nil {
		return nil, err
	}
	return l.sheet, nil
}

// system is the loader for the kind of system behind a sheet: a database, or a service.
type system interface {
	// source compiles the section source; false if it names no system.
	source() bool
	// resources returns the names of the sheet's resources, sorted.
	resources() []string
	resource(d *draft) own
	// related compiles what depends on fields and operations of several resources.
	related()
	// accounts returns the listed users, and which ways to find others the sheet has; found compiles
	// these ways.
	accounts() (*usersFile, []choice)
	found()
	errors()
	words() words
}

// words are the words of messages that differ by kind of system.
type words struct {
	place    string // column, path
	language string // SQL, jq
	elements string // the keys that an array may have
}

// choice is a key of the sheet that excludes others, and whether it is given.
type choice struct {
	key   string
	given bool
}

// given returns the keys that are given.
func given(of ...choice) (keys []string) {
	for _, c := range of {
		if c.given {
			keys = append(keys, c.key)
		}
	}
	return keys
}

// decode decodes a sheet for its kind of system.
func (l *loader) decode(path string, src []byte, o strictyaml.Options) {
	var peek struct {
		Source struct {
			SQL  *struct{} `yaml:"sql"`
			HTTP *struct{} `yaml:"http"`
		} `yaml:"source"`
	}
	strictyaml.Decode(path, src, &peek, strictyaml.Options{}) // problems are reported below
	if peek.Source.HTTP != nil && peek.Source.SQL == nil {
		of := &httpLoader{loader: l}
		l.system, l.headFile = of, &of.file.headFile
		l.doc, l.problems = strictyaml.Decode(path, src, &of.file, o)
		return
	}
	of := &sqlLoader{loader: l}
	l.system, l.headFile = of, &of.file.headFile
	l.doc, l.problems = strictyaml.Decode(path, src, &of.file, o)
}

// loader compiles a decoded sheet and collects its problems.
type loader struct {
	*headFile
	system
	doc      *strictyaml.Document
	problems strictyaml.Problems
	model    *mapping.Model
	o        Options
	folder   string
	sheet    *Sheet
	drafts   []*draft
	hide     *config.Redactor
}

// fail reports a problem at path, unless decoding has already reported one there. It skips repeated problems:
// defaults are judged with each resource.
func (l *loader) fail(path, format string, args ...any) {
	for _, p := range l.doc.Fault(path, "", l.hide.Hide(fmt.Sprintf(format, args...))) {
		if !slices.Contains(l.problems, p) {
			l.problems = append(l.problems, p)
		}
	}
}

// oneOf reports a value that is not one of the words.
func (l *loader) oneOf(path, seen string, words ...string) {
	if !slices.Contains(words, seen) {
		l.fail(path, "found %s, expected %s%s", l.doc.Found(path, seen), strictyaml.OneOf(words), l.doc.Suggest(path, seen, words))
	}
}

// unknown reports a name that is not known.
func (l *loader) unknown(path, what, seen string, known []string) {
	hint := l.doc.Suggest(path, seen, known)
	if hint == "" && len(known) > 0 && len(known) <= 12 {
		hint = ", expected one of " + strings.Join(known, ", ")
	}
	l.fail(path, "there is no %s %s%s", what, l.doc.Found(path, seen), hint)
}

// detail returns the message of an error about the text at path, unless the text contains the value
// of an environment variable, which may be secret.
func (l *loader) detail(path string, err error) string {
	if written, expanded := l.doc.Written(path); expanded {
		return "found " + strictyaml.Quote(written) + ", which does not stand for a valid value"
	}
	return err.Error()
}

func (l *loader) load() {
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
	if !l.source() {
		l.fail("source", "found no system, expected one of sql and http")
		return // the rest cannot be judged without a system
	}
	users, others := l.accounts()
	if l.sheet.ClientsKept = users.Clients == "kept"; l.sheet.ClientsKept && l.Keep == "" {
		l.fail("accounts.clients", "the numbers of clients are given out and must be kept, expected keep: FILE at the top of the sheet")
	}
	l.judgeWithoutRules()
	l.loadResources()
	l.loadAccounts(users, others)
	l.errors()
}

// judgeWithoutRules reports names in without_rules that are not rules of the model.
func (l *loader) judgeWithoutRules() {
	var known []string
	for _, r := range l.model.Resources {
		known = append(known, r.Rules...)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for i, rule := range l.WithoutRules {
		path := fmt.Sprintf("without_rules[%d]", i)
		if !slices.Contains(known, rule) {
			l.unknown(path, "rule", rule, known)
		} else if slices.Contains(l.WithoutRules[:i], rule) {
			l.fail(path, "%s is there already", rule)
		}
	}
}

// relative returns the path of a file that the sheet names.
func (l *loader) relative(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(l.folder, file)
}

// read reads a file that the sheet names at path; false if it cannot.
func (l *loader) read(path, file string) ([]byte, bool) {
	text, err := os.ReadFile(file)
	if of, is := errors.AsType[*fs.PathError](err); is { // the problem names the path already
		err = of.Err
	}
	if err != nil {
		l.fail(path, "cannot read the file: %v", err)
	}
	return text, err == nil
}

// count formats n for a message: 1 column, 2 columns.
func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

func article(t mapping.Datatype) string {
	if t == mapping.Int4 || t == mapping.Array {
		return "an " + t.String()
	}
	return "a " + t.String()
}

// item returns the path of an item of a list.
func item(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

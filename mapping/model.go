package mapping

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"frontdesk/config/strictyaml"
)

//go:embed resources/*.yaml
var embedded embed.FS

// Model holds every resource of an administration. It is immutable.
type Model struct {
	Resources []*Resource // by name
	// Version identifies the contents of the resource files.
	Version string

	byName   map[string]*Resource
	decoders sync.Pool // *decoder
}

// Steps counts the versions of the model: the different values of since of all fields,
// those of a vendor included.
func (m *Model) Steps() int {
	steps := map[int]bool{}
	for _, r := range m.Resources {
		for i := range r.Fields {
			steps[r.Fields[i].Since] = true
		}
	}
	return len(steps)
}

// Resource returns the resource of that name, or nil.
func (m *Model) Resource(name string) *Resource { return m.byName[name] }

// Names returns the names of the resources, in their order.
func (m *Model) Names() (all []string) {
	for _, r := range m.Resources {
		all = append(all, r.Name)
	}
	return all
}

// resourceFile is the form of resources/<name>.yaml.
type resourceFile struct {
	Resource
	Fields     []fieldFile              `yaml:"fields"`
	Deprecated *deprecationFile         `yaml:"deprecated"`
	Operations map[string]operationFile `yaml:"operations"`
}

type fieldFile struct {
	Field
	Type       string           `yaml:"type"`
	Scale      *int             `yaml:"scale"`
	Deprecated *deprecationFile `yaml:"deprecated"`
}

// LoadModel reads the embedded resource files and, when dir is not empty, the
// *.yaml files of that folder over them: a file of the same name replaces an
// embedded one, another adds a resource. All problems are reported at once.
func LoadModel(dir string) (*Model, error) {
	if dir == "" {
		return ownModel()
	}
	return readModel(dir)
}

// ownModel is the model of the embedded files. It is made once, since a program loads
// it several times before it serves.
var ownModel = sync.OnceValues(func() (*Model, error) { return readModel("") })

func readModel(dir string) (*Model, error) {
	files, ofDir, err := resourceFiles(dir)
	if err != nil {
		return nil, err
	}
	l := loader{model: &Model{byName: map[string]*Resource{}}}
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(hash, "%s %d\n%s", name, len(files[name]), files[name])
		file := name
		if slices.Contains(ofDir, name) { // with its folder, so that editors find it
			file = filepath.Join(dir, name)
		}
		l.read(file, files[name])
	}
	l.model.Version = hex.EncodeToString(hash.Sum(nil))[:12]
	slices.SortFunc(l.model.Resources, func(a, b *Resource) int { return cmp.Compare(a.Name, b.Name) })
	for _, r := range l.model.Resources {
		l.link(r)
	}
	if len(l.problems) > 0 {
		l.problems.Sort()
		return nil, l.problems
	}
	for _, r := range l.model.Resources {
		l.refer(r)
	}
	l.model.age()
	return l.model, nil
}

// resourceFiles reads the embedded files, and over them those of dir, whose names are
// ofDir.
func resourceFiles(dir string) (files map[string][]byte, ofDir []string, err error) {
	files = map[string][]byte{}
	read := func(fsys fs.FS) (names []string, err error) {
		if names, err = resourceNames(fsys); err != nil {
			return nil, err
		}
		for _, name := range names {
			if files[name], err = fs.ReadFile(fsys, name); err != nil {
				return nil, err
			}
		}
		return names, nil
	}
	own, err := fs.Sub(embedded, "resources")
	if err != nil {
		return nil, nil, err
	}
	if _, err := read(own); err != nil || dir == "" {
		return files, nil, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil, fmt.Errorf("model folder %s: not a folder", dir)
	}
	if ofDir, err = read(os.DirFS(dir)); err != nil {
		return nil, nil, fmt.Errorf("model folder %s: %w", dir, err)
	}
	return files, ofDir, nil
}

// resourceNames returns the names of the resource files in a folder, sorted.
func resourceNames(fsys fs.FS) (names []string, err error) {
	all, err := fs.ReadDir(fsys, ".")
	for _, entry := range all {
		if path.Ext(entry.Name()) == ".yaml" {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// ResourceFiles returns the files of a folder that LoadModel reads, sorted.
func ResourceFiles(dir string) ([]string, error) {
	names, err := resourceNames(os.DirFS(dir))
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names, err
}

// loader gathers resources and problems over all files.
type loader struct {
	model    *Model
	problems strictyaml.Problems
}

func (l *loader) problem(r *Resource, at, format string, args ...any) {
	l.problems = append(l.problems, r.Problem(at, format, args...))
}

var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,62}$`)

func (l *loader) read(file string, src []byte) {
	var rf resourceFile
	doc, problems := strictyaml.Decode(file, src, &rf, strictyaml.Options{})
	if len(problems) > 0 {
		l.problems = append(l.problems, problems...)
		return
	}
	r := new(rf.Resource) // a copy, so that rf can be freed
	r.Since, r.model, r.doc, r.byName = max(1, r.Since), l.model, doc, map[string]*Field{}
	if base := filepath.Base(file); !identifier.MatchString(r.Name) || r.Name+".yaml" != base {
		l.problem(r, "name", "expected the file's own name, %s, saw %q", strings.TrimSuffix(base, ".yaml"), r.Name)
		return
	}
	own := []Field{{Name: "id", Type: Int4, Primary: true, Required: true, Description: "Primary ID.", Example: "1"}}
	for i, ff := range rf.Fields {
		own = append(own, l.field(r, fmt.Sprintf("fields[%d]", i), ff))
	}
	r.Deprecated = l.deprecation(r, "deprecated", rf.Deprecated)
	l.operations(r, rf.Operations)
	r.Fields = append(own, commonFields()...)
	for i, f := range Each(r.Fields) {
		f.Index = i
		f.Since = max(f.Since, r.Since)
		if earlier := r.byName[f.Name]; earlier != nil {
			at := i - 1
			if at >= len(rf.Fields) { // a common field: the problem is at the field of the file
				at = earlier.Index - 1
			}
			l.problem(r, fmt.Sprintf("fields[%d].name", at), "field %s exists already", f.Name)
		}
		r.byName[f.Name] = f
	}
	r.index()
	l.model.byName[r.Name] = r
	l.model.Resources = append(l.model.Resources, r)
}

// The flags of every record.
const (
	isSystem   = "is_system"
	isBlocked  = "is_blocked"
	isArchived = "is_archived"
)

var flag = []string{"0", "1"}

// commonFields are the last fields of every resource.
func commonFields() []Field {
	return []Field{
		{Name: isSystem, Type: Int4, Default: "0", Readonly: true, Description: "1 for a record of the administration itself, which cannot be changed."},
		{Name: isBlocked, Type: Int4, Default: "0", OneOf: flag, Description: "1 while the record is blocked: only is_blocked can be updated."},
		{Name: isArchived, Type: Int4, Default: "0", OneOf: flag, Description: "1 while the record is archived: only is_archived can be updated."},
		{Name: "created_at", Type: Timestamp, Readonly: true, Description: "When the record was created."},
		{Name: "modified_at", Type: Timestamp, Readonly: true, Description: "When the record was last changed."},
	}
}

func (l *loader) field(r *Resource, at string, ff fieldFile) Field {
	f := ff.Field
	f.Unique, f.Scale = f.Unique || f.UniquePer != "", -1
	if !identifier.MatchString(f.Name) {
		l.problem(r, at+".name", "expected letters, digits and underscores, saw %q", f.Name)
	}
	l.fieldType(r, at, ff, &f)
	f.Deprecated = l.deprecation(r, at+".deprecated", ff.Deprecated)
	if f.Check != "" && validations[f.Check].judge == nil {
		known := slices.DeleteFunc(slices.Sorted(maps.Keys(validations)), func(name string) bool { return validations[name].judge == nil })
		l.problem(r, at+".check", "unknown validation %s, known are %s", f.Check, strings.Join(known, ", "))
	}
	if f.Numbering != "" && !(f.Type == Varchar && f.Readonly) {
		l.problem(r, at+".numbering", "only a readonly varchar is numbered by the backend")
	}
	if (f.Reference != "" || f.ReferenceBy != "") && f.Type != Int4 {
		l.problem(r, at, "a reference is an int4, not a %s", f.Type)
	}
	if f.Default != "" {
		if _, err := f.Parse(f.Default, time.UTC); err != nil {
			l.problem(r, at+".default", "expected a value of type %s, saw %q", f.Type, f.Default)
		}
	}
	return f
}

var fieldType = regexp.MustCompile(`^(?:varchar\((\d{1,5})\)|array\((\w+)\)|(text|timestamp|float8|int4|bytea))$`)

func (l *loader) fieldType(r *Resource, at string, ff fieldFile, f *Field) {
	m := fieldType.FindStringSubmatch(ff.Type)
	switch {
	case m == nil:
		l.problem(r, at+".type", "expected varchar(N), text, timestamp, float8, int4, bytea or array(RESOURCE), saw %q", ff.Type)
		f.Type = Text
	case m[1] != "":
		f.Type = Varchar
		f.Length, _ = strconv.Atoi(m[1])
	case m[2] != "":
		f.Type, f.ArrayOf = Array, m[2]
	default:
		f.Type = Datatype(slices.Index(datatypeNames[:], m[3]))
	}
	if f.Type == Text {
		f.Length = TextLength
	}
	if ff.Scale == nil {
		return
	}
	if f.Scale = *ff.Scale; f.Type != Float8 || f.Scale < 0 || f.Scale > MaxScale {
		l.problem(r, at+".scale", "expected 0 to %d decimals on a float8", MaxScale)
		f.Scale = 0
	}
}

// link resolves the names of fields and resources that a resource refers to.
func (l *loader) link(r *Resource) {
	r.nameMembers()
	for i, f := range Each(r.Fields) {
		at := fmt.Sprintf("fields[%d]", i-1)
		if name := cmp.Or(f.Reference, f.ArrayOf); name != "" {
			if f.target = l.model.byName[name]; f.target == nil {
				l.problem(r, at, "field %s refers to %s, which is no resource", f.Name, name)
			}
		}
		if f.ArrayOf != "" && f.target != nil {
			if key := f.target.byName[f.ArrayKey]; key == nil || key.Reference != r.Name {
				l.problem(r, at+".array_key", "expected the field of %s that refers to %s, saw %q", f.ArrayOf, r.Name, f.ArrayKey)
			} else {
				f.target.owner = key
			}
		}
		if f.After != "" {
			if f.after = r.byName[f.After]; f.after == nil || f.Type != Timestamp || f.after.Type != Timestamp {
				l.problem(r, at+".after", "expected a timestamp field of %s, saw %q", r.Name, f.After)
			}
		}
		for key, name := range map[string]string{"unique_per": f.UniquePer, "reference_by": f.ReferenceBy} {
			if name != "" && r.byName[name] == nil {
				l.problem(r, at+"."+key, "%s has no field %s", r.Name, name)
			}
		}
		if f.Type != Array {
			r.all = append(r.all, i)
		}
		if f.InLists() {
			r.plain = append(r.plain, i)
		}
	}
	for i, name := range r.ListRequires {
		if f := r.byName[name]; f == nil || !f.Filterable() {
			l.problem(r, fmt.Sprintf("list_requires[%d]", i), "%s has no field %s to filter by", r.Name, name)
		}
	}
}

// refer adds the fields of a resource to the referrers of the resources that they refer to.
func (l *loader) refer(r *Resource) {
	for _, f := range Each(r.Fields) {
		switch {
		case f.SameRow:
		case f.Reference != "":
			f.target.referrers = append(f.target.referrers, Referrer{Resource: r, Field: f})
		case f.ReferenceBy != "":
			for _, target := range l.model.Resources {
				target.referrers = append(target.referrers, Referrer{Resource: r, Field: f, By: r.byName[f.ReferenceBy]})
			}
		}
	}
}

package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"frontdesk/config/strictyaml"
)

// Change is one difference between two configurations. It is safe to show: it hides secrets
// and values of variables, and has only the first digits of a hash.
type Change struct {
	Path     string // server.listen; for a setting of an api_key with its name: api_keys.webshop.allow
	From, To string // "" for nothing
	Restart  bool   // takes effect only after a restart
	Secret   bool   // From and To stand for secrets
}

// String formats the change for people: server.listen: 127.0.0.1:8080 → 0.0.0.0:8080.
func (c Change) String() string {
	switch {
	case c.From == "":
		return c.Path + ": + " + c.To
	case c.To == "":
		return c.Path + ": - " + c.From
	case c.From == c.To:
		return c.Path + ": " + c.To + " changed"
	default:
		return c.Path + ": " + c.From + " → " + c.To
	}
}

// Changes returns what has changed from one configuration to another, in the order
// of the file. It compares lists as sets: an entry was added or removed.
func Changes(from, to *Config) []Change {
	var d differ
	d.structs("", reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem())
	for i := range d.found {
		d.found[i].Restart = !reloadable(d.found[i].Path)
		if !d.found[i].Secret { // a secret is never shown
			d.found[i].From, d.found[i].To = from.hide.Hide(d.found[i].From), to.hide.Hide(d.found[i].To)
		}
	}
	return d.found
}

// reloadable reports whether a setting can be replaced while requests are served. Only
// settings for single requests can; the others belong to parts that were opened or started
// with them.
func reloadable(path string) bool {
	section, _, _ := strings.Cut(path, ".")
	switch section {
	case "api_keys", "include":
		return true
	default:
		return path == "log.level" || path == "log.access"
	}
}

// differ collects changes.
type differ struct{ found []Change }

func (d *differ) add(path, from, to string, of reflect.Type) {
	d.found = append(d.found, Change{Path: path, From: from, To: to, Secret: of == reflect.TypeFor[Secret]()})
}

// structs compares the fields that a file can have.
func (d *differ) structs(path string, from, to reflect.Value) {
	for i := range from.NumField() {
		name, _, _ := strings.Cut(from.Type().Field(i).Tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		d.values(strings.TrimPrefix(path+"."+name, "."), from.Field(i), to.Field(i))
	}
}

func (d *differ) values(path string, from, to reflect.Value) {
	if reflect.DeepEqual(from.Interface(), to.Interface()) { // fast for most values, which share their slices
		return
	}
	if keys, ok := from.Interface().([]Key); ok {
		d.keys(path, keys, to.Interface().([]Key))
		return
	}
	_, isLeaf := leaf(from)
	switch {
	case from.Kind() == reflect.Slice:
		d.lists(path, from, to)
	case from.Kind() == reflect.Struct && !isLeaf:
		d.structs(path, from, to)
	case identity(from) != identity(to):
		d.add(path, shown(from), shown(to), from.Type())
	}
}

// keys compares api_keys by their names.
func (d *differ) keys(path string, from, to []Key) {
	before := make(map[string]*Key, len(from))
	for i := range from {
		before[from[i].Name] = &from[i]
	}
	for i := range to {
		key := &to[i]
		at := path + "." + key.Name
		old := before[key.Name]
		delete(before, key.Name)
		if old == nil {
			old = &Key{Name: key.Name}
			d.add(at, "", "api_key", reflect.TypeFor[Key]())
		}
		d.structs(at, reflect.ValueOf(old).Elem(), reflect.ValueOf(key).Elem())
	}
	for i := range from {
		if before[from[i].Name] != nil {
			d.add(path+"."+from[i].Name, "api_key", "", reflect.TypeFor[Key]())
		}
	}
}

// lists compares lists as sets.
func (d *differ) lists(path string, from, to reflect.Value) {
	before, after := identities(from), identities(to)
	for i := range from.Len() {
		if v := from.Index(i); !after[identity(v)] {
			d.add(path, shown(v), "", v.Type())
		}
	}
	for i := range to.Len() {
		if v := to.Index(i); !before[identity(v)] {
			d.add(path, "", shown(v), v.Type())
		}
	}
}

func identities(list reflect.Value) map[string]bool {
	all := make(map[string]bool, list.Len())
	for i := range list.Len() {
		all[identity(list.Index(i))] = true
	}
	return all
}

// identity returns a text that is equal only for equal values. It may hold secrets.
func identity(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case Secret:
		return string(x)
	case Digest:
		return string(x[:])
	case KeyHash:
		return string(x.Hash[:]) + shown(v)
	default:
		return shown(v)
	}
}

// shown formats a value for people.
func shown(v reflect.Value) string {
	if text, ok := leaf(v); ok {
		return text
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return ""
		}
		return shown(v.Elem())
	case reflect.Struct:
		return members(v, shown)
	default:
		return fmt.Sprint(v.Interface())
	}
}

// members formats a struct as YAML on one line, without empty fields.
func members(v reflect.Value, written func(reflect.Value) string) string {
	var all []string
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		if text := written(v.Field(i)); text != "" {
			all = append(all, name+": "+text)
		}
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// leaf returns the text of a value that is a scalar in a file, even if it is a struct in Go.
func leaf(v reflect.Value) (text string, ok bool) {
	switch x := v.Interface().(type) {
	case Secret:
		if x == "" {
			return "", true
		}
		return hidden, true
	case Digest:
		return x.Short() + "…", true
	case Expiry:
		if x.IsZero() {
			return "", true
		}
		return x.Format(time.RFC3339), true
	case time.Duration:
		return strictyaml.ShortDuration(x), true
	case fmt.Stringer: // Rule, Network, Zone
		return x.String(), true
	default:
		return "", false
	}
}

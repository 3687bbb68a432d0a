package sheet_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// TestLoad holds all that drivers are told of a sheet to testdata/*.loaded.txt.
func TestLoad(t *testing.T) {
	for _, name := range []string{"tables", "service", "interface", "per_client"} {
		t.Run(name, func(t *testing.T) {
			s := load(t, "testdata/"+name+".yaml")
			var b strings.Builder
			fmt.Fprintln(&b, "own rules:", s.OwnRules, "without:", s.WithoutRules, "keep:", s.NeedsKeep(), "clients kept:", s.ClientsKept)
			fmt.Fprintln(&b, "keys without case:", s.KeysWithoutCase(), "shared:", s.Shared(), "location:", s.Location)
			fmt.Fprintln(&b, "source:", told(reflect.ValueOf(s.Source)))
			fmt.Fprintln(&b, "accounts:", told(reflect.ValueOf(s.Accounts)))
			for _, r := range s.Model.Resources {
				tellResource(&b, s, s.Resources[r])
			}
			isFile(t, "testdata/"+name+".loaded.txt", b.String())
		})
	}
}

// tellResource writes a line for a resource, and one for each of its fields.
func tellResource(b *strings.Builder, s *sheet.Sheet, r *sheet.Resource) {
	fmt.Fprintf(b, "\n%s: %s requires: %v undated: %v shared: %v", r.Name, told(reflect.ValueOf(r).Elem()), r.ListRequires, r.Undated, r.IsShared())
	if parent := r.Parent(); parent != nil {
		fmt.Fprint(b, " of: ", parent.Name)
	}
	fmt.Fprintln(b)
	for i := range r.Fields {
		f := &r.Fields[i]
		fmt.Fprintf(b, "  %s:", f.Name)
		if r.SQL != nil {
			fmt.Fprint(b, " ", told(reflect.ValueOf(r.SQL.Fields[i])))
		} else {
			fmt.Fprint(b, " ", told(reflect.ValueOf(r.Service.Fields[i])))
		}
		marks := map[string]bool{
			"immutable": f.Immutable, "readonly": f.Readonly, "unfiltered": f.Unfiltered != 0, "written": s.Writes(r.Resource, f.Field),
			"refers": f.Field.Target() != nil, "kept": f.Target != nil,
		}
		for _, what := range slices.Sorted(maps.Keys(marks)) {
			if marks[what] {
				fmt.Fprint(b, " ", what)
			}
		}
		if len(f.OneOf) > 0 {
			fmt.Fprint(b, " ", f.OneOf)
		}
		fmt.Fprintln(b)
	}
}

// told is what a value says, without the parts that say nothing.
func told(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case *sheet.Resource:
		return x.Name
	case *sheet.Field:
		return x.Name
	case mapping.Value:
		return string(x.AppendJSON(nil))
	case string:
		return fmt.Sprintf("%q", x)
	case fmt.Stringer:
		return x.String()
	}
	var parts []string
	switch v.Kind() {
	case reflect.Pointer:
		return told(v.Elem())
	case reflect.Func:
		return ""
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, told(v.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map:
		for _, key := range v.MapKeys() {
			parts = append(parts, fmt.Sprint(key, ": ", told(v.MapIndex(key))))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	case reflect.Struct:
		return "{" + strings.Join(members(v), ", ") + "}"
	}
	return fmt.Sprint(v)
}

// members are those of a struct that say something, with those of the structs it embeds.
func members(v reflect.Value) (all []string) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		elsewhere := f.Name == "Fields" || f.Type == reflect.TypeFor[*mapping.Resource]()
		switch {
		case elsewhere || v.Field(i).IsZero():
		case f.Anonymous:
			all = append(all, members(v.Field(i))...)
		case f.IsExported():
			all = append(all, f.Name+": "+told(v.Field(i)))
		}
	}
	return all
}

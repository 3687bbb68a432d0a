package strictyaml

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Constraint is one constraint in the tag of a field, such as above=0s in
// schema:"above=0s [range]: more than 0s; format=host [webhook-host]". The rule in brackets, and the
// text after the colon that messages give as expected, may be left out.
type Constraint struct{ Name, Argument, Rule, Expected string }

// Constraints reads a tag. A semicolon and a blank separate constraints.
//
//	required        the key is there, and no empty list; it is judged only if its tag says what is
//	                expected, or has an enum
//	short           the value may stand alone in place of the section
//	enum=a|b        one of these words, under the rule word
//	items=a|b       of a list: each is one of these words
//	min=1, max=9    at least, at most; above=0: more than; range=1..9: both
//	pattern=^x$     text that the regular expression matches
//	format=NAME     text of that format, of [Options].Formats
//	unique          of a list: no item is there twice
//
// Min, max, above, range, pattern and format of a list are about each of its items.
func Constraints(tag string) (all []Constraint) {
	known := []string{"required", "short", "enum", "items", "min", "max", "above", "range", "pattern", "format", "unique"}
	if tag == "" {
		return nil
	}
	for _, text := range strings.Split(tag, "; ") {
		var c Constraint
		text, c.Expected, _ = strings.Cut(text, ": ")
		text, c.Rule, _ = strings.Cut(text, " [")
		c.Rule = strings.TrimSuffix(c.Rule, "]")
		if c.Name, c.Argument, _ = strings.Cut(text, "="); c.Name == "enum" {
			c.Rule = RuleWord
		}
		if !slices.Contains(known, c.Name) {
			panic(fmt.Sprintf("strictyaml: cannot judge by %q", tag))
		}
		all = append(all, c)
	}
	return all
}

// Words returns the words of an enumeration.
func (c Constraint) Words() []string { return strings.Split(c.Argument, "|") }

// Bounds returns the least and the greatest value; "" for none.
func (c Constraint) Bounds() (low, high string) {
	switch c.Name {
	case "min", "above":
		return c.Argument, ""
	case "max":
		return "", c.Argument
	case "range":
		low, high, _ = strings.Cut(c.Argument, "..")
	}
	return low, high
}

// judge reports a decoded value that does not meet the constraints of its field. It does not change it.
func (d *decoder) judge(constraints []Constraint, v reflect.Value, path string) {
	v = reflect.Indirect(v)
	for _, c := range constraints {
		switch {
		case d.doc.broken[path] || !v.IsValid():
			return
		case c.Name == "unique":
			d.unique(c, v, path)
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				d.judgeValue(c, v.Index(i), element(path, i))
			}
		default:
			d.judgeValue(c, v, path)
		}
	}
}

func (d *decoder) judgeValue(c Constraint, v reflect.Value, path string) {
	fits, expected, hidden, text := true, "", false, v.String()
	switch low, high := c.Bounds(); c.Name {
	case "enum", "items":
		if fits = slices.Contains(c.Words(), text); !fits {
			expected = OneOf(c.Words()) + d.doc.Suggest(path, text, c.Words())
		}
	case "min":
		fits, expected = !d.less(v, low), low+" or more"
	case "max":
		fits, expected = !d.more(v, high), "at most "+high
	case "above":
		fits, expected = d.more(v, low), "more than "+low
	case "range":
		fits, expected = !d.less(v, low) && !d.more(v, high), "from "+low+" to "+high
	case "pattern":
		fits = regexp.MustCompile(c.Argument).MatchString(text)
	case "format":
		if f := d.Formats[c.Argument]; d.Formats != nil {
			fits, expected, hidden = f.Is(text), f.Expected, f.Hidden
		}
	}
	if fits || d.doc.broken[path] {
		return
	}
	found := "found " + d.shown(v, path) + ", "
	if hidden && text == "" {
		found = "found nothing, "
	} else if hidden {
		found = ""
	}
	d.fail(path, c.Rule, found+"expected "+cmp.Or(c.Expected, expected))
}

func (d *decoder) less(v reflect.Value, bound string) bool { return number(v) < d.bound(v, bound) }
func (d *decoder) more(v reflect.Value, bound string) bool { return number(v) > d.bound(v, bound) }

// bound reads a value of a tag as the type of v.
func (d *decoder) bound(v reflect.Value, text string) float64 {
	of := reflect.New(v.Type()).Elem()
	d.value(&node{kind: Scalar, text: text, plain: true}, of, "")
	return number(of)
}

func number(v reflect.Value) float64 { return v.Convert(reflect.TypeFor[float64]()).Float() }

// unique reports items that are there twice. It skips zero values, which could not be decoded.
func (d *decoder) unique(c Constraint, list reflect.Value, path string) {
	seen := make(map[any]bool, list.Len())
	for i := range list.Len() {
		item, at := list.Index(i), element(path, i)
		if key := item.Interface(); !item.IsZero() && seen[key] {
			d.fail(at, c.Rule, "found "+cmp.Or(c.Expected, d.shown(item, at))+" again")
		} else {
			seen[key] = true
		}
	}
}

// missing reports required keys that are missing, or whose list is empty.
func (d *decoder) missing(n *node, v reflect.Value, path string, known fields) {
	for name, c := range known.required {
		field, below := v.FieldByIndex(known.index[name]), Child(path, name)
		isEmpty := (field.Kind() == reflect.Slice || field.Kind() == reflect.Map) && field.Len() == 0
		if isGiven := slices.ContainsFunc(n.entries, func(e entry) bool { return e.key == name }); !isGiven || isEmpty && !d.doc.broken[below] {
			d.fail(below, c.Rule, "missing, expected "+c.Expected)
		}
	}
}

// shown formats a value for a message: text in quotes, a value of a variable as it is written.
func (d *decoder) shown(v reflect.Value, path string) string {
	written, expanded := d.doc.Written(path)
	_, isShown := v.Interface().(fmt.Stringer) // a secret hides itself
	switch length, is := v.Interface().(time.Duration); {
	case v.Kind() == reflect.String && !isShown:
		return d.doc.Found(path, v.String())
	case expanded:
		return written
	case is:
		return ShortDuration(length)
	default:
		return fmt.Sprint(v)
	}
}

// ShortDuration writes a duration the way people do: 45m rather than 45m0s.
func ShortDuration(length time.Duration) string {
	text := length.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

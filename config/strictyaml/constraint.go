package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Constraint is one thing that the tag of a field says of its value, such as above=0s in
// schema:"above=0s [range]: more than 0s; format=host [webhook-host]". The rule in brackets and,
// after the colon, what a message says was expected may be left out.
type Constraint struct{ Name, Argument, Rule, Expected string }

// Constraints reads a tag. They are divided by a semicolon and a blank.
//
//	required        the key is there, and no empty list; it is judged if it says what is expected,
//	                or which words are
//	short           the value may stand alone in place of the section
//	enum=a|b        one of these words, under the rule word
//	items=a|b       of a list: each is one of these words
//	min=1, max=9    at least, at most; above=0: more than; range=1..9: both
//	pattern=^x$     text that the regular expression matches
//	format=NAME     text that one of [Options].Formats takes
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

// Words are those of an enumeration.
func (c Constraint) Words() []string { return strings.Split(c.Argument, "|") }

// Bounds are the least and the greatest value; "" for none.
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

// judge holds a decoded value to what the tag of its field says. The value stays as it is.
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
	err := d.unfit(c, v, path)
	if err == nil || d.doc.broken[path] {
		return
	}
	message := err.Error()
	if expected, ok := errors.AsType[Expected](err); ok {
		message = fmt.Sprintf("found %s, expected %s", d.shown(v, path), cmp.Or(c.Expected, string(expected)))
	}
	d.fail(path, c.Rule, message)
}

// unfit is why a value does not fit a constraint.
func (d *decoder) unfit(c Constraint, v reflect.Value, path string) error {
	low, high := c.Bounds()
	switch c.Name {
	case "enum", "items":
		if seen := v.String(); !slices.Contains(c.Words(), seen) {
			return Expected(OneOf(c.Words()) + d.doc.Suggest(path, seen, c.Words()))
		}
	case "min":
		return expectedUnless(!d.less(v, low), low+" or more")
	case "max":
		return expectedUnless(!d.more(v, high), "at most "+high)
	case "above":
		return expectedUnless(d.more(v, low), "more than "+low)
	case "range":
		return expectedUnless(!d.less(v, low) && !d.more(v, high), "from "+low+" to "+high)
	case "pattern":
		return expectedUnless(regexp.MustCompile(c.Argument).MatchString(v.String()), "text like "+c.Argument)
	case "format":
		if d.Formats != nil {
			return d.Formats[c.Argument](v.String())
		}
	}
	return nil
}

func expectedUnless(fits bool, what string) error {
	if fits {
		return nil
	}
	return Expected(what)
}

func (d *decoder) less(v reflect.Value, bound string) bool { return number(v) < d.bound(v, bound) }
func (d *decoder) more(v reflect.Value, bound string) bool { return number(v) > d.bound(v, bound) }

// bound is a value that a tag says, of the type of v.
func (d *decoder) bound(v reflect.Value, text string) float64 {
	of := reflect.New(v.Type()).Elem()
	d.value(&node{kind: Scalar, text: text, plain: true}, of, "")
	return number(of)
}

func number(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	default:
		return v.Float()
	}
}

// unique reports items that are there twice. Zero values are those that could not be read.
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

// missing reports keys that a struct must have, and lists there that are empty.
func (d *decoder) missing(n *node, v reflect.Value, path string, known fields) {
	for _, name := range known.names {
		of := known.constraints[name]
		for _, c := range of {
			if i := slices.IndexFunc(of, func(c Constraint) bool { return c.Name == "enum" }); i >= 0 {
				c.Expected = cmp.Or(c.Expected, OneOf(of[i].Words()))
			}
			if c.Name != "required" || c.Expected == "" {
				continue
			}
			field, below := v.FieldByIndex(known.index[name]), Child(path, name)
			isEmpty := (field.Kind() == reflect.Slice || field.Kind() == reflect.Map) && field.Len() == 0
			if isGiven := slices.ContainsFunc(n.entries, func(e entry) bool { return e.key == name }); !isGiven || isEmpty && !d.doc.broken[below] {
				d.fail(below, c.Rule, "missing, expected "+c.Expected)
			}
		}
	}
}

// shown is a value for a message: text in quotes, a value of a variable as it is written.
func (d *decoder) shown(v reflect.Value, path string) string {
	written, expanded := d.doc.Written(path)
	switch x := v.Interface().(type) {
	case time.Duration:
		return cmp.Or(written, ShortDuration(x))
	case fmt.Stringer: // of a secret, too, which hides it
		return cmp.Or(written, x.String())
	}
	if v.Kind() == reflect.String {
		return d.doc.Found(path, v.String())
	}
	if expanded {
		return written
	}
	return fmt.Sprint(v)
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

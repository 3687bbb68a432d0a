package sheet

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Element is a member of a JSON object, or an element of a list, whose name is its number.
type Element struct{ Name, Text string }

// Elements are the members or elements of a JSON text, in their order, each as it is written;
// none if the text is neither an object nor a list.
func Elements(text string) (all []Element, err error) {
	d := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true))
	begin, err := d.ReadToken()
	if err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	kind := begin.Kind()
	if kind != '{' && kind != '[' {
		return nil, nil
	}
	for d.PeekKind() != kind+2 { // } and ]
		e := Element{Name: strconv.Itoa(len(all))}
		if kind == '{' {
			name, err := d.ReadToken()
			if err != nil {
				return all, fmt.Errorf("it is no JSON: %w", err)
			}
			e.Name = name.String()
		}
		value, err := d.ReadValue()
		if err != nil {
			return all, fmt.Errorf("it is no JSON: %w", err)
		}
		e.Text = string(value)
		all = append(all, e)
	}
	return all, nil
}

package sheet

import (
	"fmt"
	"os"

	"frontdesk/config/strictyaml"
)

// IsFilled tells whether the place of a field is written on every create.
func (f *Field) IsFilled() bool {
	return f.writable && (f.Required || !f.onCreate.IsAbsent() || f.stamp != StampNever || f.Default != "")
}

// QuotesZone tells whether the format has a Z in quotes behind a time of day, and so takes what
// says UTC for a time of another zone.
func (f *Field) QuotesZone() bool {
	c := &f.codec
	return c.format.quotesZone() && c.loc != nil && c.loc.String() != "UTC"
}

func (c *codec) systemName() string {
	for name, s := range systemTypes {
		if s == c.system {
			return name
		}
	}
	return ""
}

// Constants are the places that are set on every create.
func (r *Resource) Constants() []string {
	var all []string
	for _, c := range r.constants {
		all = append(all, c.place)
	}
	return all
}

// Outline returns where the values of a sheet are in its file, even if the sheet has problems.
func Outline(path string) (*strictyaml.Document, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("mapping sheet: %w", err)
	}
	_, doc, _ := decode(path, src)
	return doc, nil
}

// quotesZone tells whether a quoted Z follows a time of day directly.
func (l *layout) quotesZone() bool {
	if l == nil {
		return false
	}
	for i, p := range l.parts[min(1, len(l.parts)):] {
		if before := l.parts[i].unit; p.unit == 0 && p.literal == "Z" && (before == 'm' || before == 's' || before == 'S') {
			return true
		}
	}
	return false
}

package remotetest

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the services' local time must be known everywhere
)

// zone is where the services are, whose clocks they show.
var zone = mustZone("Europe/Amsterdam")

func mustZone(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return loc
}

// style is a way to write a value that is not the usual one of its kind.
type style uint8

const (
	usual  style = iota
	millis       // a moment as milliseconds since 1970
	quoted       // a whole number as string
)

// wire says how a service writes a field.
type wire struct {
	name  string // of the field
	path  string // with dots for nested objects
	style style
	words map[string]string // a choice as the service spells it, by the entity's word
	via   string            // a reference: the field is that of the record it leads to, and read-only
	apart bool              // shown on demand only
}

// param is a query parameter.
type param struct{ name, field string }

// skin is one entity as a service shows it.
type skin struct {
	entity     string
	prefix     string // of IDs
	collection string // its path below /v3
	fields     []wire
	params     []param // the filters of its lists
}

func (s *skin) wireOf(field string) *wire {
	for i := range s.fields {
		if s.fields[i].name == field && s.fields[i].via == "" {
			return &s.fields[i]
		}
	}
	return nil
}

// spelling returns how the service calls a field.
func (s *skin) spelling(field string) string {
	if w := s.wireOf(field); w != nil {
		return w.path
	}
	return field
}

func (s *skin) param(name string) (param, bool) {
	i := slices.IndexFunc(s.params, func(p param) bool { return p.name == name })
	if i < 0 {
		return param{}, false
	}
	return s.params[i], true
}

// words makes wire.words of "word SPELLING word SPELLING".
func words(pairs string) map[string]string {
	out := map[string]string{}
	fields := strings.Fields(pairs)
	for i := 0; i+1 < len(fields); i += 2 {
		out[fields[i]] = fields[i+1]
	}
	return out
}

// spell returns a word of a choice as the service spells it: in capitals, unless
// words has another spelling.
func (w *wire) spell(word string) string {
	if s, ok := w.words[word]; ok {
		return s
	}
	return strings.ToUpper(word)
}

func (w *wire) unspell(f *field, s string) (string, bool) {
	for _, word := range f.words {
		if w.spell(word) == s {
			return word, true
		}
	}
	return "", false
}

var decimalForm = regexp.MustCompile(`^-?[0-9]{1,12}(\.[0-9]{1,4})?$`)

// notation is how a service writes yes, no and moments.
type notation struct {
	yes, no string
	moment  func(s string) (time.Time, error)
}

// read reads a value from its text.
func (n notation) read(f *field, w *wire, s string) (any, bool) {
	switch f.kind {
	case whole:
		v, err := strconv.ParseInt(s, 10, 64)
		return v, err == nil
	case amount:
		return parseAmount(f, s)
	case flag:
		return s == n.yes, s == n.yes || s == n.no
	case moment:
		v, err := n.moment(s)
		return v, err == nil
	case day:
		v, err := time.Parse(time.DateOnly, s)
		return v, err == nil
	case choice:
		return w.unspell(f, s)
	case blob:
		v, err := base64.StdEncoding.DecodeString(s)
		return v, err == nil
	default:
		return s, true
	}
}

// parseAmount reads a decimal that has no more decimals than the field.
func parseAmount(f *field, s string) (*big.Rat, bool) {
	if !decimalForm.MatchString(s) {
		return nil, false
	}
	r, _ := new(big.Rat).SetString(s)
	return r, round(r, f.scale).Cmp(r) == 0
}

func (p *problem) Error() string {
	return fmt.Sprintf("trouble %d: %s %s", p.trouble, p.field, p.detail)
}

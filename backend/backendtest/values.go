package backendtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// values are fields of a record that is sent.
type values map[string]any

func (v values) json() string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // all that the suite sends can be marshalled
	}
	return string(data)
}

// with is a copy with more fields.
func (v values) with(more values) values {
	all := values{}
	maps.Copy(all, v)
	maps.Copy(all, more)
	return all
}

// The moment in records of the suite, and its form in an answer.
const (
	sentTime     = "2026-07-01T12:00:00.125+02:00"
	answeredTime = "2026-07-01T10:00:00.125Z"
	laterTime    = "2026-07-02T12:00:00.125+02:00"
	answeredLate = "2026-07-02T10:00:00.125Z"
	sentDay      = "2026-07-01"
	laterDay     = "2026-07-02"
)

// plain makes values of fields whose name implies more than their type.
var plain = map[string]any{"order_status": "open", "language": "nl", "role": "driver"}

// canMake reports whether the suite knows a value for a field.
func canMake(f *Field) bool {
	if f.options() != nil || f.Array {
		return !f.Array
	}
	switch f.Validation {
	case "", "percentage", "license_plate", "postcode", "vin", "email", "ean", "https_url", "resource":
		return true
	}
	return false
}

// value is a valid value for a field that is no reference, in its fullest form
// unless it must be unique.
func (s *suite) value(f *Field) any {
	if options := f.options(); options != nil {
		if v, ok := plain[f.Name].(string); ok && slices.Contains(options, v) {
			return v
		}
		if f.Datatype == "int4" {
			n, _ := strconv.Atoi(options[0])
			return n
		}
		return options[0]
	}
	switch f.Datatype {
	case "int4":
		if f.Unique {
			return 1000 + s.next()
		}
		return 7
	case "float8":
		if strings.Contains(f.Name, "price") || f.Name == "quantity" {
			return 12.2525
		}
		return 12.25
	case "timestamp":
		if f.After != "" {
			return laterTime
		}
		return sentTime
	case "bytea":
		return "SGVsbG8="
	}
	return s.textValue(f)
}

func (s *suite) textValue(f *Field) string {
	switch f.Validation {
	case "license_plate":
		n := s.next()
		seed := s.run
		return fmt.Sprintf("%c%c-%03d-%c", letter(seed[0]), letter(seed[1]), (int(seed[2])*37+n)%1000, letter(seed[4]+byte(n/1000)))
	case "vin":
		return fmt.Sprintf("WVWZZZ%c%c%cZ%07d", letter(s.run[0]), letter(s.run[1]), letter(s.run[2]), s.next()%10000*1000+int(s.run[3]))
	case "postcode":
		return "3511 EV"
	case "email":
		return "conform-" + s.unique(20) + "@example.nl"
	case "ean":
		return "8711253001202"
	case "https_url":
		return "https://files.example.nl/" + s.unique(20)
	}
	if f.Unique || f.Required || f.Name == "username" {
		return s.unique(f.Length)
	}
	if v, ok := plain[f.Name].(string); ok {
		return v
	}
	full := []rune(s.unique(5) + " Zoë 𝄞 <&\"'\\>") // the unique part comes first: some fields are short
	if f.Length > 0 && len(full) > f.Length {
		full = full[:f.Length]
	}
	return strings.TrimSpace(string(full))
}

// letter is a capital that plates and chassis numbers may have.
func letter(b byte) byte { return "ABCDEFGHJKLMNPRSTVWXYZ"[int(b)%22] }

func (s *suite) next() int {
	s.count++
	return s.count
}

// unique is a text that no other record has, as far as that is possible with so few
// characters.
func (s *suite) unique(length int) string {
	n := strconv.FormatInt(int64(s.next()+36*36), 36)
	all := "CF" + strings.ToUpper(s.run+n)
	if length > 0 && len(all) > length {
		// The count distinguishes most, then the run.
		seed := int(s.run[0])*31 + int(s.run[1])
		if length <= 2 { // 10 to 9Z: the codes of countries are letters
			return strings.ToUpper(strconv.FormatInt(int64(36+(seed+s.count*7)%(36*9)), 36))
		}
		all = all[len(all)-length:]
	}
	return all
}

// letters returns a text of n letters.
func letters(n int) string { return strings.Repeat("a", n) }

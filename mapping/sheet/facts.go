package sheet

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/auth"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// User makes facts of a row aligned with Places. username is the one that was asked for.
func (f *Facts) User(row []Raw, username string) (UserFacts, error) {
	u := UserFacts{Username: username, Salts: map[string]string{}}
	if len(row) != len(f.Places) {
		return u, fmt.Errorf("accounts: a row of %d places, expected %d", len(row), len(f.Places))
	}
	for i := range f.fields {
		of := &f.fields[i]
		v := of.constant
		if of.source == fromPlace {
			raw := row[of.fromAt[0]]
			if (i == factID || i == factClientID) && of.codec.codes == nil { // wider than an int4
				n, err := strconv.ParseInt(strings.Trim(raw.String(), " "), 10, 64)
				if err != nil && raw.IsSet() {
					return u, fmt.Errorf("accounts: %s is %s, expected a whole number", of.Name, shown(raw))
				}
				u.setNumber(i, n)
				continue
			}
			var why fault
			if v, why = of.codec.read(raw, Raw{}); why != "" {
				return u, fmt.Errorf("accounts: %s: %s", of.Name, string(why)) // not its value, which may be secret
			}
		}
		if i == factUsername && of.source == fromPlace && v.IsEmpty() {
			return u, errors.New("accounts: username is missing")
		}
		u.set(i, v)
	}
	if u.ClientID == 0 {
		// The user of no client must not work on the records of any.
		return u, errors.New("accounts: client_id is missing")
	}
	for _, place := range f.salts {
		u.Salts[place] = strings.TrimRight(row[f.places[place]].String(), " ")
	}
	return u, nil
}

func (u *UserFacts) setNumber(fact int, n int64) {
	if fact == factID {
		u.ID = n
	} else {
		u.ClientID = n
	}
}

func (u *UserFacts) set(fact int, v mapping.Value) {
	switch fact {
	case factID, factClientID:
		u.setNumber(fact, v.Int())
	case factUsername:
		if !v.IsEmpty() {
			u.Username = v.Text()
		}
	case factPassword:
		u.Password = v.Text()
	case factEmail:
		u.Email = v.Text()
	case factClientName:
		u.ClientName = v.Text()
	case factExternal:
		u.External = v.Int() != 0
	case factBlocked:
		u.Blocked = v.Int() != 0
	}
}

// loadFacts compiles where the facts of a user are.
func (l *loader) loadFacts(at string, f accountColumnsFile, hashes []auth.ForeignHash, needed ...string) *Facts {
	facts := &Facts{places: map[string]int{}}
	of := factFields()
	for i, ff := range []fieldFile{f.ID, f.Username, f.Password, f.Email, f.ClientID, f.ClientName, f.External, f.Blocked} {
		name := of[i].Name
		path := strictyaml.Child(at, name)
		field := Field{Field: &of[i], clockAt: -1}
		switch {
		case !ff.given:
			if slices.Contains(needed, name) {
				l.fail(at, "%s is missing, expected where it is found", name)
			}
			field.source = fromNothing
		case ff.Constant.given:
			field.source, field.constant = fromConstant, l.constant(strictyaml.Child(path, "constant"), ff.Constant, &of[i])
		case len(ff.From) == 1 && l.isPlace(path, ff.From[0]):
			field.source, field.From = fromPlace, ff.From
			field.codec = l.codec(path, ff, &of[i], l.sheet.Location)
			field.fromAt = []int{facts.place(ff.From[0])}
		default:
			l.fail(path, "expected one column or path, or {constant: …}")
		}
		facts.fields = append(facts.fields, field)
	}
	for _, h := range hashes {
		if h.Salt != "" && !slices.Contains(facts.salts, h.Salt) {
			facts.place(h.Salt)
			facts.salts = append(facts.salts, h.Salt)
		}
	}
	return facts
}

// ClientPlace is the place of the client's number; "" if it is not stored as it is.
func (f *Facts) ClientPlace() string {
	of := &f.fields[factClientID]
	if of.source != fromPlace || of.codec.codes != nil {
		return ""
	}
	return of.From[0]
}

func (f *Facts) place(name string) int {
	if at, ok := f.places[name]; ok {
		return at
	}
	f.places[name] = len(f.Places)
	f.Places = append(f.Places, Place{Name: name})
	return len(f.Places) - 1
}

package sheet

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// User makes facts of a row aligned with Places. username is the one that was asked for.
func (f *Facts) User(row []Raw, username string) (UserFacts, error) {
	u := UserFacts{Username: username}
	if len(row) != len(f.Places) {
		return u, fmt.Errorf("accounts: a row of %d places, expected %d", len(row), len(f.Places))
	}
	for i := range f.fields {
		of := &f.fields[i]
		v := of.constant
		if of.source == fromPlace {
			raw := row[of.fromAt[0]]
			if of.Type == mapping.Int4 && (i == FactID || i == FactClientID) && of.codec.codes == nil { // wider than an int4
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
		if i == FactUsername && of.source == fromPlace && v.IsEmpty() {
			return u, errors.New("accounts: username is missing")
		}
		u.set(i, v)
	}
	if u.ClientID == 0 {
		// The user of no client must not work on the records of any.
		return u, errors.New("accounts: client_id is missing")
	}
	return u, nil
}

func (u *UserFacts) setNumber(fact int, n int64) {
	if fact == FactID {
		u.ID = n
	} else {
		u.ClientID = n
	}
}

func (u *UserFacts) set(fact int, v mapping.Value) {
	switch fact {
	case FactID, FactClientID:
		u.setNumber(fact, v.Int())
	case FactUsername:
		if !v.IsEmpty() {
			u.Username = v.Text()
		}
	case FactEmail:
		u.Email = v.Text()
	case FactClientName:
		u.ClientName = v.Text()
	case FactExternal:
		u.External = v.Int() != 0
	case FactBlocked:
		u.Blocked = v.Int() != 0
	}
}

// loadFacts compiles where the facts of a user are.
func (l *loader) loadFacts(at string, f accountColumnsFile, needed ...string) *Facts {
	facts := &Facts{places: map[string]int{}}
	of := factFields()
	if l.sheet.ClientsKept {
		of[FactClientID].Type, of[FactClientID].Length = mapping.Varchar, 255
	}
	for i, ff := range []fieldFile{f.ID, f.Username, f.password, f.Email, f.ClientID, f.ClientName, f.External, f.Blocked} {
		name := of[i].Name
		path := strictyaml.Child(at, name)
		field := Field{Field: &of[i], clockAt: -1}
		switch {
		case !ff.given:
			if slices.Contains(needed, name) {
				l.fail(at, "%s is missing, expected where it is found", name)
			}
			field.source = fromNothing
		case ff.Constant.given && len(ff.From) == 0 && ff.sql == "":
			field.source, field.constant = fromConstant, l.constant(strictyaml.Child(path, "constant"), ff.Constant, &of[i])
		case len(ff.From) == 1 && ff.sql == "" && l.isPlace(path, ff.From[0]):
			field.read(l.codec(path, ff, &of[i], l.sheet.Location), facts.place(Place{Name: ff.From[0]}), ff.From[0])
		case l.asSQL != nil && ff.sql != "" && len(ff.From) == 0:
			l.judgeSQL(strictyaml.Child(path, "read"), ff.sql)
			field.read(l.codec(path, ff, &of[i], l.sheet.Location), facts.place(Place{Name: "sql." + name, SQL: ff.sql}), "sql."+name)
		default:
			l.fail(path, "expected %s, or {constant: …}", l.word("one column or path", "one column, {read: SQL}"))
		}
		if l.asSQL != nil {
			facts.SQL = append(facts.SQL, field.fact(ff))
		}
		facts.fields = append(facts.fields, field)
	}
	return facts
}

// read makes a field one that is read from a place.
func (f *Field) read(c codec, at int, place string) {
	f.source, f.codec, f.fromAt, f.From = fromPlace, c, []int{at}, []string{place}
}

// fact is how a database has a fact.
func (f *Field) fact(ff fieldFile) Column {
	c := Column{Names: ff.From, Read: ff.sql, Constant: f.constant}
	if f.codec.codes != nil {
		c.Codes = f.codec.codes.list
	}
	return c
}

func (f *Facts) place(p Place) int {
	if at, ok := f.places[p.Name]; ok {
		return at
	}
	f.places[p.Name] = len(f.Places)
	f.Places = append(f.Places, p)
	return len(f.Places) - 1
}

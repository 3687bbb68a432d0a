package draft

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// accounts are the users, where there is a table of them with passwords.
type accounts struct {
	table  *table
	facts  []*mapped
	hashes []string
	hashed int // rows with a hash of a known form
	why    string
	todo   []string
}

// findAccounts finds the table of users: of those with names and passwords that with most
// hashes in it, and then that with most rows.
func (d *drafter) findAccounts() *accounts {
	var best *accounts
	var others []string
	for _, t := range d.tables {
		if t.View || d.http != nil {
			continue
		}
		a := d.accountsIn(t)
		switch {
		case a == nil:
			continue
		case best == nil || a.hashed > best.hashed || a.hashed == best.hashed && a.hashed == 0 && t.sampled > best.table.sampled:
			if best != nil {
				others = append(others, best.table.Name)
			}
			best = a
		default:
			others = append(others, t.Name)
		}
	}
	if best != nil && len(others) > 0 {
		best.todo = append(best.todo, "or is it "+strings.Join(others, ", ")+"?")
	}
	return best
}

// accountsIn are the users of a table; nil where it is none of users.
func (d *drafter) accountsIn(t *table) *accounts {
	a := &accounts{table: t}
	password := d.password(a)
	if password == nil || d.fact(a, "username", "user", "user name") == nil {
		return nil
	}
	d.fact(a, "email", "email")
	d.employer(a)
	d.fact(a, "client_name", "branch name", "branch number", "name")
	if !slices.ContainsFunc(a.facts, func(f *mapped) bool { return f.name == "client_name" && t.column(f.settings[0].value).has(branchNames) }) {
		a.todo = append(a.todo, "client_name is what the client, not the user, is called")
	}
	d.fact(a, "external", "external")
	d.fact(a, "blocked", "blocked")
	d.hashesOf(a, password)
	switch {
	case t.sampled == 0:
		a.why = "names and passwords, no rows"
	default:
		a.why = fmt.Sprintf("names and passwords, known hashes in %d of %s", a.hashed, t.rows())
	}
	return a
}

// employer says whose records the users work on.
func (d *drafter) employer(a *accounts) {
	f := &mapped{name: "client_id", why: "name"}
	a.facts = append(a.facts, f)
	switch {
	case d.client != "" && a.table.column(d.client) != nil:
		f.set("from", d.client)
	case d.client == "":
		f.why = "nothing tells of several clients"
		f.set("constant", "1")
	default:
		f.why = "there is no " + d.client
		f.set("constant", "0")
		f.doubt("whose records does a user work on? Until then nobody can log in")
	}
}

// password finds the column of the passwords: that with hashes in it, or else by its name.
func (d *drafter) password(a *accounts) *column {
	var best *column
	most, score := 0, 0.59
	for _, c := range a.table.columns {
		if c.sort != sortText {
			continue
		}
		named := likeness(c.parts, []string{"password"}, nil)
		hashes := 0
		for _, v := range c.values {
			if form := hashForm(v); form != "" && (named > 0 || strings.HasPrefix(v, "$")) {
				hashes++
			}
		}
		if 2*hashes < len(c.values) {
			hashes = 0
		}
		if hashes > most || hashes == most && named > score && (hashes > 0 || c.few == nil) {
			best, most, score = c, hashes, max(named, 0.59)
		}
	}
	if best == nil {
		return nil
	}
	a.hashed = most
	f := &mapped{name: "password", why: "name"}
	if most > 0 {
		f.why = fmt.Sprintf("hashes in %d of %s", most, a.table.rows())
	}
	f.set("from", best.Name)
	trim(best, f)
	a.facts = append(a.facts, f)
	return best
}

// fact finds the column of one of a user's facts.
func (d *drafter) fact(a *accounts, name string, forms ...string) *column {
	flag := name == "external" || name == "blocked"
	var best *column
	score := 0.59
	for _, c := range a.table.columns {
		fits := c.sort == sortText || name == "client_name" && c.sort == sortInteger && c.has(branchNames) && d.yesNo(c) == nil
		if flag {
			fits = c.sort == sortBoolean || d.yesNo(c) != nil
		}
		if !fits || c.Name == d.client || slices.ContainsFunc(a.facts, func(f *mapped) bool { return f.settings[0].value == c.Name }) {
			continue
		}
		for _, form := range forms {
			if s := likeness(c.parts, strings.Fields(form), nil); s > score {
				best, score = c, s
			}
		}
	}
	if best == nil {
		return nil
	}
	f := &mapped{name: name, why: "name"}
	f.set("from", best.Name)
	trim(best, f)
	switch list := d.yesNo(best); {
	case flag && best.sort == sortBoolean:
		f.set("type", "boolean")
	case flag && best.sort == sortText:
		f.set("codes", d.shareFlag(list))
	}
	a.facts = append(a.facts, f)
	return best
}

// The forms of stored passwords.
var (
	bcryptForm = regexp.MustCompile(`^\$2[abxy]?\$`)
	hexForm    = regexp.MustCompile(`^[0-9A-Fa-f]+$`)
)

// hashForm is the algorithm that a stored hash looks like one of; "" for none.
func hashForm(v string) string {
	switch {
	case bcryptForm.MatchString(v):
		return "bcrypt"
	case strings.HasPrefix(v, "$argon2id$"):
		return "argon2id"
	case strings.HasPrefix(v, "$P$"), strings.HasPrefix(v, "$H$"):
		return "phpass"
	case strings.HasPrefix(v, "$6$"):
		return "sha512crypt"
	case strings.HasPrefix(v, "$5$"):
		return "sha256crypt"
	case strings.HasPrefix(v, "$1$"):
		return "md5crypt"
	case !hexForm.MatchString(v):
		return ""
	}
	return map[int]string{64: "sha256", 40: "sha1", 32: "md5"}[len(v)]
}

// hashesOf reads the algorithms off the stored hashes.
func (d *drafter) hashesOf(a *accounts, password *column) {
	salt := ""
	for _, c := range a.table.columns {
		if c.has("salt") {
			salt = c.Name
		}
	}
	for _, v := range password.values {
		form := hashForm(v)
		if form != "" && !strings.HasPrefix(v, "$") && salt != "" {
			form = "{algorithm: " + form + ", salt: " + scalar(salt, false) + "}"
		}
		if form != "" && !slices.Contains(a.hashes, form) {
			a.hashes = append(a.hashes, form)
		}
	}
	slices.SortStableFunc(a.hashes, func(x, y string) int { return strings.Count(x, ":") - strings.Count(y, ":") })
	if len(a.hashes) == 0 {
		a.hashes = []string{"bcrypt"}
	}
}

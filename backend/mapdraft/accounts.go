package mapdraft

import (
	"regexp"
	"slices"
	"strings"
)

// accounts are the users, where there is a table of them with passwords.
type accounts struct {
	table  *table
	facts  []*mapped
	hashes []string
	todo   []string
}

func (d *drafter) findAccounts() *accounts {
	for _, t := range d.tables {
		if t.View {
			continue
		}
		a := &accounts{table: t}
		password := d.fact(a, "password", "password")
		if password == nil || d.fact(a, "username", "user", "user name") == nil {
			continue
		}
		d.fact(a, "email", "email")
		if c := t.column(d.client); c != nil && d.client != "" {
			a.facts = append(a.facts, &mapped{name: "client_id", why: "name", score: 0.9, settings: []setting{{"from", c.Name}}})
		}
		name := d.fact(a, "client_name", "branch name", "branch number", "name")
		if name == nil || !name.has(branchNames) {
			a.todo = append(a.todo, "client_name is what the client, not the user, is called")
		}
		d.fact(a, "external", "external")
		d.fact(a, "blocked", "blocked")
		d.hashesOf(a, password)
		return a
	}
	return nil
}

// fact finds the column of one of a user's facts.
func (d *drafter) fact(a *accounts, name string, forms ...string) *column {
	var best *column
	score := 0.59
	for _, c := range a.table.columns {
		if (c.sort == sortText || c.sort == sortBoolean || c.sort == sortInteger) && c.Name != d.client && !slices.ContainsFunc(a.facts, func(f *mapped) bool { return f.settings[0].value == c.Name }) {
			for _, form := range forms {
				if s := likeness(c.parts, strings.Fields(form), nil); s > score {
					best, score = c, s
				}
			}
		}
	}
	if best == nil || name == "password" && best.few != nil {
		return nil
	}
	f := &mapped{name: name, why: "name", score: score}
	f.set("from", best.Name)
	trim(best, f)
	if list := d.yesNo(best); list != nil && (name == "external" || name == "blocked") && best.sort == sortText {
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

// hashesOf reads the algorithms off the stored hashes.
func (d *drafter) hashesOf(a *accounts, password *column) {
	salt := ""
	for _, c := range a.table.columns {
		if c.has("salt") {
			salt = c.Name
		}
	}
	add := func(text string) {
		if !slices.Contains(a.hashes, text) {
			a.hashes = append(a.hashes, text)
		}
	}
	salted := func(algorithm string) {
		if salt == "" {
			add(algorithm)
			return
		}
		add("{algorithm: " + algorithm + ", salt: " + salt + "}")
	}
	for _, v := range password.values {
		switch {
		case bcryptForm.MatchString(v):
			add("bcrypt")
		case strings.HasPrefix(v, "$argon2id$"):
			add("argon2id")
		case strings.HasPrefix(v, "$P$"), strings.HasPrefix(v, "$H$"):
			add("phpass")
		case strings.HasPrefix(v, "$6$"):
			add("sha512crypt")
		case hexForm.MatchString(v) && len(v) == 64:
			salted("sha256")
		case hexForm.MatchString(v) && len(v) == 40:
			salted("sha1")
		case hexForm.MatchString(v) && len(v) == 32:
			salted("md5")
		}
	}
	slices.SortStableFunc(a.hashes, func(x, y string) int { return strings.Count(x, ":") - strings.Count(y, ":") })
	if len(a.hashes) == 0 {
		a.todo = append(a.todo, "how are passwords hashed?")
		a.hashes = []string{"bcrypt"}
	}
}

package draft

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend/legacy"
)

// refer notes which columns refer to records although nothing declares it: those whose values
// are the ids of records that were seen. Texts that nobody else would write tell by themselves;
// numbers, which many things are counted by, only where the name says so too. In a database,
// whose foreign keys say most of it, the column has to be called after the table.
func (d *drafter) refer() {
	for _, t := range d.tables {
		for _, c := range t.columns {
			if slices.Contains(t.Primary, c.Name) || len(c.values) == 0 || refers(t, c) {
				continue
			}
			for _, to := range d.tables {
				if len(to.Primary) == 1 && (d.http != nil || c.isCalledAfter(to)) && c.holds(to.column(to.Primary[0])) {
					t.Foreign = append(t.Foreign, legacy.ForeignKey{Columns: []string{c.Name}, Table: to.Name, References: to.Primary})
					t.undeclared = append(t.undeclared, c.Name)
					break
				}
			}
		}
	}
}

// isCalledAfter tells whether a column is called as a table is, with an id before or behind:
// group_id, groupId, IDGROUP of groups.
func (c *column) isCalledAfter(t *table) bool {
	column, name := bare(c.Name), strings.TrimSuffix(bare(t.Name), "s")
	for _, of := range []string{strings.TrimSuffix(column, "id"), strings.TrimPrefix(column, "id")} {
		if of != column && strings.TrimSuffix(of, "s") == name {
			return true
		}
	}
	return false
}

// holds tells whether what a column has are the ids of a table.
func (c *column) holds(id *column) bool {
	named := slices.ContainsFunc(c.parts, func(p part) bool {
		return slices.ContainsFunc(p.ideas, func(idea string) bool { return hasIdea(id.of.parts, idea) })
	})
	if id.sort != c.sort || id.sort != sortText && !(named && id.sort == sortInteger) {
		return false
	}
	known := map[string]bool{}
	for _, v := range id.values {
		known[v] = named || len(v) >= 12
	}
	seen, set := 0, 0
	for _, v := range c.values {
		if v != "" {
			set++
			seen += map[bool]int{true: 1}[known[v]]
		}
	}
	return set > 0 && 2*seen > set // a sample need not have all that is referred to
}

// login is how a service is asked who a user is.
type login struct {
	why    string
	verify string // as the sheet says it
	find   string
	refuse string // answers to wrong credentials
	facts  []*mapped
	access []string // lines of source.http: how the gateway itself logs on
}

// findLogin finds who may log in: users that the service knows itself.
func (d *drafter) findLogin() {
	for _, t := range slices.Clone(d.tables) {
		e := d.http.endpoints[t]
		if e == nil || e.style == nil || e.style.name != "PocketBase" || t.column("email") == nil || t.column("emailVisibility") == nil {
			continue
		}
		base := strings.TrimSuffix(e.list, "/records")
		l := &login{
			why:    t.Name + ", whose records have emailVisibility: PocketBase logs them in",
			verify: "{method: POST, path: " + quoted(base+"/auth-with-password") + `, body: '{"identity": "{username}", "password": "{password}"}', result: record}`,
			find:   "{path: " + quoted(e.list) + `, query: {filter: "email = '{username}'"}, result: items}`, refuse: `{status: "400"}`,
			access: []string{
				"secrets: {user: \"${SERVICE_USER}\", password: \"${SERVICE_PASSWORD}\"}", "log_on:",
				`  request: {method: POST, path: /api/collections/_superusers/auth-with-password, body: '{"identity": "{secret.user}", "password": "{secret.password}"}'}`,
				"  token: token", "  headers: {Authorization: \"{token}\"}",
			},
		}
		l.fact("username", "from", "email")
		l.fact("email", "from", "email")
		if t.column(d.client) != nil {
			l.fact("client_id", "from", d.client)
		} else {
			l.fact("client_id", "constant", "0")
			l.facts[len(l.facts)-1].doubt("whose records does a user work on? Until then nobody can log in")
		}
		if t.column("name") != nil {
			l.fact("client_name", "from", "name")
			l.facts[len(l.facts)-1].doubt("client_name is what the client, not the user, is called")
		}
		if d.http.login == nil {
			d.http.login = l
		}
		d.tables = slices.DeleteFunc(d.tables, func(of *table) bool { return of == t })
	}
}

func (l *login) fact(name, key, value string) {
	f := &mapped{name: name, why: "name"}
	f.set(key, value)
	l.facts = append(l.facts, f)
}

// write writes who may log in.
func (l *login) write(b *strings.Builder, d *drafter) {
	fmt.Fprintf(b, "  verify: %s%s\n", l.verify, d.remark(l.why, nil))
	if l.find != "" {
		fmt.Fprintf(b, "  find: %s\n", l.find)
	}
	if l.refuse != "" {
		fmt.Fprintf(b, "  refused: %s\n", l.refuse)
	}
	fmt.Fprintf(b, "  result:\n")
	for _, f := range l.facts {
		fmt.Fprintf(b, "    %s: %s%s\n", f.name, f.value(), d.remark(f.why, f.todo))
	}
}

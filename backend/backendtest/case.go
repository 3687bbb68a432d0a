package backendtest

import (
	"strings"

	"frontdesk/mapping"
)

// Case is one row or rule, and how it is tested.
type Case struct {
	ID   string // stable, such as post.related_id_not_found
	Row  string // the row of the interface, or the rule of the contract
	Each bool   // runs on every resource; otherwise it chooses one
	Hint string // where to look if it fails

	scope  mapping.Scope  // of a row
	reason mapping.Reason // "" for a rule
	at     []string       // the operations that it tests, in the form of anyOf; nil for a rule that chooses its own
	run    func(t *T)
}

// Cases returns every case, rows of the interface first.
func Cases() []Case {
	var all []Case
	for _, group := range [][]row{generalRows, createRows, getRows, updateRows, listRows, deleteRows, sessionRows(), utilityRows, businessRows, vehicleRows, flatrateRows} {
		for _, r := range group {
			all = append(all, r.of())
		}
	}
	for _, group := range []func() []Case{
		updateCases, utilityCases, businessCases, vehicleCases, callbackCases, wireCases, recordCases, limitCases, stateCases,
		listCases, copiesCases, agedCases, isolationCases, onceCases, sessionCases,
	} {
		all = append(all, group()...)
	}
	return all
}

// row is an entry of the table: a row of the interface or of the contract, the operations that can
// return it, and how it is provoked at each. Without operations they are those of its scope.
type row struct {
	scope  mapping.Scope
	reason mapping.Reason
	at     []string
	way    way
}

// way provokes a row at the operation t.op: it sends a wrong request, and compares the answer with the row.
type way func(t *T)

// The operations of any resource; the case uses the first resource that supports one.
const (
	anyList   = "GET /*"
	anyGet    = "GET /*/{id}"
	anyCreate = "POST /*"
	anyUpdate = "PUT /*/{id}"
	anyDelete = "DELETE /*/{id}"
)

// everywhere is one operation of every kind.
var everywhere = []string{anyList, anyGet, "GET /model/{name}", "GET /util/environment", anyCreate, anyUpdate, anyDelete}

// tables are the interface's names for its tables, and what each is about.
var tables = map[mapping.Scope]struct{ id, title, at string }{
	mapping.General:  {"general", "General", ""},
	mapping.OpCreate: {"post", "POST (add one)", anyCreate},
	mapping.OpGet:    {"get", "GET (single record)", anyGet},
	mapping.OpUpdate: {"put", "PUT (update one)", anyUpdate},
	mapping.OpList:   {"list", "GET (multiple records)", anyList},
	mapping.OpDelete: {"delete", "DELETE", anyDelete},
}

// of is the case of a row.
func (r row) of() Case {
	table, ok := tables[r.scope]
	if !ok { // the row of an endpoint
		method, path, _ := strings.Cut(string(r.scope), " ")
		if path == "" {
			method, path = "GET", method
		}
		id := strings.ReplaceAll(strings.Trim(path, "/"), "/", ".")
		if method != "GET" {
			id = strings.ToLower(method) + "." + id
		}
		table.id, table.title, table.at = id, string(r.scope), string(r.scope)
	}
	at := r.at
	if at == nil && table.at != "" {
		at = []string{table.at}
	}
	return Case{
		ID: table.id + "." + string(r.reason), Row: table.title + ": " + words(r.scope, r.reason), Hint: hintOf(r.reason),
		scope: r.scope, reason: r.reason, at: at, run: r.way,
	}
}

// words are the status and words of a row.
func words(scope mapping.Scope, reason mapping.Reason) string {
	entry := mapping.NewCatalogue().Lookup(reason, scope)
	return status(entry.Status) + " " + entry.Message
}

// rule is the case of a rule of the contract; at names its operation, if it uses the first resource that
// supports one.
func rule(id, says, hint string, run func(t *T), at ...string) Case {
	return Case{ID: id, Row: says, Hint: hint, run: run, at: at}
}

// also is the case that tests a row at further operations.
func also(id, says string, r row) Case {
	c := r.of()
	c.ID, c.Row = id, says
	return c
}

// each makes a case run on every resource.
func each(c Case) Case {
	c.Each = true
	return c
}

// hintOf says where to look if the answer for a row is wrong.
func hintOf(reason mapping.Reason) string {
	row := mapping.NewCatalogue().Lookup(reason)
	switch {
	case strings.HasPrefix(string(reason), "flatrate_"):
		return "The combination of fields is judged on the merged record: check that the backend applies the rule flatrate_line, and on PUT to what is stored as well."
	case row.By == mapping.ByAdministration:
		return "The administration decides this one: have the driver recognise it by the database's error code or by its own look-up, and answer mapping.Fail with the reason " +
			string(reason) + ". The log line with the request's X-Request-Id holds what the administration really said."
	case row.By == mapping.ByAccount:
		return "The driver tells this of the account once the password was right; check what it answers for this user."
	default:
		return "The gateway answers this itself, before the backend is asked. When it fails, look for something between client and gateway that changes requests or answers, or for a model that GET /model does not tell."
	}
}

package backendtest

import (
	"strings"

	"frontdesk/mapping"
)

// Case is one row or rule, and how it is tested.
type Case struct {
	ID   string // stable, such as post.related_id_not_found
	Row  string // the row of the interface, or the rule of the contract
	Each bool   // runs on every resource, else it chooses one
	Hint string // where to look if it fails

	scope  mapping.Scope  // of a row
	reason mapping.Reason // "" for a rule
	run    func(t *T)
}

// Cases returns every case, rows of the interface first.
func Cases() []Case {
	var all []Case
	for _, group := range []func() []Case{
		generalCases, createCases, getCases, updateCases, listRowCases, deleteCases, sessionCases, utilityCases, orderCases,
		contactCases, vehicleCases, flatrateCases, callbackCases, wireCases, recordCases, limitCases, stateCases, listCases, copiesCases, describedCases, isolationCases, onceCases, sessionRules,
	} {
		all = append(all, group()...)
	}
	return all
}

// tables are the interface's names for its tables.
var tables = map[mapping.Scope]struct{ id, title string }{
	mapping.General:  {"general", "General"},
	mapping.OpCreate: {"post", "POST (add one)"},
	mapping.OpGet:    {"get", "GET (single record)"},
	mapping.OpUpdate: {"put", "PUT (update one)"},
	mapping.OpList:   {"list", "GET (multiple records)"},
	mapping.OpDelete: {"delete", "DELETE"},
}

// row is the case of a row of the tables.
func row(scope mapping.Scope, reason mapping.Reason, run func(t *T)) Case {
	c := Case{ID: rowID(scope, reason), scope: scope, reason: reason, run: run, Hint: hintOf(reason)}
	entry := mapping.NewCatalogue().Lookup(reason, scope)
	title := string(scope)
	if table, ok := tables[scope]; ok {
		title = table.title
	}
	c.Row = title + ": " + status(entry.Status) + " " + entry.Message
	return c
}

// rowID is the case ID of a row.
func rowID(scope mapping.Scope, reason mapping.Reason) string {
	if table, ok := tables[scope]; ok {
		return table.id + "." + string(reason)
	}
	method, path, ok := strings.Cut(string(scope), " ")
	if !ok {
		method, path = "", method
	}
	id := strings.ReplaceAll(strings.Trim(path, "/"), "/", ".")
	if method != "" && method != "GET" {
		id = strings.ToLower(method) + "." + id
	}
	return id + "." + string(reason)
}

// rule is the case of a rule of the contract.
func rule(id, says, hint string, run func(t *T)) Case {
	return Case{ID: id, Row: says, Hint: hint, run: run}
}

// each makes a case run on every resource.
func each(c Case) Case {
	c.Each = true
	return c
}

// notFromOutside is the case of a row that no request can bring about.
func notFromOutside(scope mapping.Scope, reason mapping.Reason, why string) Case {
	return row(scope, reason, func(t *T) { t.impossible("%s", why) })
}

// hintOf says where to look if the answer to a row is wrong.
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

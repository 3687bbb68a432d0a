package testpage

import (
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// reasonHelp is a reason as the page of errors shows it.
type reasonHelp struct {
	Reason   mapping.Reason
	Help     mapping.Help
	Statuses string // to filter by: "403 409"
	Rows     []rowHelp
}

// rowHelp is the statuses and words of a reason, with all the places that give
// them.
type rowHelp struct {
	Status  int
	Message string
	Where   []string
}

// reasonsOf lists the reasons in the order of the tables, each with its rows.
func reasonsOf(c *mapping.Catalogue) []reasonHelp {
	var all []reasonHelp
	place := map[mapping.Reason]int{}
	for _, e := range c.Entries() {
		i, known := place[e.Reason]
		if !known {
			i = len(all)
			place[e.Reason] = i
			all = append(all, reasonHelp{Reason: e.Reason, Help: e.Help})
		}
		all[i].add(e)
	}
	return all
}

func (r *reasonHelp) add(e mapping.Entry) {
	where := wordScope(e.Scope)
	for i, row := range r.Rows {
		if row.Status == e.Status && row.Message == e.Message {
			r.Rows[i].Where = append(r.Rows[i].Where, where)
			return
		}
	}
	status := strconv.Itoa(e.Status)
	if !strings.Contains(r.Statuses, status) {
		r.Statuses = strings.TrimSpace(r.Statuses + " " + status)
	}
	r.Rows = append(r.Rows, rowHelp{Status: e.Status, Message: e.Message, Where: []string{where}})
}

// wordScope says where a row holds.
func wordScope(s mapping.Scope) string {
	switch s {
	case mapping.General:
		return "any endpoint"
	case mapping.OpCreate:
		return "POST, add one"
	case mapping.OpGet:
		return "GET, one record"
	case mapping.OpUpdate:
		return "PUT, update one"
	case mapping.OpList:
		return "GET, many records"
	case mapping.OpDelete:
		return "DELETE"
	}
	return string(s)
}

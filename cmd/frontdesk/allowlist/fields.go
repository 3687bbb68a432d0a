package allowlist

import (
	"slices"
	"strings"

	"frontdesk/config"
	"frontdesk/gateway"
)

// withholds returns the first of the fields that a request named, such as contact.note, which an api_key
// may not use with its method; "" for none.
func (k *Key) withholds(u use) string {
	for _, name := range listed(u.Fields) {
		resource, field, _ := strings.Cut(name, ".")
		if slices.Contains(k.auth.Rights[resource].By(u.Method), field) {
			return name
		}
	}
	return ""
}

// explainFields explains which entries withhold which fields of an operation, and of the request.
func (l *Lists) explainFields(r *explained, key *Key, method string, e gateway.Explanation) {
	if of := e.Operation.Endpoint.Resource; of != nil {
		byEntry := make([][]string, len(key.Allow))
		for _, field := range key.auth.Rights[of.Name].By(method) {
			at := config.TakenBy(key.Allow, l.offered, of.Name, field)
			byEntry[at] = append(byEntry[at], field)
		}
		for i, fields := range byEntry {
			if fields != nil {
				r.say("without", "%s, which %s takes away", strings.Join(fields, ", "), key.AllowAt(i))
			}
		}
	}
	if lacks := l.gateway.Withheld(key.auth, e.Operation); lacks != nil {
		r.say("withheld", "the endpoint, which is not offered without %s", strings.Join(lacks, ", "))
	}
	for _, name := range e.Fields {
		resource, field, _ := strings.Cut(name, ".")
		if at := config.TakenBy(key.Allow, l.offered, resource, field); at >= 0 {
			r.say("withheld", "%s, which the request names, by %s  %s", name, key.AllowAt(at), key.Allow[at])
		}
	}
}

// entryFor returns an entry for one grant that gives an api_key no more fields than it has now. It has the
// field list of the present entry; if more fields are withheld, because GET withholds them from writes, it
// lists all that are.
func (l *Lists) entryFor(key *Key, grant gateway.Grant) config.Rule {
	rule := config.Rule{Method: grant.Method, Path: grant.Path}
	if at := slices.IndexFunc(key.Allow, func(r config.Rule) bool { return r.Matches(grant.Method, grant.Path) }); at >= 0 {
		rule.Without, rule.Only = key.Allow[at].Without, key.Allow[at].Only
	}
	offered := l.offered[slices.Index(l.grants, grant)]
	if offered.Fields == "" {
		rule.Without, rule.Only = "", ""
	} else if withheld := key.auth.Rights[grant.Path[1:]].By(grant.Method); !slices.Equal(rule.Takes(offered), withheld) {
		rule.Without, rule.Only = config.NamesOf(withheld), ""
	}
	return rule
}

package gateway

import (
	"context"
	enchex "encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const (
	changesPath = "/changes"
	digestPath  = "/changes/digest"
)

// The ranges of a digest.
const (
	defaultRanges = 64
	maxRanges     = 1000
)

// changesModule groups what helps to keep a copy.
const changesModule = "changes"

// changesRoutes are the endpoints by which a client keeps a copy of its records.
func (g *Gateway) changesRoutes(r *routes) {
	early := []mapping.Reason{mapping.PageSizeInvalid, mapping.ValidationFailed}
	g.carried(r, changesPath, "GET", &Operation{
		scopes: []mapping.Scope{mapping.OpGet}, params: changesParams(), serve: g.changes,
		parse: func(x *Exchange) mapping.Violations {
			_, v := g.changesQuery(x)
			return v
		},
		about: about{
			name: "listChanges", summary: "The records that have changed", module: changesModule,
			note: "Without `after` there are no data: the answer is the cursor of now, to begin with. Take it, read everything, then go on from it. Changes come in the order of their commit, each record at most once a page, as it was left last; " +
				"of resources that may be read with GET, and of records that the client sees. A change may be told twice, and none is left out.",
			early: early, late: []mapping.Reason{mapping.CursorGone, mapping.PageTooLarge}, asksBackend: true, answers: answers{form: changesForm},
		},
	})
	g.carried(r, digestPath, "GET", &Operation{
		scopes: []mapping.Scope{mapping.OpGet}, params: digestParams(), serve: g.digest,
		parse: func(x *Exchange) mapping.Violations {
			if v := requiredParams(x); v != nil {
				return v
			}
			_, _, v := g.digestQuery(x)
			return v
		},
		about: about{
			name: "getDigest", summary: "Sums of the records of a resource, to compare with a copy", module: changesModule,
			note: "The records are summed up in ranges of their ids: how many there are, and the SHA-256 of a line of each, in the order of their ids: its id, a blank, its modified_at as it is answered, and a line feed. " +
				"A range that differs is asked again in parts, with `from` and `to`. Changes after `cursor` may not be in the sums.",
			early: []mapping.Reason{mapping.Int4Invalid, mapping.ValidationFailed}, asksBackend: true, answers: answers{form: digestForm},
		},
	})
}

func changesParams() []param {
	resource := tellingParam("Only changes of these resources.")
	resource.choice = []string{} // several, see describer.tellingParameter
	return []param{
		named("after", "Only changes after this cursor, which an answer had before. Left out for the cursor of now.", ""),
		resource,
		{Field: mapping.Field{Name: "page_size", Type: mapping.Int4, Default: strconv.Itoa(defaultPageSize), Description: "How many changes a page has at most.", Example: "10"}, min: 1, max: maxPageSize},
		{Field: mapping.Field{Name: "records", Type: mapping.Int4, OneOf: []string{"0", "1"}, Default: "0", Description: "1 to have each record, as it is now, with its change.", Example: "1"}},
	}
}

func digestParams() []param {
	id := func(name, description string) param {
		return param{Field: mapping.Field{Name: name, Type: mapping.Int4, Description: description}, min: 1}
	}
	return []param{
		tellingParam("Whose records are summed up.").must(),
		{Field: mapping.Field{Name: "ranges", Type: mapping.Int4, Default: strconv.Itoa(defaultRanges), Description: "How many ranges there are at most.", Example: "8"}, min: 1, max: maxRanges},
		id("from", "The first id of the first range; 1 where it is left out."),
		id("to", "The last id of the last range; where it is left out, that takes all ids that follow."),
	}
}

// tellingParam names a resource whose changes are told.
func tellingParam(description string) param {
	return param{Field: mapping.Field{Name: "resource", Type: mapping.Varchar, Description: description}, telling: true}
}

// told is a resource whose changes can be told, and the right to read its records.
type told struct {
	resource *mapping.Resource
	right    childRight
}

// toldOf finds the resources whose changes can be told, in the order of the model.
func (r *routes) toldOf(offer backend.Offer) (all []told) {
	for _, resource := range offer.Model.Resources {
		right := r.rightTo("GET", "/"+resource.Name)
		if offer.Telling(resource) != backend.TellsNone && right.grant != "" {
			all = append(all, told{resource, right})
		}
	}
	return all
}

// toldTo are the resources of which an api_key may be told.
func (r *routes) toldTo(may func(childRight) bool) (all []*mapping.Resource) {
	for _, t := range r.told {
		if may(t.right) {
			all = append(all, t.resource)
		}
	}
	return all
}

// told are the resources of which the caller may be told now: a request that was stored is
// judged by what its api_key may do by now.
func (x *Exchange) told() []*mapping.Resource {
	key := x.Key
	if x.promised {
		key = x.policy.Keys.Named(x.keyName, x.started)
	}
	if key == nil {
		return nil
	}
	return x.routes.toldTo(func(right childRight) bool { return key.InShadow(x.started) || right.of(key) })
}

// toldAmong are those of the named resources of which the caller may be told, and a violation
// for each other name.
func (x *Exchange) toldAmong(names string) (all []*mapping.Resource, v mapping.Violations) {
	may := x.told()
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(may, func(r *mapping.Resource) bool { return r.Name == name })
		if i < 0 {
			v = append(v, mapping.Fail(mapping.ValidationFailed, mapping.Literal("resource"), name, mapping.Literal("resource")))
			continue
		}
		if all = append(all, may[i]); may[i].Deprecated != nil {
			x.usesDeprecated(name, may[i].Deprecated)
		}
	}
	return all, v
}

// changesQuery reads the parameters of a request for changes.
func (g *Gateway) changesQuery(x *Exchange) (q backend.ChangesQuery, v mapping.Violations) {
	q = backend.ChangesQuery{Client: x.user().Client, Begin: !x.HasParam("after"), After: x.Param("after"), Room: g.pageRoom(x)}
	x.Query.Limit = defaultPageSize
	for _, p := range x.Params {
		switch p.Name {
		case "page_size":
			v = append(v, parsePageSize(x, p.Value)...)
		case "records":
			if p.Value != "0" && p.Value != "1" {
				v = append(v, mapping.Fail(mapping.ValidationFailed, mapping.Literal(p.Name), p.Value, mapping.Literal("0|1")))
			}
			q.Records = p.Value == "1"
		case "resource":
			var unknown mapping.Violations
			q.Resources, unknown = x.toldAmong(p.Value)
			v = append(v, unknown...)
		}
	}
	if !x.HasParam("resource") {
		q.Resources = x.told()
	}
	q.Limit = x.Query.Limit
	return q, v
}

// changes answers with a page of changes.
func (g *Gateway) changes(ctx context.Context, x *Exchange) error {
	q, v := g.changesQuery(x)
	if v != nil {
		return v.Err()
	}
	page, err := g.o.Backend.Changes(ctx, q)
	if err != nil {
		return err
	}
	next := ""
	if page.More {
		next = g.o.BasePath + changesPath + "?" + encodeParams(append(x.paramsBut("after"), Param{Name: "after", Value: page.Cursor}))
	}
	x.answerChanges(page, q.Records, next)
	return nil
}

// paramsBut are the parameters but one.
func (x *Exchange) paramsBut(name string) (rest []Param) {
	for _, p := range x.Params {
		if p.Name != name {
			rest = append(rest, p)
		}
	}
	return rest
}

func (x *Exchange) answerChanges(page backend.ChangesPage, records bool, next string) {
	for i := range page.Changes {
		r := page.Changes[i].Resource
		if r.Deprecated != nil {
			x.holdsDeprecated(r.Name, r.Deprecated)
		}
		if records {
			x.holdsFields(r, r.ListFields())
		}
	}
	x.answer(http.StatusOK, jsonType, func(dst []byte) []byte {
		dst = append(dst, `{"data":[`...)
		for i := range page.Changes {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendChange(dst, &page.Changes[i], records)
		}
		dst = mapping.AppendJSONString(append(dst, `],"cursor":`...), page.Cursor)
		dst = strconv.AppendBool(append(dst, `,"more":`...), page.More)
		dst = append(dst, `,"next":`...)
		if next == "" {
			return append(dst, "null}"...)
		}
		return append(mapping.AppendJSONString(dst, next), '}')
	})
}

func appendChange(dst []byte, c *backend.RecordChange, records bool) []byte {
	dst = mapping.AppendJSONString(append(dst, `{"resource":`...), c.Resource.Name)
	dst = strconv.AppendInt(append(dst, `,"id":`...), int64(c.ID), 10)
	dst = mapping.AppendJSONString(append(dst, `,"kind":`...), string(c.Kind))
	dst = mapping.TimeValue(c.At).AppendJSON(append(dst, `,"at":`...))
	switch {
	case !records:
	case c.Record.Resource == nil:
		dst = append(dst, `,"record":null`...)
	default:
		dst = c.Record.AppendJSON(append(dst, `,"record":`...), c.Resource.ListFields())
	}
	return append(dst, '}')
}

// digestQuery reads the parameters of a request for a digest.
func (g *Gateway) digestQuery(x *Exchange) (r *mapping.Resource, q backend.DigestQuery, v mapping.Violations) {
	q = backend.DigestQuery{Client: x.user().Client, Ranges: defaultRanges, From: 1}
	number := func(p Param, most int64, valid string) int32 {
		f := mapping.Field{Name: p.Name, Type: mapping.Int4}
		value, bad := f.Parse(p.Value, g.o.Location)
		switch {
		case bad != nil:
			v = append(v, bad)
		case value.Int() < 1 || value.Int() > most:
			v = append(v, mapping.Fail(mapping.ValidationFailed, mapping.Literal(p.Name), p.Value, mapping.Literal(valid)))
		}
		return int32(value.Int())
	}
	const anyID = 1<<31 - 1
	for _, p := range x.Params {
		switch p.Name {
		case "resource":
			named, unknown := x.toldAmong(p.Value)
			if v = append(v, unknown...); len(named) > 1 {
				v = append(v, mapping.Fail(mapping.ValidationFailed, mapping.Literal(p.Name), p.Value, mapping.Literal("resource")))
			}
			if len(named) > 0 {
				r = named[0]
			}
		case "ranges":
			q.Ranges = int(number(p, maxRanges, "1-"+strconv.Itoa(maxRanges)))
		case "from":
			q.From = number(p, anyID, "id")
		case "to":
			q.To = number(p, anyID, "id")
		}
	}
	if v == nil && q.To != 0 && q.To < q.From {
		v = append(v, mapping.Fail(mapping.ValidationFailed, mapping.Literal("to"), x.Param("to"), mapping.Literal("not before from")))
	}
	return r, q, v
}

// digest answers with the sums of a resource's records.
func (g *Gateway) digest(ctx context.Context, x *Exchange) error {
	r, q, v := g.digestQuery(x)
	if v != nil {
		return v.Err()
	}
	digest, err := g.o.Backend.Digest(ctx, r, q)
	if err != nil {
		return err
	}
	x.answer(http.StatusOK, jsonType, func(dst []byte) []byte {
		dst = append(dst, `{"data":[`...)
		for i, one := range digest.Ranges {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendInt(append(dst, `{"from":`...), int64(one.From), 10)
			dst = strconv.AppendInt(append(dst, `,"to":`...), int64(one.To), 10)
			dst = strconv.AppendInt(append(dst, `,"count":`...), int64(one.Count), 10)
			dst = append(enchex.AppendEncode(append(dst, `,"digest":"`...), one.Digest[:]), `"}`...)
		}
		dst = mapping.AppendJSONString(append(dst, `],"cursor":`...), digest.Cursor)
		return append(dst, '}')
	})
	return nil
}

// told are the resources of which the api_key of a description may be told.
func (d *describer) told() []*mapping.Resource {
	return d.g.routes.toldTo(func(right childRight) bool { return right.of(d.key) })
}

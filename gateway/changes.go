package gateway

import (
	"context"
	enchex "encoding/hex"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/auth"
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

// changesRoutes adds the endpoints by which a client keeps a copy of its records.
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
			_, _, v := g.digestQuery(x)
			return v
		},
		about: about{
			name: "getDigest", summary: "Sums of the records of a resource, to compare with a copy", module: changesModule,
			note: "The records are summed up in ranges of their ids: how many there are, and the SHA-256 of a line of each, in the order of their ids: its id, a blank, its modified_at as it is answered, and a line feed. " +
				"A range that differs is asked again in parts, with `from` and `to`. Changes after `cursor` may not be in the sums.",
			early: []mapping.Reason{mapping.Int4Invalid, mapping.ValidationFailed}, asksBackend: true, answers: answers{form: wholeForm, name: "Digest", data: digestAnswer{}},
		},
	})
}

func changesParams() []param {
	resource := followableParam("Only changes of these resources.")
	resource.choice = []string{} // several
	return []param{
		named("after", "Only changes after this cursor, which an answer had before. Left out for the cursor of now.", ""),
		resource,
		pageSizeParam("How many changes a page has at most."),
		flag("records", "1 to have each record, as it is now, with its change."),
	}
}

func digestParams() []param {
	id := func(name, description string) param {
		return param{Field: mapping.Field{Name: name, Type: mapping.Int4, Description: description}, min: 1}
	}
	return []param{
		followableParam("Whose records are summed up.").must(),
		{Field: mapping.Field{Name: "ranges", Type: mapping.Int4, Default: strconv.Itoa(defaultRanges), Description: "How many ranges there are at most.", Example: "8"}, min: 1, max: maxRanges},
		id("from", "The first id of the first range; 1 where it is left out."),
		id("to", "The last id of the last range; where it is left out, that takes all ids that follow."),
	}
}

// followableParam names a resource that can be followed.
func followableParam(description string) param {
	return param{Field: mapping.Field{Name: "resource", Type: mapping.Varchar, Description: description}, followable: true}
}

// findFollowable returns the resources that can be followed, in the order of the model.
func (r *routes) findFollowable(offer backend.Offer) (all []*mapping.Resource) {
	for _, resource := range offer.Model.Resources {
		if offer.Feed(resource) != backend.FeedNone && r.rightTo("GET", "/"+resource.Name).grant != "" {
			all = append(all, resource)
		}
	}
	return all
}

// followableWith returns the resources that an api_key may follow.
func (r *routes) followableWith(key *auth.Key) (all []*mapping.Resource) {
	for _, resource := range r.followable {
		if r.rightTo("GET", "/"+resource.Name).of(key) {
			all = append(all, resource)
		}
	}
	return all
}

// followable returns the resources that the caller may follow: a stored request is judged by
// the present rights of its api_key.
func (x *Exchange) followable() []*mapping.Resource {
	key := x.Key
	if x.background {
		key = x.policy.Keys.Named(x.keyName, x.started)
	}
	if key == nil {
		return nil
	}
	return x.routes.followableWith(key)
}

// followableIn returns those of the named resources that the caller may follow, and a violation for
// each other name.
func (x *Exchange) followableIn(names string) (all []*mapping.Resource, v mapping.Violations) {
	may := x.followable()
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(may, func(r *mapping.Resource) bool { return r.Name == name })
		if i < 0 {
			v = append(v, Param{Name: "resource", Value: name}.invalid("resource")...)
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
		var bad mapping.Violations
		switch p.Name {
		case "page_size":
			bad = parsePageSize(x, p.Value)
		case "records":
			q.Records, bad = p.isOn()
		case "resource":
			q.Resources, bad = x.followableIn(p.Value)
		}
		v = append(v, bad...)
	}
	if !x.HasParam("resource") {
		q.Resources = x.followable()
	}
	q.Limit = x.Query.Limit
	return q, v
}

// changes answers with a page of changes.
func (g *Gateway) changes(ctx context.Context, x *Exchange) error {
	q, _ := g.changesQuery(x) // the query stage has judged it
	page, err := g.backend.Changes(ctx, q)
	if err != nil {
		return err
	}
	next := ""
	if page.More {
		next = g.publicPath + changesPath + x.queryWith("after", page.Cursor)
	}
	x.answerChanges(page, q.Records, next)
	return nil
}

// paramsBut returns the parameters without the one of that name.
func (x *Exchange) paramsBut(name string) []Param {
	return slices.DeleteFunc(slices.Clone(x.Params), func(p Param) bool { return p.Name == name })
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
	const anyID = math.MaxInt32
	for _, p := range x.Params {
		var bad mapping.Violations
		switch p.Name {
		case "resource":
			var named []*mapping.Resource
			if named, bad = x.followableIn(p.Value); len(named) > 0 {
				r = named[0]
			}
			if len(named) > 1 {
				bad = append(bad, p.invalid("resource")...)
			}
		case "ranges":
			var ranges int32
			ranges, bad = p.int4(1, maxRanges, "1-"+strconv.Itoa(maxRanges))
			q.Ranges = int(ranges)
		case "from":
			q.From, bad = p.int4(1, anyID, "id")
		case "to":
			q.To, bad = p.int4(1, anyID, "id")
		}
		v = append(v, bad...)
	}
	if v == nil && q.To != 0 && q.To < q.From {
		v = append(v, Param{Name: "to", Value: x.Param("to")}.invalid("not before from")...)
	}
	return r, q, v
}

// digest answers with the sums of a resource's records.
func (g *Gateway) digest(ctx context.Context, x *Exchange) error {
	r, q, _ := g.digestQuery(x) // the query stage has judged it
	digest, err := g.backend.Digest(ctx, r, q)
	if err != nil {
		return err
	}
	answer := digestAnswer{Data: []digestRange{}, Cursor: digest.Cursor}
	for _, one := range digest.Ranges {
		answer.Data = append(answer.Data, digestRange{one.From, one.To, one.Count, enchex.EncodeToString(one.Digest[:])})
	}
	x.answer(http.StatusOK, jsonType, func(dst []byte) []byte { return appendJSON(dst, answer) })
	return nil
}

type digestAnswer struct {
	Data   []digestRange `json:"data"`
	Cursor string        `json:"cursor" doc:"Changes after it may not be in the sums: an after of /changes."`
}

type digestRange struct {
	From   int32  `json:"from" doc:"The first id of the range."`
	To     int32  `json:"to" doc:"The last id of the range."`
	Count  int    `json:"count" doc:"How many records the client has in it."`
	Digest string `json:"digest" doc:"SHA-256 over a line of each record, in the order of their ids: its id, a blank, its modified_at as it is answered, and a line feed." pattern:"^[0-9a-f]{64}$"`
}

// followable returns the resources that the api_key of a description may follow.
func (d *describer) followable() []*mapping.Resource {
	return d.g.routes.followableWith(d.key)
}

// namesOf returns the names of resources.
func namesOf(resources []*mapping.Resource) (all []string) {
	for _, r := range resources {
		all = append(all, r.Name)
	}
	return all
}

package gateway

import (
	"cmp"
	"container/ring"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"frontdesk/gateway/testpage"
	"frontdesk/mapping"
)

// How much is kept of refusals: the last ones of each caller, and so many callers. That is
// some 15 MB if every caller has had so many.
const (
	keptRefusals = 100
	keptCallers  = 256
	keptFields   = 20
	keptName     = 100 // bytes of the name of a field
)

// refusals are the last requests of each caller that were refused, for the developers of its
// client: they hold names and reasons, and no values.
type refusals struct {
	mu sync.Mutex
	of *simplelru.LRU[refusedCaller, *ring.Ring] // each at the place of the next refusal; nil before the first one
}

// refusedCaller is an api_key, by its name, and a client.
type refusedCaller struct {
	key    string
	client int64
}

// refusedRequest is a refusal as it is answered.
type refusedRequest struct {
	RequestID  string   `json:"request_id"`
	At         string   `json:"at"`
	Method     string   `json:"method"`
	Endpoint   string   `json:"endpoint"` // as the description has it; "" for none
	Parameters []string `json:"parameters"`
	Status     int      `json:"status"`
	Reason     string   `json:"reason"`
	Message    string   `json:"message"` // of the catalogue: <x> where values were
	Fields     []string `json:"fields"`
	Cause      string   `json:"cause"`
	Cure       string   `json:"cure"`
}

// refusalsRoute answers refusals to programs at the path of their page: those of the session's
// api_key and client. It needs a session and no right, and like a page it is not listed, granted
// or described.
func (g *Gateway) refusalsRoute(r *routes) {
	e := r.endpoints[testpage.RequestsPath]
	r.on(e, http.MethodGet, &Operation{page: true, serve: g.answerRefusals, forPeople: e.list[http.MethodGet]})
}

// answerRefusals answers with the refusals of the session's api_key and client, the last one first.
func (g *Gateway) answerRefusals(_ context.Context, x *Exchange) error {
	x.response.Header.Set("Vary", "Accept")
	x.answerJSON(g.refusals.last(refusedCaller{x.keyName, x.user().Client.ID}))
	return nil
}

// noteRefusal keeps the refusal of an exchange, if its caller is known.
func (g *Gateway) noteRefusal(x *Exchange, err error) {
	if x.Session == nil || x.keyName == "" {
		return
	}
	v := violationsOf(err)
	row := g.catalogue.Lookup(v[0].Reason, x.scopes()...)
	one := refusedRequest{
		RequestID: x.RequestID, At: x.started.UTC().Format("2006-01-02T15:04:05.000Z"), Method: x.knownMethod(), Parameters: x.knownParams(), Fields: []string{},
		Status: row.Status, Reason: string(row.Reason), Message: row.Message, Cause: row.Cause, Cure: cmp.Or(g.cure(x, v[0]), row.Cure),
	}
	// An endpoint that the api_key may not use is answered like one that does not exist: without its name.
	if row.Reason != mapping.EndpointUnknown && row.Reason != mapping.MethodUnsupported {
		one.Endpoint = x.endpoint()
	}
	for _, violation := range v {
		field := g.catalogue.Lookup(violation.Reason, x.scopes()...).FieldOf(violation)
		if len(field) > keptName { // the client may have made it up
			field = strings.ToValidUTF8(field[:keptName], "") + "…"
		}
		if field != "" && !slices.Contains(one.Fields, field) && len(one.Fields) < keptFields {
			one.Fields = append(one.Fields, field)
		}
	}
	g.refusals.note(refusedCaller{x.keyName, x.user().Client.ID}, one)
}

func (r *refusals) note(of refusedCaller, one refusedRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of, _ = simplelru.NewLRU[refusedCaller, *ring.Ring](keptCallers, nil)
	}
	next, ok := r.of.Get(of)
	if !ok {
		next = ring.New(keptRefusals)
	}
	next.Value = one
	r.of.Add(of, next.Next())
}

// last returns the refusals of a caller, the last one first.
func (r *refusals) last(of refusedCaller) []refusedRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := []refusedRequest{}
	if r.of == nil {
		return all
	}
	next, _ := r.of.Peek(of)
	next.Do(func(one any) {
		if one != nil {
			all = append(all, one.(refusedRequest))
		}
	})
	slices.Reverse(all)
	return all
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// described is an operation of the description, and what it is said to answer.
type described struct {
	name, method, path string            // the path as the description has it
	resource           *mapping.Resource // nil where it is none of the record operations
	scope              mapping.Scope     // which of them it is
	reasons            []mapping.Reason
	statuses           []string // those that are no error
}

// setting is a desk, and the operation that is asked of it.
type setting struct {
	*practice
	op    described
	model *mapping.Model
}

// request is what is asked.
type request struct {
	method, path, query, token, body string
	headers                          []string
}

// beyond are the answers that this test does not bring about, by operation and
// reason, with why the description names them all the same.
var beyond = map[string]string{
	"authenticate internal_error":   nothingFails,
	"forgotPassword internal_error": nothingFails,
	"getAccess internal_error":      nothingFails,
	"getEnvironment internal_error": nothingFails,
	"getFingerprint internal_error": nothingFails,
	"listComponents internal_error": nothingFails,
	"listModules internal_error":    nothingFails,
	"logout internal_error":         nothingFails,
}

const nothingFails = "Nothing that this operation does fails while sessions are kept in memory, as they are here: TestSessionStoreAway brings it about where they are not."

// TestOpenAPIEveryAnswer asks every operation of the description for every answer
// that it is said to give: each error, and each status that is none. What is
// described and nobody can bring about is not so.
func TestOpenAPIEveryAnswer(t *testing.T) {
	s := &setting{practice: newPractice(t, engines[0].dsn(t), ", circuit: {failures: 1000}")}
	var err error
	s.model, err = mapping.LoadModel("")
	require.NoError(t, err)
	operations := s.contract().described(s.model)
	left := maps.Clone(beyond)
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			for _, status := range op.statuses {
				t.Run(status, func(t *testing.T) { s.in(t, op).answers(status) })
			}
			for _, reason := range op.reasons {
				pair := op.name + " " + string(reason)
				if _, told := beyond[pair]; told {
					delete(left, pair)
					continue
				}
				t.Run(string(reason), func(t *testing.T) { s.in(t, op).refuses(reason) })
			}
		})
	}
	assert.Empty(t, slices.Sorted(maps.Keys(left)), "not described, so nothing is to be told of it")
}

// contract is the description that answers are held to.
func (d *desk) contract() *heldContract { return d.http.Transport.(*holding).contract }

// described lists the operations, in the order of their names.
func (c *heldContract) described(model *mapping.Model) []described {
	var all []described
	for path, item := range c.doc["paths"].(map[string]any) {
		for method, v := range item.(map[string]any) {
			op := described{name: v.(map[string]any)["operationId"].(string), method: strings.ToUpper(method), path: path}
			name, one := strings.CutSuffix(path[1:], "/{id}")
			if op.resource = model.Resource(name); op.resource != nil {
				op.scope = map[string]mapping.Scope{"POST": mapping.OpCreate, "PUT": mapping.OpUpdate, "DELETE": mapping.OpDelete, "GET": mapping.OpList}[op.method]
				if one && op.method == "GET" {
					op.scope = mapping.OpGet
				}
			}
			for status, r := range v.(map[string]any)["responses"].(map[string]any) {
				response, _ := c.deref(r, "")
				reasons, _ := response["x-reasons"].([]any)
				for _, reason := range reasons {
					op.reasons = append(op.reasons, mapping.Reason(reason.(string)))
				}
				if status < "4" || len(reasons) == 0 {
					op.statuses = append(op.statuses, status)
				}
			}
			slices.Sort(op.reasons)
			slices.Sort(op.statuses)
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b described) int { return strings.Compare(a.name, b.name) })
	return all
}

// in is the setting within a subtest.
func (s *setting) in(t *testing.T, op described) *setting {
	return &setting{practice: s.practice.in(t), op: op, model: s.model}
}

// ask sends a request.
func (s *setting) ask(r request) answer {
	s.t.Helper()
	if r.query != "" {
		r.path += "?" + r.query
	}
	if s.op.name == "downloadResult" { // is no JSON
		a, err := s.try(r.method, r.path, r.token, r.body, r.headers...)
		require.NoError(s.t, err)
		return a
	}
	return s.call(r.method, r.path, r.token, r.body, r.headers...)
}

// answers brings about an answer that is no error.
func (s *setting) answers(status string) {
	r := s.right()
	switch own := otherAnswers[s.op.name+" "+status]; {
	case own != nil:
		r = own(s)
	case status == "304":
		r.headers = []string{"If-None-Match", "*"}
	}
	require.Equal(s.t, status, fmt.Sprint(s.ask(r).Status))
}

// refuses brings about an error.
func (s *setting) refuses(reason mapping.Reason) {
	defer s.faults.none()
	a, known := s.refusal(reason)
	if !known {
		s.t.Fatal("nobody knows how to bring this about: can it be?")
	}
	require.Equal(s.t, string(reason), a.failure(s.t).Reason, "%s", a.Body)
}

// refusal looks for a way to bring about an error: one of this operation's own,
// one of every operation, one of every record, a row of the interface's tables,
// or one of the operations that are none of a record's.
func (s *setting) refusal(reason mapping.Reason) (answer, bool) {
	if own := ownWays[s.op.name+" "+string(reason)]; own != nil {
		return own(s), true
	}
	if way := commonWays[reason]; way != nil {
		return way(s), true
	}
	if way := recordWays[reason]; s.op.resource != nil && way != nil {
		return s.ask(way(s)), true
	}
	if s.op.name == "createFlatrate" { // the rules of its lines
		return s.asInTables(reason, "createFlatrateline")
	}
	if a, known := s.asInTables(reason, s.op.name); known {
		return a, true
	}
	if way := otherWays[reason]; s.op.resource == nil && way != nil {
		return s.ask(way(s)), true
	}
	return answer{}, false
}

// asInTables asks what a row of the interface's tables asks of an operation.
func (s *setting) asInTables(reason mapping.Reason, operation string) (answer, bool) {
	for _, table := range rowTables {
		for _, row := range table.rows {
			if row.reason != reason {
				continue
			}
			for _, line := range row.ask {
				method, rest, _ := strings.Cut(line, " ")
				target, _, _ := strings.Cut(rest, " ")
				path, query, _ := strings.Cut(target, "?")
				values, _ := url.ParseQuery(query)
				if name, _, _ := s.contract().operation(method, path, values); name == operation {
					return s.line(row.given, line), true
				}
			}
		}
	}
	return answer{}, false
}

// line asks what a line of text says, with what was prepared.
func (s *setting) line(given func(*practice) []any, line string) answer {
	s.t.Helper()
	var values []any
	if given != nil {
		values = given(s.practice)
	}
	line = fill(line, values)
	if s.op.name == "createFlatrate" { // what is asked of one line is asked of a new flat rate's two
		_, members, _ := strings.Cut(line, ",")
		line = fmt.Sprintf(`POST /flatrate {"number":"R-%d","description":"Rate","flatratelines":[{"sort_order":10},{%s]}`, s.next(), members)
	}
	method, rest, _ := strings.Cut(line, " ")
	target, body, _ := strings.Cut(rest, " ")
	return s.call(method, target, s.token, body)
}

// commonWays are the errors of any operation.
var commonWays = map[mapping.Reason]func(*setting) answer{
	mapping.NotLoggedIn: func(s *setting) answer {
		r := s.right()
		r.token = ""
		return s.ask(r)
	},
	mapping.TokenInvalid: func(s *setting) answer {
		r := s.right()
		r.token = "3f0e8a52-8c0e-4d7b-9d0f-2f1b1f3f8a11"
		return s.ask(r)
	},
	mapping.TooManyRequests: func(s *setting) answer {
		r := s.right()
		r.token = s.login(slowKey, "demo")
		s.call("GET", "/authenticate/acces", r.token, "") // takes all that the key may for now
		return afterAWhile(s.practice, s.ask(r))[0]
	},
	mapping.QueryRepeated:    func(s *setting) answer { return s.ask(s.right().and("colour=red&colour=blue")) },
	mapping.QueryUnsupported: func(s *setting) answer { return s.ask(s.right().and("colour=red")) },
	mapping.HeaderTooLarge: func(s *setting) answer {
		r := s.right()
		r.headers = []string{"X-Long", letters(17 << 10)}
		return s.ask(r)
	},
	mapping.BodyTooLarge: func(s *setting) answer {
		r := s.right()
		r.body = letters(bodyLimit + 1)
		return s.ask(r)
	},
	mapping.EndpointUnknown: func(s *setting) answer {
		r := s.right()
		r.path = r.path[:strings.LastIndexByte(r.path, '/')] + "/%31"
		return s.ask(r)
	},
	mapping.InternalError:      broken(fmt.Errorf("a fault of the test: %w", backend.ErrUnexpected)),
	mapping.BackendUnavailable: broken(errBroken),
	mapping.BackendTimeout:     broken(context.DeadlineExceeded),
	mapping.EmptyBody: func(s *setting) answer {
		r := s.right()
		r.body, r.query = " ", ""
		return s.ask(r)
	},
	mapping.BodyNotJSON: func(s *setting) answer {
		r := s.right()
		r.body = `{"`
		return s.ask(r)
	},
	mapping.PreconditionChanged: func(s *setting) answer {
		r := s.right()
		r.headers = []string{"If-Match", `"of long ago"`}
		return s.ask(r)
	},
	mapping.IdempotencyInvalid: func(s *setting) answer {
		r := s.right()
		r.headers = []string{"Idempotency-Key", "with a blank"}
		return s.ask(r)
	},
	mapping.IdempotencyReused: func(s *setting) answer {
		r := s.right()
		r.headers = []string{"Idempotency-Key", fmt.Sprint("reused-", s.next())}
		require.Less(s.t, s.ask(r).Status, 300)
		r.body = " " + r.body
		return s.ask(r)
	},
	mapping.IdempotencyInUse: func(s *setting) answer {
		r := s.right()
		return s.twice(r.path, r.body)
	},
}

// broken asks when the administration fails.
func broken(err error) func(*setting) answer {
	return func(s *setting) answer {
		r := s.right()
		s.faults.set(func(context.Context) error { return err })
		return s.ask(r)
	}
}

// and adds to the query.
func (r request) and(more string) request {
	if r.query != "" {
		more = r.query + "&" + more
	}
	r.query = more
	return r
}

// right is a request that is answered as it should be, and new each time.
func (s *setting) right() request {
	s.t.Helper()
	r := request{method: s.op.method, path: s.op.path, token: s.token}
	if s.op.resource == nil {
		return rightOthers[s.op.name](s, r)
	}
	switch s.op.scope {
	case mapping.OpCreate:
		r.body = asJSON(s.t, s.body(s.op.resource))
	case mapping.OpList:
		for i, name := range s.op.resource.ListRequires {
			f := s.op.resource.Field(name)
			r = r.and(fmt.Sprintf("%s=%v", name, map[bool]any{true: 1, false: "contact"}[f.Type == mapping.Int4 || i > 0]))
		}
	default:
		r.path = fmt.Sprintf("/%s/%d", s.op.resource.Name, s.fresh(s.op.resource))
		if s.op.scope == mapping.OpUpdate {
			r.body = `{"is_archived":0}`
		}
	}
	return r
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

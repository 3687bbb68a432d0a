package rows

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
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// setting is a desk, and the operation that is asked of it.
type setting struct {
	*rig.Practice
	op    rig.Described
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
	s := &setting{Practice: rig.NewPractice(t, rig.Engines[0].DSN(t), ", circuit: {failures: 1000}")}
	var err error
	s.model, err = mapping.LoadModel("")
	require.NoError(t, err)
	operations := s.Contract().Described(s.model)
	left := maps.Clone(beyond)
	for _, op := range operations {
		t.Run(op.Name, func(t *testing.T) {
			for _, status := range op.Statuses {
				t.Run(status, func(t *testing.T) { s.in(t, op).answers(status) })
			}
			for _, reason := range op.Reasons {
				pair := op.Name + " " + string(reason)
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

// in is the setting within a subtest.
func (s *setting) in(t *testing.T, op rig.Described) *setting {
	return &setting{Practice: s.Practice.In(t), op: op, model: s.model}
}

// ask sends a request.
func (s *setting) ask(r request) rig.Answer {
	s.T.Helper()
	if r.query != "" {
		r.path += "?" + r.query
	}
	if s.op.Name == "downloadResult" { // is no JSON
		a, err := s.Try(r.method, r.path, r.token, r.body, r.headers...)
		require.NoError(s.T, err)
		return a
	}
	return s.Call(r.method, r.path, r.token, r.body, r.headers...)
}

// answers brings about an answer that is no error.
func (s *setting) answers(status string) {
	r := s.right()
	switch own := otherAnswers[s.op.Name+" "+status]; {
	case own != nil:
		r = own(s)
	case status == "304":
		r.headers = []string{"If-None-Match", "*"}
	}
	require.Equal(s.T, status, fmt.Sprint(s.ask(r).Status))
}

// refuses brings about an error.
func (s *setting) refuses(reason mapping.Reason) {
	defer s.Faults.None()
	a, known := s.refusal(reason)
	if !known {
		s.T.Fatal("nobody knows how to bring this about: can it be?")
	}
	require.Equal(s.T, string(reason), a.Failure(s.T).Reason, "%s", a.Body)
}

// refusal looks for a way to bring about an error: one of this operation's own,
// one of every operation, one of every record, a row of the interface's tables,
// or one of the operations that are none of a record's.
func (s *setting) refusal(reason mapping.Reason) (rig.Answer, bool) {
	if own := ownWays[s.op.Name+" "+string(reason)]; own != nil {
		return own(s), true
	}
	if way := commonWays[reason]; way != nil {
		return way(s), true
	}
	if way := recordWays[reason]; s.op.Resource != nil && way != nil {
		return s.ask(way(s)), true
	}
	if s.op.Name == "createFlatrate" { // the rules of its lines
		return s.asInTables(reason, "createFlatrateline")
	}
	if a, known := s.asInTables(reason, s.op.Name); known {
		return a, true
	}
	if way := otherWays[reason]; s.op.Resource == nil && way != nil {
		return s.ask(way(s)), true
	}
	return rig.Answer{}, false
}

// asInTables asks what a row of the interface's tables asks of an operation.
func (s *setting) asInTables(reason mapping.Reason, operation string) (rig.Answer, bool) {
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
				if name, _, _ := s.Contract().Operation(method, path, values); name == operation {
					return s.line(row.given, line), true
				}
			}
		}
	}
	return rig.Answer{}, false
}

// line asks what a line of text says, with what was prepared.
func (s *setting) line(given func(*rig.Practice) []any, line string) rig.Answer {
	s.T.Helper()
	var values []any
	if given != nil {
		values = given(s.Practice)
	}
	line = rig.Fill(line, values)
	if s.op.Name == "createFlatrate" { // what is asked of one line is asked of a new flat rate's two
		_, members, _ := strings.Cut(line, ",")
		line = fmt.Sprintf(`POST /flatrate {"number":"R-%d","description":"Rate","flatratelines":[{"sort_order":10},{%s]}`, s.Next(), members)
	}
	method, rest, _ := strings.Cut(line, " ")
	target, body, _ := strings.Cut(rest, " ")
	return s.Call(method, target, s.Token, body)
}

// commonWays are the errors of any operation.
var commonWays = map[mapping.Reason]func(*setting) rig.Answer{
	mapping.NotLoggedIn: func(s *setting) rig.Answer {
		r := s.right()
		r.token = ""
		return s.ask(r)
	},
	mapping.TokenInvalid: func(s *setting) rig.Answer {
		r := s.right()
		r.token = "3f0e8a52-8c0e-4d7b-9d0f-2f1b1f3f8a11"
		return s.ask(r)
	},
	mapping.TooManyRequests: func(s *setting) rig.Answer {
		r := s.right()
		r.token = s.Login(rig.SlowKey, "demo")
		s.Call("GET", "/authenticate/acces", r.token, "") // takes all that the key may for now
		return afterAWhile(s.Practice, s.ask(r))[0]
	},
	mapping.QueryRepeated:    func(s *setting) rig.Answer { return s.ask(s.right().and("colour=red&colour=blue")) },
	mapping.QueryUnsupported: func(s *setting) rig.Answer { return s.ask(s.right().and("colour=red")) },
	mapping.HeaderTooLarge: func(s *setting) rig.Answer {
		r := s.right()
		r.headers = []string{"X-Long", letters(17 << 10)}
		return s.ask(r)
	},
	mapping.BodyTooLarge: func(s *setting) rig.Answer {
		r := s.right()
		r.body = letters(rig.BodyLimit + 1)
		return s.ask(r)
	},
	mapping.EndpointUnknown: func(s *setting) rig.Answer {
		r := s.right()
		r.path = r.path[:strings.LastIndexByte(r.path, '/')] + "/%31"
		return s.ask(r)
	},
	mapping.InternalError:      broken(fmt.Errorf("a fault of the test: %w", backend.ErrUnexpected)),
	mapping.BackendUnavailable: broken(rig.ErrBroken),
	mapping.BackendTimeout:     broken(context.DeadlineExceeded),
	mapping.EmptyBody: func(s *setting) rig.Answer {
		r := s.right()
		r.body, r.query = " ", ""
		return s.ask(r)
	},
	mapping.BodyNotJSON: func(s *setting) rig.Answer {
		r := s.right()
		r.body = `{"`
		return s.ask(r)
	},
	mapping.PreconditionChanged: func(s *setting) rig.Answer {
		r := s.right()
		r.headers = []string{"If-Match", `"of long ago"`}
		return s.ask(r)
	},
	mapping.IdempotencyInvalid: func(s *setting) rig.Answer {
		r := s.right()
		r.headers = []string{"Idempotency-Key", "with a blank"}
		return s.ask(r)
	},
	mapping.IdempotencyReused: func(s *setting) rig.Answer {
		r := s.right()
		r.headers = []string{"Idempotency-Key", fmt.Sprint("reused-", s.Next())}
		require.Less(s.T, s.ask(r).Status, 300)
		r.body = " " + r.body
		return s.ask(r)
	},
	mapping.IdempotencyInUse: func(s *setting) rig.Answer {
		r := s.right()
		return s.Twice(r.path, r.body)
	},
}

// broken asks when the administration fails.
func broken(err error) func(*setting) rig.Answer {
	return func(s *setting) rig.Answer {
		r := s.right()
		s.Faults.Set(func(context.Context) error { return err })
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
	s.T.Helper()
	r := request{method: s.op.Method, path: s.op.Path, token: s.Token}
	if s.op.Resource == nil {
		return rightOthers[s.op.Name](s, r)
	}
	switch s.op.Scope {
	case mapping.OpCreate:
		r.body = asJSON(s.T, s.body(s.op.Resource))
	case mapping.OpList:
		for i, name := range s.op.Resource.ListRequires {
			f := s.op.Resource.Field(name)
			r = r.and(fmt.Sprintf("%s=%v", name, map[bool]any{true: 1, false: "contact"}[f.Type == mapping.Int4 || i > 0]))
		}
	default:
		r.path = fmt.Sprintf("/%s/%d", s.op.Resource.Name, s.fresh(s.op.Resource))
		if s.op.Scope == mapping.OpUpdate {
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

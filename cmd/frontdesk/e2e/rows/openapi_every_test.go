package rows

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

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
	t.Parallel()
	s := newSetting(t, rig.Engines[0].DSN(t))
	left := maps.Clone(beyond)
	for _, op := range s.described() {
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

// answers brings about an answer that is no error.
func (s *setting) answers(status string) {
	defer s.Faults.None()
	r := s.right()
	own := ownAnswers[s.op.Name+" "+status]
	if many := ownAnswers[s.many()+" "+status]; many != nil {
		own = many
	}
	switch {
	case own != nil:
		r = own(s)
	case status == "304":
		r.Headers = []string{"If-None-Match", "*"}
	}
	require.Equal(s.T, status, fmt.Sprint(s.ask(r).Status))
}

// refuses brings about an error: in a way that takes more than requests, or as
// the conformance suite does, which judges the answers itself.
func (s *setting) refuses(reason mapping.Reason) {
	answers, known := s.own(reason)
	if !known {
		require.NoError(s.T, s.desk.Provoke(s.op.Method, s.op.Path, reason))
	}
	for _, a := range answers {
		judged(s.T, a, reason)
	}
}

package rows

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

var update = flag.Bool("update", false, "write what the rows are answered with anew")

// ofThisRun is what differs from run to run: unique values, and ids.
var ofThisRun = regexp.MustCompile(`\bCF[0-9A-Z]{6,}|\b(id: )\d+`)

// TestErrorRows provokes every row of every error table over HTTP. The suite
// judges its answers by the catalogue; testdata/rows.tsv holds the words
// themselves, so that neither the catalogue nor how it puts words together is
// believed.
func TestErrorRows(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		t.Parallel()
		s := newSetting(t, dsn)
		var lines []string
		catalogue := mapping.NewCatalogue()
		operations := slices.DeleteFunc(s.described(), func(op rig.Described) bool { return !slices.Contains(sampled, op.Name) })
		for _, entry := range catalogue.Entries() {
			name := strings.TrimSpace(string(entry.Scope) + " " + string(entry.Reason))
			t.Run(strings.ReplaceAll(name, "/", "∕"), func(t *testing.T) {
				refused := s.provoke(t, entry, slices.DeleteFunc(slices.Clone(operations), func(op rig.Described) bool {
					endpoint, _, _ := strings.Cut(op.Path, "/{")
					worded := catalogue.Lookup(entry.Reason, mapping.Scope(op.Method+" "+endpoint), op.Scope)
					return worded.Scope != entry.Scope || !slices.Contains(op.Reasons, entry.Reason)
				}))
				require.NotEmpty(t, refused, "nobody knows how to bring this about")
				for _, r := range refused {
					line := fmt.Sprintf("%s\t%d\t%s\t%s", name, r.Status, r.Field, strings.Join(append([]string{r.Message}, r.Also...), "\t"))
					line = ofThisRun.ReplaceAllString(line, "${1}…")
					if !slices.Contains(lines, line) {
						lines = append(lines, line)
					}
				}
			})
		}
		golden, got := filepath.Join("testdata", "rows.tsv"), strings.Join(lines, "\n")+"\n"
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), got, "-update writes it anew")
	})
}

// provoke brings a row about in every way that there is, some of these operations
// among them.
func (s *setting) provoke(t *testing.T, entry mapping.Entry, operations []rig.Described) []backendtest.Refusal {
	refused, err := s.desk.Row(entry.Scope, entry.Reason)
	if err != nil {
		require.ErrorIs(t, err, backendtest.ErrNoWay)
		require.Empty(t, refused, "half of it was asked")
	}
	var answers []rig.Answer
	if way := ownRows[entry.Reason]; way != nil && entry.Scope == mapping.General {
		answers = way(s.in(t, rig.Described{}))
		s.Faults.None()
	}
	for _, op := range operations {
		more, _ := s.in(t, op).own(entry.Reason)
		answers = append(answers, more...)
	}
	for _, a := range answers {
		e := judged(t, a, entry.Reason)
		refused = append(refused, backendtest.Refusal{Status: a.Status, Message: e.Message, Field: e.Field})
	}
	return refused
}

// judged holds an answer that takes more than requests to its reason.
func judged(t testing.TB, a rig.Answer, reason mapping.Reason) rig.ErrorBody {
	e := a.Failure(t)
	require.Equal(t, string(reason), e.Reason, "%s", a.Body)
	require.Empty(t, e.Errors)
	if reason == mapping.TooManyRequests {
		require.Regexp(t, `^[1-9][0-9]*$`, a.Header.Get("Retry-After"))
	}
	return e
}

// sampled are the operations that rows are asked of in ways that take more than
// requests; TestOpenAPIEveryAnswer asks all.
var sampled = []string{"getContact", "listContacts", "createContact", "updateContact", "deleteContact", "getModel", "getWebhookResult"}

// ownRows are rows that no operation has in particular, and further ways of some.
var ownRows = map[mapping.Reason]func(*setting) []rig.Answer{
	mapping.InternalError: func(s *setting) []rig.Answer {
		s.Faults.Set(func(context.Context) error { panic("a fault of the test") })
		return []rig.Answer{s.Call("GET", "/contact/1", s.Token, "")}
	},
	mapping.BodyTooLarge: func(s *setting) []rig.Answer {
		return []rig.Answer{s.Call("POST", "/contact", s.Token, letters(rig.BodyLimit+1))}
	},
	mapping.BackendTimeout:   neverAnswered,
	mapping.TooManyRequests:  tenWrongLogins,
	mapping.RequestMalformed: func(s *setting) []rig.Answer { return []rig.Answer{s.Raw("nonsense\r\n\r\n")} },
	mapping.Overloaded: func(s *setting) []rig.Answer {
		crowd := rig.Flood(s.T, s.Host(), rig.MostConnections)
		a := s.Socket().Answer("GET")
		rig.HangUp(crowd)
		s.RequireServing(s.Token)
		return []rig.Answer{a}
	},
}

// letters returns a text of n letters.
func letters(n int) string { return strings.Repeat("a", n) }

package mapping_test

import (
	"flag"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/mapping"
)

// What is drawn is the same in each run; -rapid.seed has it drawn otherwise.
func init() {
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}

// TestWords holds errors as their operations word them, and what is read of the words, to testdata/words.tsv. There
// LONG has 101 characters, and CUT is what is shown of it.
func TestWords(t *testing.T) {
	long, cut := strings.Repeat("é", 101), strings.Repeat("é", 100)+"…"
	src, err := os.ReadFile("testdata/words.tsv")
	require.NoError(t, err)
	c := mapping.NewCatalogue()
	for _, line := range strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")[1:] {
		row := strings.Split(strings.NewReplacer("LONG", long, "CUT", cut).Replace(line), "\t")
		t.Run(row[0], func(t *testing.T) {
			status, err := strconv.Atoi(row[1])
			require.NoError(t, err)
			text, scopes := row[2], scopesOf(row[3])
			got, ok := c.Parse(status, text, scopes...)
			if row[4] == "" {
				require.False(t, ok, got)
				return
			}
			want, args := &mapping.Error{Reason: mapping.Reason(row[4])}, row[5:]
			if last := len(args) - 1; last >= 0 && strings.HasPrefix(args[last], "@") {
				args, want.Path = args[:last], args[last][1:]
			}
			if len(args) > 0 {
				want.Args = args
			}
			require.Equal(t, want, got)
			asWorded := c.Lookup(got.Reason, scopes...)
			if !slices.Contains(got.Args, long) {
				text = strings.ReplaceAll(text, long, cut)
			}
			require.Equal(t, text, asWorded.Text(got))
			require.Contains(t, []int{asWorded.Status, 0}, status)
			_, field, _ := strings.Cut(text, "Field: ")
			field, _, _ = strings.Cut(field, " ")
			if got.Reason == mapping.CannotUpdate {
				field = "orderlines"
			}
			require.Equal(t, field, asWorded.FieldOf(got))
		})
	}
	require.Equal(t, 500, c.Lookup("no_such_reason").Status)
	require.Equal(t, "Not authorized", c.Lookup(mapping.TokenInvalid, "GET /order", "/order", mapping.OpList).Message, "an endpoint without a row of its own")
}

// scopesOf are those of a list.
func scopesOf(list string) (all []mapping.Scope) {
	for _, scope := range strings.FieldsFunc(list, func(c rune) bool { return c == ',' }) {
		all = append(all, mapping.Scope(strings.TrimSpace(scope)))
	}
	return all
}

// twins are the rows whose words an earlier line has too, in one scope.
var twins = map[mapping.Reason]mapping.Reason{
	mapping.TokenInvalid:                     mapping.NotLoggedIn,
	mapping.CredentialsInvalid:               mapping.NotLoggedIn,
	mapping.BackendUnavailable:               mapping.InternalError,
	mapping.BackendChanged:                   mapping.InternalError,
	mapping.BackendTimeout:                   mapping.InternalError,
	mapping.FlatrateManualInputWithArticleNo: mapping.FlatrateManualInputWithArticle,
}

// asked are the scopes a row may be worded in: its own alone, and those of an
// endpoint with an operation's, as the gateway gives them.
func asked(e mapping.Entry) [][]mapping.Scope {
	scopes := [][]mapping.Scope{{e.Scope}, {"POST /nowhere", "/nowhere", e.Scope}, {"/flatrateline", e.Scope}}
	for _, op := range []mapping.Scope{mapping.OpCreate, mapping.OpGet, mapping.OpUpdate, mapping.OpList, mapping.OpDelete} {
		scopes = append(scopes, []mapping.Scope{e.Scope, op})
	}
	return scopes
}

// TestParseOfPlainArguments: names and numbers as arguments leave no doubt but
// between twins.
func TestParseOfPlainArguments(t *testing.T) {
	c := mapping.NewCatalogue()
	plain := rapid.StringMatching(`[A-Za-z0-9_\-./\[\]]{1,20}`)
	for _, e := range c.Entries() {
		t.Run(strings.TrimSpace(string(e.Scope)+" "+string(e.Reason)), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				sent := fail(t, e, plain)
				text := c.Lookup(e.Reason, e.Scope).Text(sent)
				got, ok := c.Parse(e.Status, text, e.Scope)
				require.True(t, ok, text)
				if got.Reason != e.Reason && twins[e.Reason] != got.Reason {
					t.Fatalf("%q means %s, want %s", text, got.Reason, e.Reason)
				}
				require.Equal(t, sent.Args, got.Args)
				require.Equal(t, sent.Path, got.Path)
			})
		})
	}
}

// TestParseGivesTheSameTextBack holds for any arguments and every row, also
// where another reason is read.
func TestParseGivesTheSameTextBack(t *testing.T) {
	c := mapping.NewCatalogue()
	entries := c.Entries()
	words := rapid.SampledFrom([]string{
		"", " ", "a", "5 ID", " not found", "Field: ", " value: ", " for validation: ", " for datatype: int4", " , ", "<x>", "é", "\xff", "\n", strings.Repeat("x", 120),
	})
	anything := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(words, 0, 4), func(s []string) string { return strings.Join(s, "") }))
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom(entries).Draw(t, "row")
		scopes := rapid.SampledFrom(asked(e)).Draw(t, "scopes")
		row := c.Lookup(e.Reason, scopes...)
		text := row.Text(fail(t, *row, anything))
		for _, status := range []int{row.Status, 0} {
			got, ok := c.Parse(status, text, scopes...)
			require.True(t, ok, text)
			again := c.Lookup(got.Reason, scopes...)
			require.Equal(t, text, again.Text(got))
			if status != 0 {
				require.Equal(t, status, again.Status)
			}
		}
	})
}

// fail draws an error of that row. Names of fields are the model's, so those of
// rows that name theirs come with a path or without.
func fail(t *rapid.T, e mapping.Entry, value *rapid.Generator[string]) *mapping.Error {
	n := strings.Count(e.Message, "<")
	if strings.Contains(e.Message, "<x> , <x>") {
		n = rapid.IntRange(1, 4).Draw(t, "n")
	}
	args := make([]any, n)
	for i := range args {
		args[i] = value.Draw(t, "argument")
	}
	failed := mapping.Fail(e.Reason, args...)
	if e.Field(nil) != "" && rapid.Bool().Draw(t, "within") {
		failed = failed.At("lines[" + rapid.StringMatching(`[0-9]{1,3}`).Draw(t, "element") + "]")
	}
	return failed
}

// FuzzParse reads any message. What is read is worded as it was, unless a value
// in it had to be cut, and then it stays as it is.
func FuzzParse(f *testing.F) {
	c := mapping.NewCatalogue()
	for _, e := range c.Entries() {
		f.Add(e.Status, e.Message, string(e.Scope), "/flatrateline")
	}
	f.Add(0, "Field: a.price is required and not supplied in request", "/flatrateline", "create")
	f.Fuzz(func(t *testing.T, status int, message, first, second string) {
		scopes := []mapping.Scope{mapping.Scope(first), mapping.Scope(second)}
		got, ok := c.Parse(status, message, scopes...)
		if !ok {
			return
		}
		text := c.Lookup(got.Reason, scopes...).Text(got)
		if len(message) <= 100 && text != message {
			t.Fatalf("%q is worded %q", message, text)
		}
		again, ok := c.Parse(status, text, scopes...)
		if !ok || c.Lookup(again.Reason, scopes...).Text(again) != text {
			t.Fatalf("%q is worded %q, which reads differently", message, text)
		}
	})
}

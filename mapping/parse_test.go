package mapping_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/mapping"
)

// TestWords are errors as their operations word them, and what is read of the words.
func TestWords(t *testing.T) {
	long := strings.Repeat("é", 101)
	cut := strings.Repeat("é", 100) + "…"
	create := []mapping.Scope{"POST /order", "/order", mapping.OpCreate}
	update := []mapping.Scope{"PUT /order", "/order", mapping.OpUpdate}
	list := []mapping.Scope{"GET /order", "/order", mapping.OpList}
	flatrate := []mapping.Scope{"POST /flatrateline", "/flatrateline", mapping.OpCreate}
	authenticate := []mapping.Scope{"GET /authenticate"}
	tests := []struct {
		name    string
		status  int
		message string
		scopes  []mapping.Scope
		want    *mapping.Error // nil where nothing is read of it
	}{
		{"no placeholder", 400, "Empty body", create, mapping.Fail(mapping.EmptyBody)},
		{"a general row", 429, "Too many requests", create, mapping.Fail(mapping.TooManyRequests)},
		{"a row lent by another table", 403, "Field: content has an invalid value: x for datatype: bytea", update, mapping.Fail(mapping.ByteaInvalid, "content", "x")},
		{"any status", 0, "Field: id value: 7 not found", update, mapping.Fail(mapping.RecordNotFound, "id", 7)},
		{"another status", 409, "Field: id value: 7 not found", update, nil},
		{"the words of another operation", 409, "Field: a value: b has a duplicate illegal value", update, nil},
		{"its own words", 409, "Field: a Value: b has a duplicate illegal value", update, mapping.Fail(mapping.DuplicateValue, "a", "b")},
		{"more after it", 400, "Empty body!", create, nil},
		{"less", 403, "Field: a has an invalid value: ", create, nil},
		{"prefix and suffix that overlap", 409, "Field: sort_order has an invalid valu", flatrate, nil},
		{"nothing", 400, "", create, nil},
		{"an empty value", 404, "Field: id value:  not found", update, mapping.Fail(mapping.RecordNotFound, "id", "")},
		{"four", 403, "Field: a value: 1 date must be after Field: b value: 2", create, mapping.Fail(mapping.DateNotAfter, "a", "1", "b", "2")},
		{"a value with words of its row", 403, "Field: a has an invalid value: x for validation: y for validation: z", create, mapping.Fail(mapping.ValidationFailed, "a", "x for validation: y", "z")},
		{"a list of one", 400, "These parameter(s): id are required", nil, mapping.Fail(mapping.ParametersRequired, "id")},
		{"a list of three", 400, "These parameter(s): a , b , c are required", nil, mapping.Fail(mapping.ParametersRequired, "a", "b", "c")},
		{"a vendor", 403, "An external user cannot login, contact the Example servicedesk", nil, mapping.Fail(mapping.ExternalUser, "Example")},
		{"a value too long", 403, "Field: a has an invalid value: " + long + " for datatype: int4", create, mapping.Fail(mapping.Int4Invalid, "a", cut)},
		{"a value cut already", 403, "Field: a has an invalid value: " + cut + " for datatype: int4", create, mapping.Fail(mapping.Int4Invalid, "a", cut)},
		{"a long validation", 403, "Field: a has an invalid value: b for validation: " + long, create, mapping.Fail(mapping.ValidationFailed, "a", "b", mapping.Literal(long))},
		{"a long field", 403, "Field: " + long + " not found in model", create, mapping.Fail(mapping.FieldNotInModel, mapping.Literal(long))},
		{"a field of an element", 403, "Field: orderlines[0].price is required and not supplied in request", create, mapping.Fail(mapping.FieldRequired, "orderlines[0].price")},
		{"a row's own field of an element", 403, "Field: flatratelines[0].sort_order has an invalid value 3", flatrate, mapping.Fail(mapping.FlatrateSortOrderInUse, "3").At("flatratelines[0]")},

		{"same words, no session", 401, "Not authorized", create, mapping.Fail(mapping.NotLoggedIn)},
		{"same words, credentials", 401, "Not authorized", authenticate, mapping.Fail(mapping.NotLoggedIn)},
		{"same words, told by the status", 200, "Not authorized", []mapping.Scope{"GET /authenticate/logout", mapping.OpGet}, mapping.Fail(mapping.TokenInvalid)},
		{"same words, failures", 500, "Internal server error", create, mapping.Fail(mapping.InternalError)},
		{"same words, two combinations", 403, "Field: is_manual_input has an invalid value 1", flatrate, mapping.Fail(mapping.FlatrateManualInputWithArticle)},
		{"its own field before any", 403, "Field: price is required and not supplied in request", flatrate, mapping.Fail(mapping.FlatratePriceRequired)},
		{"any field elsewhere", 403, "Field: price is required and not supplied in request", create, mapping.Fail(mapping.FieldRequired, "price")},
		{"an operation's own status", 403, "Primary ID is invalid", []mapping.Scope{mapping.OpGet}, mapping.Fail(mapping.PrimaryIDInvalid)},
		{"and another's", 400, "Primary ID is not an valid ID", update, mapping.Fail(mapping.PrimaryIDInvalid)},
		{"fingerprint without a login", 401, "Missing authorization", []mapping.Scope{"GET /authenticate/fingerprint"}, mapping.Fail(mapping.NotLoggedIn)},
		{"forgotpassword", 401, "Token invalid", []mapping.Scope{"POST /authenticate/forgotpassword"}, mapping.Fail(mapping.NotLoggedIn)},
		{"a datatype row in a list", 403, "Field: a has an invalid value: x for datatype: int4", list, mapping.Fail(mapping.Int4Invalid, "a", "x")},
		{"the contract's own", 400, "Parameter invalid page_size value must be from 1 to 9", list, mapping.Fail(mapping.PageSizeInvalid, "9")},
		{"two values of no field", 0, "Method: PATCH not supported for endpoint: /order", nil, mapping.Fail(mapping.MethodUnsupported, "PATCH", "/order")},
		{"a list of two", 400, "These parameter(s): username , password are required", nil, mapping.Fail(mapping.ParametersRequired, "username", "password")},
		{"the Dutch one", 0, "Er is geen e-mailadres bekend voor gebruiker: noemail", authenticate, mapping.Fail(mapping.EmailMissing, "noemail")},
		{"a field the message names", 0, "Field: is_prefered_email value: 1 is not alowed", []mapping.Scope{"/contactcommunication"}, mapping.Fail(mapping.PreferredEmailNotAllowed)},
		{"a field without the word", 0, "Cannot update orderlines", update, mapping.Fail(mapping.CannotUpdate, "orderlines")},
		{"numbers", 0, "Field: reference valuelength: 51 too long for datatype: varchar: 50", create, mapping.Fail(mapping.VarcharTooLong, mapping.Literal("reference"), 51, 50)},
		{"type and limit", 0, "Field: Huisnummer valuelength: 11 too long for type varchar (10)", []mapping.Scope{"GET /contact/checkaddress"},
			mapping.Fail(mapping.AddressPartTooLong, "Huisnummer", 11, "varchar", 10)},
		{"an order's status", 0, "order_status is invoiced, cannot add/update/delete", create, mapping.Fail(mapping.StatusForbidsChange, "order_status", "invoiced")},
		{"a value that looks like a placeholder", 404, "Field: id value: <x> <vendor> not found", []mapping.Scope{mapping.OpGet}, mapping.Fail(mapping.RecordNotFound, "id", "<x> <vendor>")},
		{"words of another row", 404, "Field: id value: 5 ID not found", update, mapping.Fail(mapping.RelatedIDNotFound, "id", "5")},
	}
	c := mapping.NewCatalogue()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := c.Parse(tt.status, tt.message, tt.scopes...)
			require.Equal(t, tt.want != nil, ok)
			require.Equal(t, tt.want, got)
			if got == nil {
				return
			}
			row := c.Lookup(got.Reason, tt.scopes...)
			text := tt.message
			if !slices.Contains(got.Args, long) {
				text = strings.ReplaceAll(text, long, cut)
			}
			require.Equal(t, text, row.Text(got))
			require.Contains(t, []int{row.Status, 0}, tt.status)
			_, field, _ := strings.Cut(text, "Field: ")
			field, _, _ = strings.Cut(field, " ")
			if got.Reason == mapping.CannotUpdate {
				field = "orderlines"
			}
			require.Equal(t, field, row.FieldOf(got))
		})
	}
	require.Equal(t, 500, c.Lookup("no_such_reason").Status)
	require.Equal(t, "Not authorized", c.Lookup(mapping.TokenInvalid, list...).Message, "an endpoint without a row of its own")
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

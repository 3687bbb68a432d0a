package rows

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// errorRow is a row of the error tables, and how it is brought about.
type errorRow struct {
	scope  mapping.Scope
	reason mapping.Reason
	what   string
	// given prepares what the requests are about; $1, $2, … in requests and
	// message stand for what it returns.
	given func(p *rig.Practice) []any
	// ask are requests: a method, a path and, after a blank, a body. Each must
	// be answered with the row.
	ask []string
	// do asks what a line of text cannot.
	do      func(p *rig.Practice) []rig.Answer
	status  int
	message string
	field   string
	// also are the messages of further violations that come with this one.
	also []string
}

// rowTables are the tables of the interface, and the rows of the contract.
var rowTables = []struct {
	name string
	rows []errorRow
}{
	{"general", generalRows},
	{"POST", createRows},
	{"GET one", getRows},
	{"PUT", updateRows},
	{"GET many", listRows},
	{"DELETE", deleteRows},
	{"sessions", sessionRows},
	{"endpoints", endpointRows},
	{"vehicles", vehicleRows},
	{"flat rate lines", flatrateRows},
	{"contract", contractRows},
}

// TestErrorRows provokes every row of every error table over HTTP.
func TestErrorRows(t *testing.T) {
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		p := rig.NewPractice(t, dsn, "")
		produced := map[string]bool{}
		for _, table := range rowTables {
			t.Run(table.name, func(t *testing.T) {
				for _, row := range table.rows {
					t.Run(row.name(), func(t *testing.T) {
						if row.provoke(t, p) {
							produced[rowKey(row.scope, row.reason)] = true
						}
					})
				}
			})
		}
		for _, entry := range mapping.NewCatalogue().Entries() {
			assert.True(t, produced[rowKey(entry.Scope, entry.Reason)], "never produced: %q %s", entry.Scope, entry.Reason)
		}
	})
}

func rowKey(s mapping.Scope, r mapping.Reason) string { return string(s) + " " + string(r) }

func (r errorRow) name() string {
	name := strings.TrimSpace(rowKey(r.scope, r.reason))
	if r.what != "" {
		name += ", " + r.what
	}
	return strings.ReplaceAll(name, "/", "∕")
}

// provoke asks, and judges the answers. It tells whether there was any.
func (r errorRow) provoke(t *testing.T, p *rig.Practice) bool {
	p = p.In(t)
	defer p.Faults.None()
	var given []any
	if r.given != nil {
		given = r.given(p)
	}
	var answers []rig.Answer
	if r.do != nil {
		answers = r.do(p)
	}
	for _, line := range r.ask {
		line = rig.Fill(line, given)
		method, rest, _ := strings.Cut(line, " ")
		path, body, _ := strings.Cut(rest, " ")
		require.True(t, within(r.scope, method, path), "%s is not within the scope %q", line, r.scope)
		answers = append(answers, p.Call(method, path, p.Token, body))
	}
	r.inCatalogue(t, rig.Fill(r.message, given))
	for _, a := range answers {
		e := a.Failure(t)
		want := rig.ErrorBody{ErrorCode: r.status, Message: rig.Fill(r.message, given), Reason: string(r.reason), Field: r.field}
		if len(r.also) > 0 {
			want.Errors = e.Errors
		}
		want.RequestID = e.RequestID
		require.Equal(t, want, e)
		require.Equal(t, r.status, a.Status)
		for i, message := range r.also {
			require.Greater(t, len(e.Errors), i+1)
			require.Equal(t, rig.Fill(message, given), e.Errors[i+1].Message)
		}
		require.True(t, len(r.also) == 0 || len(e.Errors) == len(r.also)+1, "%s", a.Body)
	}
	return len(answers) > 0
}

// inCatalogue holds the row of this table to the row of the catalogue.
func (r errorRow) inCatalogue(t *testing.T, message string) {
	t.Helper()
	for _, entry := range mapping.NewCatalogue().Entries() {
		if entry.Scope != r.scope || entry.Reason != r.reason {
			continue
		}
		require.Equal(t, entry.Status, r.status)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(entry.Message), "<x> , <x>", ".+")
		pattern = regexp.MustCompile("<(x|vendor)>").ReplaceAllString(pattern, ".+")
		require.Regexp(t, "^(?s:"+pattern+")$", message)
		return
	}
	t.Errorf("the catalogue has no row %q %s", r.scope, r.reason)
}

// within tells whether a request can be answered in a scope.
func within(s mapping.Scope, method, target string) bool {
	path, query, _ := strings.Cut(target, "?")
	one := strings.Count(path, "/") > 1 || regexp.MustCompile(`(^|&)id(=|$)`).MatchString(query)
	switch s {
	case mapping.General:
		return true
	case mapping.OpCreate:
		return method == "POST"
	case mapping.OpGet:
		return method == "GET" && one
	case mapping.OpUpdate:
		return method == "PUT"
	case mapping.OpList:
		return method == "GET" && !one
	case mapping.OpDelete:
		return method == "DELETE"
	}
	if only, rest, ok := strings.Cut(string(s), " "); ok {
		return method == only && (path == rest || strings.HasPrefix(path, rest+"/"))
	}
	return path == string(s) || strings.HasPrefix(path, string(s)+"/")
}

// letters are so many of them.
func letters(n int) string { return strings.Repeat("a", n) }

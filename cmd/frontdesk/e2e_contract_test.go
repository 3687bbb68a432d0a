package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire is a request and what the contract says of its answer.
type wire struct {
	what    string
	ask     string   // a method, a path and, after a blank, a body
	token   string   // "" for the session of demo, noToken for none
	headers []string // in pairs
	status  int
	// message is that of an error, errors are those of all errors where there
	// are several. Without either the answer is not looked into, unless body
	// says what it must be as JSON.
	message string
	errors  []string
	body    string
}

// noToken is the token of a request without one.
const noToken = "none"

// contract is what the contract says beyond its rows, section by section. All
// of it is asked of one desk, in this order.
var contract = []struct {
	name string
	test func(t *testing.T, p *practice)
}{
	{"modified_since", contractModifiedSince},
	{"request id", contractRequestID},
	{"problem", contractProblem},
	{"placeholders", contractPlaceholders},
	{"paths", contractPaths},
	{"unreadable", contractUnreadable},
	{"methods", contractMethods},
	{"order of checks", contractOrderOfChecks},
	{"order among records", contractOrderAmongRecords},
	{"all violations", contractAllViolations},
	{"not JSON", contractNotJSON},
	{"authenticate", contractAuthenticate},
	{"alike", contractAlike},
	{"token header", contractTokenHeader},
	{"logout", contractLogout},
	{"session", contractSession},
	{"create", contractCreate},
	{"update", contractUpdate},
	{"dates", contractDates},
	{"state", contractState},
	{"order status", contractOrderStatus},
	{"ETag", contractETag},
	{"ETag of an order", contractETagOfOrder},
	{"paging", contractPaging},
	{"sort", contractSort},
	{"fields", contractFields},
	{"filters", contractFilters},
	{"parents", contractParents},
	{"totals", contractTotals},
	{"totals follow", contractTotalsFollow},
	{"children", contractChildren},
	{"isolation", contractIsolation},
	{"isolation of references", contractIsolationOfReferences},
	{"system records", contractSystemRecords},
	{"idempotency key", contractIdempotencyKey},
	{"idempotency key of errors", contractIdempotencyKeyOfErrors},
	{"publishing", contractPublishing},
	{"license plate", contractLicensePlate},
	{"license plate and country", contractPlateAndCountry},
	{"invoicing", contractInvoicing},
	{"bounds", contractBounds},
	{"check address", contractCheckAddress},
	{"check address, order", contractCheckAddressOrder},
	{"small utilities", contractSmallUtilities},
	{"model", contractModel},
	{"ops", contractOps},
}

// TestContract holds a desk to the contract.
func TestContract(t *testing.T) {
	onPractice(t, func(t *testing.T, p *practice) {
		for _, section := range contract {
			t.Run(section.name, func(t *testing.T) {
				defer p.faults.none()
				section.test(t, p.in(t))
			})
		}
	})
}

// onPractice runs a test on a desk of every engine.
func onPractice(t *testing.T, test func(t *testing.T, p *practice)) {
	onEngines(t, func(t *testing.T, dsn string) { test(t, newPractice(t, dsn, "")) })
}

// holds asks in order, and judges every answer. $1, $2, … stand for what is
// given.
func (p *practice) holds(t *testing.T, cases []wire, given ...any) {
	t.Helper()
	for i, c := range cases {
		name := c.what
		if name == "" {
			name = c.ask
		}
		if len(name) > 60 {
			name = name[:60]
		}
		t.Run(fmt.Sprintf("%02d %s", i+1, strings.ReplaceAll(name, "/", "∕")), func(t *testing.T) {
			p.in(t).answers(c, given...)
		})
	}
}

// answers asks once, and judges the answer.
func (p *practice) answers(c wire, given ...any) answer {
	p.t.Helper()
	line := fill(c.ask, given)
	method, rest, _ := strings.Cut(line, " ")
	path, body, _ := strings.Cut(rest, " ")
	token := c.token
	switch token {
	case "":
		token = p.token
	case noToken:
		token = ""
	}
	a := p.call(method, path, token, body, c.headers...)
	require.Equal(p.t, c.status, a.Status, "%s: %s", line, a.Body)
	if c.body != "" {
		require.JSONEq(p.t, fill(c.body, given), string(a.Body))
	}
	messages := c.errors
	if c.message != "" {
		messages = []string{c.message}
	}
	if len(messages) > 0 {
		for i := range messages {
			messages[i] = fill(messages[i], given)
		}
		require.Equal(p.t, messages, a.messages(p.t))
	}
	return a
}

// messages are those of all errors of an answer.
func (a answer) messages(t testing.TB) []string {
	t.Helper()
	e := a.failure(t)
	if len(e.Errors) == 0 {
		return []string{e.Message}
	}
	var all []string
	for _, one := range e.Errors {
		all = append(all, one.Message)
	}
	return all
}

// get reads one record.
func (p *practice) get(path string) map[string]any {
	p.t.Helper()
	a := p.call("GET", path, p.token, "")
	require.Equal(p.t, http.StatusOK, a.Status, "%s: %s", path, a.Body)
	return a.data(p.t)
}

// page is what GET many answers.
type page struct {
	Data     []map[string]any `json:"data"`
	Page     *int             `json:"page"`
	PageSize int              `json:"page_size"`
	Next     *string          `json:"next"`
	Total    *int             `json:"total"`
}

// page reads one page of a list.
func (p *practice) page(path string) page {
	p.t.Helper()
	a := p.call("GET", path, p.token, "")
	require.Equal(p.t, http.StatusOK, a.Status, "%s: %s", path, a.Body)
	var answered page
	decoder := json.NewDecoder(strings.NewReader(string(a.Body)))
	decoder.DisallowUnknownFields()
	require.NoError(p.t, decoder.Decode(&answered), "%s", a.Body)
	return answered
}

// pages follows next to the end, and returns all pages.
func (p *practice) pages(path string) []page {
	p.t.Helper()
	all := []page{p.page(path)}
	for next := all[0].Next; next != nil; next = all[len(all)-1].Next {
		below, ok := strings.CutPrefix(*next, "/webservice_v2")
		require.True(p.t, ok, *next)
		all = append(all, p.page(below))
		require.Less(p.t, len(all), 1000, "next never ends")
	}
	return all
}

// ids are those of all records of some pages.
func ids(pages ...page) []int {
	all := []int{}
	for _, one := range pages {
		for _, rec := range one.Data {
			all = append(all, int(rec["id"].(float64)))
		}
	}
	return all
}

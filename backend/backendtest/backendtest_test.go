package backendtest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// TestCases wants a case for every row of the catalogue, each under an ID of its
// own, with the row it comes from and a cure.
func TestCases(t *testing.T) {
	seen, rows := map[string]bool{}, map[string]bool{}
	for _, c := range Cases() {
		assert.Regexp(t, `^[a-z0-9_]+(\.[a-z0-9_]+)+$`, c.ID)
		assert.False(t, seen[c.ID], "%s is there twice", c.ID)
		assert.NotEmpty(t, c.Row, c.ID)
		assert.NotEmpty(t, c.Hint, c.ID)
		seen[c.ID] = true
		if c.reason != "" {
			rows[string(c.scope)+" "+string(c.reason)] = true
		}
	}
	for _, entry := range mapping.NewCatalogue().Entries() {
		assert.True(t, rows[string(entry.Scope)+" "+string(entry.Reason)], "no case for the row %q %s", entry.Scope, entry.Reason)
	}
}

func TestSelect(t *testing.T) {
	for pattern, want := range map[string]int{"post.empty_body": 1, "*.empty_body": 2, "etag.*": 4, "*record.*": 18, "*": len(Cases()), "": len(Cases())} {
		cases, err := Select(pattern)
		require.NoError(t, err)
		assert.Len(t, cases, want, pattern)
	}
	_, err := Select("etag.strnog")
	require.EqualError(t, err, "no case is called etag.strnog, did you mean etag.strong?")
}

// TestEnded is how a case may end, whatever it does.
func TestEnded(t *testing.T) {
	for want, run := range map[string]func(t *T){
		"passed":                                  func(t *T) { t.check(true, "", "", "") },
		"failed the status":                       func(t *T) { t.check(false, "the status", "200", "404") },
		"failed the case asserted nothing":        func(*T) {},
		"failed the case stumbled over an answer": func(*T) { panic(errors.New("out of range")) },
		"impossible no such field":                func(t *T) { t.impossible("no such %s", "field") },
		"needs a login":                           func(t *T) { t.check(true, "", "", ""); t.needs("a login") },
	} {
		s := &suite{}
		r := s.runOn(Case{ID: "a.b", run: run}, nil)
		assert.Equal(t, want, strings.TrimSpace(string(r.Status)+" "+r.Reason))
	}
}

// TestPlatesThatAreTaken makes a vehicle where the administration has the first plate already.
func TestPlatesThatAreTaken(t *testing.T) {
	var plates []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent struct {
			Plate string `json:"license_plate"`
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
		if plates = append(plates, sent.Plate); len(plates) == 1 {
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte(`{"errorCode":409,"message":"taken","reason":"duplicate_value","field":"license_plate"}`))
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"data":{"id":7}}`))
	}))
	defer server.Close()
	s := newSuite(t.Context(), Options{BaseURL: server.URL, APIKey: secretKey})
	s.loggedIn, s.access = time.Now(), map[string]bool{"POST /vehicle": true}
	vehicle := &Resource{Name: "vehicle", Fields: []*Field{{Name: "license_plate", Datatype: "varchar", Length: 10, Required: true, Unique: true, Validation: "license_plate"}}}
	r := s.runOn(Case{ID: "a.b", run: func(t *T) { t.equal("the id", 7, t.create(vehicle, nil)) }}, nil)
	require.Equal(t, Passed, r.Status, "%s %v", r.Reason, plates)
	require.Len(t, plates, 2)
	require.NotEqual(t, plates[0], plates[1])
	s.http.CloseIdleConnections()
}

// TestOpenAPIDescribed compares descriptions with what the api_key may call.
func TestOpenAPIDescribed(t *testing.T) {
	const whole = `{"paths":{"/order":{"get":{},"put":{}},"/order/{id}":{"get":{},"put":{},"parameters":[]},"/model/{name}":{"get":{}},"/authenticate":{"get":{}}}}`
	for body, want := range map[string]string{
		whole: "passed",
		strings.Replace(whole, `"get":{},"put":{}}`, `"get":{}}`, 1):                 "passed", // it is described of one record
		strings.ReplaceAll(whole, `,"put":{}`, ""):                                   "failed what may be called is described",
		strings.Replace(whole, `"/model/{name}"`, `"/vehicle"`, 1):                   "failed what is described may be called",
		strings.Replace(whole, `"/order":{"get":{}`, `"/order":{"delete":{}`, 1):     "failed what may be called is described",
		`{"errorCode":400,"message":"Invalid endpoint","reason":"endpoint_unknown"}`: "impossible this gateway serves no description",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			require.Equal(t, "/openapi.json?api_key="+secretKey, r.RequestURI)
			if strings.HasPrefix(body, `{"errorCode"`) {
				w.WriteHeader(http.StatusBadRequest)
			}
			_, _ = w.Write([]byte(body))
		}))
		s := newSuite(t.Context(), Options{BaseURL: server.URL, APIKey: secretKey})
		s.access = map[string]bool{"GET /order": true, "PUT /order": true, "GET /model/*": true}
		r := s.runOn(*caseNamed("openapi.described"), nil)
		assert.Equal(t, want, strings.TrimSpace(string(r.Status)+" "+r.Reason), body)
		s.http.CloseIdleConnections()
		server.Close()
	}
}

func TestReadExceptions(t *testing.T) {
	list, problems := ReadExceptions("known.yaml", []byte(`
- case: etag.strong
  reason: no version is kept
- case: record.unique
  resource: vehicle
  reason: by design
`))
	require.Empty(t, problems)
	require.Equal(t, []Exception{{Case: "etag.strong", Reason: "no version is kept"}, {Case: "record.unique", Resource: "vehicle", Reason: "by design"}}, list)

	_, problems = ReadExceptions("known.yaml", []byte(`
- case: etag.strnog
  reason: x
- case: post.empty_body
  resource: contact
- case: etag.strong
  reason: x
  extra: y
- case: etag.strong
  reason: x
- reason: x
`))
	require.EqualError(t, problems.Err(), strings.TrimSpace(`
known.yaml:2:9: [0].case: no case is called etag.strnog, did you mean etag.strong?
known.yaml:4:3: [1].reason: missing, expected why the failure is accepted
known.yaml:5:13: [1].resource: post.empty_body chooses its resource itself, leave this out
known.yaml:8:3: [2].extra: unknown key, expected case, resource or reason [unknown-key]
known.yaml:9:9: [3].case: etag.strong is excepted twice
known.yaml:11:3: [4].case: missing, expected the ID of a case; frontdesk-kit conform --list shows them all
`))
}

// TestExcept marks known failures, and fails a case that passes although its failure is
// listed.
func TestExcept(t *testing.T) {
	on := func(id, resource string, s Status) Result {
		return Result{Case: Case{ID: id}, Resource: resource, Status: s}
	}
	results := except([]Result{
		on("a.one", "", Failed), on("a.two", "", Passed), on("a.three", "", Needs),
		on("a.each", "order", Failed), on("a.each", "contact", Passed), on("a.each", "vehicle", Failed),
		on("a.all", "order", Passed), on("a.all", "contact", Impossible),
	}, []Exception{
		{Case: "a.one", Reason: "1"}, {Case: "a.two", Reason: "2"}, {Case: "a.three", Reason: "3"}, {Case: "a.gone", Reason: "4"},
		{Case: "a.each", Resource: "order", Reason: "5"}, {Case: "a.each", Resource: "contact", Reason: "6"}, {Case: "a.all", Reason: "7"},
	})
	var got []string
	for _, r := range results {
		got = append(got, r.Name()+" "+string(r.Status))
	}
	require.Equal(t, []string{
		"a.one known", "a.two failed", "a.three needs", "a.each [order] known", "a.each [contact] failed", "a.each [vehicle] failed",
		"a.all [order] failed", "a.all [contact] impossible",
	}, got)
	require.Equal(t, "1", results[0].Reason)
	require.Equal(t, "a failure: 2", results[1].Expected)
}

const secretKey, secretWord = "99999999-9999-4999-8999-999999999999", "external&word"

// failedReport has a result of each kind; the failure met every secret.
func failedReport(t *testing.T) *Report {
	s := newSuite(t.Context(), Options{APIKey: secretKey, Login: Login{Username: "demo", Password: secretWord}})
	c := Case{ID: "post.a", Row: "POST: 404 <x> ID not found", Hint: "Look there."}
	return &Report{
		BaseURL: "http://127.0.0.1/x", Began: time.Unix(0, 0), Took: time.Second, Resources: []string{"order", "contact"}, LeftOver: []string{"order 1: closed"},
		Results: []Result{
			{Case: c, Resource: "order", Status: Failed, Reason: "the message", Expected: "<b>404</b>", Got: "200 \x00\x1b" + s.redact(secretKey), Exchanges: []Exchange{{
				Method: "GET", URL: s.redact(redactQuery("http://127.0.0.1/x" + s.loginPath(secretKey, s.Login))), Status: 200,
				Request: s.headerLines(map[string][]string{"Token": {"of this session"}}), AnswerBody: s.redact(`{"token":"of this session","said":"` + secretWord + `"}`),
			}}},
			{Case: c, Resource: "contact", Status: Passed},
			{Case: Case{ID: "get.b"}, Status: Known, Reason: "by design"},
			{Case: Case{ID: "get.c"}, Status: Impossible, Reason: "no such field"},
			{Case: Case{ID: "get.d"}, Status: Needs, Reason: "a login"},
		},
	}
}

func TestReportsHoldNoSecrets(t *testing.T) {
	report := failedReport(t)
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"table": func(b *bytes.Buffer) error { return report.WriteTable(b) },
		"junit": func(b *bytes.Buffer) error { return report.WriteJUnit(b) },
		"html":  func(b *bytes.Buffer) error { return report.WriteHTML(b) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		for _, secret := range []string{secretKey, secretWord, "external%26word", "external&amp;word", "of this session"} {
			require.NotContains(t, b.String(), secret, name)
		}
		require.Contains(t, b.String(), "[redacted]", name)
		require.Contains(t, b.String(), "Look there.", name)
	}
}

func TestWriteJUnit(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, failedReport(t).WriteJUnit(&b))
	var read junitReport
	require.NoError(t, xml.Unmarshal(b.Bytes(), &read))
	require.Equal(t, []int{5, 1, 3}, []int{read.Tests, read.Failures, read.Skipped})
	require.Len(t, read.Suites, 2)
	require.Equal(t, "post", read.Suites[0].Name)
	require.Equal(t, []int{2, 1, 0}, []int{read.Suites[0].Tests, read.Suites[0].Failures, read.Suites[0].Skipped})
	first := read.Suites[0].Cases[0]
	require.Equal(t, []string{"frontdesk.conform.post", "post.a [order]", "0.000"}, []string{first.Class, first.Name, first.Time})
	require.Equal(t, "the message", first.Failure.Message)
	require.Contains(t, first.Failure.Text, "expected: <b>404</b>\ngot: 200 ��")
	require.Nil(t, read.Suites[0].Cases[1].Failure)
	require.Equal(t, "known: by design", read.Suites[1].Cases[0].Skipped.Message)
}

func TestWriteHTML(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, failedReport(t).WriteHTML(&b))
	page := b.String()
	for _, want := range []string{"<title>frontdesk conformance: 1 failed</title>", "post.a [order]", "&lt;b&gt;404&lt;/b&gt;", "POST: 404 &lt;x&gt; ID not found", "order 1: closed", "no such field"} {
		require.Contains(t, page, want)
	}
	require.NotRegexp(t, `(?i)<script|src=|href=|@import|url\(`, page, "it needs nothing else")
	require.Equal(t, 2, len(regexp.MustCompile(`<article`).FindAllString(page, -1)), "what failed, and what is known to")
}

func TestWriteTable(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, failedReport(t).WriteTable(&b))
	require.Contains(t, b.String(), "failed      post.a  order    the message\npassed      post.a  contact  \nknown       get.b            by design\n")
	require.Contains(t, b.String(), "http://127.0.0.1/x: 1 passed, 1 failed, 1 known to fail, 1 impossible, 1 need more; 2 resources, 1s\n")
	b.Reset()
	require.NoError(t, WriteList(&b, Cases()[:2]))
	require.Contains(t, b.String(), "general.query_parameter_repeated    General: 400 Invalid request, query parameter is provided more than once: <x>\n2 cases\n")
}

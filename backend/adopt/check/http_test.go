package check

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/remote"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// garage is Garage Cloud behind its sheet, with words of it replaced.
func garage(t *testing.T, replace ...string) (*remote.Driver, Options) {
	t.Helper()
	server := httptest.NewServer(remotetest.NewJSON(remotetest.Options{}))
	t.Cleanup(server.Close)
	return behind(t, "garagecloud", map[string]string{"GARAGE_URL": server.URL, "GARAGE_SECRET": remotetest.ClientSecret}, replace...)
}

// behind is a service behind its sheet, with words of that replaced.
func behind(t *testing.T, name string, env map[string]string, replace ...string) (*remote.Driver, Options) {
	t.Helper()
	text, err := os.ReadFile("../../remote/testdata/" + name + ".yaml")
	require.NoError(t, err)
	driver, o, problems := inFront(t, string(text), env, replace...)
	require.Empty(t, problems)
	return driver, o
}

// inFront is a service behind a sheet, with words of that replaced; of one with problems these.
func inFront(t *testing.T, text string, env map[string]string, replace ...string) (*remote.Driver, Options, strictyaml.Problems) {
	t.Helper()
	path := written(t, text, replace...)
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	s, err := sheet.Load(path, model, sheet.Options{Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	if problems, is := errors.AsType[strictyaml.Problems](err); is {
		return nil, Options{}, problems
	}
	require.NoError(t, err)
	db, k := idStore(t, s)
	driver, err := remote.OpenDriver(t.Context(), remote.Options{Sheet: s, IDStore: k, Hasher: auth.NewHasher(), DB: db, Model: model, Timeout: time.Minute, Closely: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, driver.Close()) })
	return driver, Options{Sheet: s, Model: model}, nil
}

// serviceReport is what a check says of a service that its first client asks.
func serviceReport(t *testing.T, driver *remote.Driver, o Options) *Report {
	t.Helper()
	report, err := HTTP(t.Context(), driver, noord(), o)
	require.NoError(t, err)
	return report
}

func noord() auth.Client { return auth.Client{ID: 1, Name: "garage-noord"} }

func TestService(t *testing.T) {
	driver, o := garage(t)
	o.Other = auth.Client{ID: 2, Name: "garage-zuid"}
	report := serviceReport(t, driver, o)
	require.Zero(t, report.Count(Error)+report.Count(Warning), words(t, report))
	require.Regexp(t, `\ncontact: all \d+ record\(s\), of 1 client\(s\)\n`, words(t, report))
	require.Regexp(t, `\norderline: all \d+ record\(s\), of 1 client\(s\)\n`, words(t, report), "within orders")
	require.Contains(t, words(t, report), "Not for clients: resources ")
}

// TestServiceFindings makes mistakes in the sheet, one at a time: what does not fit is counted by field, of all records,
// and no value is shown.
func TestServiceFindings(t *testing.T) {
	for _, m := range mistakes(t, "garage.mistakes.yaml") {
		t.Run(m.Name, func(t *testing.T) {
			driver, o := garage(t, m.words()...)
			report := serviceReport(t, driver, o)
			m.isTold(t, nil, report)
			require.NotContains(t, words(t, report), "BUSINESS")
		})
	}
	driver, o := garage(t)
	report, err := HTTP(t.Context(), driver, auth.Client{ID: 9, Name: "garage-onbekend"}, o)
	require.NoError(t, err)
	require.NotEmpty(t, report.has("http.read", "resources.article"), words(t, report))
}

// TestAnswersNameNobody: what a service answered where its list cannot be read has records
// in it, and a report is sent on.
func TestAnswersNameNobody(t *testing.T) {
	driver, o := garage(t, "result: items", "result: rows")
	report := serviceReport(t, driver, o)
	told(t, report, "error http.read resources.contact", `no list at "rows" of the answer`)
	require.Contains(t, report.Looked, "orderline: not looked at, since not every order is known that they belong to")
}

// TestServiceThatDoesNotAsk: a service that answers each client the same is told apart from one whose
// clients have some records that are alike.
func TestServiceThatDoesNotAsk(t *testing.T) {
	service := remotetest.NewJSON(remotetest.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Tenant", "garage-noord")
		service.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	driver, o := behind(t, "garagecloud", map[string]string{"GARAGE_URL": server.URL, "GARAGE_SECRET": remotetest.ClientSecret})
	o.Other = auth.Client{ID: 2, Name: "garage-zuid"}
	report := serviceReport(t, driver, o)
	told(t, report, "error ask.isolation resources.contact", `^(\d+) of \d+ record\(s\) of client 1 are client 2's as well, letter by letter$`)
}

// TestWrittenByAStranger: nothing is written for a client that the service does not have, and that is told.
func TestWrittenByAStranger(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `[{"id": 1, "org": "noord", "name": "Jansen"}]`)
	}))
	t.Cleanup(server.Close)
	driver, o, problems := inFront(t, string(testdata(t, "stranger.yaml")), map[string]string{"SERVICE_URL": server.URL})
	require.Empty(t, problems)
	var err error
	o.Write, err = driver.Client(t.Context(), "1:noord")
	require.NoError(t, err)
	report, err := HTTP(t.Context(), driver, o.Write, o)
	require.NoError(t, err)
	told(t, report, "error http.empty client", `the client "1:noord" has no record of any resource: nothing was written`)
}

// TestWrittenToAService: what is written is what is read afterwards, and is gone when it is deleted.
func TestWrittenToAService(t *testing.T) {
	driver, o := garage(t)
	o.Write = noord()
	report := serviceReport(t, driver, o)
	require.NotContains(t, words(t, report), "write.l", "neither lost nor left")
	require.Contains(t, words(t, report), "order: order_status was written in a new record and not changed in it")
	require.Zero(t, report.Count(Error), words(t, report))
}

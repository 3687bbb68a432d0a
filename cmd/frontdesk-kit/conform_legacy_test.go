package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	sqlforeign "frontdesk/backend/legacy/foreigntest"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

var update = flag.Bool("update", false, "write what docs/conformance.md says of systems anew")

// TestConformLegacy holds DEALERPAK to the whole suite, as frontdesk-kit conform
// --config does: nothing fails but what its exceptions explain, and what it was
// not asked is what docs/conformance.md says, with the reasons.
func TestConformLegacy(t *testing.T) {
	t.Run("mariadb", func(t *testing.T) {
		dsn := legacytest.MariaDB(t)
		addUsers(t, "mysql", dsn+"?sql_mode=%27ANSI_QUOTES%27")
		conformDealerpak(t, "mariadb", "MariaDB", dsn)
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := legacytest.Postgres(t)
		addUsers(t, "pgx", dsn)
		conformDealerpak(t, "postgres", "PostgreSQL", dsn)
	})
}

// addUsers adds what DEALERPAK has no users of: one without an e-mail address,
// and one whose address is none.
func addUsers(t *testing.T, driver, dsn string) {
	t.Helper()
	db := must.Have(sql.Open(driver, dsn))(t)
	defer db.Close()
	for login, mail := range map[string]string{"geen.post": "NULL", "foute.post": "'piet.dekker@'"} {
		must.Have(db.Exec(`INSERT INTO "GEBRUIKER" ("LOGIN", "BEDRNR", "DLRNR", "NAAM", "EMAIL", "WWSRT", "WW", "ZOUT")
			SELECT '` + login + `', "BEDRNR", "DLRNR", "NAAM", ` + mail + `, "WWSRT", "WW", "ZOUT" FROM "GEBRUIKER" WHERE "LOGIN" = 'sanne.bos'`))(t)
	}
}

func conformDealerpak(t *testing.T, engine, name, dsn string) {
	t.Setenv("DEALERPAK_DSN", dsn)
	files := must.Have(legacytest.Files())(t)
	login := func(name string) backendtest.Login { return backendtest.Login{Username: name, Password: "Welkom01"} }
	report := conformSystem(t, "legacy", filepath.Join(files, engine+".yaml"), backendtest.Options{
		Login: login("sanne.bos"), Other: login("sanne.bos2"), External: login("anja.mulder"), NoEmail: login("geen.post"), BadEmail: login("foute.post"),
		Exceptions: readExceptions(t, filepath.Join(files, engine+".exceptions.yaml")),
	})
	require.Len(t, report.Resources, 12)
	require.Empty(t, rig.Ended(report, backendtest.Needs), "every login is given")
	leavesClosedOrders(t, report)
	documented(t, "dealerpak-"+engine, "DEALERPAK on "+name, report)
}

// TestLegacyPublishedVehicle is the row that no request to DEALERPAK can lead up
// to, as it publishes by itself: a vehicle that it did publish stays.
func TestLegacyPublishedVehicle(t *testing.T) {
	for engine, start := range map[string]func(testing.TB) string{"mariadb": legacytest.MariaDB, "postgres": legacytest.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Setenv("DEALERPAK_DSN", start(t))
			text := must.Have(os.ReadFile(filepath.Join(must.Have(legacytest.Files())(t), engine+".yaml")))(t)
			sheet := filepath.Join(t.TempDir(), "sheet.yaml")
			require.NoError(t, os.WriteFile(sheet, text, 0o600))
			d := rig.Start(t, rig.Options{Backend: fmt.Sprintf(", driver: legacy, sheet: %q", sheet)})
			var session struct{ Token string }
			require.NoError(t, json.Unmarshal(d.Call("GET", rig.LoginPath(rig.FullKey, "sanne.bos", "Welkom01"), "", "").Body, &session))
			published := d.List(session.Token, "/vehicle?publish_status=published&page_size=1000")
			require.NotEmpty(t, published)
			id := fmt.Sprint(published[0]["id"])
			a := d.Gets(403, "DELETE", "/vehicle/"+id, session.Token, "")
			require.Equal(t, "Vehicle with id: "+id+" has publish status: published delete not allowed", a.Failure(t).Message)
			require.Equal(t, 200, d.Call("GET", "/vehicle/"+id, session.Token, "").Status)
		})
	}
}

// readExceptions reads the cases that are known to fail.
func readExceptions(t *testing.T, file string) []backendtest.Exception {
	t.Helper()
	exceptions, problems := backendtest.ReadExceptions(file, must.Have(os.ReadFile(file))(t))
	require.NoError(t, problems.Err())
	return exceptions
}

// conformSystem holds what stands behind a mapping sheet to the suite, in a
// folder of its own, and fails the test where any case does. more is of the configuration.
func conformSystem(t *testing.T, driver, sheet string, o backendtest.Options, more ...string) *backendtest.Report {
	t.Helper()
	dir := t.TempDir()
	text := must.Have(os.ReadFile(sheet))(t)
	text = bytes.Replace(text, []byte("hash: [bcrypt, "), []byte("hash: ["), 1) // nobody here has it, and every login would take as long
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sheet.yaml"), text, 0o600))
	file := filepath.Join(dir, "frontdesk.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "backend: {driver: %s, sheet: %q}\nmail: {folder: %q}\n%s",
		driver, filepath.Join(dir, "sheet.yaml"), filepath.Join(dir, "mail"), strings.Join(more, "\n")), 0o600))
	conf := must.Have(desk.LoadConfig(file))(t)
	o.Shared = must.Have(sharedResources(conf))(t)
	var report *backendtest.Report
	require.NoError(t, withGateway(desk.Program{Ctx: context.Background()}, conf, func(baseURL, key string) (err error) {
		o.BaseURL, o.APIKey, o.AllowsAll = baseURL, key, true
		report, err = backendtest.Run(context.Background(), o)
		return err
	}))
	t.Log(report.Summary())
	require.Empty(t, rig.Ended(report, backendtest.Failed), "%s", rig.Failures(report))
	return report
}

// documented holds what the suite found of a system to docs/conformance.md, which has what is known to
// fail, and to a file of testdata, which has what cannot occur; or writes both with -update.
func documented(t *testing.T, id, title string, report *backendtest.Report) {
	t.Helper()
	file, cannot := rig.Repository(t, "docs", "conformance.md"), filepath.Join("testdata", id+".txt")
	text := must.Have(os.ReadFile(file))(t)
	begin, end := "<!-- "+id+" -->\n", "<!-- end of "+id+" -->\n"
	section := regexp.MustCompile("(?s)" + regexp.QuoteMeta(begin) + ".*?" + regexp.QuoteMeta(end))
	want := begin + sectionOf(title, report) + end
	require.True(t, section.Match(text), "docs/conformance.md has no section %s", begin)
	if *update {
		text = section.ReplaceAllLiteral(text, []byte(want))
		require.NoError(t, os.WriteFile(file, text, 0o644))
		require.NoError(t, os.WriteFile(cannot, []byte(impossibleOf(report)), 0o644))
		return
	}
	require.Equal(t, want, string(section.Find(text)), "go test -run %s -update writes it anew", t.Name())
	require.Equal(t, rig.Read(t, cannot), impossibleOf(report))
}

// impossibleOf is a line for each case that could not be asked, with the resources and the reason.
func impossibleOf(report *backendtest.Report) string {
	var b strings.Builder
	for _, l := range report.Lines() {
		if l.Status == backendtest.Impossible {
			fmt.Fprintf(&b, "%s [%s]: %s\n", l.Case.ID, onOf(l, report), strings.ReplaceAll(l.Reason, "\n", " "))
		}
	}
	return b.String()
}

// onOf names the resources of a line.
func onOf(l backendtest.Line, report *backendtest.Report) string {
	if len(l.On) == len(report.Resources) {
		return "all"
	}
	return cmp.Or(strings.Join(l.On, ", "), "–")
}

// sectionOf tells of a run what failed as expected.
func sectionOf(title string, report *backendtest.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%d passed, none failed, %d are known to fail, %d cannot occur, on %d resources: %s.\n",
		title, report.Count(backendtest.Passed), report.Count(backendtest.Known), report.Count(backendtest.Impossible), len(report.Resources), strings.Join(report.Resources, ", "))
	b.WriteString("\n| Known to fail | On | Row | Reason |\n|---|---|---|---|\n")
	for _, l := range report.Lines() {
		if l.Status == backendtest.Known {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", l.Case.ID, onOf(l, report), inTable(l.Case.Row), inTable(l.Reason))
		}
	}
	return b.String()
}

// inTable is a text as a cell of a table has it.
func inTable(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "\n", " ").Replace(text)
}

// TestForeignSQLConforms holds what stands before administrations that nobody here wrote
// to the suite: nothing fails but what their exceptions explain.
func TestForeignSQLConforms(t *testing.T) {
	login := func(name, password string) backendtest.Login {
		return backendtest.Login{Username: name, Password: password}
	}
	for name, of := range map[string]struct {
		start func(testing.TB) *sqlforeign.System
		o     backendtest.Options
		zone  string
	}{
		"tryton":    {sqlforeign.Tryton, backendtest.Options{Login: login("wit", "tafel-Berg-wit"), Other: login("Wit", "tafel-Berg-Wit")}, "UTC"},
		"sqlledger": {sqlforeign.SQLLedger, backendtest.Options{Login: login("north", "not-a-secret-1"), Other: login("south", "not-a-secret-1")}, "Europe/Amsterdam"},
		"kraft":     {sqlforeign.Kraft, backendtest.Options{Login: login("smit", "not-a-secret-1"), Other: login("jansen", "not-a-secret-1")}, "Europe/Amsterdam"},
	} {
		t.Run(name, func(t *testing.T) {
			s := of.start(t)
			t.Setenv(strings.ToUpper(name)+"_DSN", s.DSN)
			of.o.Exceptions = readExceptions(t, filepath.Join(filepath.Dir(s.Sheet), "exceptions.yaml"))
			conformSystem(t, "legacy", s.Sheet, of.o, "server: {time_zone: "+of.zone+"}")
		})
	}
}

// serveGarageCloud serves Garage Cloud where its sheet says.
func serveGarageCloud(t testing.TB, garage http.Handler) {
	server := httptest.NewServer(garage)
	t.Cleanup(server.Close)
	t.Setenv("GARAGE_URL", server.URL)
	t.Setenv("GARAGE_SECRET", remotetest.ClientSecret)
}

// TestConformRemote holds what stands before a service to the suite, as frontdesk-kit conform
// --config does: nothing fails but what its exceptions explain, and what it was not asked is what
// docs/conformance.md says, with the reasons.
func TestConformRemote(t *testing.T) {
	serveGarageCloud(t, remotetest.NewJSON(remotetest.Options{}))
	login := func(name string) backendtest.Login { return backendtest.Login{Username: name, Password: name} }
	o := rig.ConformOptions("")
	o.Login, o.Other = login("demo"), login("other")
	o.Exceptions = readExceptions(t, rig.RemoteSheets(t, "garagecloud.exceptions.yaml"))
	report := conformSystem(t, "remote", rig.RemoteSheets(t, "garagecloud.yaml"), o)
	require.Len(t, report.Resources, 11)
	require.Empty(t, rig.Ended(report, backendtest.Needs), "every login is given")
	leavesClosedOrders(t, report)
	documented(t, "garagecloud", "Garage Cloud (JSON)", report)
}

// TestForeignServicesConform holds what stands before services that nobody here wrote to map check and
// to the suite: nothing fails, with no exception. PocketBase is held to both on its journey.
func TestForeignServicesConform(t *testing.T) {
	user := func(of string) backendtest.Login {
		return backendtest.Login{Username: of, Password: foreigntest.Password}
	}
	for name, start := range map[string]func(testing.TB) *foreigntest.System{
		"jsonserver": foreigntest.JSONServer, "loopback": foreigntest.LoopBack, "jsonapi": foreigntest.JSONAPI,
		"soap": foreigntest.SOAP, "feathers": foreigntest.Feathers, "couchdb": foreigntest.CouchDB, "odata": foreigntest.OData,
	} {
		t.Run(name, func(t *testing.T) {
			url := start(t).URL
			report := journey{
				driver: "remote", check: []string{"--client", "1:noord", "--other", "2:zuid", "--username", "noord", "--write"},
				sheet: rig.RemoteSheets(t, name+".yaml"), login: user("noord"), other: user("zuid"),
				environment: map[string]string{
					"SERVICE_URL": url, strings.ToUpper(name) + "_URL": url, "FOREIGN_PASSWORD_HASH": foreigntest.PasswordHash, "FRONTDESK_PASSWORD": foreigntest.Password,
				},
			}.run(t)
			for _, left := range report.LeftOver {
				require.Regexp(t, "^turnovergroup .* in use at: article$", left, "only what the other client's article refers to may stay")
			}
			t.Logf("%d passed, %d cannot occur", report.Count(backendtest.Passed), report.Count(backendtest.Impossible))
		})
	}
}

// TestConform holds the built-in administration to the suite that is given to
// vendors: nothing fails, and what cannot be asked is exactly this.
func TestConform(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		report := rig.Conform(t, rig.ConformOptions(rig.Start(t, rig.Options{DSN: dsn}).Base))
		require.Empty(t, rig.Ended(report, backendtest.Failed), "%s", rig.Failures(report))
		require.Empty(t, rig.Ended(report, backendtest.Needs))
		require.Equal(t, notAsked, rig.Ended(report, backendtest.Impossible))
		require.Len(t, report.Resources, 16)
		leavesClosedOrders(t, report)
	})
}

// leavesClosedOrders holds what stays after a run to what only a closed order holds.
func leavesClosedOrders(t *testing.T, report *backendtest.Report) {
	t.Helper()
	for _, left := range report.LeftOver {
		require.Regexp(t, `cannot add/update/delete$|in use at: order(line)?$`, left)
	}
}

// notAsked is what the built-in administration cannot be asked from outside.
var notAsked = []string{
	"general.internal_error", "general.backend_unavailable", "general.backend_timeout", "general.backend_changed", "general.too_many_requests", "general.request_malformed",
	"general.body_too_large", "general.overloaded", "webhook.result_too_large", "general.idempotency_key_in_use", "put.field_required", "list.page_too_large", "model.body_not_json",
	"record.put_merges [vehicleroleline flatrateline]", "record.put_empties [flatrateline]", "record.put_empty_text [vehicleroleline flatrateline article]",
	"record.length_in_characters [vehicleroleline flatrateline]",
	"record.unique [contact order orderline vehicleroleline contactcommunication contactaddress flatrateline document]",
	"record.references [contact flatrate employee document turnovergroup advertisementsite country]",
	"record.unicode [vehicleroleline flatrateline]",
	"record.milliseconds [orderline vehicleadvertisementsite contactcommunication contactaddress flatrate flatrateline article employee document turnovergroup advertisementsite country]",
	"record.decimals [contact order vehicleroleline contactcommunication contactaddress flatrate document turnovergroup advertisementsite country]",
	"copy.age " + everyResource, "copy.asked " + everyResource, "copy.stale_if_error " + everyResource, "authenticate.allowlist",
}

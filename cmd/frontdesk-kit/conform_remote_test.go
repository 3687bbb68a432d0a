package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig"
)

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

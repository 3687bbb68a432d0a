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
	for _, left := range report.LeftOver {
		require.Regexp(t, `cannot add/update/delete$|in use at: order(line)?$`, left, "only what a closed order holds may stay")
	}
	documented(t, "garagecloud", "Garage Cloud (JSON)", report)
}

// TestForeignServicesConform holds what stands before services that nobody here wrote to the
// suite: nothing fails but what their exceptions explain. PocketBase is held to it at the end
// of its journey.
func TestForeignServicesConform(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *foreigntest.System{
		"jsonserver": foreigntest.JSONServer, "loopback": foreigntest.LoopBack,
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(strings.ToUpper(name)+"_URL", start(t).URL)
			t.Setenv("FOREIGN_PASSWORD_HASH", foreigntest.PasswordHash)
			user := func(of string) backendtest.Login {
				return backendtest.Login{Username: of, Password: foreigntest.Password}
			}
			o := backendtest.Options{Login: user("noord"), Other: user("zuid"), Exceptions: readExceptions(t, rig.RemoteSheets(t, name+".exceptions.yaml"))}
			report := conformSystem(t, "remote", rig.RemoteSheets(t, name+".yaml"), o)
			for _, left := range report.LeftOver {
				require.Regexp(t, "^turnovergroup .* in use at: article$", left, "only what the other client's article refers to may stay")
			}
		})
	}
}

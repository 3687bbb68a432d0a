package several

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/cmd/frontdesk/desk"
	tables "frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// service is a database and a Redis that gateways share, each with a file of its own.
type service struct {
	t     *testing.T
	dsn   string
	redis *redistest.Redis
}

// text is the configuration of a gateway of the service, with other words in it.
func (s *service) text(replace ...string) string {
	s.t.Helper()
	text := rig.KeptConfig(s.t, s.dsn, fmt.Sprintf("sessions: {store: %q}", s.redis.URL()), rig.KeptKey(`"GET /contact", "GET /order"`))
	return strings.NewReplacer(replace...).Replace(text)
}

// start starts a gateway of the service.
func (s *service) start(replace ...string) *rig.Kept {
	s.t.Helper()
	k := rig.StartKept(s.t, filepath.Join(s.t.TempDir(), "frontdesk.yaml"), s.text(replace...), true)
	await.True(s.t, func() bool { return k.Timers.Held(desk.DriftEvery) == 1 }) // it has met the others
	return k
}

// rounds has a gateway meet the others so often.
func rounds(k *rig.Kept, n int) {
	k.T.Helper()
	for range n {
		k.Clock.Pass(desk.DriftEvery)
		k.Round(desk.DriftEvery)
	}
}

// enough is how often gateways meet before one tells of another.
const enough = 3

// differ are in what other gateways differ, as a gateway tells it after they have met often enough.
func differ(one, other *rig.Kept, times int) (parts []string) {
	one.T.Helper()
	for range times {
		rounds(other, 1)
		rounds(one, 1)
	}
	return told(one)
}

func told(k *rig.Kept) (parts []string) {
	k.T.Helper()
	for _, g := range k.Ready().Differ {
		for _, p := range g.Parts {
			parts = append(parts, p.Part)
		}
	}
	return parts
}

// sql runs a statement in the service's database, and returns how many rows it changed.
func (s *service) sql(text string, args ...any) int64 {
	s.t.Helper()
	conn := must.Have(pgx.Connect(s.t.Context(), s.dsn))(s.t)
	defer conn.Close(context.Background())
	return must.Have(conn.Exec(s.t.Context(), text, args...))(s.t).RowsAffected()
}

// TestDrift: gateways of a service tell in what they are set up otherwise, as far as clients would
// notice, and of nothing else.
func TestDrift(t *testing.T) {
	t.Parallel()
	s := &service{t: t, dsn: rig.Engines[1].DSN(t), redis: redistest.Start(t)}
	one := s.start()
	require.Equal(t, desk.HealthOK, one.Ready().Status)

	group := must.Have(os.ReadFile(rig.Repository(t, "mapping", "resources", "turnovergroup.yaml")))(t)
	models := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(models, "turnovergroup.yaml"), append(group, "# ours\n"...), 0o600))
	for _, c := range []struct {
		part, words string // "" for none
		replace     []string
	}{
		{"time_zone", "time_zone (UTC, here Europe/Amsterdam)", []string{"vendor: Example", "vendor: Example, time_zone: UTC"}},
		{"base_path", "base_path (/v3, here /webservice_v2)", []string{"vendor: Example", "vendor: Example, base_path: /v3"}},
		{"vendor", "vendor (Another, here Example)", []string{"vendor: Example", "vendor: Another"}},
		{"callbacks", "callbacks", []string{"\napi_keys:", "\ncallbacks: [GET /order]\napi_keys:"}},
		{"model", "model", []string{"\napi_keys:", fmt.Sprintf("\nmodel: {dir: %q}\napi_keys:", models)}},
		{"api_keys", "api_keys", []string{`"GET /contact", `, ""}},
		{"limits", "limits", []string{"allow: [", "per_day: 500\n    allow: ["}},
		{"sessions", "sessions", []string{"sessions: {store: ", "# sessions: {store: "}},
		{"", "", []string{"\napi_keys:", "\nlog: {level: debug, access: false}\napi_keys:", "vendor: Example", "vendor: Example, shutdown_timeout: 20s", `"GET /contact", "GET /order"`, `"GET /order", "GET /contact"`}},
	} {
		other := s.start(c.replace...)
		if c.part == "" {
			require.Empty(t, differ(one, other, 2*enough))
			require.Equal(t, desk.HealthOK, one.Ready().Status)
			other.Shutdown()
			continue
		}
		require.Empty(t, differ(one, other, enough-1), "%s: a moment's difference", c.part)
		require.Equal(t, []string{c.part}, differ(one, other, 1))
		rounds(other, 1)
		require.Equal(t, []string{c.part}, told(other), "the other one tells of this one")
		host := must.Have(os.Hostname())(t)
		reason := fmt.Sprintf("the gateway %s of %s is set up otherwise than this one: %s", strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(other.Base, "/v3"), "/webservice_v2"), "http://"), host, c.words)
		require.Equal(t, []string{reason}, one.Ready().Reasons)
		require.Equal(t, desk.HealthDegraded, one.Ready().Status)
		require.Contains(t, one.OpsText("/"), "It serves, but look at this: the gateway ")
		require.Contains(t, one.OpsText("/metrics"), fmt.Sprintf("frontdesk_gateway_differs{part=%q} 1\n", c.part))
		require.Contains(t, one.OpsText("/metrics"), "frontdesk_gateway_differs{part=\"version\"} 0\n")
		other.Shutdown()
		rounds(one, 1)
		require.Empty(t, told(one), "%s: who stops takes leave", c.part)
		require.EqualValues(t, 1, s.sql("UPDATE neighbour_gateway SET seen_at = seen_at"))
	}
	require.NotContains(t, one.Log.String(), `"level":"warn"`)
}

// TestDriftOfThoseWhoAreGone: who is killed, or hangs, is told to be gone after GatewayLife, until it is forgotten, and one of
// another version is in the middle of an upgrade.
func TestDriftOfThoseWhoAreGone(t *testing.T) {
	t.Parallel()
	s := &service{t: t, dsn: rig.Engines[1].DSN(t), redis: redistest.Start(t)}
	one := s.start()
	const older = "UPDATE neighbour_gateway SET seen_at = seen_at - $1 WHERE document NOT LIKE '%' || $2 || '%'"
	own := strings.TrimPrefix(strings.TrimSuffix(one.Base, "/webservice_v2"), "http://")

	child := rig.StartChild(t, rig.Options{DSN: s.dsn})
	await.True(t, func() bool { return s.sql("UPDATE neighbour_gateway SET seen_at = seen_at") == 2 })
	child.Kill()
	rounds(one, 2*enough)
	require.Empty(t, told(one), "it differs in its sessions and keys, and said so once")
	require.Empty(t, one.Ready().LookAt, "it may be there still")
	require.EqualValues(t, 1, s.sql(older, tables.GatewayLife.Milliseconds(), own), "it could not take leave")
	rounds(one, 1)
	require.Len(t, one.Ready().LookAt, 1)
	require.Regexp(t, "^the gateway 127.0.0.1:[0-9]+ of .* has told nothing since .*Z, and was not stopped: it was killed, hangs, or does not reach the database$", one.Ready().LookAt[0])
	require.Equal(t, desk.HealthOK, one.Ready().Status, "this one is well")
	require.Contains(t, one.OpsText("/"), "It works. Look at this: the gateway ")
	s.sql(older, tables.GatewayForgotten.Milliseconds(), own)
	rounds(one, 1)
	require.EqualValues(t, 1, s.sql("UPDATE neighbour_gateway SET seen_at = seen_at"), "it is forgotten")
	require.Empty(t, one.Ready().LookAt)

	other := s.start("vendor: Example", "vendor: Another")
	require.Equal(t, []string{"vendor"}, differ(one, other, enough))
	rounds(one, enough)
	require.Equal(t, []string{"vendor"}, told(one), "it hangs, for how long nobody knows")
	s.sql(older, tables.GatewayLife.Milliseconds(), own)
	rounds(one, 1)
	require.Empty(t, told(one))
	other.Shutdown()

	other = s.start()
	for range enough { // as a program of another version says it
		rounds(other, 1)
		require.EqualValues(t, 1, s.sql(`UPDATE neighbour_gateway SET document = regexp_replace(document, '"version":"[^"]*"', '"version":"v9"') WHERE document NOT LIKE '%' || $1 || '%'`, own))
		rounds(one, 1)
	}
	require.Equal(t, []string{"version"}, told(one))
	require.Equal(t, desk.HealthOK, one.Ready().Status, "who upgrades waits for it")
	require.Contains(t, one.OpsText("/"), " runs version v9, and this one "+desk.Version()+": a rolling upgrade is not finished")
	require.Contains(t, one.OpsText("/metrics"), "frontdesk_gateway_differs{part=\"version\"} 1\n")
}

// TestDriftThatCannotBeKnown: a gateway that can read nothing of the others for longer than GatewayLife
// tells nothing of them.
func TestDriftThatCannotBeKnown(t *testing.T) {
	t.Parallel()
	s := &service{t: t, dsn: rig.Engines[1].DSN(t), redis: redistest.Start(t)}
	one := s.start()
	other := s.start("vendor: Example", "vendor: Another")
	require.Equal(t, []string{"vendor"}, differ(one, other, enough))
	s.sql("ALTER TABLE neighbour_gateway RENAME TO away")
	rounds(one, 1)
	require.Equal(t, []string{"vendor"}, told(one), "for a moment")
	one.Clock.Pass(tables.GatewayLife)
	rounds(one, 1)
	require.Empty(t, told(one))
	s.sql("ALTER TABLE away RENAME TO neighbour_gateway")
	require.Equal(t, []string{"vendor"}, differ(one, other, enough), "anew")
}

// TestDriftOfSessions: gateways that keep sessions in memory do not share them, though they say the
// same. It is the one drift by which every second request is 401.
func TestDriftOfSessions(t *testing.T) {
	t.Parallel()
	s := &service{t: t, dsn: rig.Engines[1].DSN(t), redis: redistest.Start(t)}
	one := s.start("sessions: {store: ", "# sessions: {store: ")
	require.Equal(t, []string{"sessions"}, differ(one, s.start("sessions: {store: ", "# sessions: {store: "), enough))
}

// TestDriftOfSheets: gateways before a system that is not ours meet where its keep is, and are to have
// the same sheet, in whatever folder.
func TestDriftOfSheets(t *testing.T) {
	t.Parallel()
	s := &service{t: t, redis: redistest.Start(t)}
	database, keep, hash := filepath.Join(t.TempDir(), "dealer.db"), rig.Engines[1].Empty(t), rig.PasswordHash("demo")
	require.NoError(t, os.WriteFile(database, nil, 0o600))
	rig.AskSQLite(t, database, "CREATE TABLE grp (nr INTEGER PRIMARY KEY, code TEXT, oms TEXT)")
	start := func(more string) *rig.Kept {
		t.Helper()
		sheet := filepath.Join(t.TempDir(), "dealer.yaml")
		require.NoError(t, os.WriteFile(sheet, []byte(fmt.Sprintf(rig.GroupsSheet, database, keep, hash)+more), 0o600))
		return s.start(`backend: {dsn: ""}`, fmt.Sprintf("backend: {driver: legacy, sheet: %q}", sheet), `"GET /contact", "GET /order"`, `"GET /turnovergroup"`)
	}
	one, same := start(""), start("")
	require.Empty(t, differ(one, same, 2*enough))
	same.Shutdown()
	require.Equal(t, []string{"sheet"}, differ(one, start("# another\n"), enough))
}

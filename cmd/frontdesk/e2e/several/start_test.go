package several

import (
	"database/sql"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// absent is what a start needs and does not find.
type absent struct {
	options rig.Options
	cause   string // part of what operators are told
	comes   func(t *testing.T, d *rig.Desk)
	login   [2]string
}

func absents() map[string]func(*testing.T) absent {
	demo := [2]string{"demo", "demo"}
	return map[string]func(*testing.T) absent{
		"PostgreSQL": func(t *testing.T) absent {
			node := sqltest.Primary(t)
			require.NoError(t, rig.SeedDatabase(node.DSN("postgres"), rig.SampleOrders))
			node.Stop()
			return absent{rig.Options{DSN: node.DSN("postgres")}, "connection refused", func(t *testing.T, _ *rig.Desk) { node.Restart(t) }, demo}
		},
		"database of PostgreSQL": func(t *testing.T) absent {
			node := sqltest.Primary(t)
			create := func(t *testing.T, _ *rig.Desk) {
				node.Ask(t, "CREATE DATABASE made")
				require.NoError(t, rig.SeedDatabase(node.DSN("made_first"), rig.SampleOrders))
				node.Ask(t, "ALTER DATABASE made_first RENAME TO made_later")
			}
			node.Ask(t, "CREATE DATABASE made_first")
			return absent{rig.Options{DSN: node.DSN("made_later")}, "made_later", create, demo}
		},
		"whose sessions have ended": func(t *testing.T) absent {
			node := sqltest.Primary(t)
			require.NoError(t, rig.SeedDatabase(node.DSN("postgres"), rig.SampleOrders))
			node.Ask(t, "ALTER TABLE app_user RENAME sessions_end_why TO away")
			return absent{rig.Options{DSN: node.DSN("postgres")}, "whose sessions have ended cannot be read", func(t *testing.T, _ *rig.Desk) {
				node.Ask(t, "ALTER TABLE app_user RENAME away TO sessions_end_why")
			}, demo}
		},
		"Redis": func(t *testing.T) absent {
			server := redistest.Start(t)
			server.Kill()
			o := rig.Options{DSN: rig.Engines[0].DSN(t), Extra: fmt.Sprintf("sessions: {store: %q}\n", server.URL())}
			return absent{o, "sessions.store: redis: ", func(*testing.T, *rig.Desk) { server.Restart() }, demo}
		},
		"password of MariaDB": func(t *testing.T) absent {
			dsn := legacytest.MariaDB(t)
			sheet := rig.Read(t, filepath.Join(must.Have(legacytest.Files())(t), "mariadb.yaml"))
			o, _ := rig.BySheet(t, "legacy", sheet, "${DEALERPAK_DSN}", strings.Replace(dsn, ":dealerpak@", ":later@", 1))
			return absent{o, "Access denied for user", func(t *testing.T, _ *rig.Desk) {
				db := must.Have(sql.Open("mysql", dsn))(t)
				defer db.Close()
				must.Have(db.Exec("SET PASSWORD = PASSWORD('later')"))(t)
			}, [2]string{"sanne.bos", "Welkom01"}}
		},
		"a DSN that is mended": func(t *testing.T) absent {
			wrong := "postgres://frontdesk@127.0.0.1:1/nowhere"
			return absent{rig.Options{DSN: wrong}, "127.0.0.1:1", func(t *testing.T, d *rig.Desk) {
				text := strings.Replace(rig.Read(t, d.File()), wrong, rig.Engines[0].DSN(t), 1)
				require.NoError(t, os.WriteFile(d.File(), []byte(text), 0o600))
			}, demo}
		},
	}
}

// TestStartWaits: what a start needs of others may come later. Until then it listens, says why it
// does not serve, and refuses clients as a gateway does whose administration does not answer.
func TestStartWaits(t *testing.T) {
	t.Parallel()
	for name, make := range absents() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			missing, at := make(t), rig.FreeAddress(t)
			missing.options.Edit = strings.NewReplacer("listen: 127.0.0.1:0", "listen: "+at)
			d, ready := rig.Begin(t, missing.options)
			d.Base = "http://" + at + "/webservice_v2"
			await.True(t, func() bool { return strings.Contains(d.Log.String(), "the start waits") })
			waits := d.AskOps("/readyz")
			require.Equal(t, 503, waits.Status)
			require.Contains(t, string(waits.Body), missing.cause)
			require.Equal(t, 200, d.AskOps("/healthz").Status)
			refused := d.Gets(500, "GET", "/order", "11111111-1111-4111-8111-111111111111", "")
			require.Contains(t, string(refused.Body), `"reason":"backend_unavailable"`)
			require.NotEmpty(t, refused.Header.Get("Retry-After"))
			require.Equal(t, 400, d.Call("GET", "/orders", "", "").Status)

			missing.comes(t, d)
			ready()
			require.Equal(t, 200, d.AskOps("/readyz").Status)
			d.LoginAs(rig.FullKey, missing.login[0], missing.login[1])
			require.LessOrEqual(t, strings.Count(d.Log.String(), `"msg":"the start waits`), 2, "one line for each cause: %s", d.Log)
		})
	}
}

// TestStartWithoutService: a service behind a sheet may come later than the gateway, which serves
// what needs no service.
func TestStartWithoutService(t *testing.T) {
	t.Parallel()
	at := rig.FreeAddress(t)
	sheet := rig.Read(t, rig.RemoteSheets(t, "garagecloud.yaml"))
	o, _ := rig.BySheet(t, "remote", sheet, "${GARAGE_URL}", "http://"+at, "${GARAGE_SECRET}", remotetest.ClientSecret)
	d := rig.Start(t, o)
	require.Equal(t, 503, d.AskOps("/readyz").Status)
	listener := must.Have(net.Listen("tcp", at))(t)
	server := httptest.NewUnstartedServer(remotetest.NewJSON(remotetest.Options{}))
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	await.True(t, func() bool { return d.AskOps("/readyz").Status == 200 })
}

// TestStartEnds: whoever stops a start that waits finds it ended well, and systemd is told why it
// waits, and to wait too.
func TestStartEnds(t *testing.T) {
	t.Parallel()
	states, file := listenForStates(t), filepath.Join(t.TempDir(), "frontdesk.yaml")
	text := fmt.Sprintf(rig.DeskConfig, "", rig.FreeAddress(t), "postgres://frontdesk@127.0.0.1:1/nowhere", "", t.TempDir(), "", "")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	serve := exec.Command(rig.Binary(t), "serve", "--config", file)
	serve.Env = append(serve.Environ(), "NOTIFY_SOCKET="+states.path)
	require.NoError(t, serve.Start())
	require.Regexp(t, `(?s)^STATUS=the start waits.*127\.0\.0\.1:1.*\nEXTEND_TIMEOUT_USEC=\d+$`, states.until(t, "STATUS="))
	require.NoError(t, serve.Process.Signal(syscall.SIGHUP), "has the files read again, and ends nothing")
	states.until(t, "STATUS=")
	require.NoError(t, serve.Process.Signal(syscall.SIGTERM))
	require.NoError(t, serve.Wait())
}

package records

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

// act is a line of frontdesk acts list --format json, or of the audit log.
type act struct {
	Msg, Logger, What, Whom, Who, From, Outcome string
	At                                          time.Time
}

// listActs is what frontdesk acts list tells, oldest first.
func listActs(t *testing.T, config string, flags ...string) (all []act) {
	t.Helper()
	code, out, problems := rig.Command(t, "", append([]string{"acts", "list", "--config", config, "--format", "json"}, flags...)...)
	require.Zero(t, code, problems)
	var newest []act
	require.NoError(t, json.Unmarshal([]byte(out), &newest))
	for i := len(newest) - 1; i >= 0; i-- {
		all = append(all, newest[i])
	}
	return all
}

// toldActs are the acts in the audit log of a desk.
func toldActs(t *testing.T, d *rig.Desk) (all []act) {
	t.Helper()
	for line := range strings.Lines(d.Log.String()) {
		var a act
		if strings.Contains(line, `"msg":"act"`) {
			require.NoError(t, json.Unmarshal([]byte(line), &a))
			require.Equal(t, "audit", a.Logger)
			all = append(all, a)
		}
	}
	return all
}

// what is an act in a line: what was done, on what, and what became of it.
func (a act) what() string { return fmt.Sprintf("%s: %s: %s", a.What, a.Whom, a.Outcome) }

func whats(all []act) (lines []string) {
	for _, a := range all {
		lines = append(lines, a.what())
	}
	return lines
}

// TestActs does all that is kept in the list of acts, by commands and by requests: the list has
// each with who and from where, the audit logs of the gateways have each once, and no secret is
// in either.
func TestActs(t *testing.T) {
	t.Parallel()
	for i, e := range rig.Engines {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			h, options := rig.NewHooks(t, nil)
			options.DSN = e.DSN(t)
			gateways := []*rig.Desk{rig.Start(t, options)}
			if e.Name == "postgres" {
				options.Extra = regexp.MustCompile(`, folder: "[^"]*"`).ReplaceAllString(options.Extra, "")
				gateways = append(gateways, rig.Start(t, options))
			}
			d := gateways[0]
			config := filepath.Join(filepath.Dir(d.Mail), "frontdesk.yaml")
			archive := filepath.Join(t.TempDir(), "demo.zip")
			const first, second, third = "a first password", "a second password", "a third password"
			do := func(want int, input string, args ...string) {
				t.Helper()
				code, _, problems := rig.Command(t, input, append(args, "--config", config)...)
				require.Equal(t, want, code, "%v: %s", args, problems)
				require.NotContains(t, problems, "list of acts")
			}
			do(0, first, "user", "add", "piet", "--client", "Garage", "--email", "piet@example.nl")
			do(1, first, "user", "add", "piet", "--client", "Garage", "--email", "piet@example.nl")
			do(0, second, "user", "passwd", "piet")
			do(0, "", "user", "block", "piet")
			do(1, "", "user", "block", "a-password-typed-for-a-name")
			do(0, "", "user", "unblock", "piet")
			do(0, "", "backup", "--client", "Demo Garage", "--out", archive)
			do(1, "", "restore", "--client", "New", "--rename", archive)
			token := d.Login(rig.HookedKey, "demo")
			id := d.Call("POST", "/backup/owner", token, h.Body()).Promise(t)
			require.Equal(t, id, h.Next(t))
			require.Eventually(t, func() bool { return d.StateOf(id) == "called_back" }, rig.Patience, 10*time.Millisecond)
			do(0, "", "callbacks", "replay", id)
			require.Equal(t, id, h.Next(t))
			do(1, "", "callbacks", "replay", "none")

			p := &rig.Practice{Desk: d, T: t, Token: token}
			require.Equal(t, 200, d.Call("POST", "/authenticate/forgotpassword", token, `{"username":"piet"}`).Status)
			reset := regexp.MustCompile(`resetpassword\?reset=([A-Za-z0-9_-]+)`).FindStringSubmatch(p.Letter())[1]
			require.Equal(t, 400, p.Submit(strings.Repeat("A", len(reset)), third, third).Status)
			require.Equal(t, 200, p.Submit(reset, third, third).Status)
			require.Equal(t, 400, p.Submit(reset, third, third).Status)

			want := []string{
				"user add: user piet of client Garage: done", "user add: user piet of client Garage: failed", "user passwd: user piet: done",
				"user block: user piet: done", "user unblock: user piet: done",
				"backup: client Demo Garage, to " + archive + ": done", "restore: client New, from " + archive + ": failed",
				"backup by callback: client Demo Garage, job " + id + ": done", "callbacks replay: job " + id + ": done", "password by link: user piet: done",
			}
			var listed []act
			require.Eventually(t, func() bool { // requests do not wait for the list
				listed = listActs(t, config)
				return len(listed) >= len(want)
			}, rig.Patience, 10*time.Millisecond)
			require.Equal(t, want, whats(listed))
			for _, a := range listed {
				require.WithinDuration(t, time.Now(), a.At, time.Hour)
				switch a.What {
				case "backup by callback":
					require.Equal(t, [2]string{"api_key hooked, user demo", "127.0.0.1"}, [2]string{a.Who, a.From})
				case "password by link":
					require.Equal(t, [2]string{"whoever reads the user's mail", "127.0.0.1"}, [2]string{a.Who, a.From})
				default:
					require.NotEmpty(t, a.Who)
					require.NotContains(t, a.Who, "api_key")
					require.NotEqual(t, "127.0.0.1", a.From)
				}
			}
			var told []act
			require.Eventually(t, func() bool {
				told = nil
				for _, gateway := range gateways {
					told = append(told, toldActs(t, gateway)...)
				}
				return len(told) >= len(want)
			}, rig.Patience, 10*time.Millisecond, "%v", told)
			for _, gateway := range gateways {
				gateway.Shutdown()
			}
			require.ElementsMatch(t, want, whats(told), "each once")

			require.Equal(t, want[3:4], whats(listActs(t, config, "--what", "user block")))
			require.Equal(t, want[7:8], whats(listActs(t, config, "--who", "hooked")))
			require.Len(t, listActs(t, config, "--since", "1h", "--limit", "3"), 3)
			require.Empty(t, listActs(t, config, "--since", "2999-01-01"))
			_, table, _ := rig.Command(t, "", "acts", "list", "--config", config)
			require.Regexp(t, `(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ +user block +user piet +\S.* +done$`, table)
			all := table + fmt.Sprint(listed)
			for _, gateway := range gateways {
				all += gateway.Log.String()
			}
			for what, secret := range map[string]string{
				"password added": first, "password set": second, "password by link": third, "link": reset, "typed for a name": "a-password-typed-for-a-name",
				"token": token, "api_key": rig.HookedKey,
			} {
				require.NotContains(t, all, secret, what)
			}

			text := strings.Replace(rig.Read(t, config), options.DSN, rig.Engines[1-i].Empty(t), 1)
			config = filepath.Join(t.TempDir(), "frontdesk.yaml")
			require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
			do(0, "", "migrate")
			do(0, "", "restore", "--client", "Demo Garage", archive)
			require.Equal(t, []string{"restore: client Demo Garage, from " + archive + ": done"}, whats(listActs(t, config)))
		})
	}
}

// TestActsCutOff kills a command between the begin of its act and the end: the list has it, and
// one of two gateways tells that it was cut off.
func TestActsCutOff(t *testing.T) {
	t.Parallel()
	var clock rig.Clock
	dsn := rig.Engines[1].DSN(t) + "&lock_timeout=0" // where a lock holds up one user, as long as the test has it, and not the list
	options := rig.Options{DSN: dsn, Now: clock.Now, Bound: func(b *desk.Bounds) { b.ResultSpace = 1 << 30 }}
	gateways := []*rig.Desk{rig.Start(t, options), rig.Start(t, options)}
	config := filepath.Join(filepath.Dir(gateways[0].Mail), "frontdesk.yaml")
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT 1 FROM app_user WHERE username = 'other' FOR UPDATE`)
	require.NoError(t, err)

	command := exec.Command(rig.Binary(t), "user", "block", "other", "--config", config)
	require.NoError(t, command.Start())
	require.Eventually(t, func() bool { return len(listActs(t, config)) == 1 }, rig.Patience, 20*time.Millisecond)
	require.NoError(t, command.Process.Kill())
	_ = command.Wait() // killed
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, []string{"user block: user other: under way"}, whats(listActs(t, config)))
	clock.Pass(time.Hour)
	var told []string
	require.Eventually(t, func() bool {
		told = append(whats(toldActs(t, gateways[0])), whats(toldActs(t, gateways[1]))...)
		return len(told) > 0
	}, rig.Patience, 10*time.Millisecond)
	for _, gateway := range gateways {
		gateway.Shutdown()
	}
	require.Equal(t, []string{"user block: user other: cut off"}, append(whats(toldActs(t, gateways[0])), whats(toldActs(t, gateways[1]))...))
}

package records

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// act is a line of the audit log.
type act struct{ Logger, What, Whom, Who, From, Outcome string }

// actsOf are the acts of some lines: what was done, on what, and what became of it.
func actsOf(t *testing.T, lines string) (whats []string, all []act) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var a act
		if strings.Contains(line, `"msg":"act"`) {
			require.NoError(t, json.Unmarshal([]byte(line), &a))
			require.Equal(t, "audit", a.Logger)
			all, whats = append(all, a), append(whats, fmt.Sprintf("%s: %s: %s", a.What, a.Whom, a.Outcome))
		}
	}
	return whats, all
}

// TestActs does all that has an audit line, by commands and by requests: each has its line with who
// and from where, and no secret is in any.
func TestActs(t *testing.T) {
	t.Parallel()
	h, options := rig.NewHooks(t, nil)
	options.DSN = rig.Engines[0].DSN(t)
	d := rig.Start(t, options)
	config, archive := filepath.Join(filepath.Dir(d.Mail), "frontdesk.yaml"), filepath.Join(t.TempDir(), "demo.zip")
	const first, second, third, typed = "a first password", "a second password", "a third password", "a-password-typed-for-a-name"
	said := ""
	do := func(want int, input string, args ...string) {
		t.Helper()
		code, _, problems := rig.Command(t, input, append(args, "--config", config)...)
		require.Equal(t, want, code, "%v: %s", args, problems)
		for line := range strings.Lines(problems) {
			if strings.HasPrefix(line, "{") {
				said += line
			}
		}
	}
	do(0, first, "user", "add", "piet", "--client", "Garage", "--email", "piet@example.nl")
	do(1, first, "user", "add", "piet", "--client", "Garage", "--email", "piet@example.nl")
	do(0, second, "user", "passwd", "piet")
	do(0, "", "user", "block", "piet")
	do(1, "", "user", "block", typed)
	do(0, "", "user", "unblock", "piet")
	do(0, "", "backup", "--client", "Demo Garage", "--out", archive)
	do(1, "", "restore", "--client", "New", "--rename", archive)
	token := d.Login(rig.HookedKey, "demo")
	id := d.Call("POST", "/backup/owner", token, h.Body()).Promise(t)
	require.Equal(t, id, h.Next(t))
	await.True(t, func() bool { return d.StateOf(id) == "called_back" })
	do(0, "", "callbacks", "replay", id)
	require.Equal(t, id, h.Next(t))
	do(1, "", "callbacks", "replay", "none")
	byCommand, all := actsOf(t, said)
	require.Equal(t, []string{
		"user add: user piet of client Garage: done", "user add: user piet of client Garage: failed", "user passwd: user piet: done",
		"user block: user piet: done", "user unblock: user piet: done",
		"backup: client Demo Garage, to " + archive + ": done", "restore: client New, from " + archive + ": failed", "callbacks replay: job " + id + ": done",
	}, byCommand)
	for _, a := range all {
		require.NotEmpty(t, a.Who)
		require.NotEmpty(t, a.From)
	}

	p := &rig.Practice{Desk: d, T: t, Token: token}
	require.Equal(t, 200, d.Call("POST", "/authenticate/forgotpassword", token, `{"username":"piet"}`).Status)
	reset := regexp.MustCompile(`resetpassword\?reset=([A-Za-z0-9_-]+)`).FindStringSubmatch(p.Letter())[1]
	require.Equal(t, 400, p.Submit(strings.Repeat("A", len(reset)), third, third).Status)
	require.Equal(t, 200, p.Submit(reset, third, third).Status)
	require.Equal(t, 400, p.Submit(reset, third, third).Status)
	var shown struct{ Acts []act }
	d.OpsJSON("/", &shown)
	require.Contains(t, d.OpsText("/"), "<td>password by link</td><td>user piet</td>")
	d.Shutdown()
	byRequest, all := actsOf(t, d.Log.String())
	require.Equal(t, []string{"backup by callback: client Demo Garage, job " + id + ": done", "password by link: user piet: done"}, byRequest)
	require.Equal(t, []string{"api_key hooked, user demo", "whoever reads the user's mail"}, []string{all[0].Who, all[1].Who})
	require.Equal(t, []string{"127.0.0.1", "127.0.0.1"}, []string{all[0].From, all[1].From})
	require.Len(t, shown.Acts, 2)
	require.Equal(t, "password by link", shown.Acts[0].What)
	for _, secret := range []string{first, second, third, typed, reset, token, rig.HookedKey} {
		require.NotContains(t, said+d.Log.String(), secret)
	}
}

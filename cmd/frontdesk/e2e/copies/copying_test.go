package copies

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// copying is a copy that the copier keeps.
type copying struct {
	*service
	file     string
	names    []string // of resources
	follower *exec.Cmd
	log      *rig.LockedBuffer
	before   records // at the end of the last round
}

func newCopy(s *service) *copying {
	return &copying{service: s, file: filepath.Join(s.t.TempDir(), "copy.json"), names: s.names()}
}

// command is the copier, which asks this address.
func (c *copying) command(base string, more ...string) *exec.Cmd {
	cmd := exec.Command(copier(c.t), append([]string{c.file, "--resource", strings.Join(c.names, ",")}, more...)...)
	cmd.Env = append(os.Environ(), "BASE="+base, "API_KEY="+rig.FullKey, "FRONTDESK_USER="+c.user.name, "FRONTDESK_PASSWORD="+c.user.password)
	return cmd
}

// run runs the copier to its end.
func (c *copying) run(more ...string) (code int, said string) {
	c.t.Helper()
	return c.runAt(c.gateways[0].Base, more...)
}

func (c *copying) runAt(base string, more ...string) (code int, said string) {
	c.t.Helper()
	cmd := c.command(base, more...)
	out, err := cmd.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); !ended {
		require.NoError(c.t, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// follow starts the copier beside the writers.
func (c *copying) follow(g *gateway) {
	c.t.Helper()
	c.log = new(rig.LockedBuffer)
	c.follower = c.command(g.Base, "--follow", "0.1")
	c.follower.Stdout, c.follower.Stderr = c.log, c.log
	require.NoError(c.t, c.follower.Start())
	c.t.Cleanup(c.kill)
}

// kill ends it with no chance to clean up.
func (c *copying) kill() {
	if c.follower != nil {
		_ = c.follower.Process.Kill()
		_ = c.follower.Wait()
		c.follower = nil
	}
}

// kept is the file of a copy.
type kept struct {
	Cursor  string  `json:"cursor"`
	Records records `json:"records"`
}

func (c *copying) read() (k kept) {
	c.t.Helper()
	text, err := os.ReadFile(c.file)
	if errors.Is(err, os.ErrNotExist) { // nothing has been read yet
		return k
	}
	require.NoError(c.t, err)
	require.NoError(c.t, json.NewDecoder(bytes.NewReader(text)).Decode(&k))
	return k
}

// records are those of the copy.
func (c *copying) records() records { return c.read().Records }

// rigged changes a copy behind the copier.
func (c *copying) rigged(change func(*kept)) {
	c.t.Helper()
	k := c.read()
	change(&k)
	require.NoError(c.t, os.WriteFile(c.file, must.Have(json.Marshal(k))(c.t), 0o600))
}

// becomesWhole brings the copy up to date until it equals its source: on PostgreSQL a change
// is told once no older transaction is under way, of other tests too.
func (c *copying) becomesWhole() {
	c.t.Helper()
	want := c.source()
	await.True(c.t, func() bool {
		code, said := c.run()
		require.Zero(c.t, code, said)
		return equal(want, c.records())
	})
}

// catchesUp waits until the copy equals its source, as that gateway answers it. What others have
// deleted in a service the gateway itself finds by its next walk.
func (c *copying) catchesUp(g *gateway) {
	c.t.Helper()
	await.True(c.t, func() bool { return equal(c.sourceOf(g), c.records()) })
	c.t.Logf("equal after %d writes", c.answered.Load())
}

func equal(a, b records) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if len(a[name]) != len(b[name]) {
			return false
		}
		for id, one := range a[name] {
			if fmt.Sprint(one) != fmt.Sprint(b[name][id]) {
				return false
			}
		}
	}
	return true
}

// size is how many rounds a test has, and how many writes each of them: these in its short
// form, which is two rounds.
func size(short int64) (rounds int, writes int64) {
	if sqltest.Soak() {
		return 50, 15 * short
	}
	return 2, short
}

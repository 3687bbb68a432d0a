package copies

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
)

// copying is a copy that frontdesk mirror keeps.
type copying struct {
	*service
	file, password string
	names          []string // of resources
	follower       *exec.Cmd
	log            *rig.LockedBuffer
	before         records // at the end of the last round
}

func newCopy(s *service) *copying {
	dir := s.t.TempDir()
	c := &copying{service: s, file: filepath.Join(dir, "copy.db"), password: filepath.Join(dir, "password"), names: s.names()}
	require.NoError(s.t, os.WriteFile(c.password, []byte(s.user.password+"\n"), 0o600))
	return c
}

// args are those of the command, which asks this address.
func (c *copying) args(base string, more ...string) []string {
	return append([]string{"mirror", base, "--to", "sqlite:" + c.file, "--api-key", rig.FullKey, "--username", c.user.name, "--password-file", c.password,
		"--resource", strings.Join(c.names, ",")}, more...)
}

// run runs the command to its end.
func (c *copying) run(more ...string) (code int, out, errs string) {
	c.t.Helper()
	return rig.Command(c.t, "", c.args(c.gateways[0].Base, more...)...)
}

// follow starts the command beside the writers.
func (c *copying) follow(g *gateway) {
	c.t.Helper()
	c.log = new(rig.LockedBuffer)
	c.follower = exec.Command(rig.Binary(c.t), c.args(g.Base, "--follow", "--every", "100ms")...)
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

// records are those of the copy.
func (c *copying) records() records {
	c.t.Helper()
	conn, err := sqlite.OpenConn(c.file, sqlite.OpenReadOnly)
	require.NoError(c.t, err)
	defer conn.Close()
	conn.SetBusyTimeout(rig.Patience)
	all := records{}
	for _, name := range c.names {
		all[name] = map[int]map[string]any{}
		require.NoError(c.t, sqlitex.ExecuteTransient(conn, `SELECT * FROM "`+name+`"`, &sqlitex.ExecOptions{ResultFunc: func(row *sqlite.Stmt) error {
			one := map[string]any{}
			for i := range row.ColumnCount() - 1 { // the last is a sum
				switch row.ColumnType(i) {
				case sqlite.TypeNull:
					one[row.ColumnName(i)] = nil
				case sqlite.TypeText:
					one[row.ColumnName(i)] = row.ColumnText(i)
				default:
					one[row.ColumnName(i)] = row.ColumnFloat(i)
				}
			}
			all[name][row.ColumnInt(0)] = one
			return nil
		}}))
	}
	return all
}

// becomesWhole brings the copy up to date until it equals its source: on PostgreSQL a change
// is told once no older transaction is under way, of other tests too.
func (c *copying) becomesWhole() {
	c.t.Helper()
	want := c.source()
	for deadline := time.Now().Add(4 * rig.Patience); ; {
		code, out, errs := c.run()
		require.Zero(c.t, code, "%s%s", out, errs)
		got := c.records()
		if time.Now().After(deadline) {
			require.Equal(c.t, want, got)
		}
		if equal(want, got) {
			return
		}
	}
}

// catchesUp waits until the copy equals its source, as that gateway answers it.
func (c *copying) catchesUp(g *gateway) {
	c.t.Helper()
	deadline := time.Now().Add(4 * rig.Patience)
	for want := c.sourceOf(g); !strings.Contains(c.log.String(), "up to date: ") || !equal(want, c.records()); {
		if time.Now().After(deadline) {
			c.t.Logf("%s%s", c.log, g.Log)
			require.Equal(c.t, want, c.records())
		}
		<-time.After(200 * time.Millisecond) // the processor is for what it follows
	}
	c.t.Logf("equal after %d writes", c.answered.Load())
}

func equal(a, b records) bool {
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

// hasTime tells whether another round fits into the time of the test. One that is too short for
// all of them ends by failing, which says how many copies were equal and leaves nothing behind.
func (s *service) hasTime(round, rounds int) bool {
	s.t.Helper()
	end, bounded := s.t.Deadline()
	if !bounded || time.Until(end) > 2*rig.Patience {
		return true
	}
	s.t.Errorf("there was time for %d of %d rounds, after which the copy was equal", round, rounds)
	return false
}

// size is how many rounds a test has, and how many writes each of them: these in its short
// form, which is two rounds.
func size(short int64) (rounds int, writes int64) {
	if sqltest.Soak() {
		return 50, 15 * short
	}
	return 2, short
}

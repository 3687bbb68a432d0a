package callbacks

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/gateway/webhook"
)

// How many jobs of one client its system takes its time for, and on how many of them it is
// worked at once.
const (
	flood      = 12
	floodShare = 2
)

// floodEnds are how the program comes out of a flood that the system lets go with release.
var floodEnds = []struct {
	name, server string
	end          func(k *callbackKill, c *rig.Child, release func())
}{
	{"answered late", "", func(k *callbackKill, _ *rig.Child, release func()) {
		release()
		k.until(func(j webhook.Job) bool { return j.State == webhook.CalledBack }, flood)
	}},
	{"killed", "", func(_ *callbackKill, c *rig.Child, release func()) {
		c.Kill()
		release()
	}},
	{"stopped", "  shutdown_timeout: 1s", func(k *callbackKill, c *rig.Child, release func()) {
		require.NoError(k.t, c.Process.Process.Signal(syscall.SIGTERM))
		<-c.Ended
		require.Zero(k.t, c.Code, "%s", c.Log)
		release()
	}},
}

// TestCallbackFlood has a client ask for more long-running writes than there are workers,
// of a system that does not answer them: the jobs of another client do not wait. The
// program then goes on, or is ended in the middle of them: nothing is sent twice.
func TestCallbackFlood(t *testing.T) {
	t.Parallel()
	for i, s := range systems[2:] { // the built-in administration is in TestCallbackKillAfterCommit
		for n, e := range floodEnds {
			t.Run(s.name+" "+e.name, func(t *testing.T) {
				t.Parallel()
				k := newCallbackKill(t, s.start(t))
				k.options.Server = e.server
				unknown := k.flood(fmt.Sprintf("F%d-%d", i, n), e.end)
				want := 0
				if !k.again && (e.name == "killed" || e.name == "stopped" && !k.rollsBack) {
					want = floodShare
				}
				require.Equal(t, want, unknown, "jobs of unknown outcome")
			})
		}
	}
}

func (k *callbackKill) flood(name string, end func(*callbackKill, *rig.Child, func())) (unknown int) {
	t := k.t
	t.Helper()
	c := rig.StartChild(t, k.options)
	many, one := k.logIn(&c.Desk, k.username), k.logIn(&c.Desk, k.other)
	contact, others := c.Create(many, "contact", rig.NewContact), c.Create(one, "contact", rig.NewContact)
	release := k.hold()
	t.Cleanup(release)
	for n := range flood {
		reference := fmt.Sprintf("%s-%d", name, n)
		id := c.Call("POST", "/order", many, k.order(contact, reference)).Promise(t)
		k.made[id], k.sent[reference] = promise{"POST", reference}, true
	}
	k.until(func(j webhook.Job) bool { return j.State == webhook.Running }, floodShare)
	id := c.Call("POST", "/order", one, k.order(others, "mine")).Promise(t)
	k.until(func(j webhook.Job) bool { return j.ID == id && j.State == webhook.CalledBack }, 1)
	require.Equal(t, "mine", c.Download(c.Collect(one, id)).Data(t)["reference"])

	for _, j := range k.list() {
		require.Equal(t, j.ID == id, j.State == webhook.Collected, "none of the others has ended")
		k.cut[j.ID] = j.State == webhook.Running
	}
	end(k, c, release)
	c.Kill()
	k.settle()
	return k.check()
}

// until waits until there are so many jobs of a kind.
func (k *callbackKill) until(of func(webhook.Job) bool, n int) {
	k.t.Helper()
	require.Eventually(k.t, func() bool {
		found := 0
		for _, j := range k.list() {
			if of(j) {
				found++
			}
		}
		return found == n
	}, rig.Patience, 50*time.Millisecond)
}

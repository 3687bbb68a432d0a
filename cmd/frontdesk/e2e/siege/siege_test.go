package siege

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// descriptors are those of the desk.
const descriptors = 1024

// How long a siege lasts where it is not measured, and how long it is quiet before one
// that is.
const (
	shortSiege = time.Second
	quietTime  = 5 * time.Second
)

// siege is an attack on a desk of its own.
type siege struct {
	*attack
	t       *testing.T
	options rig.Options
	desk    *rig.Child
	redis   *redistest.Redis
	hooks   *receiver // the customer's
	to      target
	breaks  func() // has a part break; nil where none does
}

// TestSiege has each attack made on a desk of its own, which has what a small pod gives it,
// and holds it to the aims, those of time only in the long form: make siege.
func TestSiege(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("loopback has one address here, and the system does not tell of a process's memory")
	}
	rows := make([]*row, len(attacks))
	t.Run("attacks", func(t *testing.T) {
		for i := range attacks {
			a := &attacks[i]
			t.Run(strings.ReplaceAll(a.name, " ", "_"), func(t *testing.T) {
				if !*long {
					t.Parallel()
				}
				s := &siege{attack: a, t: t}
				rows[i] = s.play()
				for _, fault := range rows[i].faults(*long) {
					t.Errorf("%s: %s", a.name, fault)
				}
			})
		}
	})
	if *long {
		printRows(os.Stdout, rows)
	}
}

// play starts the desk, has it quiet and then attacked, and returns what came of it.
func (s *siege) play() *row {
	s.hooks, s.options = newReceiver(s.t)
	s.options.DSN, s.options.Descriptors, s.options.Environ = rig.Engines[0].DSN(s.t), descriptors, []string{"GOMEMLIMIT=" + memoryLimit(s.t)}
	s.options.Backend, s.options.Server = ", timeout: 10s", "  read_timeout: 10s" // as they are where nobody sets them
	log, err := os.Create(filepath.Join(s.t.TempDir(), "log"))                    // which takes what is written, whatever this process has to do
	require.NoError(s.t, err)
	defer log.Close()
	s.t.Cleanup(func() {
		if text := rig.Read(s.t, log.Name()); s.t.Failed() {
			s.t.Logf("the log ends: …%s", text[max(0, len(text)-2000):])
		}
	})
	s.options.Stderr = log
	if s.ground != nil {
		s.ground(s)
	}
	rig.CostlyLogins(s.t, s.options.DSN)
	s.desk = rig.StartChild(s.t, s.options)
	s.to = target{Host: s.desk.Host(), Token: s.desk.Login(rig.FullKey, "demo"), Gets: s.gets}
	if s.aim != nil {
		s.aim(s)
	}
	c := newCustomer(s.t, s.desk, s.hooks, s.does())
	r := &row{attack: s.attack}
	if *long {
		r.quiet = summarise(s.lives(c, quietTime), s.broken)
	}
	if s.breaks != nil {
		s.breaks()
	}
	end, lasts := strike(s.t, s.blow, s.to), shortSiege
	if *long {
		lasts = *length
	}
	var aside sync.WaitGroup
	if s.meanwhile != nil {
		aside.Go(func() { s.meanwhile(s) })
	}
	r.under = summarise(s.lives(c, lasts), s.broken)
	aside.Wait()
	if s.queues {
		r.ahead = s.ahead(c)
	}
	r.did = end()
	select {
	case <-s.desk.Ended:
		r.ended = true
	default:
		r.peak = s.desk.Peak()
	}
	r.panics = strings.Count(rig.Read(s.t, log.Name()), "panic:")
	return r
}

// does is what the customer does meanwhile.
func (s *siege) does() []string {
	usual := []string{reading, orders, writing, logging}
	return slices.DeleteFunc(append(usual, s.more...), func(kind string) bool { return slices.Contains(s.without, kind) })
}

// lives has the customer at work for a while.
func (s *siege) lives(c *customer, lasts time.Duration) []sample {
	ctx, cancel := context.WithTimeout(s.t.Context(), lasts)
	defer cancel()
	return c.live(ctx)
}

// ahead is how many lists the administration answers for each that the customer asks for, one
// after the other. Who is called first depends on no clock.
func (s *siege) ahead(c *customer) int {
	const own = 8
	answered := func() (sum int) {
		for _, line := range listsAnswered.FindAllStringSubmatch(s.desk.OpsText("/metrics"), -1) {
			sum += must.Have(strconv.Atoi(line[1]))(s.t)
		}
		return sum
	}
	before := answered()
	for range own {
		require.Equal(s.t, http.StatusOK, c.do(orders))
	}
	all := answered() - before
	require.GreaterOrEqual(s.t, all, own)
	return all / own
}

// listsAnswered finds how many lists of orders the administration answered.
var listsAnswered = regexp.MustCompile(`(?m)^frontdesk_backend_calls_total\{operation="list",outcome="answered",resource="order"\} (\d+)$`)

// memoryLimit is the GOMEMLIMIT that is shipped for a container of 512 MiB.
func memoryLimit(t *testing.T) string {
	t.Helper()
	text := rig.Read(t, rig.Repository(t, "deploy", "compose", "compose.yaml"))
	_, rest, found := strings.Cut(text, "GOMEMLIMIT: ")
	require.True(t, found)
	require.Contains(t, text, "limits: {memory: 512M")
	return strings.Fields(rest)[0]
}

package several

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
)

// severalRounds is how often every setting is measured, in turn: a machine is not as
// quick at one time as at another, and it is their ratio that counts.
const severalRounds = 5

// BenchmarkSeveral asks the same of one gateway with its sessions in memory and of
// three that share them in Redis, all on one PostgreSQL, which they hold as many
// connections to. The processor time is that of all of these; nothing balances the
// load, whose connections are spread over the gateways.
func BenchmarkSeveral(b *testing.B) {
	dsn := sqltest.Postgres(b)
	require.NoError(b, rig.SeedDatabase(dsn, rig.BenchRecords))
	redis := redistest.Start(b)
	services := []*measured{
		startMeasured(b, "one", dsn, 1, "memory"),
		startMeasured(b, "one-redis", dsn, 1, redis.URL()),
		startMeasured(b, "three", dsn, 3, redis.URL()),
	}
	for _, s := range services[1:] {
		s.servers["redis"] = []int{rig.RedisProcess(b, redis.Port())}
	}
	for _, load := range []struct {
		name string
		rate int // requests a second; 0 for as many as can be
		next func(s *measured) ([]byte, int)
	}{
		{"login", 0, (*measured).login},
		{"get", 0, (*measured).get},
		{"list50", 0, (*measured).list},
		{"create", 0, (*measured).create},
		{"mixed", 0, (*measured).mixed},
		{"mixed-500-a-second", 500, (*measured).mixed},
	} {
		for range severalRounds {
			for _, s := range services {
				b.Run(load.name+"/"+s.name, func(b *testing.B) {
					next := func() ([]byte, int) { return load.next(s) }
					if load.rate > 0 {
						pace := time.NewTicker(time.Second / time.Duration(load.rate))
						defer pace.Stop()
						next = func() ([]byte, int) { <-pace.C; return load.next(s) }
					}
					rig.DriveCounted(b, s.servers, s.base, next)
				})
			}
		}
	}
}

// measured is one or more gateways that answer for each other.
type measured struct {
	name    string
	servers rig.Processes
	base    []string
	token   string
}

func startMeasured(b *testing.B, name, dsn string, gateways int, sessions string) *measured {
	s := &measured{name: name, servers: rig.Processes{"postgres": {rig.PostgresProcess(b, dsn)}}}
	for range gateways {
		d := rig.StartChild(b, rig.Options{
			DSN:   fmt.Sprintf("%s&pool_max_conns=%d", dsn, 12/gateways),
			Extra: fmt.Sprintf("log: {access: false}\nsessions: {store: %q}", sessions),
		})
		s.servers["frontdesk"] = append(s.servers["frontdesk"], d.Process.Process.Pid)
		s.base = append(s.base, d.Base)
		s.token = d.Login(rig.FullKey, "demo")
	}
	return s
}

func (s *measured) login() ([]byte, int) {
	return rig.Asked("", rig.LoginPath(rig.FullKey, "demo", "demo")), 200
}
func (s *measured) list() ([]byte, int) { return rig.Asked(s.token, "/order?page_size=50"), 200 }
func (s *measured) create() ([]byte, int) {
	return rig.Posted(s.token, rig.BenchOrder), 201
}

func (s *measured) get() ([]byte, int) {
	return rig.Asked(s.token, "/order/"+strconv.Itoa(1+rand.IntN(rig.BenchRecords))), 200
}

// mixed is seven gets and two lists to a create.
func (s *measured) mixed() ([]byte, int) {
	switch n := rand.IntN(10); {
	case n < 7:
		return s.get()
	case n < 9:
		return s.list()
	default:
		return s.create()
	}
}

package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
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
	require.NoError(b, seedDatabase(dsn, benchRecords))
	redis := redistest.Start(b)
	services := []*measured{
		startMeasured(b, "one", dsn, 1, "memory"),
		startMeasured(b, "one-redis", dsn, 1, redis.URL()),
		startMeasured(b, "three", dsn, 3, redis.URL()),
	}
	for _, s := range services[1:] {
		s.servers["redis"] = []int{redisProcess(b, redis.Port())}
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
					driveCounted(b, s.servers, s.base, next)
				})
			}
		}
	}
}

// measured is one or more gateways that answer for each other.
type measured struct {
	name    string
	servers processes
	base    []string
	token   string
}

func startMeasured(b *testing.B, name, dsn string, gateways int, sessions string) *measured {
	s := &measured{name: name, servers: processes{"postgres": {postgresProcess(b, dsn)}}}
	for range gateways {
		d := startChild(b, deskOptions{
			dsn:   fmt.Sprintf("%s&pool_max_conns=%d", dsn, 12/gateways),
			extra: fmt.Sprintf("log: {access: false}\nsessions: {store: %q}", sessions),
		})
		s.servers["frontdesk"] = append(s.servers["frontdesk"], d.process.Process.Pid)
		s.base = append(s.base, d.base)
		s.token = d.login(fullKey, "demo")
	}
	return s
}

func (s *measured) login() ([]byte, int) { return asked("", loginPath(fullKey, "demo", "demo")), 200 }
func (s *measured) list() ([]byte, int)  { return asked(s.token, "/order?page_size=50"), 200 }
func (s *measured) create() ([]byte, int) {
	return posted(s.token, benchOrder), 201
}

func (s *measured) get() ([]byte, int) {
	return asked(s.token, "/order/"+strconv.Itoa(1+rand.IntN(benchRecords))), 200
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

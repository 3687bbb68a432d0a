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

// BenchmarkSeveral asks the same of one gateway with its sessions in memory and of
// three that share them in Redis, all on one PostgreSQL, which they hold as many
// connections to. The processor time is that of all of these; nothing balances the
// load, whose connections are spread over the gateways.
func BenchmarkSeveral(b *testing.B) {
	dsn := sqltest.Postgres(b)
	require.NoError(b, seedDatabase(dsn, benchRecords))
	redis := redistest.Start(b)
	for _, setting := range []struct {
		name     string
		gateways int
		sessions string
	}{
		{"one", 1, "memory"},
		{"one-redis", 1, redis.URL()},
		{"three", 3, redis.URL()},
	} {
		b.Run(setting.name, func(b *testing.B) {
			servers := processes{"postgres": {postgresProcess(b, dsn)}}
			if setting.sessions != "memory" {
				servers["redis"] = []int{redisProcess(b, redis.Port())}
			}
			var base []string
			var token string
			for range setting.gateways {
				d := startChild(b, deskOptions{
					dsn:   fmt.Sprintf("%s&pool_max_conns=%d", dsn, 12/setting.gateways),
					extra: fmt.Sprintf("log: {access: false}\nsessions: {store: %q}", setting.sessions),
				})
				servers["frontdesk"] = append(servers["frontdesk"], d.process.Process.Pid)
				base = append(base, d.base)
				token = d.login(fullKey, "demo")
			}
			benchmarkSeveral(b, servers, base, token)
		})
	}
}

func benchmarkSeveral(b *testing.B, servers processes, base []string, token string) {
	get := answeredBy(200, func() []byte { return asked(token, "/order/"+strconv.Itoa(1+rand.IntN(benchRecords))) })
	list := answeredBy(200, func() []byte { return asked(token, "/order?page_size=50") })
	create := answeredBy(201, func() []byte { return posted(token, benchOrder) })
	mixed := func() ([]byte, int) {
		switch n := rand.IntN(10); {
		case n < 7:
			return get()
		case n < 9:
			return list()
		default:
			return create()
		}
	}
	for _, c := range []struct {
		name string
		rate int // requests a second; 0 for as many as can be
		next func() ([]byte, int)
	}{
		{"login", 0, answeredBy(200, func() []byte { return asked("", loginPath(fullKey, "demo", "demo")) })},
		{"get", 0, get},
		{"list50", 0, list},
		{"create", 0, create},
		{"mixed", 0, mixed},
		{"mixed/500-a-second", 500, mixed},
	} {
		b.Run(c.name, func(b *testing.B) {
			next := c.next
			if c.rate > 0 {
				pace := time.NewTicker(time.Second / time.Duration(c.rate))
				defer pace.Stop()
				next = func() ([]byte, int) { <-pace.C; return c.next() }
			}
			driveCounted(b, servers, base, next)
		})
	}
}

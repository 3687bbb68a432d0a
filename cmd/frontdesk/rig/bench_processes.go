package rig

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Processes are programs by their process IDs. What they started counts as theirs.
type Processes map[string][]int

// clockTick is the unit of /proc/PID/stat, the same on every Linux.
const clockTick = time.Second / 100

// used is the processor time that each has had, also those that have ended.
func (p Processes) used(b *testing.B) map[string]time.Duration {
	b.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(b, err)
	parents, ticks := map[int]int{}, map[int]int64{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		require.NoError(b, err)
		// Behind the name, which may hold anything: state, parent, …, and from the
		// 12th on: user, system, and both of children that have ended.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		parents[pid], err = strconv.Atoi(fields[1])
		require.NoError(b, err)
		for _, field := range fields[11:15] {
			n, err := strconv.ParseInt(field, 10, 64)
			require.NoError(b, err)
			ticks[pid] += n
		}
	}
	sums := map[string]time.Duration{}
	for pid, n := range ticks {
		for at := pid; at > 1; at = parents[at] {
			if name := p.name(at); name != "" {
				sums[name] += time.Duration(n) * clockTick
				break
			}
		}
	}
	return sums
}

func (p Processes) name(pid int) string {
	for name, pids := range p {
		if slices.Contains(pids, pid) {
			return name
		}
	}
	return ""
}

// PostgresProcess is the server behind a DSN, which runs on this machine.
func PostgresProcess(b *testing.B, dsn string) int {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), dsn)
	require.NoError(b, err)
	defer conn.Close(context.Background())
	var dir string
	require.NoError(b, conn.QueryRow(b.Context(), "SHOW data_directory").Scan(&dir))
	text, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	require.NoError(b, err)
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	require.NoError(b, err)
	return pid
}

// RedisProcess is the server that listens on a port of this machine.
func RedisProcess(b *testing.B, port int) int {
	b.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(b, err)
	for _, file := range files {
		line, err := os.ReadFile(file)
		words := strings.FieldsFunc(string(line), func(r rune) bool { return r == 0 || r == ' ' || r == ':' })
		if err == nil && len(words) > 0 && filepath.Base(words[0]) == "redis-server" && slices.Contains(words, strconv.Itoa(port)) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			require.NoError(b, err)
			return pid
		}
	}
	b.Fatalf("no redis-server on port %d", port)
	return 0
}

// DriveCounted is drive, with the processor time per request of the servers, each
// and together.
func DriveCounted(b *testing.B, servers Processes, base []string, next func() ([]byte, int)) {
	before := servers.used(b)
	Drive(b, base, next)
	b.StopTimer()
	var sum time.Duration
	for name, used := range servers.used(b) {
		used -= before[name]
		sum += used
		b.ReportMetric(float64(used.Microseconds())/float64(b.N), name+"-µs/op")
	}
	b.ReportMetric(float64(sum.Microseconds())/float64(b.N), "cpu-µs/op")
}

// Asked is a request for a path as it goes over the wire.
func Asked(token, path string) []byte {
	return fmt.Appendf(nil, "GET /webservice_v2%s HTTP/1.1\r\nHost: x\r\ntoken: %s\r\n\r\n", path, token)
}

// Posted is an order as it goes over the wire.
func Posted(token, body string) []byte {
	return fmt.Appendf(nil, "POST /webservice_v2/order HTTP/1.1\r\nHost: x\r\ntoken: %s\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
}

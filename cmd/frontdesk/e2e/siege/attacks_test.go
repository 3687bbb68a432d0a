package siege

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// attack is a way to stop a gateway.
type attack struct {
	name, how string
	blow      string         // of the attacker's process
	ground    func(s *siege) // what the desk is started with, beyond the usual
	aim       func(s *siege) // what the attacker is told, and what breaks, once the desk serves
	more      []string       // that the customer does beside the usual
	without   []string       // that the customer leaves, since it needs what is broken
	broken    []string       // that the customer does, and that needs what is broken
	queues    bool           // the customer's lists of orders are asked for where the attacker's are
	gets      int            // what the attacker is answered, where that makes the attack
	meanwhile func(s *siege) // what operators do beside it, in a goroutine of its own
}

// hookBody asks for long-running work whose receiver is not there; its result is.
const hookBody = `{"webhook_url":"https://127.0.0.1:9/hook"}`

var attacks = []attack{
	{
		name: "header-only floods", how: "360 connections from two addresses announce 16 MiB, half of them without a session, and send nothing of it",
		blow: "announce",
	},
	{
		name: "slow bodies", how: "360 connections from two addresses send bodies of 16 MiB, 64 KiB at once and then 4 KiB a second",
		blow: "drip",
	},
	{
		name: "silent connections", how: "1,200 connections from an address that say nothing, opened again where they are closed",
		blow: "silence",
	},
	{
		name: "unread downloads", how: "120 connections ask for a result without an end and read nothing, half of them by a wrong address",
		blow: "unread", aim: (*siege).aimAtResult,
	},
	{
		name: "heavy lists", how: "40 connections of one client sort all of its orders by six fields, and ask for a page of 1,000 deep in them",
		blow: "ask", ground: (*siege).manyOrders, aim: (*siege).aimAtLists, queues: true,
	},
	{
		name: "agents without an end", how: "40 connections of one client rehearse orders with lines, list by tools, and commit none of their tickets",
		blow: "ask", gets: http.StatusOK, aim: (*siege).aimAtTools,
	},
	{
		name: "wrong logins", how: "200 at once from 2,000 addresses, a third of them under the customer's own name",
		blow: "guess", gets: http.StatusTooManyRequests, aim: func(s *siege) {
			s.to.Query = strings.ReplaceAll(rig.LoginPath(rig.FullKey, "USER", "wrong"), "USER", "%s")
		},
		meanwhile: func(s *siege) {
			counted := regexp.MustCompile(`(?m)^frontdesk_logins_total\{outcome="busy"\} [1-9]`)
			await.True(s.t, func() bool { return counted.MatchString(s.desk.OpsText("/metrics")) }, "those who are turned away are counted")
		},
	},
	{
		name: "filled results", how: "one client has had as many results as it gets, and 16 connections of it ask for more",
		blow: "ask", ground: (*siege).littleSpace, aim: (*siege).fillSpace, more: []string{results},
	},
	{
		// Whose work goes first is told by TestCallbackFlood; in a second there is little of it.
		name: "accepted callbacks", how: "16 connections of one client ask for backups, whose receiver is not there, and fetch none",
		blow: "ask", gets: http.StatusAccepted, more: []string{results},
		aim: func(s *siege) { s.ask(16, rawPost("/backup/owner", s.to.Token, hookBody)) },
	},
	{
		name: "stalled log", how: "nobody reads the log, and 8 connections have lines written to it",
		blow: "ask", ground: (*siege).stalledLog, aim: (*siege).aimAtLog,
	},
	{
		name: "dead log reader", how: "whoever read the log is gone, and 8 connections have lines written to it",
		blow: "ask", ground: (*siege).deadLog, aim: (*siege).aimAtLog,
	},
	{
		name: "full disk", how: "the disk of the database is full, and 8 connections write on; three users are blocked meanwhile",
		blow: "ask", ground: (*siege).tinyDisk, aim: (*siege).fillDisk, broken: []string{writing}, meanwhile: (*siege).blockUsers,
	},
	{
		name: "foreign lock on a table", how: "somebody else has locked the table of orders in PostgreSQL, and 40 connections read orders",
		blow: "ask", ground: (*siege).onPostgres,
		aim: func(s *siege) {
			s.lock(`LOCK TABLE "order" IN ACCESS EXCLUSIVE MODE`)
			s.ask(40, rawGet("/order?page_size=20", s.to.Token))
		},
		without: []string{orders},
	},
	{
		name: "foreign lock on a row", how: "somebody else has locked the counter that numbers a client's orders in PostgreSQL, and 48 connections of that client create orders",
		blow: "ask", ground: (*siege).onPostgres,
		aim: func(s *siege) {
			s.lock(`UPDATE counter SET value = value WHERE name = 'order.number' AND client_id = 1`)
			s.ask(48, rawPost("/order", s.to.Token, fmt.Sprintf(rig.NewOrder, 1, "")))
		},
	},
	{
		name: "foreign lock on the jobs", how: "somebody else has locked the table of callback jobs in PostgreSQL, and 40 connections ask for backups",
		blow: "ask", ground: func(s *siege) {
			s.onPostgres()
			s.options.DSN += "&pool_max_conns=8" // two of which are for logins and jobs
		},
		aim: func(s *siege) {
			s.lock(`LOCK TABLE callback_job IN ACCESS EXCLUSIVE MODE`)
			s.ask(40, rawPost("/backup/owner", s.to.Token, hookBody))
		},
		meanwhile: (*siege).leavesLogins,
	},
	{
		name: "Redis turned replica", how: "Redis was made a replica of a server that is away: it answers, and takes no writes; 8 connections log in",
		blow: "ask", ground: (*siege).onRedis,
		aim:    func(s *siege) { s.breakRedis("REPLICAOF", "127.0.0.1", "9") },
		broken: []string{logging},
	},
	{
		name: "full Redis", how: "Redis has no memory left, and 8 connections log in",
		blow: "ask", ground: (*siege).onRedis,
		aim:    func(s *siege) { s.breakRedis("CONFIG", "SET", "maxmemory", "1") },
		broken: []string{logging},
	},
}

func rawGet(path, token string) string {
	return fmt.Sprintf("GET /webservice_v2%s HTTP/1.1\r\nHost: desk\r\ntoken: %s\r\n\r\n", path, token)
}

func rawPost(path, token, body string) string {
	return fmt.Sprintf("POST /webservice_v2%s HTTP/1.1\r\nHost: desk\r\ntoken: %s\r\nContent-Length: %d\r\n\r\n%s", path, token, len(body), body)
}

// ask has the attacker's process ask this, over and over.
func (s *siege) ask(crowd int, requests ...string) { s.to.Crowd, s.to.Requests = crowd, requests }

// collected waits for a result of the attacker's, and returns the answer that has, or would
// have, its address.
func (s *siege) collected(promise rig.Answer) (a rig.Answer) {
	id := promise.Promise(s.t)
	await.True(s.t, func() bool {
		a = s.desk.Call("GET", "/webhook?id="+id, s.to.Token, "")
		return a.Status != http.StatusAccepted
	})
	return a
}

func (s *siege) aimAtResult() {
	a := s.collected(s.desk.Call("POST", "/backup/owner", s.to.Token, hookBody))
	require.Equal(s.t, http.StatusOK, a.Status, "%s", a.Body)
	s.to.Link = strings.TrimPrefix(a.Data(s.t)["url"].(string), strings.TrimSuffix(s.desk.Base, "/webservice_v2"))
}

// manyOrders has more to sort than the usual sample: else reading the requests would take
// longest, and nobody would wait for the database.
func (s *siege) manyOrders() {
	s.options.DSN = "sqlite:" + filepath.Join(s.t.TempDir(), desk.DatabaseFile)
	require.NoError(s.t, rig.SeedDatabase(s.options.DSN, 1000*pages()))
}

// pages of 1,000 is what the lists of orders have.
func pages() int {
	if *long {
		return 60
	}
	return 2
}

func (s *siege) aimAtLists() {
	s.ask(40, rawGet(fmt.Sprintf("/order?sort=-reference,description,-order_date,kind,number,mileage&page_size=1000&page=%d&total=1", pages()-1), s.to.Token))
}

// littleSpace has the results on a disk of their own, with room for some backups, more of
// them where the customer asks for longer.
// aimAtTools has agents ask for what is much work and leaves nothing.
func (s *siege) aimAtTools() {
	order := json.RawMessage(fmt.Sprintf(rig.NewOrder, 1, ""))
	s.ask(40,
		rawPost(rig.AgentsPath, s.to.Token, rig.ToolCall("rehearse", map[string]any{"operation": "create", "resource": "order", "record": order})),
		rawPost(rig.AgentsPath, s.to.Token, rig.ToolCall("list", map[string]any{"resource": "order", "query": map[string]any{"page_size": 1000}})))
}

func (s *siege) littleSpace() {
	size := "1m"
	if *long {
		size = "8m"
	}
	s.options.TinyResults(s.t, size)
}

// fillSpace has the attacker collect backups until one is refused, or does not come to its
// end for want of room.
func (s *siege) fillSpace() {
	const most = 1000 // of which each takes tens of KiB
	backup := func() rig.Answer { return s.desk.Call("POST", "/backup/owner", s.to.Token, hookBody) }
	s.breaks = func() {
		for n := 0; ; n++ {
			require.Less(s.t, n, most, "the room never ends")
			if a := backup(); a.Status != http.StatusAccepted || s.collected(a).Status != http.StatusOK {
				break
			}
		}
	}
	s.ask(16, rawPost("/backup/owner", s.to.Token, hookBody))
}

func (s *siege) aimAtLog() { s.ask(8, rawGet("/contact", "none")) }

// stalledLog has the log read until the attack begins.
func (s *siege) stalledLog() {
	stalled := make(chan struct{})
	s.pipedLog(stalled)
	s.breaks = func() { close(stalled) }
}

// deadLog has the log read until the attack begins, and then nobody has its other end.
func (s *siege) deadLog() {
	read := s.pipedLog(nil)
	s.breaks = func() { require.NoError(s.t, read.Close()) }
}

// pipedLog has the log read until that is to end, or the pipe is closed.
func (s *siege) pipedLog(end <-chan struct{}) (read *os.File) {
	read, write, err := os.Pipe()
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		if err := read.Close(); !errors.Is(err, os.ErrClosed) {
			require.NoError(s.t, err)
		}
	})
	s.t.Cleanup(func() { require.NoError(s.t, write.Close()) })
	go func() {
		for part := make([]byte, 64<<10); ; {
			if _, err := read.Read(part); err != nil {
				return
			}
			select {
			case <-end:
				return
			default:
			}
		}
	}()
	s.options.Stderr = write
	return read
}

// tinyDisk has the database on a disk of its own.
func (s *siege) tinyDisk() {
	folder := s.t.TempDir()
	rig.TinyDisk(s.t, folder, "24m")
	from := strings.TrimPrefix(s.options.DSN, "sqlite:")
	s.options.DSN = "sqlite:" + filepath.Join(folder, desk.DatabaseFile)
	require.NoError(s.t, os.WriteFile(filepath.Join(folder, desk.DatabaseFile), []byte(rig.Read(s.t, from)), 0o600))
}

func (s *siege) fillDisk() {
	s.ask(8, rawPost("/contact", s.to.Token, rig.NewContact))
	s.breaks = func() { rig.FillDisk(s.t, filepath.Dir(strings.TrimPrefix(s.options.DSN, "sqlite:"))) }
}

// blockUsers blocks one user after the other, once a write has found the disk full.
func (s *siege) blockUsers() {
	failed := regexp.MustCompile(`(?m)^frontdesk_backend_calls_total\{operation="create",outcome="failed",resource="contact"\} [1-9]`)
	await.True(s.t, func() bool { return failed.MatchString(s.desk.OpsText("/metrics")) })
	for _, user := range []string{"external", "noemail", "bademail"} {
		code, _, problems := s.desk.Run("user", "block", user)
		assert.Zero(s.t, code, "block %s: %s", user, problems)
	}
	code, users, problems := s.desk.Run("user", "list")
	assert.Zero(s.t, code, problems)
	assert.Equal(s.t, 3, strings.Count(users, "blocked"), users)
}

// leavesLogins asks what a load balancer asks, and how many connections wait for the lock
// of jobs: all but one of those that logins have too.
func (s *siege) leavesLogins() {
	await.True(s.t, func() bool { return rig.Locked(s.t, s.options.DSN) > 0 })
	a := s.desk.AskOps("/readyz")
	assert.Equal(s.t, http.StatusOK, a.Status)
	assert.Contains(s.t, string(a.Body), `"jobs":"unavailable"`)
	assert.LessOrEqual(s.t, rig.Locked(s.t, s.options.DSN), 1, "logins have no connection")
}

func (s *siege) onPostgres() { s.options.DSN = rig.Engines[1].DSN(s.t) }

// lock has somebody else run a statement in a transaction that ends with the test.
func (s *siege) lock(statement string) {
	s.breaks = func() { rig.Lock(s.t, s.options.DSN, statement) }
}

func (s *siege) onRedis() {
	s.redis = redistest.Start(s.t)
	s.options.Extra += fmt.Sprintf("sessions: {store: %q}\n", s.redis.URL())
}

// breakRedis gives Redis a command.
func (s *siege) breakRedis(command ...string) {
	s.ask(8, "GET /webservice_v2"+rig.LoginPath(rig.FullKey, "demo", "demo")+" HTTP/1.1\r\nHost: desk\r\n\r\n")
	s.breaks = func() {
		said, err := exec.Command(sqltest.Tool(s.t, "redis", "redis-cli"), append([]string{"-p", strconv.Itoa(s.redis.Port())}, command...)...).CombinedOutput()
		require.NoError(s.t, err, "%s", said)
		require.Equal(s.t, "OK", strings.TrimSpace(string(said)))
	}
}

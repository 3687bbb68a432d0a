package siege

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
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
		blow: "ask", ground: (*siege).manyOrders, aim: (*siege).aimAtLists,
	},
	{
		name: "wrong logins", how: "200 at once from 2,000 addresses, a third of them under the customer's own name",
		blow: "guess", aim: func(s *siege) {
			s.to.Query = strings.ReplaceAll(rig.LoginPath(rig.FullKey, "USER", "wrong"), "USER", "%s")
		},
	},
	{
		name: "filled results", how: "one client has had as many results as it gets, and 16 connections of it ask for more",
		blow: "ask", ground: (*siege).littleSpace, aim: (*siege).fillSpace, more: []string{results},
	},
	{
		name: "stalled log", how: "nobody reads the log, and 8 connections have lines written to it",
		blow: "ask", ground: (*siege).pipedLog, aim: func(s *siege) { s.ask(8, rawGet("/contact", "none")) },
	},
	{
		name: "full disk", how: "the disk of the database is full, and 8 connections write on",
		blow: "ask", ground: (*siege).tinyDisk, aim: (*siege).fillDisk, broken: []string{writing},
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
	require.Eventually(s.t, func() bool {
		a = s.desk.Call("GET", "/webhook?id="+id, s.to.Token, "")
		return a.Status != http.StatusAccepted
	}, rig.Patience, 5*time.Millisecond)
	return a
}

func (s *siege) aimAtResult() {
	a := s.collected(s.desk.Call("POST", "/backup/owner", s.to.Token, hookBody))
	require.Equal(s.t, http.StatusOK, a.Status, "%s", a.Body)
	s.to.Link = strings.TrimPrefix(a.Data(s.t)["url"].(string), strings.TrimSuffix(s.desk.Base, "/webservice_v2"))
}

// manyOrders has 60,000 where it is measured.
func (s *siege) manyOrders() {
	if !*long {
		return
	}
	s.options.DSN = "sqlite:" + filepath.Join(s.t.TempDir(), desk.DatabaseFile)
	require.NoError(s.t, rig.SeedDatabase(s.options.DSN, 60_000))
}

func (s *siege) aimAtLists() {
	page := 1
	if *long {
		page = 59
	}
	s.ask(40, rawGet(fmt.Sprintf("/order?sort=-reference,description,-order_date,kind,number,mileage&page_size=1000&page=%d&total=1", page), s.to.Token))
}

// littleSpace is room for some backups, more of them where the customer asks for longer.
func (s *siege) littleSpace() {
	space := "1MiB"
	if *long {
		space = "8MiB"
	}
	s.options.Extra = strings.Replace(s.options.Extra, "webhooks: {", "webhooks: {space: "+space+", ", 1)
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

// pipedLog has the log read until the attack begins.
func (s *siege) pipedLog() {
	read, write, err := os.Pipe()
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, read.Close()) })
	s.t.Cleanup(func() { require.NoError(s.t, write.Close()) })
	stalled := make(chan struct{})
	go func() {
		for part := make([]byte, 64<<10); ; {
			if _, err := read.Read(part); err != nil {
				return
			}
			select {
			case <-stalled:
				return
			default:
			}
		}
	}()
	s.options.Stderr = write
	s.breaks = func() { close(stalled) }
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

func (s *siege) onPostgres() { s.options.DSN = rig.Engines[1].DSN(s.t) }

// lock has somebody else run a statement in a transaction that ends with the test.
func (s *siege) lock(statement string) {
	s.breaks = func() {
		conn := s.connect()
		_, err := conn.Exec(s.t.Context(), "BEGIN")
		require.NoError(s.t, err)
		_, err = conn.Exec(s.t.Context(), statement)
		require.NoError(s.t, err)
	}
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

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"frontdesk/backend/sqlrecord/sqltest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// built is the real program, built by the first test that wants it.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// binary returns the path of the real program.
func binary(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "frontdesk-binary-"); built.err != nil {
			return
		}
		build := exec.Command("go", "build", "-o", built.dir, "frontdesk/cmd/frontdesk")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is shipped: it needs no library
		out, err := build.CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	require.NoError(t, built.err)
	return filepath.Join(built.dir, "frontdesk")
}

// command runs a command line of the real program, with that standard input, to
// its end.
func command(t testing.TB, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	c := exec.Command(binary(t), args...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &out, &problems
	if err := c.Run(); c.ProcessState == nil {
		require.NoError(t, err)
	}
	return c.ProcessState.ExitCode(), out.String(), problems.String()
}

// removeBinary is called after the last test.
func removeBinary() error { return os.RemoveAll(built.dir) } // "" removes nothing

// child is the real program as a process of its own.
type child struct {
	desk
	process *exec.Cmd
	ended   chan struct{} // after which code is known
}

// startChild starts frontdesk serve on a database that is there.
func startChild(t testing.TB, o deskOptions) *child {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "frontdesk.yaml")
	c := &child{desk: desk{t: t, ops: freeAddress(t), mail: filepath.Join(dir, "mail"), log: new(lockedBuffer)}, ended: make(chan struct{})}
	require.NoError(t, os.WriteFile(file, o.config(&c.desk, dir), 0o600))
	c.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 60 * time.Second}
	c.process = exec.Command(binary(t), "serve", "--config", file)
	if o.descriptors > 0 {
		c.process = exec.Command("sh", "-c", `ulimit -n "$1"; shift; exec "$@"`, "sh", strconv.Itoa(o.descriptors), binary(t), "serve", "--config", file)
	}
	c.process.Stderr = c.log
	stdout, err := c.process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.process.Start())
	ready := make(chan string, 1)
	go func() {
		defer close(c.ended)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if base, ok := strings.CutPrefix(lines.Text(), "ready: "); ok {
				ready <- strings.TrimSuffix(base, "/")
			}
		}
		_ = c.process.Wait() // how it ended is in ProcessState
		c.code = c.process.ProcessState.ExitCode()
	}()
	t.Cleanup(c.kill)
	select {
	case c.base = <-ready:
	case <-c.ended:
		t.Fatalf("frontdesk did not start (exit code %d):\n%s", c.code, c.log)
	}
	return c
}

// kill ends the process with no chance to clean up, and waits until it is gone.
func (c *child) kill() {
	_ = c.process.Process.Kill() // it may have ended by itself
	<-c.ended
	c.http.CloseIdleConnections()
}

// attempt is an order that a client sent, and what it was told.
type attempt struct {
	reference string // which no other order has
	key       string // Idempotency-Key; "" for none
	body      string
	lines     int
	answer    answer // Status 0 where none came
}

func newAttempt(random *rand.Rand, round, client, n, contact, group int) *attempt {
	a := &attempt{reference: fmt.Sprintf("R%d-%d-%d", round, client, n), lines: random.IntN(5)}
	if n%2 == 0 {
		a.key = "kill-" + a.reference
	}
	var lines []string
	for i := range a.lines {
		lines = append(lines, fmt.Sprintf(`{"description":"Line %d","quantity":%d,"price":12.95,"turnover_group_id":%d}`, i, i+1, group))
	}
	extra := fmt.Sprintf(`,"reference":%q`, a.reference)
	if a.lines > 0 {
		extra += `,"orderlines":[` + strings.Join(lines, ",") + `]`
	}
	a.body = fmt.Sprintf(newOrder, contact, extra)
	return a
}

func (a *attempt) send(c *child, token string) (answer, error) {
	if a.key == "" {
		return c.try("POST", "/order", token, a.body)
	}
	return c.try("POST", "/order", token, a.body, "Idempotency-Key", a.key)
}

// killRun is a database that frontdesk is killed on, over and over.
type killRun struct {
	t       *testing.T
	dsn     string
	random  *rand.Rand
	table   *tabwriter.Writer
	summary bytes.Buffer
	orders  map[string]bool // the numbers of all orders that were answered
}

// TestKill kills the program with kill -9 while clients create orders, starts
// it again and looks for every record that it had answered.
func TestKill(t *testing.T) {
	rounds := map[string]int{"sqlite": 2, "postgres": 1}
	if sqltest.Soak() {
		rounds = map[string]int{"sqlite": 50, "postgres": 50}
	}
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("random seed %d", seed)
			run := &killRun{t: t, dsn: engine.dsn(t), random: rand.New(rand.NewPCG(seed, seed)), orders: map[string]bool{}}
			run.table = tabwriter.NewWriter(&run.summary, 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprintln(run.table, "round\tanswered\tlines\twith key\tunanswered\tof these stored\treplayed\t")
			defer func() {
				run.table.Flush()
				t.Logf("kill -9 on %s\n%s", engine.name, &run.summary)
			}()
			for round := range rounds[engine.name] {
				attempts := run.untilKilled(round)
				run.check(round, attempts)
				run.integrity()
			}
		})
	}
}

// untilKilled lets eight clients create orders until the program is killed, at
// a moment that none of them chose.
func (k *killRun) untilKilled(round int) []*attempt {
	k.t.Helper()
	c := startChild(k.t, deskOptions{dsn: k.dsn})
	token := c.login(fullKey, "demo")
	contact := c.create(token, "contact", newContact)
	group := int(c.list(token, "/turnovergroup?page_size=1000")[0]["id"].(float64))

	const clients = 8
	moment := int64(clients + k.random.IntN(250)) // in answers
	answered := make(chan struct{}, clients)
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for range moment {
			<-answered
		}
		c.kill()
	}()
	attempts := make([][]*attempt, clients)
	var end sync.WaitGroup
	for client := range clients {
		random := rand.New(rand.NewPCG(k.random.Uint64(), uint64(client)))
		end.Go(func() {
			for n := 0; ; n++ {
				a := newAttempt(random, round, client, n, contact, group)
				attempts[client] = append(attempts[client], a)
				got, err := a.send(c, token)
				if err != nil {
					return // it is dead
				}
				a.answer = got
				select {
				case answered <- struct{}{}:
				case <-killed:
				}
			}
		})
	}
	end.Wait()
	<-killed
	var all []*attempt
	for _, of := range attempts {
		all = append(all, of...)
	}
	return all
}

// check starts the program again and compares.
func (k *killRun) check(round int, attempts []*attempt) {
	t := k.t
	t.Helper()
	c := startChild(t, deskOptions{dsn: k.dsn})
	token := c.login(fullKey, "demo")
	var answered, lines, keys, unanswered, stored, replayed int
	for _, a := range attempts {
		found := c.list(token, "/order?reference="+a.reference)
		require.LessOrEqual(t, len(found), 1, "%s is there twice", a.reference)
		if a.answer.Status == 0 {
			unanswered++
			stored += len(found)
		} else {
			require.Equal(t, 201, a.answer.Status, "%s", a.answer.Body)
			require.Len(t, found, 1, "%s was answered and is gone", a.reference)
			require.Equal(t, a.answer.data(t), found[0])
			require.False(t, k.orders[found[0]["number"].(string)], "number %v was given twice", found[0]["number"])
			answered++
			lines += a.lines
		}
		for _, order := range found {
			k.orders[order["number"].(string)] = true
			k.wholeOrder(c, token, a, order)
		}
		if a.key == "" {
			continue
		}
		again, err := a.send(c, token)
		require.NoError(t, err)
		require.Equal(t, 201, again.Status, "%s", again.Body)
		require.Equal(t, len(found) == 1, again.Header.Get("Idempotent-Replayed") == "true", "%s", a.reference)
		if a.answer.Status != 0 {
			keys++
			require.Equal(t, string(a.answer.Body), string(again.Body))
			require.Equal(t, a.answer.Header.Get("Location"), again.Header.Get("Location"))
		}
		if len(found) == 1 {
			replayed++
		}
		after := c.list(token, "/order?reference="+a.reference)
		require.Len(t, after, 1)
		k.orders[after[0]["number"].(string)] = true
	}
	// The counter has not fallen behind.
	number := c.call("POST", "/order", token, fmt.Sprintf(newOrder, 1, "")).data(t)["number"].(string)
	require.False(t, k.orders[number], "number %s was given twice", number)
	k.orders[number] = true
	fmt.Fprintf(k.table, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", round+1, answered, lines, keys, unanswered, stored, replayed)
	c.kill()
}

// wholeOrder checks that an order has all its lines, and their sum.
func (k *killRun) wholeOrder(c *child, token string, a *attempt, order map[string]any) {
	k.t.Helper()
	id := int(order["id"].(float64))
	lines := c.list(token, fmt.Sprintf("/orderline?order_id=%d", id))
	require.Len(k.t, lines, a.lines, "%s", a.reference)
	cents := 0
	for i := range a.lines {
		cents += 1295 * (i + 1)
	}
	require.InDelta(k.t, float64(cents)/100, order["total_excl"], 0.001)
	whole := c.call("GET", fmt.Sprintf("/order/%d?fields=orderlines", id), token, "").data(k.t)
	require.Len(k.t, whole["orderlines"], a.lines, "%v", whole)
}

// integrity judges the database itself, while nothing has it open.
func (k *killRun) integrity() {
	k.t.Helper()
	const orphans = `SELECT count(*) FROM orderline l WHERE NOT EXISTS (SELECT 1 FROM "order" o WHERE o.id = l.order_id)`
	path, ok := strings.CutPrefix(k.dsn, "sqlite:")
	if !ok {
		conn, err := pgx.Connect(context.Background(), k.dsn)
		require.NoError(k.t, err)
		var n int
		require.NoError(k.t, conn.QueryRow(context.Background(), orphans).Scan(&n))
		require.Zero(k.t, n)
		require.NoError(k.t, conn.Close(context.Background()))
		return
	}
	require.Equal(k.t, []string{"ok"}, askSQLite(k.t, path, "PRAGMA integrity_check"))
	require.Empty(k.t, askSQLite(k.t, path, "PRAGMA foreign_key_check"))
	require.Equal(k.t, []string{"0"}, askSQLite(k.t, path, orphans))
}

// askSQLite returns the first column of what a statement answers.
func askSQLite(t testing.TB, path, sql string) []string {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	var all []string
	require.NoError(t, sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{ResultFunc: func(st *sqlite.Stmt) error {
		all = append(all, st.ColumnText(0))
		return nil
	}}))
	return all
}

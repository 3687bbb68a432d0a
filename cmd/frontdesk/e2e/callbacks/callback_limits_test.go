package callbacks

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/gateway/webhook/webhooktest"
)

// TestCallbackFullSpace fills what results may take, and a disk that is too small for it:
// what there is no room for is not promised, and nothing else suffers.
func TestCallbackFullSpace(t *testing.T) {
	t.Parallel()
	for name, full := range map[string]struct {
		bound func(*desk.Bounds)
		mount bool
	}{
		"all their space": {func(b *desk.Bounds) { b.ResultSpace = 1 << 20 }, false},
		"a full disk":     {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			h, options := rig.NewHooks(t, nil)
			options.DSN = rig.Engines[0].DSN(t)
			folder := t.TempDir()
			if full.mount {
				rig.TinyDisk(t, folder, "1m")
			}
			options.Bound = full.bound
			options.Extra = regexp.MustCompile(`folder: "[^"]*"`).ReplaceAllLiteralString(options.Extra, fmt.Sprintf("folder: %q", folder))
			options.Extra += "callbacks: [\"GET /order\"]\n"
			d := rig.Start(t, options)
			token := d.Login(rig.HookedKey, "demo")
			ask := func(token string) rig.Answer {
				return d.Call("GET", "/order?page_size=1000&webhook_url="+url.QueryEscape(h.Address()), token, "")
			}
			kept := func(a rig.Answer) (id string) {
				id = a.Promise(t)
				require.Equal(t, id, h.Next(t))
				return id
			}
			first := kept(ask(token))
			whole := d.Download(d.Collect(token, first))
			all, a := 1, ask(token)
			for ; a.Status == 202; a = ask(token) {
				require.Equal(t, 200, d.Call("GET", "/webhook?id="+kept(a), token, "").Status, "what was promised is there")
				all++
				require.Less(t, all*len(whole.Body), 1<<20, "the room never ends")
			}
			a.Refused(t, 503, "Server is busy", "no room")
			require.Equal(t, "60", a.Header.Get("Retry-After"))
			require.Greater(t, all*len(whole.Body), 1<<19, "one client alone has most of it")
			ready := d.OpsText("/readyz")
			require.Contains(t, ready, "results of callbacks that were not fetched take")
			require.Contains(t, ready, "most of it those of client Demo Garage")
			require.Contains(t, d.OpsText("/"), "… most of the rest: Demo Garage")
			require.Contains(t, d.OpsText("/metrics"), fmt.Sprintf("frontdesk_callback_space_bytes{stage=\"kept\"} %d\n", all*len(whole.Body)))
			require.Contains(t, d.OpsText("/metrics"), `frontdesk_refusals_total{key="hooked",reason="space"} 1`)
			require.Eventually(t, func() bool { return strings.Contains(d.Log.String(), "results take most of their space") }, rig.Patience, 10*time.Millisecond)

			require.Equal(t, 201, d.Call("POST", "/contact", token, rig.NewContact).Status, "the server goes on")
			require.Equal(t, whole.Body, d.Download(d.Collect(token, first)).Body)
			other := d.Login(rig.HookedKey, "other")
			d.Collect(other, kept(ask(other)))
		})
	}
}

// TestCallbackResultsExpire moves the end of a job's work into the past while
// nobody serves it.
func TestCallbackResultsExpire(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		h, options := rig.NewHooks(t, nil)
		options.DSN = dsn
		d := rig.Start(t, options)
		token := d.Login(rig.HookedKey, "demo")
		id := d.Call("POST", "/backup/owner", token, h.Body()).Promise(t)
		require.Equal(t, id, h.Next(t))
		d.Collect(token, id)
		for _, row := range []struct {
			older  time.Duration
			status int
		}{{webhook.Retention - time.Hour, 200}, {2 * time.Hour, 404}} {
			d.Shutdown()
			rig.OnJobs(t, dsn, func(s *jobstore.Store) {
				_, err := s.Change(t.Context(), id, func(j webhook.Job) (webhook.Job, *webhook.Try, error) {
					j.Created, j.Started, j.Finished = j.Created.Add(-row.older), j.Started.Add(-row.older), j.Finished.Add(-row.older)
					return j, nil, nil
				})
				require.NoError(t, err)
			})
			d = rig.Start(t, options)
			token = d.Login(rig.HookedKey, "demo")
			a := d.Call("GET", "/webhook?id="+id, token, "")
			require.Equal(t, row.status, a.Status, "%s", a.Body)
			if row.status == 404 {
				a.Refused(t, 404, "Field: id value: "+id+" not found", "too old")
				require.Eventually(t, func() bool {
					left, err := filepath.Glob(filepath.Join(resultsFolder(options), id+"*"))
					return err == nil && len(left) == 0
				}, rig.Patience, 10*time.Millisecond, "the file goes too")
			}
		}
	})
}

func resultsFolder(o rig.Options) string {
	return regexp.MustCompile(`folder: "([^"]*)"`).FindStringSubmatch(o.Extra)[1]
}

// TestCallbackDownloadAfterRestart takes a download up again that a restart cut
// off, by the address that was handed out before.
func TestCallbackDownloadAfterRestart(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		h, options := rig.NewHooks(t, nil)
		options.DSN = dsn
		d := rig.Start(t, options)
		token := d.Login(rig.HookedKey, "demo")
		id := d.Call("POST", "/backup/owner", token, h.Body()).Promise(t)
		require.Equal(t, id, h.Next(t))
		address := strings.TrimPrefix(d.Collect(token, id), d.Base)
		whole := d.Download(address)
		require.Equal(t, 200, whole.Status)
		etag, half := whole.Header.Get("ETag"), len(whole.Body)/2
		begun := d.Download(address, "Range", fmt.Sprintf("bytes=0-%d", half-1))
		require.Equal(t, 206, begun.Status)
		d.Shutdown()

		again := rig.Start(t, options)
		rest := again.Download(address, "Range", fmt.Sprintf("bytes=%d-", half), "If-Range", etag)
		require.Equal(t, 206, rest.Status, "%s", rest.Body)
		require.True(t, bytes.Equal(whole.Body, append(begun.Body, rest.Body...)), "byte for byte")
		require.Equal(t, whole.Body, again.Download(address).Body)
		again.Ranges(address, whole)
		again.RequireBackup(again.Login(rig.HookedKey, "demo"), whole.Body)
	})
}

// TestCallbackFolderHasOneOwner starts a second frontdesk on the folder of one
// that serves.
func TestCallbackFolderHasOneOwner(t *testing.T) {
	t.Parallel()
	_, options := rig.NewHooks(t, nil)
	options.DSN = rig.Engines[0].DSN(t)
	d := rig.Start(t, options)
	file := filepath.Join(t.TempDir(), "frontdesk.yaml")
	config := fmt.Sprintf(rig.DeskConfig, "", rig.FreeAddress(t), rig.Engines[0].DSN(t), "", t.TempDir(), options.Extra, options.Keys)
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	code, _, problems := rig.Command(t, "", "serve", "--config", file)
	require.Equal(t, 1, code)
	require.Contains(t, problems, "the folder of results "+resultsFolder(options)+" is in use by another frontdesk: give each a webhooks.folder of its own")
	require.Equal(t, 200, d.Call("GET", "/contact/1", d.Login(rig.FullKey, "demo"), "").Status, "the first goes on")
	d.Shutdown()
	rig.Start(t, options)
}

// badReceivers are what a client's server may do wrong, and what the journal
// says of the first try.
var badReceivers = map[string]struct {
	serve http.HandlerFunc
	tried string // status and reason
}{
	"hangs":              {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, `0 +\S+ +timeout`},
	"answers 500":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, `500 +\S+ +status`},
	"redirects inside":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(302) }, `302 +\S+ +redirect`},
	"never ends":         {neverEnds, `200 +\S+ *`},
	"hangs up":           {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, `0 +\S+ +answer`},
	"hangs up half-way":  {hangsUpHalfWay, `200 +\S+ *`},
	"fails and hangs up": {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503); hangsUpHalfWay(w, r) }, `503 +\S+ +status`},
}

func neverEnds(w http.ResponseWriter, _ *http.Request) {
	for block := make([]byte, 4096); ; {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func hangsUpHalfWay(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, "half")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// TestCallbackReceivers has one client with every receiver that there should not
// be, and another whose receiver works. That a hanging receiver delays nobody else's
// callbacks, TestAClientsHangingReceiversDelayNoOtherClient of gateway/webhook shows.
func TestCallbackReceivers(t *testing.T) {
	t.Parallel()
	h, options := rig.NewHooks(t, nil)
	options.DSN = rig.Engines[0].DSN(t)
	var inside atomic.Int32
	private := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) })
	authority := webhooktest.NewAuthority(t)
	target := authority.Serve(t, "127.0.0.1", private)
	addresses, ports := map[string]string{}, []string{fmt.Sprint(webhooktest.Port(t, h.Server))}
	for name, bad := range badReceivers {
		s := authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", target.URL)
			bad.serve(w, r)
		}))
		addresses[name] = s.URL + "/bad"
		ports = append(ports, fmt.Sprint(webhooktest.Port(t, s)))
	}
	trust := regexp.MustCompile(`ca_file: "([^"]*)"`).FindStringSubmatch(options.Extra)[1]
	join(t, trust, authority.File(t))
	options.Extra = regexp.MustCompile(`ports: \[[^]]*\]`).ReplaceAllString(options.Extra, "ports: ["+strings.Join(ports, ", ")+"]")
	d := rig.Start(t, options)
	bad, good := d.Login(rig.HookedKey, "demo"), d.Login(rig.HookedKey, "other")
	promised := map[string]string{}
	for range 2 { // more than a host has places for, where it hangs
		for name, address := range addresses {
			promised[name] = d.Call("POST", "/backup/owner", bad, fmt.Sprintf(`{"webhook_url":%q}`, address)).Promise(t)
		}
	}
	for range 5 {
		id := d.Call("POST", "/backup/owner", good, h.Body()).Promise(t)
		require.Equal(t, id, h.Next(t))
		d.Collect(good, id)
	}
	rig.OnJobs(t, options.DSN, func(jobs *jobstore.Store) {
		for name, id := range promised {
			require.Eventually(t, func() bool {
				tries, err := jobs.Journal(t.Context(), id)
				return err == nil && len(tries) > 0
			}, 2*rig.Patience, 10*time.Millisecond, name)
		}
	})
	for name, receiver := range badReceivers {
		require.Regexp(t, `(?m)^1 +\S+ \S+ \S+ +`+receiver.tried+`$`, d.Show(promised[name]), name)
	}
	require.Zero(t, inside.Load(), "nobody followed")
	require.Empty(t, h.Calls)
}

// join appends a file to another.
func join(t *testing.T, file, more string) {
	t.Helper()
	data, err := os.ReadFile(more)
	require.NoError(t, err)
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(before, data...), 0o600))
}

// TestSlowAnswersAreCounted has writes wait for a lock that the test holds.
func TestSlowAnswersAreCounted(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		d := rig.Start(t, rig.Options{DSN: dsn})
		token := d.Login(rig.FullKey, "demo")
		require.Equal(t, 201, d.Call("POST", "/contact", token, rig.NewContact).Status)
		slow := func() (n int) {
			text := d.OpsText("/metrics")
			match := regexp.MustCompile(`(?m)^frontdesk_slow_answers_total\{endpoint="/contact",method="POST"\} (\d+)$`).FindStringSubmatch(text)
			require.NotNil(t, match, text)
			_, err := fmt.Sscan(match[1], &n)
			require.NoError(t, err)
			return n
		}
		before := slow()
		// How long a request is on its way before it is timed is nobody's
		// business, so that the lock is held for longer until it was long enough.
		for held := 600 * time.Millisecond; slow() == before; held *= 2 {
			require.Less(t, held, 10*time.Second)
			release := lockWrites(t, dsn)
			done := make(chan int)
			go func() {
				a, _ := d.Try("POST", "/contact", token, rig.NewContact)
				done <- a.Status
			}()
			<-time.After(held)
			release()
			require.Equal(t, 201, <-done)
		}
	})
}

// lockWrites keeps contacts from being written until it is released.
func lockWrites(t *testing.T, dsn string) (release func()) {
	t.Helper()
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
		require.NoError(t, err)
		require.NoError(t, sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil))
		return func() { require.NoError(t, conn.Close()) }
	}
	ctx, cancel := context.WithTimeout(context.Background(), rig.Patience)
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "BEGIN; LOCK TABLE contact IN EXCLUSIVE MODE")
	require.NoError(t, err)
	return func() {
		require.NoError(t, conn.Close(ctx))
		cancel()
	}
}

package callbacks

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

// TestReplaySeveral: of many jobs those are made due that are named, and no other, after they were
// listed, and with what clients call themselves in a form that does a terminal no harm. TestCallbacksByReceiver has callbacks made
// again on PostgreSQL too.
func TestReplaySeveral(t *testing.T) {
	t.Parallel()
	dsn := rig.Engines[0].DSN(t)
	const many = 520 // more than are read at once
	begun := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	job := func(n int, host string, state webhook.State) webhook.Job {
		return webhook.Job{
			ID: fmt.Sprintf("%s%d", strings.ReplaceAll(host, ".", ""), n), Callback: "https://" + host + "/hook?secret=Kanarie", State: state, Tries: 10,
			Owner: webhook.Owner{Key: "full", User: auth.User{Username: "demo", Client: auth.Client{ID: 1, Name: "Garage \x1b[31m"}}},
			Work:  webhook.Work{Kind: "backup"}, Created: begun, Finished: begun, Result: webhook.Result{File: "f", Name: "f.zip"},
		}
	}
	rig.OnJobs(t, dsn, func(s *jobstore.Store) {
		add := func(j webhook.Job, problem string, status int) {
			require.NoError(t, s.Add(t.Context(), j))
			_, err := s.Change(t.Context(), j.ID, func(j webhook.Job) (webhook.Job, *webhook.Try, error) {
				return j, &webhook.Try{Job: j.ID, Number: 10, At: begun, Status: status, Error: problem}, nil
			})
			require.NoError(t, err)
		}
		for n := range many {
			add(job(n, "down.example", webhook.Exhausted), webhook.ErrStatus, 503)
		}
		add(job(0, "slow.example", webhook.Exhausted), webhook.ErrTimeout, 0)
		add(job(0, "fine.example", webhook.CalledBack), "", 204)
		require.NoError(t, s.Add(t.Context(), job(0, "new.example", webhook.Accepted)))
	})
	states := func() (all map[webhook.State]int) {
		t.Helper()
		rig.OnJobs(t, dsn, func(s *jobstore.Store) {
			all = must.Have(s.States(t.Context()))(t)
		})
		return all
	}
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, problems := rig.CommandLine(t, dsn, append([]string{"callbacks"}, args...)...)
		require.Equal(t, want, code, "%v: %s%s", args, out, problems)
		require.NotContains(t, out+problems, "Kanarie")
		require.NotContains(t, out+problems, "\x1b")
		return out + problems
	}
	before := states()
	for _, wrong := range [][]string{{"replay"}, {"list", "--error", "tiemout"}} {
		run(2, wrong...)
	}
	told := run(0, "list", "--failing", "--limit", "600")
	require.Equal(t, 520, strings.Count(told, "given up after 10 calls: status 503"))
	require.Equal(t, 1, strings.Count(told, "given up after 10 calls: timeout"))
	replay := func(want int, flags ...string) string {
		t.Helper()
		ids := strings.Fields(run(0, append([]string{"list", "--ids"}, flags...)...))
		require.Len(t, ids, want)
		return run(0, append([]string{"replay"}, ids...)...)
	}
	require.Contains(t, run(1, "replay", "newexample0", "none"), "there is no job none")
	require.Equal(t, before, states())

	replay(1, "--error", "timeout")
	told = replay(520, "--error", "status 503", "--host", "down.example", "--client", "Garage \x1b[31m", "--failing")
	require.Equal(t, 520, strings.Count(told, " is due again; "))
	require.Equal(t, 520, strings.Count(told, `"what":"callbacks replay","whom":"job downexample`))
	after := states()
	require.Equal(t, []int{521, 0, 1, 1}, []int{after[webhook.Done], after[webhook.Exhausted], after[webhook.CalledBack], after[webhook.Accepted]})
	j, _ := storedJob(t, dsn, "downexample0")
	require.Zero(t, j.Tries)
	replay(1, "--state", "called_back", "--host", "fine.example")
	require.Contains(t, run(0, "list", "--host", "down.example", "--error", "status", "--limit", "1"), "status 503")
	require.Contains(t, run(0, "list", "--error", "status 500"), "No callback")
}

// pageOfCallbacks is what a test reads of the page.
type pageOfCallbacks struct {
	Receivers []struct {
		Host    string
		States  map[webhook.State]int
		Failing int
		NextTry *time.Time `json:"next_try"`
	}
	Jobs []struct {
		ID, Receiver, Error string
		Tries               int
	}
	Rest  int
	Older string
	Calls []struct {
		Try, Status int
		Error       string
	}
	Ahead []time.Time
}

// TestReceiversAreBounded: a page names the worst receivers and the newest jobs of very many, and
// leads to the rest.
func TestReceiversAreBounded(t *testing.T) {
	t.Parallel()
	dsn, now := rig.Engines[0].DSN(t), time.Now()
	rig.OnJobs(t, dsn, func(s *jobstore.Store) {
		for n := range 120 {
			state := webhook.CalledBack
			if n == 77 {
				state = webhook.Exhausted
			}
			created := now.Add(-time.Duration(n/2) * time.Minute) // two at once
			require.NoError(t, s.Add(t.Context(), webhook.Job{
				ID: fmt.Sprintf("job%03d", n), Callback: fmt.Sprintf("https://h%d.example/hook?<b>Kanarie", n), State: state, Created: created, Finished: created,
				Owner: webhook.Owner{Key: "full", User: auth.User{Username: "<i>", Client: auth.Client{ID: 1, Name: "<script>alert(1)</script>"}}},
			}))
		}
	})
	d := rig.Start(t, rig.Options{DSN: dsn})
	var page pageOfCallbacks
	d.OpsJSON("/callbacks", &page)
	require.Len(t, page.Receivers, 30)
	require.Equal(t, "h77.example", page.Receivers[0].Host)
	require.Equal(t, 90, page.Rest)
	var ids []string
	for {
		for _, j := range page.Jobs {
			ids = append(ids, j.ID)
		}
		if page.Older == "" {
			break
		}
		older := page.Older
		page = pageOfCallbacks{}
		d.OpsJSON(older, &page)
	}
	require.Len(t, ids, 120)
	for n, id := range ids {
		require.Equal(t, fmt.Sprintf("job%03d", n), id)
	}
	html := d.OpsText("/callbacks") + d.OpsText("/callbacks/job077") + d.OpsText("/callbacks?client=%3Cscript%3Ealert(1)%3C/script%3E&receiver=%27%3Bx%27")
	for _, text := range []string{"Kanarie", "<script>alert", "<i>", "<b>"} {
		require.False(t, strings.Contains(html, text), text)
	}
	require.True(t, strings.Contains(html, `--host=&#39;&#39;\&#39;&#39;;x&#39;\&#39;&#39;&#39;`), "the command can be pasted")
	for _, path := range []string{"/callbacks/nobody", "/callbacks/%00", "/callbacks/" + strings.Repeat("x", 4000)} {
		require.Equal(t, http.StatusNotFound, d.AskOps(path).Status, path)
	}
}

package rows

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/backendtest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/mapping"
)

// setting is a desk, the suite that knows how to bring errors about from outside,
// and the operation that is asked.
type setting struct {
	*rig.Practice
	desk  *backendtest.Desk
	model *mapping.Model
	slow  *string // a session whose api_key has had all that it may for now
	op    rig.Described
}

func newSetting(t *testing.T, dsn string) *setting {
	s := &setting{Practice: rig.NewPractice(t, dsn, rig.Circuit(1000, 0)), slow: new(string)}
	var err error
	s.model, err = mapping.LoadModel("")
	require.NoError(t, err)
	o := rig.ConformOptions(s.Base)
	o.HTTP = s.HTTP
	s.desk, err = backendtest.Open(context.Background(), o)
	require.NoError(t, err)
	t.Cleanup(s.desk.Close)
	return s
}

// request is what is asked.
type request = backendtest.Request

// in is the setting within a subtest.
func (s *setting) in(t *testing.T, op rig.Described) *setting {
	inner := *s
	inner.Practice, inner.op = s.Practice.In(t), op
	return &inner
}

// described are the operations.
func (s *setting) described() []rig.Described { return s.Contract().Described(s.model) }

// right is a request that is answered as it should be, and new each time.
func (s *setting) right() request {
	s.T.Helper()
	r, err := s.desk.Right(s.op.Method, s.op.Path)
	require.NoError(s.T, err)
	switch s.op.Name {
	case "endWaitForChanges":
		cursor := changes(s.Practice, "/changes?resource=turnovergroup").Cursor
		a := s.Call("POST", "/changes", s.Token, `{"webhook_url":"https://receiver.invalid/done","after":"`+cursor+`","resource":"turnovergroup"}`) // which nothing under way changes
		require.Equal(s.T, 202, a.Status, "%s", a.Body)
		_, id, _ := strings.Cut(a.Header.Get("Location"), "?id=")
		r.Path = "/changes?id=" + id
	case "getWebhookResult":
		r.Path = "/webhook?id=" + s.backedUp()
	case "downloadResult":
		address, err := url.Parse(s.Call("GET", "/webhook?id="+s.backedUp(), s.Token, "").Data(s.T)["url"].(string))
		require.NoError(s.T, err)
		r.Path = s.op.Path + "?" + address.RawQuery
	}
	return r
}

// ask sends a request.
func (s *setting) ask(r request) rig.Answer {
	s.T.Helper()
	if s.op.Name == "downloadResult" { // is no JSON
		a, err := s.Try(r.Method, r.Path, r.Token, r.Body, r.Headers...)
		require.NoError(s.T, err)
		return a
	}
	return s.Call(r.Method, r.Path, r.Token, r.Body, r.Headers...)
}

// own brings about an error that takes more than requests from outside: false
// where that is not needed.
func (s *setting) own(reason mapping.Reason) ([]rig.Answer, bool) {
	defer s.Faults.None()
	for _, key := range []string{s.op.Name + " " + string(reason), s.many() + " " + string(reason), string(s.op.Scope) + " " + string(reason), string(reason)} {
		if way := ownWays[key]; way != nil {
			return way(s), true
		}
	}
	return nil, false
}

// many is "many" for an operation that writes many records.
func (s *setting) many() string {
	if strings.HasSuffix(s.op.Path, "/bulk") {
		return "many"
	}
	return ""
}

// beside changes a right request with many records: what it has beside them.
func beside(members string) func(*setting) request {
	return func(s *setting) request {
		r := s.right()
		r.Body = "{" + members + "," + r.Body[1:]
		return r
	}
}

func besides(members string) func(*setting) []rig.Answer {
	return func(s *setting) []rig.Answer { return []rig.Answer{s.ask(beside(members)(s))} }
}

// ownWays are the errors that come about by faults of the administration, by
// records that were altered behind the desk's back, by limits and at once: by
// operation and reason, by what is done to a record and reason, or by reason.
var ownWays = map[string]func(*setting) []rig.Answer{
	"internal_error":      broken(func(context.Context) error { return fmt.Errorf("a fault of the test: %w", backend.ErrUnexpected) }),
	"backend_unavailable": broken(rig.Fails),
	"backend_timeout":     broken(func(context.Context) error { return context.DeadlineExceeded }),
	"backend_changed":     broken(func(context.Context) error { return fmt.Errorf("a fault of the test: %w", backend.ErrChanged) }),
	"page_too_large":      broken(func(context.Context) error { return mapping.Fail(mapping.PageTooLarge) }),
	"too_many_requests": changed(func(s *setting, r *request) {
		if *s.slow == "" {
			*s.slow = s.Login(rig.SlowKey, "demo")
			s.Call("GET", "/authenticate/acces", *s.slow, "")
		}
		r.Token = *s.slow
	}),
	"idempotency_key_in_use": func(s *setting) []rig.Answer {
		r := s.right()
		return []rig.Answer{s.Twice(r.Method, r.Path, r.Body)}
	},
	"update field_required": changed(func(s *setting, r *request) {
		for _, f := range s.op.Resource.Fields {
			if f.Required && !f.Primary && !f.Readonly {
				s.alter(r, f.Name, "NULL")
				return
			}
		}
	}),
	"system_record":                 changed(func(s *setting, r *request) { s.alter(r, "is_system", "1") }),
	"many field_required":           changed(func(_ *setting, r *request) { r.Body = "{}" }),
	"many array_needs_element":      changed(func(_ *setting, r *request) { r.Body = `{"records":[]}` }),
	"many varchar_invalid":          besides(`"webhook_url":5`),
	"many varchar_too_long":         besides(`"webhook_url":"https://a.nl/` + letters(2048) + `"`),
	"many custom_validation_failed": besides(`"webhook_url":"http://a.nl"`),
	"getModel body_not_json": func(s *setting) []rig.Answer {
		r := s.right()
		s.Faults.Describes(`{"name":`)
		return []rig.Answer{s.ask(r)}
	},
	"getEmployeeEmail varchar_invalid":     changed(func(_ *setting, r *request) { r.Path = "/empoyee/email?username=%00" }),
	"listChanges custom_validation_failed": changed(func(_ *setting, r *request) { r.Path += "?records=2" }),
	"getDigest custom_validation_failed":   changed(func(_ *setting, r *request) { r.Path += "&ranges=0" }),
	"getDigest int4_invalid":               changed(func(_ *setting, r *request) { r.Path += "&ranges=one" }),
	"createFlatrate float8_invalid":        besides(`"flatratelines":[{"price":"x"}]`),
	"createFlatrate related_id_not_found":  besides(`"flatratelines":[{"article_id":2147483646}]`),
	"createOrder float8_invalid":           besides(`"orderlines":[{"description":"A","quantity":"x","price":1,"turnover_group_id":1}]`),
	"checkAddress varchar_invalid":         changed(func(_ *setting, r *request) { r.Path += "&toevoeging=%00" }),
	"authenticate too_many_requests":       tenWrongLogins,
	"authenticate backend_unavailable":     lacking("app_user"),
	"authenticate backend_timeout":         usersSlow,
	"backupOwner internal_error":           lacking("callback_job"),
	"getWebhookResult internal_error":      lacking("callback_job"),
	"downloadResult internal_error":        lacking("callback_job"),
	"endWaitForChanges internal_error":     lacking("callback_job"),
	"getWebhookResult result_too_large": func(s *setting) []rig.Answer {
		r, id := s.right(), s.startBackup()
		r.Path = "/webhook?id=" + id
		await.True(s.T, func() bool { return s.ask(r).Status == 200 })
		rig.OnJobs(s.T, s.DSN, func(jobs *jobstore.Store) {
			_, err := jobs.Change(context.Background(), id, func(j webhook.Job) (webhook.Job, *webhook.Try, error) {
				j.State, j.Failure, j.NoRoom, j.Result = webhook.Failed, webhook.ErrNoSpace.Error(), true, webhook.Result{}
				return j, nil, nil
			})
			require.NoError(s.T, err)
		})
		return []rig.Answer{s.ask(r)}
	},
}

// changed asks a right request in which something was changed.
func changed(change func(*setting, *request)) func(*setting) []rig.Answer {
	return func(s *setting) []rig.Answer {
		r := s.right()
		change(s, &r)
		return []rig.Answer{s.ask(r)}
	}
}

// broken asks when the administration fails.
func broken(fail func(context.Context) error) func(*setting) []rig.Answer {
	return func(s *setting) []rig.Answer {
		r := s.right()
		s.Faults.Set(fail)
		return []rig.Answer{s.ask(r)}
	}
}

// alter gives the record of a request, or the newest vehicle, a value behind the
// desk's back. An update has to want something, to be refused.
func (s *setting) alter(r *request, column, value string) {
	s.T.Helper()
	resource, id := "vehicle", `(SELECT max(id) FROM vehicle)`
	if s.op.Resource != nil {
		resource, id = s.op.Resource.Name, r.Path[strings.LastIndexByte(r.Path, '/')+1:]
		r.Body = map[mapping.Scope]string{mapping.OpUpdate: `{"is_archived":0}`}[s.op.Scope]
	}
	s.Alter(`UPDATE "%s" SET "%s" = %s WHERE id = %s`, resource, column, value, id)
}

// lacking asks while the database lacks a table.
func lacking(table string) func(*setting) []rig.Answer {
	return func(s *setting) []rig.Answer {
		r := s.right()
		s.Alter("ALTER TABLE %s RENAME TO elsewhere", table)
		defer s.Alter("ALTER TABLE elsewhere RENAME TO %s", table)
		return []rig.Answer{s.ask(r)}
	}
}

// usersSlow logs in to a desk whose table of users takes its time.
func usersSlow(s *setting) []rig.Answer {
	dsn := rig.Engines[1].DSN(s.T)
	d := rig.Start(s.T, rig.Options{DSN: dsn, Backend: ", timeout: 200ms"})
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(s.T, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "ALTER TABLE app_user RENAME TO all_user; CREATE VIEW app_user AS SELECT u.* FROM all_user u, pg_sleep(60)")
	require.NoError(s.T, err)
	return []rig.Answer{d.Call("GET", rig.LoginPath(rig.FullKey, "demo", "demo"), "", "")}
}

// tenWrongLogins guesses ten times at once, since each guess is slowed; the
// eleventh is refused before it is looked at, although it is right.
func tenWrongLogins(p *setting) []rig.Answer {
	d := rig.Start(p.T, rig.Options{DSN: rig.Engines[0].DSN(p.T)})
	statuses := make(chan int, 10)
	var guesses sync.WaitGroup
	for range 10 {
		guesses.Go(func() {
			a, err := d.Try("GET", rig.LoginPath(rig.FullKey, "demo", "wrong"), "", "")
			if err == nil {
				statuses <- a.Status
			}
		})
	}
	guesses.Wait()
	close(statuses)
	counts := map[int]int{}
	for s := range statuses {
		counts[s]++
	}
	require.Equal(p.T, map[int]int{http.StatusUnauthorized: 9, http.StatusTooManyRequests: 1}, counts)
	d.Login(rig.FullKey, "other")
	return []rig.Answer{d.Call("GET", rig.LoginPath(rig.FullKey, "demo", "demo"), "", "")}
}

// neverAnswered asks a desk whose backend waits until it is given up on.
func neverAnswered(p *setting) (answers []rig.Answer) {
	var f rig.Faults
	rig.InBubble(p.T.(*testing.T), rig.Options{Wrap: f.Wrap}, func(_ *testing.T, d *rig.Desk) {
		token := d.Login(rig.FullKey, "demo")
		f.Set(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		answers = []rig.Answer{d.Call("GET", "/contact/1", token, ""), d.Call("POST", "/contact", token, `{"kind":"person","name":"A"}`)}
	})
	return answers
}

// startBackup is the id of a backup that was begun.
func (s *setting) startBackup() string {
	s.T.Helper()
	a := s.Call("POST", "/backup/owner", s.Token, `{"webhook_url":"https://receiver.invalid/done"}`)
	require.Equal(s.T, 202, a.Status, "%s", a.Body)
	_, id, _ := strings.Cut(a.Header.Get("Location"), "id=")
	return id
}

// backedUp is the id of a backup that is done, the same each time.
func (s *setting) backedUp() string {
	s.T.Helper()
	if *s.Backup == "" {
		*s.Backup = s.startBackup()
		await.True(s.T, func() bool {
			return s.Call("GET", "/webhook?id="+*s.Backup, s.Token, "").Status == 200
		})
	}
	return *s.Backup
}

// ownAnswers are the answers that are no error, and not the one of a right request
// either.
var ownAnswers = map[string]func(*setting) request{
	"getWebhookResult 202": func(s *setting) request {
		r, release := s.right(), make(chan struct{})
		s.Faults.Set(func(context.Context) error { <-release; return nil })
		s.T.Cleanup(func() { s.Faults.None(); close(release) })
		r.Path = "/webhook?id=" + s.startBackup()
		return r
	},
	"many 202":           beside(`"webhook_url":"https://receiver.invalid/done"`),
	"downloadResult 206": part("bytes=0-9"),
	"downloadResult 416": part("bytes=999999999-"),
}

func part(of string) func(*setting) request {
	return func(s *setting) request {
		r := s.right()
		r.Headers = []string{"Range", of}
		return r
	}
}

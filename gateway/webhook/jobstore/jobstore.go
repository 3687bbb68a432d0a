// Package jobstore keeps callback jobs in tables of an SQL database, on the
// engines of package sqlrecord: the smallest durable queue that is fair between
// clients. Where several gateways share a PostgreSQL, it keeps their results too.
// It knows no job's life, which is package webhook's.
package jobstore

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

//go:embed migrations
var migrations embed.FS

var _ webhook.Store = (*Store)(nil)

// Store keeps jobs. It is safe for concurrent use, on PostgreSQL also by
// several processes.
type Store struct{ db sqlrecord.DB }

// Open makes or migrates the tables in a database, which stays its owner's.
func Open(ctx context.Context, db sqlrecord.DB) (*Store, error) {
	if err := sqlrecord.MigrateWith(ctx, db, sqlrecord.Migrations{Table: "frontdesk_callbacks_version", Files: migrations}); err != nil {
		return nil, fmt.Errorf("callback jobs: %w", err)
	}
	return &Store{db: db}, nil
}

// How result columns are read.
var number, words, octets = sqlrecord.Number, sqlrecord.Words, sqlrecord.Octets

// moment returns a moment as an argument of a statement.
func moment(t time.Time) mapping.Value {
	if t.IsZero() {
		return mapping.IntValue(0)
	}
	return mapping.IntValue(t.UnixMilli())
}

// columns returns a job's values in the order of the table. Members of its former
// document that only a newer version knows are preserved.
func columns(j webhook.Job, before string) ([]mapping.Value, error) {
	document, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	document = over(json.RawMessage(before), document)
	return []mapping.Value{
		mapping.TextValue(j.ID), mapping.IntValue(j.Owner.User.Client.ID), mapping.TextValue(j.Host()), mapping.TextValue(string(j.State)),
		moment(j.Created), moment(j.Started), moment(j.Finished), moment(j.Lease), moment(j.NextTry), mapping.TextValue(string(document)),
		mapping.TextValue(j.Work.Kind), mapping.IntValue(j.Taken()), moment(j.Linked), moment(j.Failing),
	}, nil
}

// over merges the members of an object into those that it had before, recursively.
func over(before, now json.RawMessage) json.RawMessage {
	var all, members map[string]json.RawMessage
	if json.Unmarshal(before, &all) != nil || all == nil || json.Unmarshal(now, &members) != nil || members == nil {
		return now
	}
	for name, value := range members {
		all[name] = over(all[name], value)
	}
	merged, err := json.Marshal(all)
	if err != nil {
		return now
	}
	return merged
}

// Add implements webhook.Store.
func (s *Store) Add(ctx context.Context, j webhook.Job) error {
	data := j.Work.Data
	if j.SeparateData > 0 {
		j.Work.Data = nil
	}
	values, err := columns(j, "")
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(c sqlrecord.Conn) error {
		if err := s.admit(ctx, c, j); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `INSERT INTO callback_job
			(id, client_id, host, state, created_at, started_at, finished_at, lease_until, next_try, document, kind, room, linked_at, failing_since)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)`, values...)
		if err == nil && !j.Needs.Any() {
			_, err = c.Exec(ctx, `INSERT INTO callback_needs (job_id, format, model) VALUES (?1, ?2, ?3)`,
				values[0], mapping.IntValue(int64(j.Needs.Format)), mapping.IntValue(int64(j.Needs.Model)))
		}
		if err == nil && j.SeparateData > 0 {
			_, err = c.Exec(ctx, `INSERT INTO callback_work (job_id, data) VALUES (?1, ?2)`, values[0], mapping.BytesValue(data))
		}
		return err
	})
	if errors.Is(err, backend.ErrUnsettled) {
		err = fmt.Errorf("%w: %w", webhook.ErrUnknown, err)
	}
	return err
}

// admit counts the unfinished jobs of the client and api_key. On PostgreSQL one transaction at a time
// does so.
func (s *Store) admit(ctx context.Context, c sqlrecord.Conn, j webhook.Job) error {
	if j.Work.Most == 0 {
		return nil
	}
	if s.db.Dialect().Name == sqlrecord.Postgres().Name {
		if _, err := c.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('callback_job'), 0)`); err != nil {
			return err
		}
	}
	row, err := sqlrecord.One(ctx, c, `SELECT count(*) FROM callback_job WHERE state IN ('accepted', 'running') AND kind = ?1 AND client_id = ?2 AND `+s.member("document", "Owner", "Key")+` = ?3`,
		[]sqlrecord.Column{number}, mapping.TextValue(j.Work.Kind), mapping.IntValue(j.Owner.User.Client.ID), mapping.TextValue(j.Owner.Key))
	if err == nil && row[0].Int() >= int64(j.Work.Most) {
		err = webhook.ErrTooMany
	}
	return err
}

// documents calls each with the jobs whose documents a statement finds.
func (s *Store) documents(ctx context.Context, c sqlrecord.Conn, sql string, args []mapping.Value, each func(j webhook.Job, document string)) error {
	return c.Query(ctx, sql, []sqlrecord.Column{words}, args, func(row []mapping.Value) error {
		j, err := parse(row[0].Text())
		if err == nil {
			each(j, row[0].Text())
		}
		return err
	})
}

// parse returns the job of a document.
func parse(document string) (j webhook.Job, err error) {
	if err = json.Unmarshal([]byte(document), &j); err != nil {
		err = fmt.Errorf("document of a callback job: %w", err)
	}
	return j, err
}

// read returns the jobs whose documents a statement finds.
func (s *Store) read(ctx context.Context, sql string, args ...mapping.Value) (found []webhook.Job, err error) {
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		return s.documents(ctx, c, sql, args, func(j webhook.Job, _ string) { found = append(found, j) })
	})
	return found, err
}

func only(found []webhook.Job, err error) (webhook.Job, error) {
	if err != nil {
		return webhook.Job{}, err
	}
	if len(found) == 0 {
		return webhook.Job{}, webhook.ErrUnknownJob
	}
	return found[0], nil
}

// Get implements webhook.Store.
func (s *Store) Get(ctx context.Context, id string) (webhook.Job, error) {
	if !sqlrecord.CanHold(id) {
		return webhook.Job{}, webhook.ErrUnknownJob
	}
	return only(s.read(ctx, `SELECT document FROM callback_job WHERE id = ?1`, mapping.TextValue(id)))
}

// The conditions of jobs whose callback is still to be made, and of those for which it is due at ?1
// and not being made. coalesce keeps the planner from reading all finished jobs: those to be called
// have an index of their own.
const (
	toCall = `next_try > 0 AND coalesce(state, '') IN ('done', 'failed')`
	due    = toCall + ` AND next_try <= ?1 AND lease_until < ?1`
)

// DueCalls implements webhook.Store.
func (s *Store) DueCalls(ctx context.Context, now time.Time, most int, without []int64) ([]webhook.Job, error) {
	others, args := otherThan(without, []mapping.Value{moment(now), mapping.IntValue(int64(most))})
	return s.read(ctx, `
		WITH busy AS (SELECT client_id, count(*) AS calls FROM callback_job WHERE `+toCall+` AND lease_until >= ?1 GROUP BY client_id),
		due AS (SELECT j.id, j.host, j.client_id, j.next_try, coalesce(b.calls, 0) AS calls
			FROM (SELECT id, host, client_id, next_try FROM callback_job WHERE `+due+others+`) j
			LEFT JOIN busy b ON b.client_id = j.client_id),
		one AS (SELECT *, row_number() OVER (PARTITION BY host ORDER BY calls, next_try, id) AS place FROM due),
		turns AS (SELECT *, row_number() OVER (PARTITION BY client_id ORDER BY next_try, id) AS turn FROM one WHERE place = 1)
		SELECT j.document FROM turns t JOIN callback_job j ON j.id = t.id ORDER BY t.turn, t.calls, t.next_try, t.id LIMIT ?2`, args...)
}

// Change implements webhook.Store.
func (s *Store) Change(ctx context.Context, id string, f func(webhook.Job) (webhook.Job, *webhook.Try, error)) (changed webhook.Job, err error) {
	err = s.db.Write(ctx, func(c sqlrecord.Conn) error {
		before, document, err := s.held(ctx, c, id)
		if err != nil {
			return err
		}
		var try *webhook.Try
		if changed, try, err = f(before); err != nil {
			return err
		}
		values, err := columns(changed, document)
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `UPDATE callback_job SET client_id = ?2, host = ?3, state = ?4, created_at = ?5, started_at = ?6,
			finished_at = ?7, lease_until = ?8, next_try = ?9, document = ?10, kind = ?11, room = ?12, linked_at = ?13, failing_since = ?14 WHERE id = ?1`, values...)
		if err == nil && before.SeparateData > 0 && changed.SeparateData == 0 {
			_, err = c.Exec(ctx, `DELETE FROM callback_work WHERE job_id = ?1`, values[0])
		}
		if err != nil || try == nil {
			return err
		}
		_, err = c.Exec(ctx, `INSERT INTO callback_try VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
			mapping.TextValue(try.Job), moment(try.At), mapping.IntValue(int64(try.Number)), mapping.IntValue(int64(try.Status)),
			mapping.TextValue(try.Error), mapping.IntValue(try.Duration.Milliseconds()))
		return err
	})
	return changed, err
}

// Room implements webhook.Store.
func (s *Store) Room(ctx context.Context, linkedBefore time.Time) (all []webhook.Taken, err error) {
	sql := fmt.Sprintf(`SELECT client_id, kind, stage, count(*), CAST(sum(room) AS BIGINT), min(id) FROM (
		SELECT client_id, kind, room, id, CASE WHEN state IN ('accepted', 'running') THEN %d WHEN %s THEN %d ELSE %d END AS stage
		FROM callback_job WHERE room > 0) taken GROUP BY client_id, kind, stage`, webhook.Reserved, spent, webhook.Spent, webhook.Kept)
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, sql, []sqlrecord.Column{number, words, number, number, number, words}, []mapping.Value{moment(linkedBefore)}, func(row []mapping.Value) error {
			all = append(all, webhook.Taken{
				Client: row[0].Int(), Kind: strings.Clone(row[1].Text()), Stage: webhook.Stage(row[2].Int()), Jobs: int(row[3].Int()), Bytes: row[4].Int(), Job: strings.Clone(row[5].Text()),
			})
			return nil
		})
	})
	return all, err
}

// spent is the condition that a result may be deleted: its last address was given out by ?1.
const spent = `state = 'collected' AND linked_at > 0 AND linked_at <= ?1`

// Spent implements webhook.Store.
func (s *Store) Spent(ctx context.Context, linkedBefore time.Time, most int) ([]webhook.Job, error) {
	return s.read(ctx, `SELECT document FROM callback_job WHERE room > 0 AND `+spent+` ORDER BY linked_at, id LIMIT ?2`,
		moment(linkedBefore), mapping.IntValue(int64(most)))
}

// held returns a job, and locks it until the transaction ends.
func (s *Store) held(ctx context.Context, c sqlrecord.Conn, id string) (j webhook.Job, document string, err error) {
	if !sqlrecord.CanHold(id) {
		return j, "", webhook.ErrUnknownJob
	}
	err = s.documents(ctx, c, `SELECT document FROM callback_job WHERE id = ?1`+s.db.Dialect().ForUpdate, []mapping.Value{mapping.TextValue(id)},
		func(found webhook.Job, text string) { j, document = found, text })
	if err == nil && document == "" {
		err = webhook.ErrUnknownJob
	}
	return j, document, err
}

// Forget implements webhook.Store.
func (s *Store) Forget(ctx context.Context, before time.Time) error {
	return s.db.Write(ctx, func(c sqlrecord.Conn) error {
		const old = `finished_at > 0 AND finished_at < ?1`
		for _, sql := range []string{
			`DELETE FROM callback_try WHERE job_id IN (SELECT id FROM callback_job WHERE ` + old + `)`,
			`DELETE FROM callback_job WHERE ` + old,
		} {
			if _, err := c.Exec(ctx, sql, moment(before)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Release ends the leases of all jobs: for a process that knows that it is the only
// one, when it starts.
func (s *Store) Release(ctx context.Context) error {
	return s.db.Write(ctx, func(c sqlrecord.Conn) error {
		var free [][]mapping.Value
		var err error
		found := s.documents(ctx, c, `SELECT document FROM callback_job WHERE lease_until > 0`, nil, func(j webhook.Job, document string) {
			values, cerr := columns(j.Released(), document)
			free, err = append(free, values), errors.Join(err, cerr)
		})
		if err := errors.Join(found, err); err != nil {
			return err
		}
		for _, values := range free {
			if _, err := c.Exec(ctx, `UPDATE callback_job SET lease_until = 0, document = ?2 WHERE id = ?1`, values[0], values[9]); err != nil {
				return err
			}
		}
		return nil
	})
}

// SigningKeys implements webhook.Store.
func (s *Store) SigningKeys(ctx context.Context, since, old time.Time, fresh webhook.SigningKey) (keys []webhook.SigningKey, err error) {
	err = s.db.Write(ctx, func(c sqlrecord.Conn) error {
		if keys, err = s.signingKeys(ctx, c); err != nil {
			return err
		}
		if len(keys) > 0 && keys[0].Made.After(since) {
			return nil
		}
		_, err := c.Exec(ctx, `INSERT INTO signing_key VALUES (?1, ?2, ?3)`,
			mapping.TextValue(fresh.ID), mapping.BytesValue(fresh.Secret), moment(fresh.Made))
		if err != nil {
			return err
		}
		if _, err := c.Exec(ctx, `DELETE FROM signing_key WHERE made_at < (SELECT max(made_at) FROM signing_key WHERE made_at < ?1)`, moment(old)); err != nil {
			return err
		}
		renewed, err := s.signingKeys(ctx, c)
		if err == nil {
			keys = renewed
		}
		return err
	})
	return keys, err
}

func (s *Store) signingKeys(ctx context.Context, c sqlrecord.Conn) (keys []webhook.SigningKey, err error) {
	sql := `SELECT id, secret, made_at FROM signing_key ORDER BY made_at DESC, id`
	err = c.Query(ctx, sql, []sqlrecord.Column{words, octets, number}, nil, func(row []mapping.Value) error {
		keys = append(keys, webhook.SigningKey{ID: row[0].Text(), Secret: []byte(row[1].Text()), Made: time.UnixMilli(row[2].Int()).UTC()})
		return nil
	})
	return keys, err
}

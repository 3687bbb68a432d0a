package jobstore

import (
	"context"
	"strconv"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// NextWork implements webhook.Store. It chooses among clients before it looks
// at jobs: thousands of one client's cost one pass over an index.
func (s *Store) NextWork(ctx context.Context, now time.Time, able webhook.Needs, without []int64) (next webhook.Job, err error) {
	const waiting = `state IN ('accepted', 'running') AND lease_until < ?1 AND NOT EXISTS (
		SELECT 1 FROM callback_needs n WHERE n.job_id = callback_job.id AND (n.format > ?2 OR n.model > ?3) AND callback_job.created_at >= ?4)`
	others, args := otherThan(without, []mapping.Value{
		moment(now), mapping.IntValue(int64(able.Format)), mapping.IntValue(int64(able.Model)), moment(now.Add(-webhook.Left)),
	})
	sql := `SELECT j.document, w.data FROM callback_job j LEFT JOIN callback_work w ON w.job_id = j.id WHERE j.id = (
		SELECT id FROM callback_job WHERE ` + waiting + ` AND client_id = (
			SELECT client_id FROM (SELECT client_id, min(created_at) AS oldest FROM callback_job WHERE ` + waiting + others + ` GROUP BY client_id) w
			ORDER BY (SELECT count(*) FROM callback_job r WHERE r.client_id = w.client_id AND r.state = 'running' AND r.lease_until >= ?1),
				(SELECT max(s.started_at) FROM callback_job s WHERE s.client_id = w.client_id), oldest, client_id
			LIMIT 1)
		ORDER BY created_at, id LIMIT 1)`
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, sql, []sqlrecord.Column{words, octets}, args, func(row []mapping.Value) error {
			var err error
			if next, err = parse(row[0].Text()); next.SeparateData > 0 {
				next.Work.Data = []byte(row[1].Text())
			}
			return err
		})
	})
	if err == nil && next.ID == "" {
		err = webhook.ErrUnknownJob
	}
	return next, err
}

// Asleep implements webhook.Store.
func (s *Store) Asleep(ctx context.Context, now time.Time) ([]webhook.Job, error) {
	return s.read(ctx, `SELECT document FROM callback_job WHERE state = 'accepted' AND lease_until >= ?1`, moment(now))
}

// otherThan returns the condition that a job is none of these clients', and the arguments
// with those of the condition.
func otherThan(clients []int64, args []mapping.Value) (string, []mapping.Value) {
	condition := ""
	for _, client := range clients {
		args = append(args, mapping.IntValue(client))
		condition += " AND client_id <> ?" + strconv.Itoa(len(args))
	}
	return condition, args
}

// Newer implements webhook.Store.
func (s *Store) Newer(ctx context.Context, able webhook.Needs) (n int, err error) {
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		row, err := sqlrecord.One(ctx, c, `SELECT count(*) FROM callback_needs n JOIN callback_job j ON j.id = n.job_id
			WHERE (n.format > ?1 OR n.model > ?2) AND j.state IN ('accepted', 'running')`,
			[]sqlrecord.Column{number}, mapping.IntValue(int64(able.Format)), mapping.IntValue(int64(able.Model)))
		if err == nil {
			n = int(row[0].Int())
		}
		return err
	})
	return n, err
}

package jobstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// failing is the condition that calls for a job have failed, and that another one is due.
const failing = `failing_since > 0 AND next_try > 0`

// List implements webhook.Store. It sorts the IDs of all jobs that match: an index by age would make
// NextWork slower. It reads the documents of those that it returns, and with Key those of all that
// match otherwise.
func (s *Store) List(ctx context.Context, f webhook.Filter) ([]webhook.Job, error) {
	where, args := s.conditions(f, "j.state")
	most := f.Limit
	if most == 0 {
		most = 100
	}
	args = append(args, mapping.IntValue(int64(most)))
	return s.read(ctx, fmt.Sprintf(`SELECT j.document FROM (SELECT j.id, j.created_at FROM callback_job j WHERE %s ORDER BY j.created_at DESC, j.id LIMIT ?%d) found
		JOIN callback_job j ON j.id = found.id ORDER BY found.created_at DESC, found.id`, strings.Join(where, " AND "), len(args)), args...)
}

// conditions returns those of a filter, with their arguments. state is the expression of the state.
func (s *Store) conditions(f webhook.Filter, state string) (where []string, args []mapping.Value) {
	where = []string{"1 = 1"}
	add := func(condition string, v mapping.Value) {
		args = append(args, v)
		where = append(where, strings.ReplaceAll(condition, "?", fmt.Sprintf("?%d", len(args))))
	}
	if f.State != "" {
		add(state+` = ?`, mapping.TextValue(string(f.State)))
	}
	if f.Failing {
		where = append(where, `(j.state = 'exhausted' OR `+failing+`)`)
	}
	if f.Client != "" { // the name is read in one job of each client
		add(`j.client_id IN (SELECT n.client_id FROM (SELECT min(id) AS id FROM callback_job GROUP BY client_id) c JOIN callback_job n ON n.id = c.id
			WHERE `+s.member("n.document", "Owner", "User", "Client", "Name")+` = ?)`, mapping.TextValue(f.Client))
	}
	if f.Receiver != "" {
		add(`(j.host = ? OR substr(j.host, 1, length(?) + 1) = ? || ':')`, mapping.TextValue(strings.ToLower(f.Receiver)))
	}
	if !f.Before.IsZero() {
		add(`j.created_at <= ?`, moment(f.Before))
	}
	if f.Error != "" {
		add(`EXISTS (SELECT 1 FROM callback_try t WHERE t.job_id = j.id AND ? IN (t.error, t.error || ' ' || t.status)
			AND NOT EXISTS (SELECT 1 FROM callback_try l WHERE l.job_id = t.job_id AND (l.at > t.at OR l.at = t.at AND l.number > t.number)))`, mapping.TextValue(f.Error))
	}
	if f.After != "" {
		add(`EXISTS (SELECT 1 FROM callback_job a WHERE a.id = ? AND (j.created_at < a.created_at OR j.created_at = a.created_at AND j.id > a.id))`, mapping.TextValue(f.After))
	}
	if f.Key != "" {
		add(s.member("j.document", "Owner", "Key")+` = ?`, mapping.TextValue(f.Key))
	}
	return where, args
}

// Receivers counts the jobs of a filter by receiver, at most so many, those with the most failing
// jobs first. It returns how many jobs there are of all receivers, and ignores After and Limit of
// the filter. Without a client, key or error in the filter it reads an index and no document.
func (s *Store) Receivers(ctx context.Context, f webhook.Filter, most int) (rows []webhook.Receiver, jobs int, err error) {
	f.After = ""
	where, args := s.conditions(f, "coalesce(j.state, '')") // so that the index that begins with the state is not used
	args = append(args, mapping.IntValue(int64(most)))
	columns, counts := []sqlrecord.Column{words, number, number, number, number, number}, ""
	for _, state := range webhook.States() {
		columns = append(columns, number)
		counts += fmt.Sprintf(", count(CASE WHEN state = '%s' THEN 1 END)", state)
	}
	sql := fmt.Sprintf(`SELECT host, count(*), CAST(sum(count(*)) OVER () AS BIGINT), count(CASE WHEN %[1]s THEN 1 END) AS failing,
		coalesce(min(CASE WHEN state IN ('accepted', 'running', 'done', 'failed') THEN created_at END), 0), coalesce(min(CASE WHEN next_try > 0 THEN next_try END), 0)%[2]s
		FROM callback_job j WHERE %[3]s GROUP BY host ORDER BY count(CASE WHEN state = 'exhausted' OR %[1]s THEN 1 END) DESC, 2 DESC, host LIMIT ?%[4]d`,
		failing, counts, strings.Join(where, " AND "), len(args))
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		rows = nil
		return c.Query(ctx, sql, columns, args, func(row []mapping.Value) error {
			r := webhook.Receiver{Host: strings.Clone(row[0].Text()), Jobs: int(row[1].Int()), Failing: int(row[3].Int()), Oldest: momentOf(row[4]), NextTry: momentOf(row[5]), States: map[webhook.State]int{}}
			for i, state := range webhook.States() {
				if n := int(row[6+i].Int()); n > 0 {
					r.States[state] = n
				}
			}
			jobs, rows = int(row[2].Int()), append(rows, r)
			return nil
		})
	})
	return rows, jobs, err
}

// momentOf reads a moment of the tables; zero for none.
func momentOf(v mapping.Value) time.Time {
	if v.Int() == 0 {
		return time.Time{}
	}
	return time.UnixMilli(v.Int()).UTC()
}

// member returns the expression of a member of a document, as text.
func (s *Store) member(document string, path ...string) string {
	if s.db.Dialect().Name == sqlrecord.Postgres().Name {
		return fmt.Sprintf(`(%s::json #>> '{%s}')`, document, strings.Join(path, ","))
	}
	return fmt.Sprintf(`json_extract(%s, '$.%s')`, document, strings.Join(path, "."))
}

// Last returns the last call made for each of these jobs, where there was one.
func (s *Store) Last(ctx context.Context, jobs []webhook.Job) (tries map[string]webhook.Try, err error) {
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		tries = map[string]webhook.Try{}
		for _, j := range jobs {
			if err := s.journal(ctx, c, j.ID, `ORDER BY at DESC, number DESC LIMIT 1`, func(t webhook.Try) { tries[j.ID] = t }); err != nil {
				return err
			}
		}
		return nil
	})
	return tries, err
}

// Journal implements webhook.Store.
func (s *Store) Journal(ctx context.Context, id string) (tries []webhook.Try, err error) {
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		tries = nil
		return s.journal(ctx, c, id, `ORDER BY at, number`, func(t webhook.Try) { tries = append(tries, t) })
	})
	return tries, err
}

func (s *Store) journal(ctx context.Context, c sqlrecord.Conn, id, order string, each func(webhook.Try)) error {
	sql := `SELECT at, number, status, error, duration FROM callback_try WHERE job_id = ?1 ` + order
	return c.Query(ctx, sql, []sqlrecord.Column{number, number, number, words, number}, []mapping.Value{mapping.TextValue(id)}, func(row []mapping.Value) error {
		each(webhook.Try{
			Job: id, At: time.UnixMilli(row[0].Int()).UTC(), Number: int(row[1].Int()), Status: int(row[2].Int()),
			Error: strings.Clone(row[3].Text()), Duration: time.Duration(row[4].Int()) * time.Millisecond,
		})
		return nil
	})
}

// States counts the jobs by state, also states without jobs. It reads all of an index.
func (s *Store) States(ctx context.Context) (states map[webhook.State]int, err error) {
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		states = map[webhook.State]int{}
		for _, state := range webhook.States() {
			states[state] = 0
		}
		return c.Query(ctx, `SELECT state, count(*) FROM callback_job GROUP BY state`, []sqlrecord.Column{words, number}, nil, func(row []mapping.Value) error {
			states[webhook.State(strings.Clone(row[0].Text()))] = int(row[1].Int())
			return nil
		})
	})
	return states, err
}

// Pending counts the callbacks that are still to be made by client, those with the most first. It
// reads only these.
func (s *Store) Pending(ctx context.Context, now time.Time) (p webhook.Pending, err error) {
	// The plus keeps the planner from reading all jobs in the order of clients.
	const byClient = `SELECT +client_id, count(*), min(%s), min(id) FROM callback_job WHERE %s GROUP BY 1 ORDER BY 2 DESC, 1`
	ofClients := func(c sqlrecord.Conn, since, where string, args ...mapping.Value) (all []webhook.OfClient, err error) {
		err = c.Query(ctx, fmt.Sprintf(byClient, since, where), []sqlrecord.Column{number, number, number, words}, args, func(row []mapping.Value) error {
			all = append(all, webhook.OfClient{
				Client: row[0].Int(), Jobs: int(row[1].Int()), Since: time.UnixMilli(row[2].Int()).UTC(), Job: strings.Clone(row[3].Text()),
			})
			return nil
		})
		return all, err
	}
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		if p.Due, err = ofClients(c, "next_try", due, moment(now)); err != nil {
			return err
		}
		p.Failing, err = ofClients(c, "failing_since", failing)
		return err
	})
	return p, err
}

package ledger

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// Act is something that somebody did and that others may want to know of: users added,
// blocked or given passwords, sessions ended, callbacks made again, backups made and restored. It has no
// secret in it.
type Act struct {
	ID      string
	At      time.Time // when it was begun
	Ended   time.Time // zero while it is under way, and where it was cut off
	What    string    // as "user block"
	Whom    string    // object of the act: a user, a client, a job
	Who     string    // did it: a user of the system, or api_key and user
	Origin  string    // where the actor is: a host and terminal, or an address
	Outcome Outcome
}

// Outcome is the outcome of an act.
type Outcome string

// What may become of an act. One that was taken for cut off may end all the same, where
// whoever did it could not say so in time.
const (
	UnderWay Outcome = "under way"
	Done     Outcome = "done"
	Failed   Outcome = "failed"
	CutOff   Outcome = "cut off" // nobody has said for a lease that it is under way
)

// ActsKept is how long acts are kept, and ActsOfKind how many of a kind.
const (
	ActsKept   = 365 * 24 * time.Hour
	ActsOfKind = 100_000
)

// Whoever does something says so for a lease, and says so again before that is over. It cannot
// while it holds the only writer of a SQLite file, as a restore does, and its clock may be
// minutes apart from those of others: the lease is longer than that.
const (
	lease    = 30 * time.Minute
	renewed  = time.Minute
	actTime  = 3 * time.Second // that an act is held up at most by each row
	wordsMax = 300             // characters of each text of an act
)

// Do has something done, and keeps that it was begun before it is, and how it ended after. An
// act goes before its row: why that cannot be kept lost is told, and nothing is held up for long.
func (l *Ledger) Do(ctx context.Context, a Act, lost func(error), do func() error) error {
	a.ID = uuid.NewString()
	if err := l.brief(ctx, func(ctx context.Context) error { return l.begin(ctx, a, time.Now()) }); err != nil {
		lost(err)
		return do()
	}
	release := l.hold(ctx, a.ID)
	err := do()
	release()
	a.Outcome = Done
	if err != nil {
		a.Outcome = Failed
	}
	if err := l.brief(context.WithoutCancel(ctx), func(ctx context.Context) error { return l.end(ctx, a, time.Now()) }); err != nil {
		lost(err)
	}
	return err
}

// Keep keeps acts that are over, and that the audit log has: all of them or none.
func (l *Ledger) Keep(ctx context.Context, acts ...Act) error {
	return l.brief(ctx, func(ctx context.Context) error {
		return l.db.Write(ctx, func(c sqlrecord.Conn) error {
			for _, a := range acts {
				a.ID = uuid.NewString()
				ended := mapping.IntValue(a.Ended.UnixMilli())
				if err := l.add(ctx, c, a, ended, ended, mapping.TextValue(string(a.Outcome)), mapping.IntValue(2)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// brief bounds how long a row is waited for.
func (l *Ledger) brief(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, actTime)
	defer cancel()
	return f(ctx)
}

// hold says that an act is under way until it is released.
func (l *Ledger) hold(ctx context.Context, id string) (release func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		again := time.NewTicker(renewed)
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
			}
			// One that fails is made good by the next, or the act is taken for cut off until it ends.
			_ = l.brief(ctx, func(ctx context.Context) error { return l.renew(ctx, id, time.Now()) })
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func (l *Ledger) begin(ctx context.Context, a Act, now time.Time) error {
	a.At = now
	return l.db.Write(ctx, func(c sqlrecord.Conn) error {
		return l.add(ctx, c, a, mapping.IntValue(0), mapping.IntValue(now.Add(lease).UnixMilli()), mapping.TextValue(""), mapping.IntValue(0))
	})
}

func (l *Ledger) add(ctx context.Context, c sqlrecord.Conn, a Act, ended, leased, outcome, told mapping.Value) error {
	_, err := c.Exec(ctx, `INSERT INTO ledger_act (id, at, ended, lease_until, what, whom, who, origin, outcome, told)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`,
		mapping.TextValue(a.ID), mapping.IntValue(a.At.UnixMilli()), ended, leased, said(a.What), said(a.Whom), said(a.Who), said(a.Origin), outcome, told)
	if err != nil {
		return fmt.Errorf("keep an act: %w", err)
	}
	return nil
}

// said is a text that databases can hold, and nobody can fill them with.
func said(text string) mapping.Value {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
	if runes := []rune(text); len(runes) > wordsMax {
		text = string(runes[:wordsMax-1]) + "…"
	}
	return mapping.TextValue(text)
}

func (l *Ledger) renew(ctx context.Context, id string, now time.Time) error {
	_, err := sqlrecord.Change(ctx, l.db, `UPDATE ledger_act SET lease_until = ?2 WHERE id = ?1 AND ended = 0`, mapping.TextValue(id), mapping.IntValue(now.Add(lease).UnixMilli()))
	return err
}

func (l *Ledger) end(ctx context.Context, a Act, now time.Time) error {
	n, err := sqlrecord.Change(ctx, l.db, `UPDATE ledger_act SET ended = ?2, outcome = ?3 WHERE id = ?1`,
		mapping.TextValue(a.ID), mapping.IntValue(now.UnixMilli()), mapping.TextValue(string(a.Outcome)))
	if err == nil && n == 0 {
		err = errors.New("somebody has removed its row")
	}
	if err != nil {
		return fmt.Errorf("keep how an act ended: %w", err)
	}
	return nil
}

// CutOffAll ends the leases of acts that seem to be under way: in a database that was put back,
// nobody is at what was under way when it was copied.
func (l *Ledger) CutOffAll(ctx context.Context, now time.Time) error {
	_, err := sqlrecord.Change(ctx, l.db, `UPDATE ledger_act SET lease_until = ?1 WHERE ended = 0 AND lease_until > ?1`, mapping.IntValue(now.UnixMilli()-1))
	return err
}

// takenAtOnce is how many acts one look takes.
const takenAtOnce = 100

// Take returns the acts that the audit log has not told yet, and that are over or cut off. Of
// several gateways that look at once each act is one's, which tells it: where that ends before
// it has, only the table has the act.
func (l *Ledger) Take(ctx context.Context, now time.Time) (taken []Act, err error) {
	untold, err := l.acts(ctx, now, `WHERE told < 2 AND (ended > 0 OR told = 0 AND lease_until < ?1) ORDER BY at, id LIMIT ?2`,
		mapping.IntValue(now.UnixMilli()), mapping.IntValue(takenAtOnce))
	if err != nil || len(untold) == 0 {
		return nil, err
	}
	err = l.db.Write(ctx, func(c sqlrecord.Conn) error {
		taken = nil
		for _, a := range untold {
			sql, args := `UPDATE ledger_act SET told = 2 WHERE id = ?1 AND told < 2`, []mapping.Value{mapping.TextValue(a.ID)}
			if a.Outcome == CutOff { // unless it has said in the meantime that it goes on, or how it ended
				sql, args = `UPDATE ledger_act SET told = 1 WHERE id = ?1 AND told = 0 AND ended = 0 AND lease_until < ?2`, append(args, mapping.IntValue(now.UnixMilli()))
			}
			n, err := c.Exec(ctx, sql, args...)
			if err != nil {
				return err
			}
			if n == 1 {
				taken = append(taken, a)
			}
		}
		return nil
	})
	return taken, err
}

// ActFilter narrows a list of acts. The zero filter is all of them.
type ActFilter struct {
	Since     time.Time // begun then or later
	What, Who string    // parts of these, in whatever case
	Limit     int       // 0 for 100
}

// Acts returns the acts, newest first, as they are now.
func (l *Ledger) Acts(ctx context.Context, f ActFilter, now time.Time) ([]Act, error) {
	if f.Limit == 0 {
		f.Limit = 100
	}
	since := int64(0)
	if !f.Since.IsZero() {
		since = f.Since.UnixMilli()
	}
	return l.acts(ctx, now, `WHERE at >= ?1 AND lower(what) LIKE ?2 ESCAPE '\' AND lower(who) LIKE ?3 ESCAPE '\' ORDER BY at DESC, id LIMIT ?4`, mapping.IntValue(since), anywhere(f.What), anywhere(f.Who), mapping.IntValue(int64(f.Limit)))
}

// anywhere is a text as LIKE finds it anywhere.
func anywhere(text string) mapping.Value {
	return mapping.TextValue("%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(text)) + "%")
}

// What one call of ForgetActs removes: so many times as much as one transaction, which keeps
// nobody waiting for long.
const (
	forgottenAtOnce = 1000
	forgottenTimes  = 10
)

// ForgetActs removes the acts that were begun before, and of each kind those that are not among its
// newest so many: clients that do one thing all day push out nothing else. It tells whether there
// may be more of them, which the next call removes.
func (l *Ledger) ForgetActs(ctx context.Context, before time.Time, most int) (more bool, err error) {
	if more, err = l.forget(ctx, `at < ?1`, mapping.IntValue(before.UnixMilli())); more || err != nil {
		return more, err
	}
	crowds, err := l.crowds(ctx, most)
	for _, c := range crowds {
		one, err := l.forget(ctx, `what = ?1 AND at <= ?2`, mapping.TextValue(c.What), mapping.IntValue(c.At.UnixMilli()))
		if err != nil {
			return false, err
		}
		more = more || one
	}
	return more, err
}

func (l *Ledger) forget(ctx context.Context, which string, args ...mapping.Value) (more bool, err error) {
	sql := fmt.Sprintf(`DELETE FROM ledger_act WHERE id IN (SELECT id FROM ledger_act WHERE %s ORDER BY at LIMIT %d)`, which, forgottenAtOnce)
	for range forgottenTimes {
		if n, err := sqlrecord.Change(ctx, l.db, sql, args...); err != nil || n < forgottenAtOnce {
			return false, err
		}
	}
	return true, nil
}

// crowds are the newest acts that are too many, of each kind.
func (l *Ledger) crowds(ctx context.Context, most int) (found []Act, err error) {
	err = l.db.Read(ctx, func(c sqlrecord.Conn) error {
		found = nil
		return c.Query(ctx, `SELECT what, at FROM (SELECT what, at, row_number() OVER (PARTITION BY what ORDER BY at DESC) AS nth FROM ledger_act) AS counted WHERE nth = ?1`,
			[]sqlrecord.Column{words, number}, []mapping.Value{mapping.IntValue(int64(most) + 1)}, func(row []mapping.Value) error {
				found = append(found, Act{What: strings.Clone(row[0].Text()), At: time.UnixMilli(row[1].Int())})
				return nil
			})
	})
	return found, err
}

// acts returns the acts that a condition finds.
func (l *Ledger) acts(ctx context.Context, now time.Time, condition string, args ...mapping.Value) (found []Act, err error) {
	err = l.db.Read(ctx, func(c sqlrecord.Conn) error {
		found = nil
		sql := `SELECT id, at, ended, lease_until, what, whom, who, origin, outcome FROM ledger_act ` + condition
		columns := []sqlrecord.Column{words, number, number, number, words, words, words, words, words}
		return c.Query(ctx, sql, columns, args, func(row []mapping.Value) error {
			text := func(i int) string { return strings.Clone(row[i].Text()) }
			a := Act{ID: text(0), At: time.UnixMilli(row[1].Int()).UTC(), What: text(4), Whom: text(5), Who: text(6), Origin: text(7), Outcome: Outcome(text(8))}
			switch {
			case row[2].Int() > 0:
				a.Ended = time.UnixMilli(row[2].Int()).UTC()
			case row[3].Int() < now.UnixMilli():
				a.Outcome = CutOff
			default:
				a.Outcome = UnderWay
			}
			found = append(found, a)
			return nil
		})
	})
	return found, err
}

package jobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

var _ webhook.Results = (*Results)(nil)

// partSize is how much of a result is written, and read, at once, in bytes.
const partSize = 256 << 10

// Results keeps the results of jobs in the database of the jobs, so that every gateway
// that shares it can serve them. Only PostgreSQL has them; a SQLite file belongs to one
// gateway, which keeps them in files.
type Results struct{ store *Store }

// NewResults returns the results in a store's database.
func (s *Store) NewResults() (*Results, error) {
	if s.db.Dialect().Name != sqlrecord.Postgres().Name {
		return nil, errors.New("jobstore: results are kept in PostgreSQL only")
	}
	return &Results{s}, nil
}

// Names implements webhook.Results. It also returns those being written.
func (r *Results) Names(ctx context.Context) (names []string, err error) {
	err = r.store.db.Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, `SELECT name FROM callback_result`, []sqlrecord.Column{words}, nil, func(row []mapping.Value) error {
			names = append(names, row[0].Text())
			return nil
		})
	})
	return names, err
}

// Remove implements webhook.Results.
func (r *Results) Remove(ctx context.Context, name string) error {
	_, err := sqlrecord.Change(ctx, r.store.db, `DELETE FROM callback_result WHERE name = $1`, mapping.TextValue(name))
	return err
}

// Create implements webhook.Results.
func (r *Results) Create(ctx context.Context, name string) (webhook.Draft, error) {
	err := r.store.db.Write(ctx, func(c sqlrecord.Conn) error {
		if _, err := c.Exec(ctx, `DELETE FROM callback_result WHERE name = $1`, mapping.TextValue(name)); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `INSERT INTO callback_result VALUES ($1, 0)`, mapping.TextValue(name))
		return err
	})
	return &draft{results: r, ctx: ctx, name: name}, again(err)
}

// again marks a failure of the database as one that passes. Work that was done is not
// repeated then: its stored answer is.
func again(err error) error {
	if err == nil || errors.Is(err, errRemoved) {
		return err
	}
	return fmt.Errorf("keep the result: %w: %w", webhook.ErrAgain, err)
}

// errRemoved says that a result belonged to no job any more while it was written.
var errRemoved = errors.New("the result was removed while it was written")

// draft is a result being written, a part at a time.
type draft struct {
	results *Results
	ctx     context.Context
	name    string
	part    []byte // the last part, which is not full yet
	parts   int64  // how many parts are stored
	kept    bool
}

// Write implements webhook.Draft.
func (d *draft) Write(p []byte) (written int, err error) {
	for len(p) > 0 {
		n := min(len(p), partSize-len(d.part))
		d.part = append(d.part, p[:n]...)
		if len(d.part) == partSize {
			if err := d.flush(); err != nil {
				return written, err
			}
		}
		written, p = written+n, p[n:]
	}
	return written, nil
}

func (d *draft) flush() error {
	ctx, r := d.ctx, d.results
	err := r.store.db.Write(ctx, func(c sqlrecord.Conn) error {
		size := mapping.IntValue(int64(len(d.part)))
		n, err := c.Exec(ctx, `UPDATE callback_result SET size = size + $2 WHERE name = $1`, mapping.TextValue(d.name), size)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("%w: %s", errRemoved, d.name)
		}
		_, err = c.Exec(ctx, `INSERT INTO callback_result_part VALUES ($1, $2, $3)`,
			mapping.TextValue(d.name), mapping.IntValue(d.parts), mapping.BytesValue(d.part))
		return err
	})
	d.part, d.parts = d.part[:0], d.parts+1
	return again(err)
}

// Keep implements webhook.Draft.
func (d *draft) Keep() error {
	if len(d.part) > 0 {
		if err := d.flush(); err != nil {
			return err
		}
	}
	d.kept = true
	return nil
}

// Discard implements webhook.Draft. What it cannot remove is swept up later.
func (d *draft) Discard() {
	if !d.kept {
		_ = d.results.Remove(context.WithoutCancel(d.ctx), d.name)
	}
}

// partTime bounds the wait for a part: somebody may have locked the table.
const partTime = 10 * time.Second

// Open implements webhook.Results.
func (r *Results) Open(ctx context.Context, name string) (webhook.Reader, error) {
	bounded, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	var found []mapping.Value
	err := r.store.db.Read(bounded, func(c sqlrecord.Conn) (err error) {
		found, err = sqlrecord.One(bounded, c, `SELECT 1 FROM callback_result WHERE name = $1`, []sqlrecord.Column{number}, mapping.TextValue(name))
		return err
	})
	if err == nil && found == nil {
		err = fmt.Errorf("there is no result %s", name)
	}
	return &reader{ctx: ctx, store: r.store, name: name, number: -1}, err
}

// reader reads a result and holds one part of it.
type reader struct {
	ctx    context.Context
	store  *Store
	name   string
	number int64 // of the part it holds; -1 for none
	part   []byte
}

// ReadAt implements io.ReaderAt.
func (r *reader) ReadAt(p []byte, off int64) (read int, err error) {
	for len(p) > 0 {
		if err := r.hold(off / partSize); err != nil {
			return read, err
		}
		n := copy(p, r.part[min(off%partSize, int64(len(r.part))):])
		if n == 0 {
			return read, io.EOF
		}
		read, p, off = read+n, p[n:], off+int64(n)
	}
	return read, nil
}

// hold fetches a part unless the reader has it; a part past the end is empty.
func (r *reader) hold(part int64) error {
	if part == r.number {
		return nil
	}
	r.number, r.part = part, nil
	ctx, cancel := context.WithTimeout(r.ctx, partTime)
	defer cancel()
	return r.store.db.Read(ctx, func(c sqlrecord.Conn) error {
		sql := `SELECT data FROM callback_result_part WHERE name = $1 AND number = $2`
		args := []mapping.Value{mapping.TextValue(r.name), mapping.IntValue(part)}
		return c.Query(ctx, sql, []sqlrecord.Column{octets}, args, func(row []mapping.Value) error {
			r.part = []byte(row[0].Text())
			return nil
		})
	})
}

// Close implements io.Closer.
func (r *reader) Close() error { return nil }

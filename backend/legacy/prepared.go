package legacy

import (
	"context"
	"database/sql"
	"sync"
)

// prepared keeps prepared statements, for engines whose driver would prepare each statement
// anew and so go to the server twice for every call. The pool closes them with its connections.
// It is safe for concurrent use.
type prepared struct {
	db    *sql.DB
	mu    sync.RWMutex
	known map[string]*sql.Stmt
}

// mostPrepared bounds the statements kept, each on every connection. A sheet has some dozens;
// lists with filters add more.
const mostPrepared = 128

func newPrepared(db *sql.DB) *prepared { return &prepared{db: db, known: map[string]*sql.Stmt{}} }

// get returns a kept statement; nil if there is none.
func (p *prepared) get(text string) *sql.Stmt {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.known[text]
}

// keep prepares a statement and keeps it; nil if there are enough already.
func (p *prepared) keep(ctx context.Context, text string) (*sql.Stmt, error) {
	p.mu.RLock()
	full := len(p.known) >= mostPrepared
	p.mu.RUnlock()
	if full {
		return nil, nil
	}
	stmt, err := p.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.known[text]; other != nil {
		_ = stmt.Close() // somebody was faster
		return other, nil
	}
	p.known[text] = stmt
	return stmt, nil
}

// QueryContext implements conn on any connection of the pool.
func (p *prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt := p.get(query)
	if stmt == nil && len(args) > 0 {
		var err error
		if stmt, err = p.keep(ctx, query); err != nil {
			return nil, err
		}
	}
	if stmt == nil {
		return p.db.QueryContext(ctx, query, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

// ExecContext implements conn.
func (p *prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return p.db.ExecContext(ctx, query, args...)
}

// preparedTx is a transaction that uses kept statements. It adds none: preparing takes a
// second connection while it holds one, and the pool may be empty.
type preparedTx struct {
	*sql.Tx
	kept *prepared
}

// QueryContext implements conn.
func (t preparedTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := t.kept.get(query); stmt != nil {
		return t.Tx.StmtContext(ctx, stmt).QueryContext(ctx, args...)
	}
	return t.Tx.QueryContext(ctx, query, args...)
}

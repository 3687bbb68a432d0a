package jobstore

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// planned is a database that tells how it answers what it is asked.
type planned struct {
	sqlrecord.DB
	plans []string
}

func (p *planned) Read(ctx context.Context, f func(sqlrecord.Conn) error) error {
	return p.DB.Read(ctx, func(c sqlrecord.Conn) error { return f(plannedConn{c, p}) })
}

type plannedConn struct {
	sqlrecord.Conn
	of *planned
}

func (c plannedConn) Query(ctx context.Context, sql string, columns []sqlrecord.Column, args []mapping.Value, each func([]mapping.Value) error) error {
	var lines []string
	err := c.Conn.Query(ctx, "EXPLAIN QUERY PLAN "+sql, []sqlrecord.Column{number, number, number, words}, args, func(row []mapping.Value) error {
		lines = append(lines, row[3].Text())
		return nil
	})
	if err != nil {
		return err
	}
	c.of.plans = append(c.of.plans, strings.Join(lines, "\n"))
	return c.Conn.Query(ctx, sql, columns, args, each)
}

func openPlanned(t *testing.T) (*Store, *planned) {
	t.Helper()
	file, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "jobs.db"), sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	s, err := Open(t.Context(), file)
	require.NoError(t, err)
	db := &planned{DB: file}
	s.db = db
	return s, db
}

// TestReadyReadsNoDocument: whether jobs can be read takes no longer where there are many.
func TestReadyReadsNoDocument(t *testing.T) {
	s, db := openPlanned(t)
	require.NoError(t, s.Ready(t.Context()))
	require.Len(t, db.plans, 1)
	require.Contains(t, db.plans[0], "USING COVERING INDEX")
	require.NotContains(t, db.plans[0], "ORDER BY", "it sorts them")
}

// TestListSortsNoDocuments: what is sorted for a list are IDs of an index, whatever the number of
// jobs, and who looks for what is still to be called reads these jobs alone.
func TestListSortsNoDocuments(t *testing.T) {
	s, db := openPlanned(t)
	for _, f := range []webhook.Filter{{}, {State: webhook.Exhausted}, {State: webhook.Done, Before: time.Now()}} {
		_, err := s.List(t.Context(), f)
		require.NoError(t, err)
		plan := db.plans[len(db.plans)-1]
		require.Contains(t, plan, "USING COVERING INDEX callback_job_state", "%+v", f)
		require.NotRegexp(t, `(?m)^SCAN j$`, plan, "%+v", f)
	}
	db.plans = nil
	_, err := s.Pending(t.Context(), time.Now())
	require.NoError(t, err)
	require.Len(t, db.plans, 2)
	require.Contains(t, db.plans[0], "SEARCH callback_job USING INDEX callback_job_due")
	require.Contains(t, db.plans[1], "SEARCH callback_job USING INDEX callback_job_due")
}

// TestReceiversReadNoDocuments: jobs are counted by receiver from an index, in its order.
func TestReceiversReadNoDocuments(t *testing.T) {
	s, db := openPlanned(t)
	for _, f := range []webhook.Filter{{}, {Failing: true}, {State: webhook.Exhausted}, {Receiver: "a.example", Before: time.Now()}} {
		_, _, err := s.Receivers(t.Context(), f, 10)
		require.NoError(t, err)
		require.Contains(t, db.plans[len(db.plans)-1], "USING COVERING INDEX callback_job_host", "%+v", f)
	}
}

package desk

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/config"
	"frontdesk/gateway"
)

// asleep is whoever reads the log, and takes nothing until the test is over.
type asleep struct {
	writing chan struct{} // somebody waits for it
	over    chan struct{}
}

func (a asleep) Write(lines []byte) (int, error) {
	select {
	case a.writing <- struct{}{}:
	default:
	}
	<-a.over
	return len(lines), nil
}

// asleepActs are acts with a log that nobody reads.
func asleepActs(t *testing.T, patience time.Duration) *acts {
	t.Helper()
	reader := asleep{writing: make(chan struct{}, 1), over: make(chan struct{})}
	logs, err := NewLogs(config.Log{Level: "info"}, reader, time.Millisecond)
	require.NoError(t, err)
	logs.lines.patience = patience
	t.Cleanup(func() {
		close(reader.over)
		logs.Stop()
	})
	logs.Log.Info("which is not taken")
	<-reader.writing
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "acts.db"), sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	kept, err := ledger.Open(t.Context(), db)
	require.NoError(t, err)
	return newActs(&basis{logs: logs, log: logs.Log, after: time.After, now: time.Now}, time.Minute, kept)
}

// auditWaits tells whether lines of the audit log wait for whoever reads it.
func auditWaits(h *acts) bool {
	w := h.logs.lines
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sizes[auditLog] > 0
}

// TestActsDoNotWaitForTheLog: a request that is an act waits for nobody who reads the log, and the
// list of acts has it, also where the gateway stops then.
func TestActsDoNotWaitForTheLog(t *testing.T) {
	h := asleepActs(t, time.Hour)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for i := range 100 {
			h.note(gateway.Act{What: "backup by callback", Whom: "job " + strconv.Itoa(i)})
		}
	}()
	select {
	case <-answered:
	case <-time.After(time.Minute):
		t.Fatal("a request waits for whoever reads the log")
	}
	require.True(t, auditWaits(h))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	h.watch(ctx)
	listed, err := h.ledger.Acts(t.Context(), ledger.ActFilter{Limit: 1000}, time.Now())
	require.NoError(t, err)
	require.Len(t, listed, 100)
}

// TestActsDoNotHoldUpTheStop: a gateway that tells many acts to a log that nobody reads waits for
// it once, and not for each.
func TestActsDoNotHoldUpTheStop(t *testing.T) {
	h := asleepActs(t, time.Second)
	for i := range 100 {
		lost := func(err error) { t.Error(err) }
		require.NoError(t, h.ledger.Do(t.Context(), ledger.Act{What: "user block", Whom: "user " + strconv.Itoa(i)}, lost, func() error { return nil }))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.watch(ctx)
	}()
	require.Eventually(t, func() bool { return auditWaits(h) }, time.Minute, time.Millisecond)
	stop()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the stop waits for whoever reads the log, act by act")
	}
}

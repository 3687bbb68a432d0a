package desk

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/config"
)

// slowAccounts are those of a database that hangs.
type slowAccounts struct{}

func (slowAccounts) BlockedUsers(ctx context.Context) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestWhoCannotTellWhoIsBlockedSaysSo: where the database does not answer in time, the log says
// that blocked users may go on; a stop is no reason to. Before, neither was told.
func TestWhoCannotTellWhoIsBlockedSaysSo(t *testing.T) {
	core, told := observer.New(zap.WarnLevel)
	h := &Desk{config: &config.Config{Backend: config.Backend{Timeout: time.Millisecond}}, log: zap.New(core)}
	h.endBlocked(t.Context(), slowAccounts{})
	require.Equal(t, 1, told.FilterMessage("blocked users cannot be read: their sessions live on").Len())

	stopped, stop := context.WithCancel(t.Context())
	stop()
	h.endBlocked(stopped, slowAccounts{})
	require.Equal(t, 1, told.Len())
}

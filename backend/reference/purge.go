package reference

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"frontdesk/mapping"
)

// purgeEvery is how often expired rows are removed. They are ignored once they have expired;
// removing them only frees their space.
const purgeEvery = time.Hour

// startPurger removes expired answers, password resets and changes in the background, until end is
// called.
func startPurger(s *Store, ticks <-chan time.Time, log *zap.Logger) (end func()) {
	ctx, stop := context.WithCancel(context.Background())
	var purging sync.WaitGroup
	purging.Go(func() {
		if ticks == nil {
			ticker := time.NewTicker(purgeEvery)
			defer ticker.Stop()
			ticks = ticker.C
		}
		for {
			select {
			case <-ticks:
				if err := s.purge(ctx); err != nil && ctx.Err() == nil {
					log.Error("purge of expired answers, resets and changes failed", zap.Error(err))
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		stop()
		purging.Wait()
	}
}

// purge removes expired rows.
func (s *Store) purge(ctx context.Context) error {
	return errors.Join(s.purgeInternal(ctx), s.changes.Prune(ctx))
}

func (s *Store) purgeInternal(ctx context.Context) error {
	return s.inOwnTx(ctx, func(t *txn) error {
		if _, err := t.conn.Exec(ctx, `DELETE FROM idempotency WHERE created_at <= ?1`, mapping.IntValue(t.storedFrom())); err != nil {
			return fmt.Errorf("purge answers: %w", err)
		}
		return t.purgeResets(ctx)
	})
}

func (t *txn) purgeResets(ctx context.Context) error {
	if _, err := t.conn.Exec(ctx, `DELETE FROM password_reset WHERE expires_at <= ?1`, mapping.IntValue(t.now().UnixMilli())); err != nil {
		return fmt.Errorf("purge password resets: %w", err)
	}
	return nil
}

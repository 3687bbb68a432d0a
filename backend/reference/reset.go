package reference

import (
	"context"
	"fmt"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// KeepReset implements auth.Accounts. Those that have expired are removed on the
// way.
func (s *Store) KeepReset(ctx context.Context, tokenHash [32]byte, username string, expires time.Time) error {
	return s.inOwnTx(ctx, func(t *txn) error {
		if err := t.purgeResets(ctx); err != nil {
			return err
		}
		n, err := t.exec(ctx, `INSERT INTO password_reset (token_hash, user_id, expires_at) SELECT ?1, id, ?3 FROM app_user WHERE username = ?2`,
			mapping.BytesValue(tokenHash[:]), mapping.TextValue(username), mapping.IntValue(expires.UnixMilli()))
		if err != nil {
			return fmt.Errorf("keep password reset: %w", err)
		}
		if n == 0 {
			return auth.ErrUnknownUser
		}
		return nil
	})
}

// TakeReset implements auth.Accounts. The row is deleted by whoever gets it, so
// that only one does.
func (s *Store) TakeReset(ctx context.Context, tokenHash [32]byte, now time.Time) (username string, err error) {
	err = s.inOwnTx(ctx, func(t *txn) error {
		user, found, err := t.one(ctx, `DELETE FROM password_reset WHERE token_hash = ?1 AND expires_at > ?2 RETURNING user_id`,
			mapping.BytesValue(tokenHash[:]), mapping.IntValue(now.UnixMilli()))
		if err != nil {
			return fmt.Errorf("take password reset: %w", err)
		}
		if !found {
			return auth.ErrUnknownReset
		}
		if _, err := t.exec(ctx, `DELETE FROM password_reset WHERE user_id = ?1`, mapping.IntValue(user)); err != nil {
			return fmt.Errorf("drop other password resets: %w", err)
		}
		username, err = t.username(ctx, user)
		return err
	})
	return username, err
}

func (h house) username(ctx context.Context, id int64) (name string, err error) {
	err = h.users(ctx, `WHERE u.id = ?1`, []mapping.Value{mapping.IntValue(id)}, func(u auth.User, _ string) { name = u.Username })
	return name, err
}

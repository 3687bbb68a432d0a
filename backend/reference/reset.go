package reference

import (
	"context"
	"fmt"
	"time"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// KeepReset implements auth.Accounts. It also removes expired resets.
func (s *Store) KeepReset(ctx context.Context, tokenHash [32]byte, username string, expires time.Time) error {
	return s.inOwnTx(ctx, func(t *txn) error {
		if err := t.purgeResets(ctx); err != nil {
			return err
		}
		n, err := t.conn.Exec(ctx, `INSERT INTO password_reset (token_hash, user_id, expires_at) SELECT ?1, id, ?3 FROM app_user WHERE username = ?2`,
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

// FindReset implements auth.Accounts.
func (s *Store) FindReset(ctx context.Context, tokenHash [32]byte, now time.Time) (user auth.User, err error) {
	const whose = `WHERE u.id = (SELECT user_id FROM password_reset WHERE token_hash = ?1 AND expires_at > ?2)`
	err = s.reserved.Read(ctx, func(conn sqlrecord.Conn) error {
		user, _, err = s.internalTables(conn).findUser(ctx, whose, auth.ErrUnknownReset, mapping.BytesValue(tokenHash[:]), mapping.IntValue(now.UnixMilli()))
		return err
	})
	return user, err
}

// Redeem implements auth.Accounts. Deleting the row decides which of several callers
// redeems it, so only one does.
func (s *Store) Redeem(ctx context.Context, tokenHash [32]byte, encodedHash string, now time.Time) error {
	return s.changeUsers(ctx, func(t *txn) error {
		user, found, err := t.one(ctx, `DELETE FROM password_reset WHERE token_hash = ?1 AND expires_at > ?2 RETURNING user_id`,
			mapping.BytesValue(tokenHash[:]), mapping.IntValue(now.UnixMilli()))
		if err != nil {
			return fmt.Errorf("take password reset: %w", err)
		}
		if !found {
			return auth.ErrUnknownReset
		}
		if _, err := t.conn.Exec(ctx, `DELETE FROM password_reset WHERE user_id = ?1`, mapping.IntValue(user)); err != nil {
			return fmt.Errorf("drop other password resets: %w", err)
		}
		return t.endSessions(ctx, `password_hash = ?3 WHERE id = ?1`, mapping.IntValue(user), auth.CauseNewPassword, mapping.TextValue(encodedHash))
	})
}

package reference

import (
	"context"

	"go.uber.org/zap"

	"frontdesk/backend/sqlrecord"
)

// openReplica opens the standby that answers lists, if one is configured. The start does
// not fail if the standby does not answer.
func (s *Store) openReplica(ctx context.Context, o Options) (err error) {
	if o.Replica == "" {
		return nil
	}
	s.replica, err = sqlrecord.OpenReplica(ctx, s.db, sqlrecord.ReplicaOptions{
		DSN: o.Replica, Model: o.Model, Now: o.Now, Readers: o.Readers, Wait: o.ReplicaWait, Pause: o.ReplicaPause,
		OnState: func(fault error) {
			if fault == nil {
				o.Log.Info("the replica answers lists again")
				return
			}
			o.Log.Warn("the replica is not used: the primary answers all lists", zap.Error(fault))
		},
	})
	return err
}

// Replica returns the standby that answers lists; nil if there is none.
func (s *Store) Replica() *sqlrecord.Replica { return s.replica }

func (s *Store) closeReplica() error {
	if s.replica == nil {
		return nil
	}
	return s.replica.Close()
}

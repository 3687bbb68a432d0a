package desk

import (
	"context"
	"time"

	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/gateway"
)

// actsEvery is how often a gateway looks what commands have done, and actsPruned how often it
// removes what is older than ledger.ActsKept.
const (
	actsEvery  = 3 * time.Second
	actsPruned = time.Hour
)

// act notes what somebody did by a request: in the audit log, and in the list of acts where
// that can take it.
func (h *Desk) act(ctx context.Context, did gateway.Act) {
	now := h.now()
	a := ledger.Act{At: now, Ended: now, What: did.What, Whom: did.Whom, Who: did.Who, Origin: did.From, Outcome: ledger.Done}
	if did.Failed {
		a.Outcome = ledger.Failed
	}
	h.logs.tellAct(a)
	if err := h.ledger.Keep(context.WithoutCancel(ctx), a); err != nil {
		h.log.Warn("the list of acts lacks one that the audit log has", zap.Error(err))
	}
}

// tellAct writes what somebody did.
func (l *Logs) tellAct(a ledger.Act) {
	fields := []zap.Field{zap.String("what", a.What), zap.String("whom", a.Whom), zap.String("who", a.Who), zap.String("from", a.Origin),
		zap.Time("at", a.At), zap.String("outcome", string(a.Outcome))}
	if !a.Ended.IsZero() {
		fields = append(fields, zap.Time("ended", a.Ended))
	}
	l.audit.Info("act", fields...)
	_ = l.audit.Sync() // as with changes of the configuration
}

// watchActs has the audit log tell what commands did, each act by one gateway, for as long as
// ctx lives.
func (h *Desk) watchActs(ctx context.Context) {
	var pruned time.Time
	failing := false
	for {
		err := h.tellActs(ctx, &pruned)
		if err != nil && !failing && ctx.Err() == nil {
			h.log.Warn("acts cannot be read: the audit log lacks them until they can", zap.Error(err))
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-h.after(actsEvery):
		}
	}
}

// tellActs tells what is to be told, and now and then forgets what is old.
func (h *Desk) tellActs(ctx context.Context, pruned *time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, h.config.Backend.Timeout)
	defer cancel()
	now := h.now()
	taken, err := h.ledger.Take(ctx, now)
	for _, a := range taken {
		h.logs.tellAct(a)
	}
	if err == nil && now.Sub(*pruned) >= actsPruned {
		*pruned = now
		err = h.ledger.ForgetActs(ctx, now.Add(-ledger.ActsKept))
	}
	return err
}

package desk

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/gateway"
)

// actsEvery is how often a gateway looks what commands have done, and actsPruned how often it
// removes what is older than ledger.ActsKept, or more than ledger.ActsOfKind.
const (
	actsEvery  = 3 * time.Second
	actsPruned = time.Hour
)

// actsWaiting is how many acts of requests may wait for the list of acts.
const actsWaiting = 1000

// act notes what somebody did by a request: in the audit log, and in the list of acts where
// that can take it. The request waits for neither.
func (h *Desk) act(did gateway.Act) {
	now := h.now()
	a := ledger.Act{At: now, Ended: now, What: did.What, Whom: did.Whom, Who: did.Who, Origin: did.From, Outcome: ledger.Done}
	if did.Failed {
		a.Outcome = ledger.Failed
	}
	h.logs.tellAct(a)
	select {
	case h.acted <- a:
	default:
		h.lacks(1, errors.New("too many wait for it"))
	}
}

func (h *Desk) lacks(n int, err error) {
	h.log.Warn("the list of acts lacks some that the audit log has", zap.Int("acts", n), zap.Error(err))
}

// keepActs keeps an act of a request, and those that wait behind it.
func (h *Desk) keepActs(ctx context.Context, first ledger.Act) {
	acts := []ledger.Act{first}
	for len(h.acted) > 0 && len(acts) < actsWaiting { // nobody else receives
		acts = append(acts, <-h.acted)
	}
	if err := h.ledger.Keep(context.WithoutCancel(ctx), acts...); err != nil { // which does not wait for long
		h.lacks(len(acts), err)
	}
}

// tellAct logs an act.
func (l *Logs) tellAct(a ledger.Act) {
	fields := []zap.Field{zap.String("what", a.What), zap.String("whom", a.Whom), zap.String("who", a.Who), zap.String("from", a.Origin),
		zap.Time("at", a.At), zap.String("outcome", string(a.Outcome))}
	if !a.Ended.IsZero() {
		fields = append(fields, zap.Time("ended", a.Ended))
	}
	l.audit.Info("act", fields...)
}

// watchActs keeps what requests did, and has the audit log tell what commands did, each act by
// one gateway, for as long as ctx lives.
func (h *Desk) watchActs(ctx context.Context) {
	var pruned time.Time
	failing := false
	for {
		err := h.tellActs(ctx, &pruned)
		if err != nil && !failing && ctx.Err() == nil {
			h.log.Warn("acts cannot be read or forgotten: the audit log lacks them until they can", zap.Error(err))
		}
		failing = err != nil
		if !h.keepActsUntil(ctx, h.after(actsEvery)) {
			return
		}
	}
}

// keepActsUntil keeps what requests did until it is time to look again, or ctx ends and none waits.
func (h *Desk) keepActsUntil(ctx context.Context, look <-chan time.Time) bool {
	for {
		select {
		case a := <-h.acted:
			h.keepActs(ctx, a)
			continue
		default:
		}
		select {
		case a := <-h.acted:
			h.keepActs(ctx, a)
		case <-look:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// tellActs logs the acts that are not logged yet, and from time to time removes old ones.
func (h *Desk) tellActs(ctx context.Context, pruned *time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, h.config.Backend.Timeout)
	defer cancel()
	now := h.now()
	taken, err := h.ledger.Take(ctx, now)
	for _, a := range taken {
		h.logs.tellAct(a)
	}
	if len(taken) > 0 && ctx.Err() == nil {
		_ = h.logs.audit.Sync() // as with changes of the configuration; the end of the program does it too
	}
	if err == nil && now.Sub(*pruned) >= actsPruned {
		var more bool
		if more, err = h.ledger.ForgetActs(ctx, now.Add(-ledger.ActsKept), ledger.ActsOfKind); err == nil && !more {
			*pruned = now
		}
	}
	return err
}

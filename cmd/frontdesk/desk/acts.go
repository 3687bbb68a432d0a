package desk

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/gateway"
)

// A gateway reads the acts of commands every actsEvery. Every actsPruned it removes acts that are
// older than ledger.ActsKept, and of each kind those beyond the newest ledger.ActsOfKind.
const (
	actsEvery  = 3 * time.Second
	actsPruned = time.Hour
)

// actsWaiting is how many acts of requests may wait for the list of acts.
const actsWaiting = 1000

// acts keep the list of what people did.
type acts struct {
	*basis
	ledger  *ledger.Ledger
	timeout time.Duration   // of a look at the list
	waiting chan ledger.Act // by requests, and not in the list yet
}

func newActs(b *basis, timeout time.Duration, list *ledger.Ledger) *acts {
	return &acts{b, list, timeout, make(chan ledger.Act, actsWaiting)}
}

// note records what somebody did by a request: in the audit log, and in the list of acts if that
// has room. The request waits for neither.
func (k *acts) note(did gateway.Act) {
	now := k.now()
	a := ledger.Act{At: now, Ended: now, What: did.What, Whom: did.Whom, Who: did.Who, Origin: did.From, Outcome: ledger.Done}
	if did.Failed {
		a.Outcome = ledger.Failed
	}
	k.logs.tellAct(a)
	select {
	case k.waiting <- a:
	default:
		k.lacks(1, errors.New("too many wait for it"))
	}
}

func (k *acts) lacks(n int, err error) {
	k.log.Warn("acts were not stored in the list of acts; only the audit log has them", zap.Int("acts", n), zap.Error(err))
}

// keep stores an act of a request, and those that wait behind it.
func (k *acts) keep(ctx context.Context, first ledger.Act) {
	acts := []ledger.Act{first}
	for len(k.waiting) > 0 && len(acts) < actsWaiting { // nobody else receives
		acts = append(acts, <-k.waiting)
	}
	if err := k.ledger.Keep(context.WithoutCancel(ctx), acts...); err != nil { // which does not wait for long
		k.lacks(len(acts), err)
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

// watch stores the acts of requests and writes those of commands to the audit log, until ctx ends.
// Of several gateways one writes each act.
func (k *acts) watch(ctx context.Context) {
	var pruned time.Time
	failing := false
	for {
		err := k.tell(ctx, &pruned)
		if err != nil && !failing && ctx.Err() == nil {
			k.log.Warn("acts cannot be read or removed: the audit log lacks those of commands meanwhile", zap.Error(err))
		}
		failing = err != nil
		if !k.keepUntil(ctx, k.after(actsEvery)) {
			return
		}
	}
}

// keepUntil stores acts of requests. It returns true when it is time to look again, and false when
// ctx has ended and no act is waiting.
func (k *acts) keepUntil(ctx context.Context, look <-chan time.Time) bool {
	for {
		select {
		case a := <-k.waiting:
			k.keep(ctx, a)
			continue
		default:
		}
		select {
		case a := <-k.waiting:
			k.keep(ctx, a)
		case <-look:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// tell logs the acts that are not logged yet, and from time to time removes old ones.
func (k *acts) tell(ctx context.Context, pruned *time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	now := k.now()
	taken, err := k.ledger.Take(ctx, now)
	for _, a := range taken {
		k.logs.tellAct(a)
	}
	if len(taken) > 0 && ctx.Err() == nil {
		_ = k.logs.audit.Sync() // as with changes of the configuration; the end of the program does it too
	}
	if err == nil && now.Sub(*pruned) >= actsPruned {
		var more bool
		if more, err = k.ledger.ForgetActs(ctx, now.Add(-ledger.ActsKept), ledger.ActsOfKind); err == nil && !more {
			*pruned = now
		}
	}
	return err
}

package desk

import (
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"frontdesk/gateway"
)

// actsShown is how many acts the operators' page shows.
const actsShown = 100

// acts are the latest changes of accounts and sessions that people made by requests.
type acts struct {
	*basis
	mu     sync.Mutex
	latest []act // oldest first
}

// act is one of them, as the operators' page shows it. It holds no secret.
type act struct {
	At      time.Time `json:"at"`
	What    string    `json:"what"`
	Whom    string    `json:"whom"`
	Who     string    `json:"who"`
	From    string    `json:"from"`
	Outcome string    `json:"outcome"`
}

// note records what somebody did by a request: in the audit log, and for the operators' page.
func (k *acts) note(did gateway.Act) {
	a := act{k.now(), did.What, did.Whom, did.Who, did.From, "done"}
	if did.Failed {
		a.Outcome = "failed"
	}
	k.logs.audit.Info("act", zap.String("what", a.What), zap.String("whom", a.Whom), zap.String("who", a.Who), zap.String("from", a.From), zap.String("outcome", a.Outcome))
	k.mu.Lock()
	defer k.mu.Unlock()
	k.latest = append(k.latest[max(0, len(k.latest)-actsShown+1):], a)
}

// newestFirst returns the acts for a page.
func (k *acts) newestFirst() []act {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := slices.Clone(k.latest)
	slices.Reverse(all)
	return all
}

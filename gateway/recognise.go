package gateway

import (
	"context"
	"time"

	"frontdesk/auth"
)

// recogniseWithin is how long an answer that is decided waits for whose request it was.
const recogniseWithin = 250 * time.Millisecond

// recognise finds whose session it was that asked for what there is not, for the log and
// the metrics alone: the answer stands by then, and says the same to everybody.
func (g *Gateway) recognise(ctx context.Context, x *Exchange) {
	if x.Operation != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			g.logFailure(x, panicked(p))
		}
	}()
	token, _ := x.headerOnce("Token")
	hash, ok := auth.HashToken(string(token))
	if !ok {
		return
	}
	ctx, stop := context.WithTimeout(ctx, recogniseWithin)
	defer stop()
	session, err := g.o.Sessions.Get(ctx, hash)
	if err != nil {
		return
	}
	if key := x.policy.Keys.ByHash(session.Key, x.started); key != nil {
		x.keyName, x.client = key.Name, session.User.Client.Name
	}
}

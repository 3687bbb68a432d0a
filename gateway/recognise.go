package gateway

import (
	"context"
	"time"

	"frontdesk/auth"
)

// recogniseWithin is how long a decided answer waits for the lookup of the session.
const recogniseWithin = 250 * time.Millisecond

// recognise finds the session of a request for an endpoint that does not exist, only for
// the log and the metrics: the answer is decided by then, and is the same for everybody.
func (g *Gateway) recognise(ctx context.Context, x *Exchange) {
	if x.Operation != nil || g.o.Away != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			g.logFailure(x, panicked(p))
		}
	}()
	token, _ := x.headerSent("Token")
	hash, ok := auth.HashToken(token)
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
		x.keyName, x.client, x.Session = key.Name, session.User.Client.Name, session
	}
}

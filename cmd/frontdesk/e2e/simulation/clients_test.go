package simulation

import (
	"context"
	"fmt"
	"time"
)

// clients are all that ask.
func (w *world) clients() (all []client) {
	for n := range 3 {
		all = append(all, &writer{asking: w.asker("demo", fmt.Sprint("writer ", n))})
	}
	for _, user := range []string{"demo", "other"} {
		all = append(all, &promised{asking: w.asker(user, "promised "+user)}, &limited{asking: w.asker(user, "limited "+user)}, &waiter{asking: w.asker(user, "waiter "+user)})
	}
	all = append(all, &writer{asking: w.asker("other", "stranger 0")}, &follower{asking: w.asker("demo", "follower")}, &guard{asking: w.asker("demo", "guard")}, &lister{asking: w.asker("demo", "lister")}, &leaver{asking: w.asker("demo", "leaver")})
	if s, ok := w.system.(*builtIn); ok {
		all = append(all, &orderer{asking: w.asker("demo", "orderer")}, &blocker{asking: w.asker("third", "blocker"), s: s})
	}
	return append(all, &others{asking: w.asker("demo", "others")})
}

// others are those who know no gateway, and change records behind it.
type others struct{ *asking }

func (c *others) work(ctx context.Context) {
	for ; ctx.Err() == nil; sleep(ctx, time.Duration(c.random.Int64N(int64(3*time.Second)))) {
		c.system.behind(c.world, c.random)
	}
}

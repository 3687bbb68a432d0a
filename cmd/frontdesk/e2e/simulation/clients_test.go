package simulation

import (
	"context"
	"fmt"
	"time"
)

// clients are all that ask.
func (w *world) clients() (all []client) {
	for n := range 3 {
		all = append(all, &writer{asking: w.asker(fmt.Sprint("writer ", n))})
	}
	all = append(all, &follower{asking: w.asker("follower")}, &promised{asking: w.asker("promised")}, &guard{asking: w.asker("guard")})
	if _, ok := w.system.(*builtIn); ok {
		all = append(all, &orderer{asking: w.asker("orderer")})
	}
	return append(all, &others{asking: w.asker("others")})
}

// others are those who know no gateway, and change records behind it.
type others struct{ *asking }

func (c *others) work(ctx context.Context) {
	for ; ctx.Err() == nil; sleep(ctx, time.Duration(c.random.Int64N(int64(3*time.Second)))) {
		c.system.behind(c.world, c.random)
	}
}

func (c *others) check() {}
func (c *others) close() {}

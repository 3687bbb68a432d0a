package rig

import (
	"sync/atomic"
	"time"
)

// Clock is a clock of a test's, which goes on faster where the test lets time pass.
type Clock struct{ ahead atomic.Int64 }

// Now is in place of time.Now.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Pass lets time pass.
func (c *Clock) Pass(d time.Duration) { c.ahead.Add(int64(d)) }

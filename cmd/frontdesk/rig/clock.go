package rig

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Clock is a clock of a test's, which goes on faster where the test lets time pass.
type Clock struct{ ahead atomic.Int64 }

// Now is in place of time.Now.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Pass lets time pass.
func (c *Clock) Pass(d time.Duration) { c.ahead.Add(int64(d)) }

// NoonZone is a time zone in which it is about noon: no new day begins there while a test
// counts what is used of one.
func NoonZone() string {
	return fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-12) // east of Greenwich is minus
}

package redis

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/redis/rueidis"
)

// identityName is what Identity is kept under, and identityLife how long: who has read another
// one reads the same as all others the next time.
const (
	identityName = "frontdesk:identity"
	identityLife = 24 * time.Hour
)

// Identity is a name that everybody reads alike who works with the same database of the same
// server, by whatever address and after whatever fail-over, and nobody else. It is drawn by the
// first who asks, and tells nothing.
func (c *Client) Identity(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	read := func() (string, error) {
		return c.read(ctx, func() rueidis.Completed { return c.B().Get().Key(identityName).Build() }).ToString()
	}
	name, err := read()
	if !rueidis.IsRedisNil(err) {
		return name, failed(err)
	}
	err = c.write(ctx, func() rueidis.Completed {
		return c.B().Set().Key(identityName).Value(rand.Text()).Nx().PxMilliseconds(identityLife.Milliseconds()).Build()
	}).Error()
	if err == nil || rueidis.IsRedisNil(err) { // or somebody else was first
		name, err = read()
	}
	return name, failed(err)
}

package redis

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"frontdesk/auth"
)

// listedAtOnce is how many names a server looks at for one answer.
const listedAtOnce = 1000

// EachSession implements auth.SessionLister. It asks every server, portion by portion, so that other
// requests do not wait for it. The time of the last use is not stored: that would be a write at each
// request. A session that is opened or ended meanwhile may be listed or not.
func (s *Sessions) EachSession(ctx context.Context, f func(*auth.Session, time.Time) error) error {
	seen := map[string]bool{} // a name may be scanned twice, and replicas have what their primary has
	for _, node := range s.client.Nodes() {
		for cursor := uint64(0); ; {
			page, err := scan(ctx, node, cursor)
			if err != nil {
				return err
			}
			if err := s.eachOf(ctx, page.Elements, seen, f); err != nil {
				return err
			}
			if cursor = page.Cursor; cursor == 0 {
				break
			}
		}
	}
	return nil
}

func scan(ctx context.Context, node rueidis.Client, cursor uint64) (rueidis.ScanEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	page, err := node.Do(ctx, node.B().Scan().Cursor(cursor).Match(sessionPrefix+"*").Count(listedAtOnce).Build()).AsScanEntry()
	return page, failed(err)
}

// eachOf calls f with the sessions of these names.
func (s *Sessions) eachOf(ctx context.Context, names []string, seen map[string]bool, f func(*auth.Session, time.Time) error) error {
	commands := make([]rueidis.Completed, 0, len(names))
	tokens := make([]auth.TokenHash, 0, len(names))
	for _, name := range names {
		hash, err := hex.DecodeString(strings.TrimPrefix(name, sessionPrefix))
		if seen[name] || err != nil || len(hash) != len(auth.TokenHash{}) {
			continue
		}
		seen[name] = true
		commands = append(commands, s.client.B().Get().Key(name).Build())
		tokens = append(tokens, auth.TokenHash(hash))
	}
	if len(commands) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	for i, answer := range s.client.DoMulti(bounded, commands...) {
		value, err := answer.ToString()
		if rueidis.IsRedisNil(err) {
			continue
		}
		if err != nil {
			return failed(err)
		}
		found, err := decode(tokens[i], value)
		if err != nil || !found.Live(s.clock()) {
			continue
		}
		if err := f(found, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

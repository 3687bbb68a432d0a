package sqlrecord

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A standby can leave its primary for another one without a connection to it being
// lost: when what it follows is promoted, or it is told to follow another server. Then
// positions say nothing any more. A role that may read all statistics is told by the
// timeline that is received. For any other, a standby that was seen further on than
// the primary is afterwards is none of it: a follower never has what its primary has
// not.

// primaryAt asks for the primary's position, which must not be lower than one seen on the
// replica before.
func (r *Replica) primaryAt(ctx context.Context, seen uint64) (position, error) {
	at, err := r.positions.ask(ctx)
	if err != nil {
		return at, fmt.Errorf("%w as far as is known: %w", errReplicaBehind, err)
	}
	if seen > lsnNumber(at.lsn) {
		return at, errors.New("it does not follow the primary: it is further on")
	}
	return at, nil
}

// saw remembers the replica's position.
func (r *Replica) saw(lsn uint64) {
	for {
		seen := r.seen.Load()
		if lsn <= seen || r.seen.CompareAndSwap(seen, lsn) {
			return
		}
	}
}

func notFollowing(timeline, primary string) error {
	return fmt.Errorf("it does not follow the primary: it is on timeline %s, and the primary on %s", timeline, primary)
}

// lsnNumber is a position as PostgreSQL writes it, such as 16/B374D848, as a number
// to compare; 0 for none.
func lsnNumber(lsn string) uint64 {
	high, low, _ := strings.Cut(lsn, "/")
	h, err := strconv.ParseUint(high, 16, 32)
	if err != nil {
		return 0
	}
	l, err := strconv.ParseUint(low, 16, 32)
	if err != nil {
		return 0
	}
	return h<<32 | l
}

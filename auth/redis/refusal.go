package redis

import (
	"fmt"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"frontdesk/mapping"
)

// WriteRefusal is the answer of a server that works but takes no writes.
type WriteRefusal struct {
	Code string // Redis' own, as READONLY
	Why  string // in words, for operators
	err  error
}

// readOnly is the code of a server that was made a replica.
const readOnly = "READONLY"

// refusals are the codes with which a server that cannot write answers every write,
// and why it cannot.
var refusals = []struct{ code, why string }{
	{readOnly, "it is a replica, and its primary is elsewhere"},
	{"OOM", "it is full (maxmemory)"},
	{"MISCONF", "it cannot save to its disk"},
	{"NOREPLICAS", "it has too few replicas (min-replicas-to-write)"},
}

// refusalOf returns the refusal that an answer of the server stands for, nil if it is
// none. Redis before 7 puts the script's name before the code of an error within a script.
func refusalOf(err error) *WriteRefusal {
	answer, ok := rueidis.IsRedisErr(err)
	if !ok {
		return nil
	}
	text := answer.Error()
	for _, r := range refusals {
		if strings.HasPrefix(text, r.code+" ") || strings.HasPrefix(text, "ERR Error running script") && strings.Contains(text, " -"+r.code+" ") {
			return &WriteRefusal{Code: r.code, Why: r.why, err: err}
		}
	}
	return nil
}

func (r *WriteRefusal) Error() string { return fmt.Sprintf("it takes no writes: %s: %v", r.Why, r.err) }
func (r *WriteRefusal) Unwrap() error { return r.err }

// refusalRetry is when a client should retry a request that needed a write.
const refusalRetry = 5 * time.Second

// failed says where an error comes from. It is never auth.ErrNoSession. If the server
// refused a write, the error says when to retry.
func failed(err error) error {
	if err == nil {
		return nil
	}
	refusal := refusalOf(err)
	if refusal == nil {
		return fmt.Errorf("redis: %w", err)
	}
	return mapping.Fail(mapping.Overloaded).Because(fmt.Errorf("redis: %w", refusal)).After(refusalRetry)
}

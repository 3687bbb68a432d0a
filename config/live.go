package config

import (
	"sync"
	"sync/atomic"
)

// Live holds what was made of a configuration while it is in use, and replaces
// it as a whole. Whoever asks for the current one keeps it for as long as the
// work takes that it was asked for. Safe for concurrent use.
type Live[T any] struct {
	current   atomic.Pointer[T]
	reloading sync.Mutex
}

// NewLive returns a Live that holds the first one, which is not nil.
func NewLive[T any](first *T) *Live[T] {
	l := new(Live[T])
	l.current.Store(first)
	return l
}

// Current is the one in force. It costs next to nothing.
func (l *Live[T]) Current() *T { return l.current.Load() }

// Reload puts what build makes in place of the current one, which build is given.
// With an error, and where build returns nil, the current one stays. One reload
// runs at a time.
func (l *Live[T]) Reload(build func(current *T) (*T, error)) error {
	l.reloading.Lock()
	defer l.reloading.Unlock()
	next, err := build(l.current.Load())
	if err == nil && next != nil {
		l.current.Store(next)
	}
	return err
}

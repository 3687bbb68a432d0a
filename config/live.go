package config

import (
	"sync"
	"sync/atomic"
)

// Live holds the object that was built from the configuration in force, and replaces it
// as a whole. A caller that gets the current one keeps it for the whole piece of work.
// Safe for concurrent use. Its zero value holds nil until the first Reload.
type Live[T any] struct {
	current   atomic.Pointer[T]
	reloading sync.Mutex
}

// Current is the one in force. It is one atomic load.
func (l *Live[T]) Current() *T { return l.current.Load() }

// Reload calls build with the current one, and replaces it by the result. If build
// returns nil or an error, the current one stays. One reload runs at a time.
func (l *Live[T]) Reload(build func(current *T) (*T, error)) error {
	l.reloading.Lock()
	defer l.reloading.Unlock()
	next, err := build(l.current.Load())
	if err == nil && next != nil {
		l.current.Store(next)
	}
	return err
}

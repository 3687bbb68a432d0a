package webhook

import (
	"context"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"time"
)

// Retention is how long a result is kept after the work was finished.
const Retention = 7 * 24 * time.Hour

// ErrNoSpace says that the results of callbacks have no space left, in all or in one
// client's share.
var ErrNoSpace = errors.New("webhook: the results take all the space they may")

// Results stores the results of jobs, by the name of the claim that wrote them. It is
// safe for concurrent use.
type Results interface {
	// Create begins a result. Writing it fails with ErrNoSpace if the disk is full.
	Create(ctx context.Context, name string) (Draft, error)
	// Open opens a result for random access, until ctx ends.
	Open(ctx context.Context, name string) (Reader, error)
	// Remove removes a result, or what a crash left of one, if there is any.
	Remove(ctx context.Context, name string) error
	// Names lists the results; it may list some that are being written.
	Names(ctx context.Context) ([]string, error)
}

// Reader reads a result. It belongs to one goroutine.
type Reader interface {
	io.ReaderAt
	io.Closer
}

// Draft is a result being written, by one goroutine.
type Draft interface {
	io.Writer
	// Keep makes the result complete and durable. It replaces one of the same name.
	Keep() error
	// Discard removes what was written, unless Keep was called.
	Discard()
}

// measured is a draft that counts and hashes what is written, and writes no more than
// what is reserved for it.
type measured struct {
	Draft
	room int64
	more func(have, need int64) (room int64, err error) // reserves more
	sum  hash.Hash
	size int64
}

func (m *measured) Write(p []byte) (n int, err error) {
	if need := m.size + int64(len(p)); need > m.room {
		if m.room, err = m.more(m.room, need); err != nil {
			return 0, err
		}
	}
	n, err = m.Draft.Write(p)
	m.size += int64(n)
	m.sum.Write(p[:n])
	return n, err
}

// keep completes the draft as the result of that name.
func (m *measured) keep(name string, c Content) (Result, error) {
	if err := m.Keep(); err != nil {
		return Result{}, err
	}
	return Result{File: name, Name: c.Name, Type: c.Type, Size: m.size, SHA256: hex.EncodeToString(m.sum.Sum(nil))}, nil
}

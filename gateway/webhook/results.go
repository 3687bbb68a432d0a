package webhook

import (
	"context"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

// ErrNoSpace says that the results of callbacks take all the space they may, or those of
// one client its share.
var ErrNoSpace = errors.New("webhook: the results take all the space they may (webhooks.space)")

// Results keeps what came of jobs, by the name of the claim that wrote it. It is
// safe for concurrent use.
type Results interface {
	// Create begins a result. Where what it is kept on is full, writing it fails with
	// ErrNoSpace.
	Create(ctx context.Context, name string) (Draft, error)
	// Open opens a result for reading, at any place and for as long as ctx lives.
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
	// Keep makes the result whole, and durable. One of the same name gives way.
	Keep() error
	// Discard lets go of what was written, unless it was kept.
	Discard()
}

// measured is a draft that knows what was written into it, and writes no more than is set
// aside for it.
type measured struct {
	Draft
	room int64
	more func(have, need int64) (room int64, err error) // sets more aside
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

// keep keeps the draft as the result of that name.
func (m *measured) keep(name string, c Content) (Result, error) {
	if err := m.Keep(); err != nil {
		return Result{}, err
	}
	return Result{File: name, Name: c.Name, Type: c.Type, Size: m.size, SHA256: hex.EncodeToString(m.sum.Sum(nil))}, nil
}

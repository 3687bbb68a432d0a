package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

// ErrNoSpace says that the results of callbacks take all the space they may.
var ErrNoSpace = errors.New("webhook: the results take all the space they may (webhooks.space)")

// Results keeps what came of jobs, by the name of the claim that wrote it. It is
// safe for concurrent use.
type Results interface {
	// Create begins a result. It takes no more than the space there is:
	// ErrNoSpace.
	Create(ctx context.Context, name string) (Draft, error)
	// Open opens a result for reading, at any place and for as long as ctx lives.
	Open(ctx context.Context, name string) (Reader, error)
	// Remove removes a result, or what a crash left of one, if there is any.
	Remove(ctx context.Context, name string) error
	// Names lists the results; it may list some that are being written.
	Names(ctx context.Context) ([]string, error)
	// Space tells how many bytes they take, and how many they may.
	Space() (used, most int64)
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

// measured is a draft that knows what was written into it.
type measured struct {
	Draft
	sum  hash.Hash
	size int64
}

func measure(d Draft) *measured { return &measured{Draft: d, sum: sha256.New()} }

func (m *measured) Write(p []byte) (int, error) {
	n, err := m.Draft.Write(p)
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

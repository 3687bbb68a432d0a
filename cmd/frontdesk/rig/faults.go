package rig

import (
	"context"
	"errors"
	"io"
	"sync"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// Faults is put around the real driver, and lets it fail on demand.
type Faults struct {
	mu       sync.Mutex
	fail     func(ctx context.Context) error // before every call; nil for none
	describe []byte                          // what GET /model answers; nil leaves it to the model
}

// FullDriver is all that the built-in administration can do.
type FullDriver interface {
	backend.Driver
	backend.AddressBook
	backend.ChangeFeed
	backend.Exporter
	backend.Pinger
	backend.Sharer
}

// faultyDriver is a driver that fails where its faults say so.
type faultyDriver struct {
	FullDriver
	faults *Faults
}

var (
	_ FullDriver             = faultyDriver{}
	_ backend.ModelDescriber = faultyDriver{}
)

// ErrBroken is what a broken administration says.
var ErrBroken = errors.New("secret cause of a broken administration")

// Fails is what a broken administration does.
func Fails(context.Context) error { return ErrBroken }

// Wrap puts the faults before a driver.
func (f *Faults) Wrap(d backend.Driver) backend.Driver {
	return faultyDriver{FullDriver: d.(FullDriver), faults: f}
}

// Set makes every call do this first.
func (f *Faults) Set(fail func(ctx context.Context) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = fail
}

// Describes makes GET /model answer this.
func (f *Faults) Describes(answer string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.describe = []byte(answer)
}

// None lets all work again.
func (f *Faults) None() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail, f.describe = nil, nil
}

func (f *Faults) before(ctx context.Context) error {
	f.mu.Lock()
	fail := f.fail
	f.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(ctx)
}

func (d faultyDriver) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	if err := d.faults.before(ctx); err != nil {
		return mapping.Record{}, err
	}
	return d.FullDriver.Get(ctx, r, q)
}

func (d faultyDriver) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	if err := d.faults.before(ctx); err != nil {
		return backend.Page{}, err
	}
	return d.FullDriver.List(ctx, r, q)
}

func (d faultyDriver) Changes(ctx context.Context, q backend.ChangesQuery) (backend.ChangesPage, error) {
	if err := d.faults.before(ctx); err != nil {
		return backend.ChangesPage{}, err
	}
	return d.FullDriver.Changes(ctx, q)
}

func (d faultyDriver) Digest(ctx context.Context, r *mapping.Resource, q backend.DigestQuery) (backend.Digest, error) {
	if err := d.faults.before(ctx); err != nil {
		return backend.Digest{}, err
	}
	return d.FullDriver.Digest(ctx, r, q)
}

func (d faultyDriver) Write(ctx context.Context, f func(backend.Tx) error) error {
	if err := d.faults.before(ctx); err != nil {
		return err
	}
	return d.FullDriver.Write(ctx, f)
}

func (d faultyDriver) FindAddress(ctx context.Context, a backend.Address) (backend.Address, bool, error) {
	if err := d.faults.before(ctx); err != nil {
		return a, false, err
	}
	return d.FullDriver.FindAddress(ctx, a)
}

func (d faultyDriver) Export(ctx context.Context, client auth.Client, w io.Writer) (backend.Manifest, error) {
	if err := d.faults.before(ctx); err != nil {
		return backend.Manifest{}, err
	}
	return d.FullDriver.Export(ctx, client, w)
}

func (d faultyDriver) Ping(ctx context.Context) error {
	if err := d.faults.before(ctx); err != nil {
		return err
	}
	return d.FullDriver.Ping(ctx)
}

// DescribeModel implements backend.ModelDescriber.
func (d faultyDriver) DescribeModel(ctx context.Context, _ string) ([]byte, error) {
	if err := d.faults.before(ctx); err != nil {
		return nil, err
	}
	d.faults.mu.Lock()
	defer d.faults.mu.Unlock()
	return d.faults.describe, nil
}

package main

import (
	"context"
	"errors"
	"sync"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// faults is put around the real driver, and lets it fail on demand.
type faults struct {
	mu       sync.Mutex
	fail     func(ctx context.Context) error // before every call; nil for none
	describe []byte                          // what GET /model answers; nil leaves it to the model
}

// fullDriver is all that the built-in administration can do.
type fullDriver interface {
	backend.Driver
	backend.Transactor
	backend.Prober
	backend.Rememberer
	backend.AddressBook
	backend.Exporter
	backend.Pinger
}

// faultyDriver is a driver that fails where its faults say so.
type faultyDriver struct {
	fullDriver
	faults *faults
}

var (
	_ fullDriver             = faultyDriver{}
	_ backend.ModelDescriber = faultyDriver{}
)

var errBroken = errors.New("secret cause of a broken administration")

// fails is what a broken administration does.
func fails(context.Context) error { return errBroken }

func (f *faults) wrap(d backend.Driver) backend.Driver {
	return faultyDriver{fullDriver: d.(fullDriver), faults: f}
}

// set makes every call do this first.
func (f *faults) set(fail func(ctx context.Context) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = fail
}

// describes makes GET /model answer this.
func (f *faults) describes(answer string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.describe = []byte(answer)
}

// none lets all work again.
func (f *faults) none() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail, f.describe = nil, nil
}

func (f *faults) before(ctx context.Context) error {
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
	return d.fullDriver.Get(ctx, r, q)
}

func (d faultyDriver) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	if err := d.faults.before(ctx); err != nil {
		return backend.Page{}, err
	}
	return d.fullDriver.List(ctx, r, q)
}

func (d faultyDriver) InTx(ctx context.Context, f func(backend.Driver) error) error {
	if err := d.faults.before(ctx); err != nil {
		return err
	}
	return d.fullDriver.InTx(ctx, f)
}

func (d faultyDriver) FindAddress(ctx context.Context, a backend.Address) (backend.Address, bool, error) {
	if err := d.faults.before(ctx); err != nil {
		return a, false, err
	}
	return d.fullDriver.FindAddress(ctx, a)
}

func (d faultyDriver) Ping(ctx context.Context) error {
	if err := d.faults.before(ctx); err != nil {
		return err
	}
	return d.fullDriver.Ping(ctx)
}

func (d faultyDriver) Recall(ctx context.Context, client auth.Client, key string) (*backend.Memo, error) {
	if err := d.faults.before(ctx); err != nil {
		return nil, err
	}
	return d.fullDriver.Recall(ctx, client, key)
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

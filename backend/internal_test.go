package backend

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What the search of attempts at a write needs.
type (
	ProgressEvent  = progressEvent
	ProgressEffect = progressEffect
)

// The events and effects of an Attempt.
const (
	Taking, Sending, Undoing, Answering = taking, sending, undoing, answering
	Losing, Succeeding, Failing         = losing, succeeding, failing
	Nothing, Begin, Finish, Abandon     = nothing, begin, finish, abandon
)

// After is after.
func (p Progress) After(e ProgressEvent) (Progress, ProgressEffect, error) { return p.after(e) }

func TestDeadlineEnds(t *testing.T) {
	type key struct{}
	far := time.Now().Add(time.Hour)
	parent, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, "kept"))
	d := within(parent, far)
	at, ok := d.Deadline()
	assert.True(t, ok)
	assert.Equal(t, far, at)
	assert.NoError(t, d.Err())
	assert.Equal(t, "kept", d.Value(key{}))
	assert.Equal(t, parent, d.Unbounded())

	child, stop := context.WithCancel(d) // waits for it
	defer stop()
	assert.Equal(t, "kept", child.Value(key{}))
	cancel()
	<-d.Done()
	<-child.Done()
	assert.ErrorIs(t, d.Err(), context.Canceled)
	assert.ErrorIs(t, context.Cause(child), context.Canceled)
}

func TestDeadlineOfParentComesFirst(t *testing.T) {
	soon := time.Now().Add(time.Minute)
	parent, cancel := context.WithDeadline(context.Background(), soon)
	defer cancel()
	at, _ := within(parent, soon.Add(time.Hour)).Deadline()
	assert.Equal(t, soon, at)
}

func TestDeadlinePasses(t *testing.T) {
	d := within(context.Background(), time.Now().Add(-time.Second))
	defer d.end()
	assert.ErrorIs(t, d.Err(), context.DeadlineExceeded, "without anybody waiting")
	<-d.Done()
	assert.ErrorIs(t, d.Err(), context.DeadlineExceeded)
	assert.ErrorIs(t, context.Cause(d), context.DeadlineExceeded)
}

func TestDeadlineIsOver(t *testing.T) {
	for _, waiting := range []bool{false, true} {
		d := within(context.Background(), time.Now().Add(time.Hour))
		if waiting {
			d.Done()
		}
		d.end()
		assert.ErrorIs(t, d.Err(), context.Canceled)
		<-d.Done()
	}
}

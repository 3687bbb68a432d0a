package config_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/config"
)

// live holds the first one.
func live[T any](t *testing.T, first *T) *config.Live[T] {
	t.Helper()
	l := new(config.Live[T])
	require.Nil(t, l.Current())
	require.NoError(t, l.Reload(func(*T) (*T, error) { return first, nil }))
	return l
}

func TestLive(t *testing.T) {
	first, second := "first", "second"
	l := live(t, &first)
	require.Same(t, &first, l.Current())

	fault := errors.New("fault")
	require.ErrorIs(t, l.Reload(func(current *string) (*string, error) {
		require.Same(t, &first, current)
		return &second, fault
	}), fault)
	require.Same(t, &first, l.Current(), "a failure keeps what is there, whatever came with it")

	require.NoError(t, l.Reload(func(*string) (*string, error) { return nil, nil }))
	require.Same(t, &first, l.Current(), "nothing new")

	require.NoError(t, l.Reload(func(*string) (*string, error) { return &second, nil }))
	require.Same(t, &second, l.Current())
}

// TestLiveOneAtATime loses no reload: each is given what the one before made.
func TestLiveOneAtATime(t *testing.T) {
	const many = 200
	l := live(t, new(int))
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			_ = l.Reload(func(current *int) (*int, error) {
				next := *current + 1
				return &next, nil
			})
		})
	}
	all.Wait()
	require.Equal(t, many, *l.Current())
}

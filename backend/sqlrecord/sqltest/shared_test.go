package sqltest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOnce: of those who want the same at the same time one makes it, and all others find it whole.
func TestOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept", "made")
	begun, goOn := make(chan struct{}), make(chan struct{})
	errs := make(chan error)
	go func() {
		errs <- Once(path, func(made string) error {
			close(begun)
			<-goOn
			return os.WriteFile(made, []byte("whole"), 0o600)
		})
	}()
	<-begun
	var others sync.WaitGroup
	for range 8 {
		others.Go(func() {
			errs <- Once(path, func(string) error { return errors.New("it is made already") })
		})
	}
	close(goOn)
	for range 9 {
		require.NoError(t, <-errs)
	}
	others.Wait()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "whole", string(text))
}

// TestOnceFails: what was not made is made by who comes next, and nothing of it is left.
func TestOnceFails(t *testing.T) {
	folder := t.TempDir()
	path, broken := filepath.Join(folder, "made"), errors.New("broken")
	require.ErrorIs(t, Once(path, func(made string) error {
		require.NoError(t, os.WriteFile(made, []byte("half"), 0o600))
		return broken
	}), broken)
	require.NoFileExists(t, path)
	left, err := filepath.Glob(path + "-*")
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, Once(path, func(made string) error { return os.WriteFile(made, []byte("whole"), 0o600) }))
	require.FileExists(t, path)
}

package sqltest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// starts is how code starts a program that it names.
var starts = regexp.MustCompile(`\bexec\.(?:Command\(|LookPath\(|CommandContext\([^,]+, )"([^"]+)"`)

// TestProgramsAreOfAPart: a test starts a program that a machine may not have by its part,
// which Tool finds, so that it is skipped there.
func TestProgramsAreOfAPart(t *testing.T) {
	always, seen := []string{"sh", "/bin/sh", "/bin/cp", "go", "git"}, 0
	require.NoError(t, filepath.WalkDir(Repository(), func(file string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && d.Name() == "node_modules" {
			return filepath.SkipDir
		}
		if err != nil || filepath.Ext(file) != ".go" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), `"testing"`) || strings.HasSuffix(file, "redistest/redis.go") || strings.HasSuffix(file, "sqltest/postgres.go") {
			return err // these two know where their servers are
		}
		for _, start := range starts.FindAllStringSubmatch(string(text), -1) {
			seen++
			if !slices.Contains(always, start[1]) {
				t.Errorf("%s starts %s, which may be missing: sqltest.Tool finds it", file, start[1])
			}
		}
		return nil
	}))
	require.NotZero(t, seen)
}

// TestPortsOfTwoProcesses: two that look among the same ports are never given the same
// one, although nothing listens on what they were given.
func TestPortsOfTwoProcesses(t *testing.T) {
	one, other := &ports{first: 9000, blocks: 20}, &ports{first: 9000, blocks: 20}
	given := map[int]bool{}
	for range blockSize { // more than a block has beside its first
		for _, p := range []*ports{one, other} {
			port, err := p.take()
			require.NoError(t, err)
			require.False(t, given[port], port)
			given[port] = true
		}
	}
	for _, l := range append(one.taken, other.taken...) {
		require.NoError(t, l.Close())
	}
}

// TestPortsEnd: where all blocks are taken, none is made up.
func TestPortsEnd(t *testing.T) {
	one, other := &ports{first: 8400, blocks: 1}, &ports{first: 8400, blocks: 1}
	_, err := one.take()
	require.NoError(t, err)
	_, err = other.take()
	require.ErrorIs(t, err, errNoPort)
	require.NoError(t, one.taken[0].Close())
}

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

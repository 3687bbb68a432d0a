// Package must has tests say in one line that a call succeeds, and what it returns, or that it fails. It is
// not for programs.
package must

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Have is what a call returned beside an error, which fails the test:
//
//	file := must.Have(os.Open(name))(t)
func Have[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return value
	}
}

// Fail is the error of a call that is to fail, for the test to judge:
//
//	require.ErrorIs(t, must.Fail(os.Open(name)), os.ErrNotExist)
func Fail[T any](_ T, err error) error { return err }

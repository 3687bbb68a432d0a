// Package must has tests say in one line that a call succeeds, and what it returns, or that it fails, and what a text is. It is
// not for programs.
package must

import (
	"encoding/json"
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

// JSON is the value that a text is in JSON.
func JSON[T any, B ~string | ~[]byte](t testing.TB, text B) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &v), "%s", text)
	return v
}

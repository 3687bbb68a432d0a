// Package must has a test say in one line that a call succeeds, and have what it returns. It is
// not for programs, and not for errors that a test expects.
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

// Package authtest holds what every implementation of the interfaces of auth has
// to pass, and the clock to pass it with.
//
// It is for tests only. A store joins with one test function:
//
//	func TestSessions(t *testing.T) {
//		authtest.Sessions(t, func(t *testing.T, clock func() time.Time) auth.Sessions {
//			return open(t, clock) // closed by t.Cleanup
//		})
//	}
//
// and those that keep counts join in the same way with GuessCounter and Limits.
package authtest

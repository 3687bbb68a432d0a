package legacy

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

// TestCallsLeaveConnections: where all calls that may be under way hang, users log in, the
// database answers when it is asked whether it does, and a backup is made. Before, all were of
// one pool, which calls could have whole.
func TestCallsLeaveConnections(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		n := x.Pool().Calls
		require.Equal(t, x.source.Connections, x.Pool().Most)
		has, enough, ended := make(chan struct{}), make(chan struct{}), make(chan error)
		for range n {
			go func() {
				ended <- x.readAtOnce(context.Background(), func(session) error {
					has <- struct{}{}
					<-enough
					return nil
				})
			}()
		}
		for range n {
			<-has
		}
		defer func() {
			close(enough)
			for range n {
				require.NoError(t, <-ended)
			}
		}()
		patient, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, x.Ping(patient))
		_, err := x.Verify(patient, auth.Credentials{Username: "sanne.bos", Password: "Welkom01"})
		require.NoError(t, err)
		_, err = x.Export(patient, one, io.Discard)
		require.NoError(t, err)
		require.Equal(t, n, x.Pool().InUse)
	})
}

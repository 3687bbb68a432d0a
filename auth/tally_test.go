package auth_test

import (
	"testing"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
)

func TestMemoryTally(t *testing.T) {
	authtest.Tally(t, func(*testing.T) auth.Tally { return auth.NewMemoryTally() })
}

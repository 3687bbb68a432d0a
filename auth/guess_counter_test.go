package auth_test

import (
	"testing"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
)

func TestMemoryGuessCounter(t *testing.T) {
	authtest.GuessCounter(t, func(*testing.T) auth.GuessCounter { return auth.NewMemoryGuessCounter() })
}

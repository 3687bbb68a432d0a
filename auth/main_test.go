package auth_test

import (
	"testing"

	"frontdesk/cmd/frontdesk/rig/await"
)

func TestMain(m *testing.M) { await.Run(m) }

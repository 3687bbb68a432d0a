package main

import (
	"os"
	"testing"
	"time"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) {
	time.Local = time.FixedZone("UTC", 0) // whose name is in what commands print; time.UTC itself is a zone of configurations
	os.Exit(rig.Main(m))
}

package webhook_test

import (
	"os"
	"testing"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
)

// suite stops the database server before anybody looks for leaks.
type suite struct{ *testing.M }

func (s suite) Run() int { return sqltest.Run(s.M) }

// Every test runs in an environment that names a proxy where nothing listens.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if err := os.Setenv(name, "http://127.0.0.1:9"); err != nil {
			panic(err)
		}
	}
	await.Run(suite{m})
}

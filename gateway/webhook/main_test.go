package webhook_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"frontdesk/backend/sqlrecord/sqltest"
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
	goleak.VerifyTestMain(suite{m})
}

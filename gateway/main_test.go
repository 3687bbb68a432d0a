package gateway

import (
	"testing"

	"go.uber.org/goleak"
)

// The clock of fasthttp's Date header runs for as long as the process.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

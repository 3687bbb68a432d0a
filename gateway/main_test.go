package gateway

import (
	"testing"

	"go.uber.org/goleak"
)

// The clock of fasthttp's Date header runs for as long as the process, and what
// tidies the workers of a server that was stopped notices within ten seconds.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp/stackless.funcWorker"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// Package await waits in tests for what another process, or another goroutine, is to bring
// about. It has no bound of its own: how fast a machine is decides nothing.
package await

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// said is how long before the end of the test run a wait is given up, so that the test can
// still say what it waited for.
const said = 10 * time.Second

// True waits until the condition holds. It fails the test with these words, which fmt.Sprintf
// takes, shortly before the test run would end.
func True(t testing.TB, condition func() bool, what ...any) {
	t.Helper()
	last := endOf(t)
	for pause := time.Millisecond; !condition(); time.Sleep(pause) {
		if !last.IsZero() && time.Now().After(last) {
			t.Fatalf("still waiting at the end of the test run%s", words(what))
		}
		pause = min(2*pause, 20*time.Millisecond)
	}
}

// endOf is when a wait is given up; zero for never. A synctest bubble has no such time, and says so by
// a panic.
func endOf(t testing.TB) (last time.Time) {
	defer func() { _ = recover() }()
	if run, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, bounded := run.Deadline(); bounded {
			last = end.Add(-said)
		}
	}
	return last
}

func words(what []any) string {
	if len(what) == 0 {
		return ""
	}
	format, ok := what[0].(string)
	if !ok {
		return ": " + fmt.Sprint(what...)
	}
	return ": " + fmt.Sprintf(format, what[1:]...)
}

// LeftByFasthttp are goroutines of the program that outlive it: one keeps the date for ever, and the pools'
// cleaners notice only at their next tick that they were stopped.
var LeftByFasthttp = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
	goleak.IgnoreAnyFunction("github.com/valyala/fasthttp/stackless.funcWorker"),
	goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
}

// Goroutines waits until none is left but those that are ignored, and says once for which it waits. One that
// never ends, the end of the test run shows.
func Goroutines(ignored ...goleak.Option) {
	for said := false; ; said = true {
		err := goleak.Find(ignored...)
		if err == nil {
			return
		}
		if !said {
			fmt.Fprintln(os.Stderr, "waiting for goroutines to end:", err)
		}
	}
}

// Run runs the tests of a package, and waits for what they have begun: func TestMain(m *testing.M) { await.Run(m) }.
func Run(m interface{ Run() int }, ignored ...goleak.Option) {
	code := m.Run()
	if code == 0 {
		Goroutines(ignored...)
	}
	os.Exit(code)
}

package rig

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// TestStart has desks begin with the sample data, each with its own copy, and tells
// with -v what an end-to-end test pays for it.
func TestStart(t *testing.T) {
	for _, e := range Engines {
		t.Run(e.Name, func(t *testing.T) {
			e.DSN(t) // the sample data is made once
			var copied, started, ended []time.Duration
			for range 5 {
				begun := time.Now()
				dsn := e.DSN(t)
				copied, begun = append(copied, time.Since(begun)), time.Now()
				d := Start(t, Options{DSN: dsn})
				started = append(started, time.Since(begun))
				token := d.Login(FullKey, "demo")
				require.Contains(t, string(d.Call("GET", "/order?total=1", token, "").Body), fmt.Sprintf(`"total":%d`, SampleOrders))
				d.Create(token, "order", fmt.Sprintf(NewOrder, 1, ""))
				begun = time.Now()
				d.Shutdown()
				ended = append(ended, time.Since(begun))
			}
			t.Logf("copied in %s, serves after %s, ends in %s", median(copied), median(started), median(ended))
		})
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

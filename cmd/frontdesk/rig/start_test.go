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
// with -v what an end-to-end test pays for one: until it serves, and with its end.
func TestStart(t *testing.T) {
	for _, e := range Engines {
		t.Run(e.Name, func(t *testing.T) {
			e.DSN(t) // the sample data is made once
			var serving, over []time.Duration
			for range 5 {
				begun := time.Now()
				d := Start(t, Options{DSN: e.DSN(t)})
				serving = append(serving, time.Since(begun))
				token := d.Login(FullKey, "demo")
				require.Contains(t, string(d.Call("GET", "/order?total=1", token, "").Body), fmt.Sprintf(`"total":%d`, SampleOrders))
				d.Create(token, "order", fmt.Sprintf(NewOrder, 1, ""))
				ending := time.Now()
				d.Shutdown()
				over = append(over, serving[len(serving)-1]+time.Since(ending))
			}
			slices.Sort(serving)
			slices.Sort(over)
			t.Logf("median of %d: serves after %s, %s with its end", len(over), serving[len(over)/2], over[len(over)/2])
		})
	}
}

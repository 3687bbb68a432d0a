package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestArraysAreLoggedAsTheyAreJudged: the log of a desk is what the tools read.
func TestArraysAreLoggedAsTheyAreJudged(t *testing.T) {
	d := rig.OnSQLite(t, rig.Options{Keys: rig.KeyConfig("plain", rig.ArrayKey(0), "    allow: [\"* /order\"]\n")})
	plain, full := d.Login(rig.ArrayKey(0), "demo"), d.Login(rig.FullKey, "demo")
	require.Equal(t, 403, d.Call("GET", "/order/1?fields=orderlines", plain, "").Status)
	require.Equal(t, 403, d.Call("POST", "/order", plain, rig.OrderWithLine).Status)
	id := d.Create(full, "order", rig.OrderWithLine)
	d.Create(plain, "order", rig.BareOrder+"}")
	require.Equal(t, 409, d.Call("PUT", fmt.Sprintf("/order/%d", id), full, `{"orderlines":[{}]}`).Status)

	d.Shutdown()
	for _, line := range []string{
		`"endpoint":"/order/{id}","query":["fields"],"status":403,"reason":"field_not_in_model"~"needs":["GET /orderline"],"lacks":["GET /orderline"]`,
		`"key":"plain"~"endpoint":"/order","query":[],"status":403,"reason":"field_not_in_model"~"needs":["POST /orderline"],"lacks":["POST /orderline"]`,
		`"key":"full"~"endpoint":"/order","query":[],"status":201~"needs":["POST /orderline"],"cause"`,
		`"key":"plain"~"endpoint":"/order","query":[],"status":201~"needs":[],"cause"`,
		`"endpoint":"/order/{id}","query":[],"status":409~"needs":[],"cause"`,
	} {
		parts := strings.Split(line, "~")
		require.True(t, slices.ContainsFunc(slices.Collect(strings.Lines(d.Log.String())), func(logged string) bool {
			return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(logged, part) })
		}), "no line has %q", parts)
	}
}

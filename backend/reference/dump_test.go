package reference

import ("testing";"time")

func TestDump(t *testing.T) {
	x := open(t, sqliteDSN(t))
	t0 := time.Now()
	x.seeded(100000)
	t.Log(time.Since(t0))
}

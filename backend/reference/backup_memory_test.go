package reference

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// many stores that many orders with two lines each, past rules and derivation.
func (x *fixture) many(orders int) auth.Client {
	x.t.Helper()
	s := newShop(x, "A")
	o := s.order(s.line("high", "2", "10"), s.line("low", "1", "5", "discount_percentage", "12.5"))
	l := x.all(s.mine, "orderline")
	dice := rand.New(rand.NewPCG(1, 1))
	text := func(words int) mapping.Value { // which hardly gets smaller
		var s string
		for range words {
			s += strconv.FormatUint(dice.Uint64(), 36)
		}
		return mapping.TextValue(s)
	}
	rows := func(t *txn, like mapping.Record, from, to int, change func(rec mapping.Record, n int)) error {
		batch := make([]mapping.Record, 0, to-from)
		for n := from; n < to; n++ {
			rec := like.Clone()
			for i, v := range rec.Values {
				if v.IsAbsent() || like.Resource.Fields[i].Type == mapping.Array {
					rec.Values[i] = mapping.NullValue()
				}
			}
			rec.Values[rec.Resource.ID] = mapping.IntValue(int64(n))
			change(rec, n)
			batch = append(batch, rec)
		}
		return t.Put(bg(), s.mine, batch)
	}
	const each = 5000
	for from := 2; from <= orders; from += each {
		to := min(from+each, orders+1)
		require.NoError(x.t, x.inTx(bg(), func(t *txn) error {
			err := rows(t, o, from, to, func(rec mapping.Record, n int) {
				rec.Set("number", mapping.TextValue(fmt.Sprintf("O%06d", n)))
				rec.Set("description", text(16))
			})
			if err != nil {
				return err
			}
			return rows(t, l[0], 2*from-1, 2*to-1, func(rec mapping.Record, n int) {
				rec.Set("order_id", mapping.IntValue(int64(n+1)/2))
				rec.Set("description", text(8))
			})
		}))
	}
	return s.mine
}

// gauge follows an amount of memory while work goes on.
type gauge struct {
	read         func() int64
	before, most int64
	looks        int
}

func newGauge(read func() int64) *gauge { return &gauge{read: read, before: read()} }

func (g *gauge) growth() int64 { return g.most - g.before }

func (g *gauge) look() {
	g.most = max(g.most, g.read())
	g.looks++
}

// liveHeap is what collections leave; pools give up their content at the second.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// transfer backs a client up into a file and restores it, with a look at the
// gauge at every so many bytes and records.
func transfer(t *testing.T, x, y *fixture, client auth.Client, measure func() *gauge, bytes, records int64) (m backend.Manifest, exporting, restoring *gauge, took [2]time.Duration) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "backup.zip"))
	require.NoError(t, err)
	defer file.Close()
	exporting = measure()
	began, written, next := time.Now(), int64(0), bytes
	m, err = x.Export(bg(), client, writer(func(data []byte) (int, error) {
		if written += int64(len(data)); written >= next {
			next += bytes
			exporting.look()
		}
		return file.Write(data)
	}))
	require.NoError(t, err)
	took[0] = time.Since(began)
	restoring = measure()
	began = time.Now()
	_, err = Restore(bg(), y.Store, file, written, RestoreOptions{Client: client.Name, Progress: func(done, _ int64) {
		if done%records == 0 {
			restoring.look()
		}
	}})
	require.NoError(t, err)
	took[1] = time.Since(began)
	t.Logf("%d records, %d MiB of JSON, %d MiB of ZIP", m.Records(), size(m)>>20, written>>20)
	return m, exporting, restoring, took
}

func size(m backend.Manifest) (n int64) {
	for _, p := range m.Parts {
		n += p.Bytes
	}
	return n
}

// TestBackupInConstantMemory bounds what is held at any moment by far less than
// what is written.
func TestBackupInConstantMemory(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		client := x.many(5000)
		y := x.emptied()
		m, exporting, restoring, _ := transfer(t, x, y, client, func() *gauge { return newGauge(liveHeap) }, 64<<10, 2500)
		require.Greater(t, size(m), int64(7<<20))
		t.Logf("live heap: +%d KiB exporting, +%d KiB restoring", exporting.growth()>>10, restoring.growth()>>10)
		require.GreaterOrEqual(t, min(exporting.looks, restoring.looks), 6)
		require.Less(t, exporting.growth(), int64(3<<20))
		require.Less(t, restoring.growth(), int64(3<<20)+8*m.Records())
	})
}

// TestSoakBackup is the same with a million orders and the memory of the process.
func TestSoakBackup(t *testing.T) {
	if !sqltest.Soak() {
		t.Skip("a soak test: set FRONTDESK_SOAK=1")
	}
	onEngines(t, func(t *testing.T, x *fixture) {
		began := time.Now()
		client := x.many(1_000_000)
		t.Logf("made in %s", time.Since(began).Round(time.Second))
		y := x.emptied()
		m, exporting, restoring, took := transfer(t, x, y, client, func() *gauge {
			debug.FreeOSMemory()
			return newGauge(func() int64 { return drivertest.Resident(t) })
		}, 1<<20, 10000)
		require.GreaterOrEqual(t, m.Records(), int64(3_000_000))
		t.Logf("resident: +%d MiB exporting (%s), +%d MiB restoring (%s)", exporting.growth()>>20, took[0].Round(time.Second),
			restoring.growth()>>20, took[1].Round(time.Second))
		require.Less(t, exporting.growth(), int64(64<<20))
		require.Less(t, restoring.growth(), int64(64<<20)+8*m.Records())
	})
}

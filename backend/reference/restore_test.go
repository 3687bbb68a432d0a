package reference

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// emptied is the same kind of administration in a new database.
func (x *fixture) emptied() *fixture {
	x.t.Helper()
	if x.postgres() {
		return open(x.t, migrated(x.t))
	}
	return open(x.t, sqliteDSN(x.t))
}

func (x *fixture) postgres() bool { return x.internalTables(nil).postgres() }

// TestRestoreBesideOthers restores into a database that has other clients.
func TestRestoreBesideOthers(t *testing.T) {
	onSample(t, func(t *testing.T, x *fixture, demo, other auth.Client) {
		mine, theirs := x.backUp(demo), x.backUp(other)

		y := x.emptied()
		require.ErrorIs(t, y.restore(mine, RestoreOptions{Client: OtherClient}), ErrOtherClient)
		require.NoError(t, y.restore(theirs, RestoreOptions{Client: OtherClient}))
		require.NoError(t, y.restore(mine, RestoreOptions{Client: "Demo 2", Rename: true}))
		require.Equal(t, x.sum(x.Store, demo), y.sum(y.Store, y.client("Demo 2")))
		require.Equal(t, x.sum(x.Store, other), y.sum(y.Store, y.client(OtherClient)))

		// The same again: the client has records; under another name the IDs are taken.
		before := y.sum(y.Store, y.client("Demo 2"), y.client(OtherClient))
		err := y.restore(mine, RestoreOptions{Client: "Demo 2", Rename: true})
		require.ErrorIs(t, err, ErrClientNotEmpty)
		err = y.restore(mine, RestoreOptions{Client: "Demo 3", Rename: true})
		require.ErrorIs(t, err, ErrBackupRefused)
		require.ErrorContains(t, err, "article.ndjson, line 1: the id 1 is taken here by a record of another client")
		require.ErrorIs(t, must.Fail(y.FindClient(bg(), "Demo 3")), ErrUnknownClient)
		require.Equal(t, before, y.sum(y.Store, y.client("Demo 2"), y.client(OtherClient)))
	})
}

// TestPlansKnowOfManyRecords looks whether PostgreSQL knows how many records came at
// once, without having been left alone to find out.
func TestPlansKnowOfManyRecords(t *testing.T) {
	known := func(x *fixture) (n int64) {
		require.NoError(t, x.db.Read(bg(), func(conn sqlrecord.Conn) (err error) {
			n, _, err = x.internalTables(conn).one(bg(), `SELECT reltuples::int FROM pg_class WHERE oid = to_regclass('"order"')`)
			return err
		}))
		return n
	}
	x := open(t, samplePostgres(t))
	require.Equal(t, int64(sampleOrders+otherOrders), known(x))
	demo := must.Have(x.FindClient(bg(), DemoClient))(t)
	y := x.emptied()
	require.NoError(t, y.restore(x.backUp(demo), RestoreOptions{Client: DemoClient}))
	require.Equal(t, int64(sampleOrders), known(y))
}

// TestOneOfTwoRestores lets two restores of one client meet.
func TestOneOfTwoRestores(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		file := x.backUp(x.small())
		y := x.emptied()
		won := 0
		for _, err := range drivertest.Together(4, func(int) error { return y.restore(file, RestoreOptions{Client: "A"}) }) {
			if err == nil {
				won++
			} else {
				require.ErrorIs(t, err, ErrClientNotEmpty)
			}
		}
		require.Equal(t, 1, won)
		requireSameBackup(t, file, y.backUp(y.client("A")))
	})
}

// TestStoppedRestore stops in the middle of storing.
func TestStoppedRestore(t *testing.T) {
	onSample(t, func(t *testing.T, x *fixture, demo, _ auth.Client) {
		file := x.backUp(demo)
		y := x.emptied()
		ctx, stop := context.WithCancel(bg())
		_, err := Restore(ctx, y.Store, bytes.NewReader(file), int64(len(file)), RestoreOptions{Client: DemoClient, Progress: func(done, total int64) {
			if done > total*3/4 {
				stop()
			}
		}})
		stop()
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, y.restore(file, RestoreOptions{Client: DemoClient}))
		requireSameBackup(t, file, y.backUp(y.client(DemoClient)))
	})
}

const nodeModel = `name: node
description: A node of a tree, which can name any other as its parent.
module: trees
since: 2
fields:
  - {name: parent_id, type: int4, reference: node, description: Its parent., example: 1}
  - {name: label, type: varchar(20), description: Its label., example: a}
`

// openWith opens an administration whose model has a resource more.
func openWith(t *testing.T, dsn, node string) *Store {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "node.yaml"), []byte(node), 0o600))
	s := must.Have(Open(bg(), Options{DSN: dsn, Model: must.Have(mapping.LoadModel(dir))(t), Hasher: hasher, Now: time.Now}))(t)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// TestRestoreWithAnotherModel has references that go round in a circle, and
// restores into models that have changed since.
func TestRestoreWithAnotherModel(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := openWith(t, x.dsn, nodeModel)
		client, err := s.AddClient(bg(), "A")
		require.NoError(t, err)
		node := s.model.Resource("node")
		var nodes []mapping.Record
		for range 3 {
			nodes = append(nodes, must.Have(drivertest.Single{Driver: s}.Create(bg(), client, mapping.NewRecord(node)))(t))
		}
		for i, parent := range []int64{3, 1, 3} {
			patch := mapping.NewRecord(node)
			patch.Set("parent_id", mapping.IntValue(parent))
			must.Have(drivertest.Single{Driver: s}.Update(bg(), client, nodes[i], patch))(t)
		}
		var file bytes.Buffer
		must.Have(s.Export(bg(), client, &file))(t)
		restore := func(node string, o RestoreOptions) (string, error) {
			y := x.emptied()
			s := openWith(t, y.dsn, node)
			o.Client = "A"
			if _, err := Restore(bg(), s, bytes.NewReader(file.Bytes()), int64(file.Len()), o); err != nil {
				return "", err
			}
			var again bytes.Buffer
			must.Have(s.Export(bg(), y.client("A"), &again))(t)
			files, _ := contents(t, again.Bytes())
			return files["node.ndjson"], nil
		}

		want, _ := contents(t, file.Bytes())
		got := must.Have(restore(nodeModel, RestoreOptions{}))(t)
		require.Equal(t, want["node.ndjson"], got)

		added := nodeModel + "  - {name: note, type: text, since: 3, description: A note., example: a}\n"
		got = must.Have(restore(added, RestoreOptions{}))(t)
		require.Equal(t, strings.ReplaceAll(want["node.ndjson"], `"label":null,`, `"label":null,"note":null,`), got)

		_, err = restore(strings.Replace(nodeModel, "label", "title", 1), RestoreOptions{})
		require.ErrorContains(t, err, "node.ndjson, line 1: Field: label not found in model")

		stricter := strings.Replace(nodeModel, "varchar(20),", "varchar(20), required: true,", 1)
		_, err = restore(stricter, RestoreOptions{})
		require.ErrorIs(t, err, ErrLegacyRecord)
		require.ErrorContains(t, err, "node.ndjson, line 1: the model does not allow it: Field: label ")
		got = must.Have(restore(stricter, RestoreOptions{Legacy: true}))(t)
		require.Equal(t, want["node.ndjson"], got)
	})
}

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

// holdsLittle backs a client with so many orders up into a file and restores it, with a look at the gauge at
// every so many bytes and records: at any moment far less is held than is written.
func holdsLittle(t *testing.T, orders int, measure func() *gauge, bytes, records, most int64) {
	onEngines(t, func(t *testing.T, x *fixture) {
		client := x.many(orders)
		y := x.emptied()
		file := must.Have(os.Create(filepath.Join(t.TempDir(), "backup.zip")))(t)
		defer file.Close()
		exporting, written, next := measure(), int64(0), bytes
		m := must.Have(x.Export(bg(), client, writer(func(data []byte) (int, error) {
			if written += int64(len(data)); written >= next {
				next += bytes
				exporting.look()
			}
			return file.Write(data)
		})))(t)
		restoring := measure()
		must.Have(Restore(bg(), y.Store, file, written, RestoreOptions{Client: client.Name, Progress: func(done, _ int64) {
			if done%records == 0 {
				restoring.look()
			}
		}}))(t)
		size := int64(0)
		for _, p := range m.Parts {
			size += p.Bytes
		}
		t.Logf("%d records, %d MiB of JSON, %d MiB of ZIP", m.Records(), size>>20, written>>20)
		t.Logf("held: +%d KiB exporting, +%d KiB restoring", exporting.growth()>>10, restoring.growth()>>10)
		require.GreaterOrEqual(t, m.Records(), int64(3*orders))
		require.Greater(t, size, int64(1450*orders))
		require.GreaterOrEqual(t, min(exporting.looks, restoring.looks), 6)
		require.Less(t, exporting.growth(), most)
		require.Less(t, restoring.growth(), most+8*m.Records())
	})
}

func TestBackupInConstantMemory(t *testing.T) {
	holdsLittle(t, 5000, func() *gauge { return newGauge(liveHeap) }, 64<<10, 2500, 3<<20)
}

// TestSoakBackup is the same with a million orders and the memory of the process.
func TestSoakBackup(t *testing.T) {
	if !sqltest.Soak() {
		t.Skip("a soak test: set FRONTDESK_SOAK=1")
	}
	holdsLittle(t, 1_000_000, func() *gauge {
		debug.FreeOSMemory()
		return newGauge(func() int64 { return drivertest.Resident(t) })
	}, 1<<20, 10000, 64<<20)
}

package reference

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/backupzip"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// backUp returns a backup of the client.
func (x *fixture) backUp(client auth.Client) []byte {
	x.t.Helper()
	var file bytes.Buffer
	must.Have(x.Export(bg(), client, &file))(x.t)
	return file.Bytes()
}

// restore reads a backup back.
func (x *fixture) restore(file []byte, o RestoreOptions) error {
	_, err := Restore(bg(), x.Store, bytes.NewReader(file), int64(len(file)), o)
	return err
}

// contents are the files of a backup by name, the manifest aside.
func contents(t testing.TB, file []byte) (map[string]string, backend.Manifest) {
	t.Helper()
	archive := must.Have(zip.NewReader(bytes.NewReader(file), int64(len(file))))(t)
	files := map[string]string{}
	for _, f := range archive.File {
		text := must.Have(io.ReadAll(must.Have(f.Open())(t)))(t)
		files[f.Name] = string(text)
	}
	var m backend.Manifest
	require.NoError(t, json.Unmarshal([]byte(files[backupzip.ManifestName]), &m, json.RejectUnknownMembers(true)))
	delete(files, backupzip.ManifestName)
	return files, m
}

// requireSameBackup compares two backups in all but the time.
func requireSameBackup(t testing.TB, want, got []byte) {
	t.Helper()
	wantFiles, wantManifest := contents(t, want)
	gotFiles, gotManifest := contents(t, got)
	gotManifest.Time = wantManifest.Time
	require.Empty(t, cmp.Diff(wantManifest, gotManifest))
	require.Empty(t, cmp.Diff(wantFiles, gotFiles))
}

// livedIn is what happens to records of the sample afterwards.
func (x *fixture) livedIn(demo auth.Client) {
	x.t.Helper()
	x.clock.advance(time.Hour)
	o := x.create(demo, x.record("order", "contact_id", "50", "kind", "parts", "order_status", "open", "order_date", "2026-11-20"))
	id := fmt.Sprint(o.ID())
	x.create(demo, x.record("orderline", "order_id", id, "description", "Bolt \"M8\"\n€ \u2028", "quantity", "0.3333", "price", "1.0001", "turnover_group_id", "1"))
	x.update(demo, o.ID(), x.record("order", "order_status", "invoiced"))
	x.update(demo, 3, x.record("contact", "is_blocked", "1"))
	x.update(demo, 4, x.record("contact", "is_archived", "1"))
	noise := make([]byte, 512<<10)
	for i := range noise {
		noise[i] = byte(rand.N(256))
	}
	d := x.record("document", "name", "noise.bin", "resource", "order", "resource_id", id)
	d.Set("content", mapping.BytesValue(noise))
	x.create(demo, d)
	last := x.create(demo, x.record("contact", "kind", "person", "name", "Gone"))
	require.NoError(x.t, x.front.Delete(bg(), demo, last.Resource, last.ID(), backend.Write{}))
}

// TestBackupComesBack takes a client from engine to engine and back.
func TestBackupComesBack(t *testing.T) {
	sqltest.Postgres(t) // its server is no leak of the SQLite test, which uses it too
	onSample(t, func(t *testing.T, x *fixture, demo, _ auth.Client) {
		x.livedIn(demo)
		file := x.backUp(demo)
		_, m := contents(t, file)
		require.Equal(t, "Demo Garage", m.Client)
		require.Equal(t, x.clock.Now(), m.Time)
		require.EqualValues(t, len(x.all(demo, "order")), m.Parts[partOf(m, "order")].Count)
		before := x.sum(x.Store, demo)

		for _, dsn := range []string{sqliteDSN(t), sqltest.Postgres(t), sqliteDSN(t)} {
			y := open(t, dsn)
			y.clock.advance(48 * time.Hour)
			require.NoError(t, y.restore(file, RestoreOptions{Client: DemoClient}))
			again := y.client(DemoClient)
			next := y.backUp(again)
			requireSameBackup(t, file, next)
			file = next
			requireGoesOn(t, y, again, m)
		}
		require.Equal(t, before, x.sum(x.Store, demo))
	})
}

func partOf(m backend.Manifest, resource string) int {
	for i, p := range m.Parts {
		if p.Resource == resource {
			return i
		}
	}
	return -1
}

// requireGoesOn creates records in a restored client: no ID and no number that was
// given out before is given out again, not even that of a deleted contact.
func requireGoesOn(t *testing.T, y *fixture, is auth.Client, m backend.Manifest) {
	t.Helper()
	c := y.create(is, y.record("contact", "kind", "person", "name", "New"))
	require.Equal(t, m.LastIDs["contact"]+1, c.ID())
	require.Equal(t, fmt.Sprintf("C%06d", m.Counters["contact.number"]+1), c.Get("number").Text())

	o := y.create(is, y.record("order", "contact_id", "50", "kind", "parts", "order_status", "open", "order_date", "2026-11-20"))
	require.Equal(t, "O000062", o.Get("number").Text())
	y.create(is, y.record("orderline", "order_id", fmt.Sprint(o.ID()), "description", "Nut", "quantity", "2", "price", "3", "turnover_group_id", "1"))
	require.Equal(t, "6", y.get(is, "order", o.ID()).Get("total_excl").String())
	invoices := map[string]bool{}
	for _, o := range y.all(is, "order") {
		invoices[o.Get("invoice_number").Text()] = true
	}
	invoiced := y.update(is, o.ID(), y.record("order", "order_status", "invoiced"))
	require.False(t, invoices[invoiced.Get("invoice_number").Text()])
}

// TestBackupIsOneMoment makes backups while orders, lines and documents come and
// go: in each, every line has its order and every total is that of its lines.
func TestBackupIsOneMoment(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		orders := []mapping.Record{s.order(), s.order(), s.order()}
		stop, wrote := make(chan struct{}), make(chan struct{})
		var writers sync.WaitGroup
		end := sync.OnceFunc(func() {
			close(stop)
			writers.Wait()
		})
		defer end()
		for i := range orders {
			writers.Go(func() {
				for n := 0; ; n++ {
					line, err := s.Create(bg(), s.mine, s.lineOf(orders[i], "high", "1", fmt.Sprint(n%100+1)))
					if err == nil && n%3 == 0 {
						err = s.Delete(bg(), s.mine, line)
					}
					assert.NoError(t, err)
					select {
					case wrote <- struct{}{}:
					case <-stop:
						return
					default:
					}
				}
			})
		}
		var files [][]byte
		for range 8 {
			var file bytes.Buffer
			during := sync.OnceFunc(func() {
				for range 2 * len(orders) { // the first ones may have been written before
					<-wrote
				}
			})
			_, err := s.Export(bg(), s.mine, writer(func(data []byte) (int, error) {
				during()
				return file.Write(data)
			}))
			require.NoError(t, err)
			files = append(files, file.Bytes())
		}
		end()
		last := int32(0)
		for i, file := range files {
			y := open(t, sqliteDSN(t))
			_, m := contents(t, file)
			require.NoError(t, y.restore(file, RestoreOptions{Client: m.Client}))
			client := y.client(m.Client)
			sums := map[int64]int64{}
			for _, l := range y.all(client, "orderline") {
				sums[l.Get("order_id").Int()] += l.Get("total").Int()
			}
			for _, o := range y.all(client, "order") {
				require.Equal(t, sums[int64(o.ID())], o.Get("total_excl").Int(), "backup %d", i)
			}
			require.True(t, i == 0 || m.LastIDs["orderline"] > last, "nothing was written meanwhile")
			last = m.LastIDs["orderline"]
		}
	})
}

// writer is a function as an io.Writer.
type writer func([]byte) (int, error)

func (f writer) Write(data []byte) (int, error) { return f(data) }

// TestBackupLeavesReadersAlone reads and writes while a backup is under way and
// the only shared connection is wanted by all.
func TestBackupLeavesReadersAlone(t *testing.T) {
	onSample(t, func(t *testing.T, x *fixture, demo, _ auth.Client) {
		x.livedIn(demo)
		narrow, err := Open(bg(), Options{DSN: x.dsn, Model: x.model, Hasher: hasher, Now: x.clock.Now, Purge: x.ticks, Readers: 1})
		require.NoError(t, err)
		var file bytes.Buffer
		wrote := 0
		_, err = narrow.Export(bg(), demo, writer(func(data []byte) (int, error) {
			if wrote++; wrote == 1 {
				must.Have(narrow.Get(bg(), x.model.Resource("order"), backend.Query{Client: demo, ID: 1}))(t)
				_, err = drivertest.Single{Driver: narrow}.Create(bg(), demo, x.record("order", "contact_id", "50", "kind", "parts", "order_status", "open", "order_date", "2026-11-20"))
				require.NoError(t, err)
			}
			return file.Write(data)
		}))
		require.NoError(t, err)
		require.NoError(t, narrow.Close())
		files, m := contents(t, file.Bytes())
		require.EqualValues(t, 61, m.Parts[partOf(m, "order")].Count, "the order that was made meanwhile is not of that moment")
		require.Equal(t, 61, strings.Count(files["order.ndjson"], "\n"))
	})
}

func TestBackupThatCannotBeWritten(t *testing.T) {
	onSample(t, func(t *testing.T, x *fixture, demo, _ auth.Client) {
		x.livedIn(demo)
		full := errors.New("no space left")
		_, err := x.Export(bg(), demo, writer(func([]byte) (int, error) { return 0, full }))
		require.ErrorIs(t, err, full)
		require.NotContains(t, err.Error(), "canceled")
		require.ErrorIs(t, must.Fail(x.FindClient(bg(), "Nobody")), ErrUnknownClient)
		must.Have(x.front.Export(bg(), demo, io.Discard))(t)
	})
}

// TestCloseEndsBackup closes the administration in the middle of a backup.
func TestCloseEndsBackup(t *testing.T) {
	onSample(t, func(t *testing.T, x *fixture, demo, _ auth.Client) {
		x.livedIn(demo)
		other := x.reopen()
		var closed sync.WaitGroup
		var file bytes.Buffer
		_, err := other.Export(bg(), demo, writer(func(data []byte) (int, error) {
			closed.Go(func() { _ = other.Close() })
			for open := true; open; { // until Close has begun
				_, err := other.FindClient(bg(), DemoClient)
				open = err == nil
			}
			return file.Write(data)
		}))
		closed.Wait()
		if err == nil { // what was left took less time than Close needed
			require.NoError(t, open(t, sqliteDSN(t)).restore(file.Bytes(), RestoreOptions{Client: DemoClient}))
		}
		require.Error(t, must.Fail(other.Export(bg(), demo, io.Discard)))
	})
}

package records

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/reference"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// grownFrom is how many orders come from the sample data; the others are copies.
const grownFrom = 10_000

// growthSizes are the numbers of orders from grownFrom to FRONTDESK_GROWTH, times
// ten each.
func growthSizes(b *testing.B) (sizes []int) {
	largest := 10 * grownFrom
	if text := os.Getenv("FRONTDESK_GROWTH"); text != "" {
		var err error
		largest, err = strconv.Atoi(text)
		require.NoError(b, err, "FRONTDESK_GROWTH is a number of orders")
	}
	for n := grownFrom; n <= largest; n *= 10 {
		sizes = append(sizes, n)
	}
	return sizes
}

// sqliteGrowth is how far the growth is measured on SQLite.
const sqliteGrowth = 1_000_000

// BenchmarkGrowth asks the same of ever more orders of one client, to 100,000 or
// FRONTDESK_GROWTH. The processor time is that of frontdesk and the database.
func BenchmarkGrowth(b *testing.B) {
	for _, engine := range []struct {
		name string
		dsn  func() string
		most int
	}{
		{"sqlite", func() string { return "sqlite:" + filepath.Join(b.TempDir(), desk.DatabaseFile) }, sqliteGrowth},
		{"postgres", func() string { return sqltest.Postgres(b) }, 100 * sqliteGrowth},
	} {
		dsn := engine.dsn()
		require.NoError(b, rig.SeedDatabase(dsn, grownFrom))
		for n, size := range growthSizes(b) {
			if size > engine.most {
				break
			}
			if n > 0 {
				grow(b, dsn, size/10, size)
			}
			b.Run(fmt.Sprintf("%s/%d", engine.name, size), func(b *testing.B) { benchmarkGrown(b, dsn, size) })
		}
	}
}

func benchmarkGrown(b *testing.B, dsn string, size int) {
	b.Run("size", func(b *testing.B) {
		b.ReportMetric(float64(stored(b, dsn))/float64(size), "B/order")
		b.ReportMetric(0, "ns/op") // nothing was timed
	})
	d := rig.StartChild(b, rig.Options{DSN: dsn, Extra: "log: {access: false}"})
	servers := rig.Processes{"frontdesk": {d.Process.Process.Pid}}
	if !strings.HasPrefix(dsn, "sqlite:") {
		servers["postgres"] = []int{rig.PostgresProcess(b, dsn)}
	}
	token := d.Login(rig.FullKey, "demo")
	one := func() int { return grownID(1 + rand.IntN(size)) }
	for _, c := range []struct {
		name    string
		status  int
		request func() []byte
	}{
		{"get", 200, func() []byte { return rig.Asked(token, "/order/"+strconv.Itoa(one())) }},
		{"list50", 200, func() []byte { return rig.Asked(token, "/order?page_size=50") }},
		{"list50/newest", 200, func() []byte { return rig.Asked(token, "/order?page_size=50&sort=-id") }},
		{"list50/after", 200, func() []byte { return rig.Asked(token, "/order?page_size=50&after="+strconv.Itoa(one())) }},
		{"list50/number", 200, func() []byte { return rig.Asked(token, "/order?page_size=50&number="+grownNumber(1+rand.IntN(size))) }},
		{"list50/page100", 200, func() []byte { return rig.Asked(token, "/order?page_size=50&page=100") }},
		{"list50/last", 200, func() []byte { return rig.Asked(token, "/order?page_size=50&page="+strconv.Itoa(size/50)) }},
		{"list50/total", 200, func() []byte { return rig.Asked(token, "/order?page_size=50&total=1") }},
		{"create", 201, func() []byte { return rig.Posted(token, rig.BenchOrder) }},
	} {
		b.Run(c.name, func(b *testing.B) { rig.DriveCounted(b, servers, []string{d.Base}, answeredBy(c.status, c.request)) })
	}
}

// stored is how many bytes the orders take, with their indexes; on SQLite with the
// records of other resources, which are as many whatever the orders are.
func stored(b *testing.B, dsn string) (bytes int64) {
	b.Helper()
	if file, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		return must.Have(os.Stat(file))(b).Size()
	}
	conn := must.Have(pgx.Connect(b.Context(), dsn))(b)
	defer conn.Close(context.Background())
	require.NoError(b, conn.QueryRow(b.Context(), `SELECT pg_total_relation_size('"order"')`).Scan(&bytes))
	return bytes
}

// grownID is the ID of the demo client's n-th order: those of the other client
// come after the sample data.
func grownID(n int) int {
	if n <= grownFrom {
		return n
	}
	return n + grownOthers
}

const grownOthers = 25

func grownNumber(n int) string { return fmt.Sprintf("O%06d", n) }

// grow copies the demo client's orders until there are size of them.
func grow(b *testing.B, dsn string, have, size int) {
	b.Helper()
	store := must.Have(rig.OpenAdministration(dsn))(b)
	err := store.Database().Write(b.Context(), func(conn sqlrecord.Conn) error {
		// What was created meanwhile makes room.
		if _, err := conn.Exec(b.Context(), fmt.Sprintf(`DELETE FROM "order" WHERE id > %d`, have+grownOthers)); err != nil {
			return err
		}
		for ; have < size; have += grownFrom {
			if err := copyOrders(b, store, conn, have); err != nil {
				return err
			}
		}
		if _, err := conn.Exec(b.Context(), fmt.Sprintf(`UPDATE counter SET value = %d WHERE client_id = 1 AND name = 'order.number'`, size)); err != nil {
			return err
		}
		if store.Database().Dialect().Name == sqlrecord.Postgres().Name {
			_, err := conn.Exec(b.Context(), `SELECT setval(pg_get_serial_sequence('"order"', 'id'), (SELECT max(id) FROM "order"))`)
			return err
		}
		return nil
	})
	if err == nil {
		err = store.Database().Write(b.Context(), func(conn sqlrecord.Conn) error { _, err := conn.Exec(b.Context(), "ANALYZE"); return err })
	}
	require.NoError(b, errors.Join(err, store.Close()))
}

// copyOrders copies the first grownFrom orders, as those that come after have.
func copyOrders(b *testing.B, store *reference.Store, conn sqlrecord.Conn, have int) error {
	model, err := mapping.LoadModel("")
	require.NoError(b, err)
	columns := []string{"client_id", "row_version"}
	values := []string{"client_id", "row_version"}
	for _, f := range model.Resource("order").Fields {
		value := store.Database().Dialect().Quote(f.Name)
		switch {
		case f.Type == mapping.Array:
			continue
		case f.Primary:
			value = fmt.Sprintf("id + %d", grownID(have+1)-1)
		case f.Name == "number" && have < 1_000_000-grownFrom:
			value = fmt.Sprintf("'O' || substr(CAST(1000000 + id + %d AS TEXT), 2)", have)
		case f.Name == "number":
			value = fmt.Sprintf("'O' || CAST(id + %d AS TEXT)", have)
		case f.Name == "invoice_number":
			value = fmt.Sprintf("invoice_number || '-%d'", have)
		}
		columns, values = append(columns, store.Database().Dialect().Quote(f.Name)), append(values, value)
	}
	_, err = conn.Exec(b.Context(), fmt.Sprintf(`INSERT INTO "order" (%s) SELECT %s FROM "order" WHERE id <= %d`,
		strings.Join(columns, ", "), strings.Join(values, ", "), grownFrom))
	return err
}

// answeredBy is for drive: requests that are all answered by one status.
func answeredBy(status int, request func() []byte) func() ([]byte, int) {
	return func() ([]byte, int) { return request(), status }
}

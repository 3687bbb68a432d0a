package sqlrecord
import ("testing";"time";"context";"frontdesk/mapping")
func TestTmp(t *testing.T) {
	db := openPostgres(t)
	for _, run := range []func(context.Context, func(Conn) error) error{db.Read, db.Write, db.Snapshot} {
		t0 := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := run(ctx, func(c Conn) error { return c.Query(ctx, endless["postgres"], oneInt, nil, func([]mapping.Value) error { return nil }) })
		cancel()
		t.Log(time.Since(t0), err)
		t0 = time.Now()
		t.Log(db.Ping(t.Context()), time.Since(t0))
	}
	t0 := time.Now()
	db.Close()
	t.Log(time.Since(t0))
}

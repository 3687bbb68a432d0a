package sqlrecord

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

func openT(t testing.TB) (*Store, *mapping.Model) {
	m, err := mapping.LoadModel("")
	if err != nil {
		t.Fatal(err)
	}
	db, err := OpenSQLite(filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	t0 := time.Now()
	if err := Migrate(context.Background(), db, m); err != nil {
		t.Fatal(err)
	}
	t.Log("migrate", time.Since(t0))
	t0 = time.Now()
	if err := Migrate(context.Background(), db, m); err != nil {
		t.Fatal(err)
	}
	t.Log("migrate again", time.Since(t0))
	return New(db, m, time.Now), m
}

func TestSmoke(t *testing.T) {
	s, m := openT(t)
	ctx := context.Background()
	c := auth.Client{ID: 1}
	ct := mapping.NewRecord(m.Resource("contact"))
	ct.Set("name", mapping.TextValue("Jansen"))
	ct, err := s.Create(ctx, c, ct)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(ctx, ct.Resource, backend.Query{Client: c, ID: ct.ID()})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", got.AppendJSON(nil, ct.Resource.RecordFields()))
	page, err := s.List(ctx, ct.Resource, backend.Query{Client: c, Limit: 10})
	t.Log(len(page.Records), page.More, err)
	up := mapping.NewRecord(ct.Resource)
	up.Set("name", mapping.TextValue("Pietersen"))
	got, err = s.Update(ctx, c, got, up)
	t.Log(got.Version, err)
	t.Log(s.Delete(ctx, c, got))
}

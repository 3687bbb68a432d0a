package reference

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

func TestQuick(t *testing.T) {
	m, err := mapping.LoadModel("")
	if err != nil {
		t.Fatal(err)
	}
	t0 := time.Now()
	s, err := Open(context.Background(), Options{DSN: "sqlite:" + filepath.Join(t.TempDir(), "a.db"), Model: m, Hasher: auth.NewHasher(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	t.Log("open", time.Since(t0))
	t0 = time.Now()
	n, _ := strconv.Atoi(os.Getenv("N"))
	if err := Seed(context.Background(), s, SeedOptions{Records: max(n, 200)}); err != nil {
		t.Fatal(err)
	}
	t.Log("seed", time.Since(t0))
}

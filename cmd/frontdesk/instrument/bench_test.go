package instrument

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/gateway"
)

// BenchmarkAnswered is what counting costs each request and the call of the backend in it.
func BenchmarkAnswered(b *testing.B) {
	i := New(time.Now)
	a := gateway.Answer{At: time.Now(), Took: time.Millisecond, Backend: 700 * time.Microsecond, Method: "GET", Endpoint: "/order/{id}", Key: "webshop", Client: "Demo Garage", Hash: &auth.KeyHash{}, User: "demo", Grant: "GET /order", Status: 200, Address: "192.0.2.7"}
	call := backend.Call{Resource: "order", Operation: "get", Lane: "reads of order", Outcome: backend.Answered, Took: 700 * time.Microsecond}
	b.ReportAllocs()
	for b.Loop() {
		i.Called(b.Context(), call)
		i.Answered(a)
	}
}

// BenchmarkSave is what writing a busy day to its file costs, once a minute.
func BenchmarkSave(b *testing.B) {
	now := began
	i := New(func() time.Time { return now })
	for range 24 * 60 * 6 {
		now = now.Add(Short)
		for k := range 30 {
			i.Answered(gateway.Answer{At: now, Took: time.Millisecond, Method: "GET", Endpoint: fmt.Sprint("/r", k), Key: "webshop", Client: fmt.Sprint("client", k%20), Status: 200})
		}
		i.Take(Levels{})
	}
	file := filepath.Join(b.TempDir(), "history")
	for b.Loop() {
		if err := i.Save(file); err != nil {
			b.Fatal(err)
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/1024, "KiB")
}

package instrument

import (
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

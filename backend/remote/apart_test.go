package remote

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"frontdesk/auth"
	"frontdesk/backend"
)

// TestReadsApart: what calls use again holds nothing of the call before, nor of one beside it. Every
// read is answered with what it sent, some are cut off, and some have a value that cannot be sent.
func TestReadsApart(t *testing.T) {
	cut := func(id int) bool { return id%7 == 0 }
	var cuts sync.Map // by id
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.Atoi(path.Base(r.URL.Path))
		if cut(id) {
			end, _ := cuts.Load(id)
			end.(context.CancelFunc)()
			<-r.Context().Done()
			return
		}
		_, _ = fmt.Fprintf(w, `{"id":%d,"number":"%s","reference":"%s","description":"%s","_version":3}`,
			id, r.Header.Get("X-Client"), r.Header.Get("X-Name"), r.Header.Get("X-Request-Id"))
	}))
	defer server.Close()
	s := serviceAt(t, server.URL, `X-Client: "{client.id}", X-Name: "{client.name}"`)
	order := s.Sheet.Model.Resource("order")
	read := func(id int) {
		client := auth.Client{ID: int64(1000 + id), Name: fmt.Sprint("client ", id)}
		switch id % 5 {
		case 0:
			client.Name = "" // so that the header is left out
		case 1:
			client.Name = "two\r\nlines"
		}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), askedAs{}, fmt.Sprint("request-", id)))
		defer cancel()
		if cut(id) {
			cuts.Store(id, cancel)
		}
		rec, err := s.Get(ctx, order, backend.Query{Client: client, ID: int32(id)})
		if cut(id) || id%5 == 1 {
			assert.Error(t, err)
			return
		}
		if assert.NoError(t, err) {
			got := []string{rec.Get("id").String(), rec.Get("number").String(), rec.Get("reference").String(), rec.Get("description").String()}
			assert.Equal(t, []string{strconv.Itoa(id), strconv.Itoa(1000 + id), client.Name, fmt.Sprint("request-", id)}, got)
		}
	}
	var all sync.WaitGroup
	for caller := range 8 {
		all.Go(func() {
			for n := range 100 {
				read(1 + caller + 8*n)
			}
		})
	}
	all.Wait()
}

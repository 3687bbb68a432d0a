package gateway

import (
	"bytes"
	"compress/gzip"
	"io"
	"sync"

	brotli "github.com/molecule-man/go-brrr"

	"frontdesk/gateway/testpage"
)

// leastCompressed is the size from which lists are compressed: below it the headers and the
// blocks of a network take as much.
const leastCompressed = 1 << 10

// compressor is what *gzip.Writer and *brotli.Writer have in common.
type compressor interface {
	io.WriteCloser
	Reset(io.Writer)
}

// encoding is a way to compress, as HTTP names it. Its fastest level is used: it makes a
// list about five times smaller, and costs less than the rest of the request.
type encoding struct {
	name    string
	writers *sync.Pool // of compressor
}

// encodings are those that lists come in, the cheaper first.
var encodings = [...]encoding{
	{"gzip", &sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // fails for an unknown level only
		return w
	}}},
	{"br", &sync.Pool{New: func() any {
		w, _ := brotli.NewWriter(io.Discard, brotli.BestSpeed)
		return w
	}}},
}

// compress compresses the body of an answer if the client takes that, and tells caches that
// such answers differ by it. Refusals do not say so: that would tell where a list is.
func (x *Exchange) compress() {
	x.response.Header.Set("Vary", "Accept-Encoding")
	accept := x.header("Accept-Encoding")
	body := x.response.Body()
	if accept == "" || len(body) < leastCompressed {
		return
	}
	for _, e := range encodings {
		if testpage.Takes(accept, e.name) {
			x.response.SetBodyRaw(e.encode(body))
			x.response.Header.Set("Content-Encoding", e.name)
			return
		}
	}
}

// encode returns a copy of data, compressed.
func (e encoding) encode(data []byte) []byte {
	to := bytes.NewBuffer(make([]byte, 0, len(data)/4))
	w := e.writers.Get().(compressor)
	defer e.writers.Put(w)
	w.Reset(to)
	_, _ = w.Write(data) // to memory
	_ = w.Close()
	return to.Bytes()
}

package gateway

import (
	"github.com/valyala/fasthttp"

	"frontdesk/gateway/testpage"
)

// leastCompressed is the size from which lists are compressed: below it the headers and the
// blocks of a network take as much.
const leastCompressed = 1 << 10

// encodings are those that lists come in, the cheaper first, at their fastest level: it makes a
// list about five times smaller, and costs less than the rest of the request. Fiber's middleware
// does the same, but takes a part of Accept-Encoding for no coding at all: gzip;q=0.5.
var encodings = [...]struct {
	name   string
	append func(dst, src []byte, level int) []byte
	level  int
}{
	{"gzip", fasthttp.AppendGzipBytesLevel, fasthttp.CompressBestSpeed},
	{"br", fasthttp.AppendBrotliBytesLevel, fasthttp.CompressBrotliBestSpeed},
}

// compress compresses the body of an answer if the client accepts that, and sets Vary for caches.
// Refusals have no Vary: it would reveal where a list is.
func (x *Exchange) compress() {
	x.response.Header.Set("Vary", "Accept-Encoding")
	accept := x.header("Accept-Encoding")
	body := x.response.Body()
	if accept == "" || len(body) < leastCompressed {
		return
	}
	for _, e := range encodings {
		if testpage.Takes(accept, e.name) {
			x.response.SetBodyRaw(e.append(make([]byte, 0, len(body)/4), body, e.level))
			x.response.Header.Set("Content-Encoding", e.name)
			return
		}
	}
}

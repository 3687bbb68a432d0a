package testpage

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"sync"
)

// content is a body in the encodings there are of it.
type content struct {
	plain  func() []byte
	gz, br []byte // br is nil where there is none
	sum    string // of the content, whatever its encoding
}

// compressed is content of ours: small, and compressed when it is first asked
// for.
func compressed(raw []byte) content {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	must(err)
	_, err = w.Write(raw)
	must(err)
	must(w.Close())
	return content{plain: func() []byte { return raw }, gz: b.Bytes(), sum: digest(raw)}
}

// precompressed is large content of others, kept compressed. It is unpacked
// only for who takes no encoding at all.
func precompressed(gz, br []byte) content {
	return content{gz: gz, br: br, sum: digest(gz), plain: sync.OnceValue(func() []byte {
		r, err := gzip.NewReader(bytes.NewReader(gz))
		must(err)
		raw, err := io.ReadAll(r)
		must(err)
		return raw
	})}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}

func (c content) encoded(accept string) ([]byte, string) {
	switch {
	case c.br != nil && Takes(accept, "br"):
		return c.br, "br"
	case Takes(accept, "gzip"):
		return c.gz, "gzip"
	default:
		return c.plain(), ""
	}
}

// Takes tells whether an Accept-Encoding header names a coding and does not
// refuse it with a weight of 0 (RFC 9110, section 12.5.3).
func Takes(accept, coding string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		name, weight, weighted := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		if !weighted {
			return true
		}
		q, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(weight)), "q=")
		value, err := strconv.ParseFloat(q, 64)
		return ok && err == nil && value > 0
	}
	return false
}

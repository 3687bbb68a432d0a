package testpage

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Content is a body in the encodings there are of it.
type Content struct {
	plain, gz []byte
	Sum       string // of the content, whatever its encoding
}

// Compress makes content of a body of our own, which is small. Callers do so at the first request.
func Compress(raw []byte) Content {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	must(err)
	_, err = w.Write(raw)
	must(err)
	must(w.Close())
	sum := sha256.Sum256(raw)
	return Content{plain: raw, gz: b.Bytes(), Sum: hex.EncodeToString(sum[:12])}
}

// Encoded returns the body in the best encoding that an Accept-Encoding header takes, and the name
// of that encoding, "" for none. Nobody may change the bytes.
func (c Content) Encoded(accept string) ([]byte, string) {
	if Takes(accept, "gzip") {
		return c.gz, "gzip"
	}
	return c.plain, ""
}

// Takes reports whether an Accept or Accept-Encoding header names a type or coding and does not
// refuse it with a weight of 0 (RFC 9110, sections 12.5.1 and 12.5.3).
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

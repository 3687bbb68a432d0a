package gateway

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	enchex "encoding/hex"
	"fmt"
	"sync"

	"frontdesk/auth"
	"frontdesk/gateway/openapi"
	"frontdesk/gateway/testpage"
	"frontdesk/mapping"
)

// descriptionPath is where the description is, which the test page links to.
const descriptionPath = "/openapi.json"

// descriptionRoute puts the description into the endpoint table. Like a page it can be
// found, but is not among the endpoints that are listed, granted or described.
func (g *Gateway) descriptionRoute(r *routes) {
	if r.endpoints[descriptionPath] != nil {
		return
	}
	e := &Endpoint{Path: descriptionPath, Template: descriptionPath, list: map[string]*Operation{}}
	r.endpoints[descriptionPath] = e
	r.on(e, "GET", &Operation{open: true, secretQuery: true, params: []param{
		named("api_key", "", "").must(), {Field: mapping.Field{Name: "version", OneOf: []string{"3.1", "3.0"}}},
	}, parse: parseDescription, serve: g.answerDescription})
}

// versions are those of OpenAPI that a description is asked for in, the first one where none
// is.
var versions = map[string]string{"": openapi.Version31, "3.1": openapi.Version31, "3.0": openapi.Version30}

func parseDescription(x *Exchange) mapping.Violations {
	if asked := x.Param("version"); versions[asked] == "" {
		return mapping.Violations{mapping.Fail(mapping.ValidationFailed, mapping.Literal("version"), asked, mapping.Literal("3.1|3.0"))}
	}
	return nil
}

// descriptions caches the descriptions that were asked for, of the current keys.
type descriptions struct {
	mu   sync.Mutex
	ring *auth.Keyring
	made map[describedKey]*description
}

// describedKey is a key, and the form in which it is described.
type describedKey struct {
	key  *auth.Key
	form string
}

// description is the cached answer for one key, in one form.
type description struct {
	once         sync.Once
	json, zipped []byte
	etag         string
	err          error
}

// of returns the description for a key, in one form. It is made once per configuration,
// because a new configuration has new keys.
func (d *descriptions) of(ring *auth.Keyring, of describedKey, build func() ([]byte, error)) (*description, error) {
	d.mu.Lock()
	if d.ring != ring {
		d.ring, d.made = ring, map[describedKey]*description{}
	}
	found := d.made[of]
	if found == nil {
		found = new(description)
		d.made[of] = found
	}
	d.mu.Unlock()
	found.once.Do(func() {
		if found.json, found.err = build(); found.err != nil {
			return
		}
		sum := sha256.Sum256(found.json)
		found.etag = enchex.EncodeToString(sum[:12])
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails for an unknown level only
		_, err := w.Write(found.json)
		found.err = cmp.Or(err, w.Close())
		found.zipped = b.Bytes()
	})
	return found, found.err
}

// answerDescription answers with the description of what the key may call.
func (g *Gateway) answerDescription(_ context.Context, x *Exchange) error {
	version := versions[x.Param("version")]
	key, _ := x.givenKey(x.Param("api_key"))
	if key == nil {
		return mapping.Fail(mapping.CredentialsInvalid)
	}
	d, err := g.descriptions.of(x.policy.Keys, describedKey{key, version}, func() ([]byte, error) { return g.Describe(key, version) })
	if err != nil {
		return fmt.Errorf("describe the interface to %s: %w", key.Name, err)
	}
	body, etag := d.json, `"`+d.etag+`"`
	h := &x.response.Header
	h.Set("Vary", "Accept-Encoding")
	h.Set("Referrer-Policy", "no-referrer") // its address holds the key, and viewers of JSON make links
	zipped := testpage.Takes(x.header("Accept-Encoding"), "gzip")
	if zipped {
		body, etag = d.zipped, `"`+d.etag+`-gzip"`
	}
	if etagMatches(x.header("If-None-Match"), etag, true) {
		x.notModified(etag)
		return nil
	}
	if zipped {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", etag)
	h.Set("Cache-Control", "private, no-cache")
	x.answer(200, jsonType, func(dst []byte) []byte { return append(dst, body...) })
	return nil
}

// Describe writes the description of what a key may call, in one of the versions
// that package openapi knows. Nothing is asked of the backend.
func (g *Gateway) Describe(key *auth.Key, version string) ([]byte, error) {
	doc := g.newDescriber(key).document()
	if version == openapi.Version30 {
		doc.Downgrade()
	}
	return doc.JSON()
}

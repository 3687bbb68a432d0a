package gateway

import (
	"context"
	"fmt"
	"sync"

	"frontdesk/auth"
	"frontdesk/gateway/openapi"
	"frontdesk/gateway/testpage"
	"frontdesk/mapping"
)

// descriptionPath is the path of the description, which the test page links to.
const descriptionPath = "/openapi.json"

// descriptionRoute puts the description into the endpoint table. Like a page it can be
// found, but is not among the endpoints that are listed, granted or described.
func (g *Gateway) descriptionRoute(r *routes) {
	if r.endpoints[descriptionPath] != nil {
		return
	}
	e := &Endpoint{Path: descriptionPath, list: map[string]*Operation{}}
	r.endpoints[descriptionPath] = e
	r.on(e, "GET", &Operation{open: true, secretQuery: true, params: []param{
		named("api_key", "", "").must(), {Field: mapping.Field{Name: "version", OneOf: []string{"3.1", "3.0"}}},
	}, parse: parseDescription, serve: g.answerDescription})
}

// versions are the versions of OpenAPI by the values of the parameter version.
var versions = map[string]string{"": openapi.Version31, "3.1": openapi.Version31, "3.0": openapi.Version30}

func parseDescription(x *Exchange) mapping.Violations {
	if version := x.Param("version"); versions[version] == "" {
		return Param{Name: "version", Value: version}.invalid("3.1|3.0")
	}
	return nil
}

// describedKey is a key, and the version in which it is described.
type describedKey struct {
	key     *auth.Key
	version string
}

// answerDescription answers with the description of what the key may call. It is made once per
// policy, at the first request.
func (g *Gateway) answerDescription(ctx context.Context, x *Exchange) error {
	version := versions[x.Param("version")]
	key, hash := x.givenKey(x.Param("api_key"))
	if key != nil && g.o.KeyEnded != nil && g.o.KeyEnded(ctx, hash) {
		key, x.why = nil, auth.CauseKeyRevoked
	}
	if key == nil {
		return mapping.Fail(mapping.CredentialsInvalid)
	}
	made, _ := x.policy.described.LoadOrStore(describedKey{key, version}, sync.OnceValues(func() (testpage.Content, error) {
		text, err := g.Describe(key, version)
		return testpage.Compress(text), err
	}))
	content, err := made.(func() (testpage.Content, error))()
	if err != nil {
		return fmt.Errorf("describe the interface to %s: %w", key.Name, err)
	}
	body, encoding := content.Encoded(x.header("Accept-Encoding"))
	etag := `"` + content.Sum + when(encoding != "", "-"+encoding) + `"` // each encoding has its own
	h := &x.response.Header
	h.Set("Vary", "Accept-Encoding")
	h.Set("Referrer-Policy", "no-referrer") // its address holds the key, and viewers of JSON make links
	if etagMatches(x.header("If-None-Match"), etag, true) {
		x.notModified(etag)
		return nil
	}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	h.Set("ETag", etag)
	h.Set("Cache-Control", "private, no-cache")
	x.answer(200, jsonType, func(dst []byte) []byte { return append(dst, body...) })
	return nil
}

// Describe writes the description of what a key may call, in one of the versions
// that package openapi knows. It does not call the backend.
func (g *Gateway) Describe(key *auth.Key, version string) ([]byte, error) {
	doc := g.within(key.Rights).newDescriber(key).document()
	if version == openapi.Version30 {
		doc.Downgrade()
	}
	return doc.JSON()
}

package gateway

import (
	"bytes"
	"net/http"

	"frontdesk/gateway/testpage"
)

// pageRoutes adds the pages for people and their assets: open to everybody, in no
// allowlist, and not JSON. A resource of the same name takes precedence over a page.
func (g *Gateway) pageRoutes(r *routes) {
	for _, page := range testpage.Pages(testpage.Options{
		BasePath: g.o.BasePath, BaseURL: g.o.PublicURL, Vendor: g.o.Vendor, Version: g.o.Version,
		SessionTTL: g.o.SessionTTL, Catalogue: g.catalogue,
		Environment: g.o.Environment, Live: g.o.Environment == LiveEnvironment, Fill: g.o.Examples != nil,
	}) {
		if r.endpoints[page.Path] == nil {
			r.page(page, served(func(x *Exchange) { g.showPage(x, page) }))
		}
	}
}

// front redirects a browser from the root of the host to the test page. Other clients find
// nothing there.
func (g *Gateway) front(r *routes) *Operation {
	op := &Operation{open: true, serve: served(func(x *Exchange) {
		x.response.Header.Set("Location", g.publicPath+testpage.HomePath)
		x.answer(http.StatusFound, htmlType, func(dst []byte) []byte { return dst })
	})}
	r.on(&Endpoint{Path: "/", list: map[string]*Operation{}}, http.MethodGet, op)
	return op
}

// page puts a page into the endpoint table, where it can be found, but is not listed,
// granted or described. Assets are counted and logged as one.
func (r *routes) page(page *testpage.Page, show stage) {
	e := &Endpoint{Path: page.Path, list: map[string]*Operation{}}
	r.endpoints[page.Path] = e
	op := &Operation{open: true, serve: show}
	r.on(e, http.MethodGet, op)
	if page.Immutable {
		op.Template = "/testpage/{asset}"
	}
}

// showPage answers a page, in the best encoding the client takes.
func (g *Gateway) showPage(x *Exchange, page *testpage.Page) {
	if page.Bare != nil && !bytes.HasSuffix(pathOf(x.request.Header.RequestURI()), []byte{'/'}) {
		page = page.Bare
	}
	body, encoding, etag := page.Body(x.header("Accept-Encoding"))
	h := &x.response.Header
	h.Set("ETag", etag)
	h.Set("Vary", "Accept-Encoding")
	if page.Path == testpage.RequestsPath {
		h.Set("Vary", "Accept, Accept-Encoding")
	}
	h.Set("Cache-Control", "private, no-cache")
	if page.Immutable {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if page.Policy != "" {
		h.Set("Content-Security-Policy", page.Policy)
	}
	if etagMatches(x.header("If-None-Match"), etag, true) {
		x.response.SetStatusCode(http.StatusNotModified)
		return
	}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	x.answer(http.StatusOK, page.Type, func(dst []byte) []byte { return append(dst, body...) })
}

// pathOf returns the path of a request's target.
func pathOf(target []byte) []byte {
	path, _, _ := bytes.Cut(target, []byte{'?'})
	return path
}

package reference

import (
	"fmt"

	"frontdesk/mapping"
)

// pixel is a picture of one grey pixel, the smallest photo there is.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg=="

// document is the n-th document: photos of vehicles, quotations as text, and
// invoices that are kept elsewhere.
func (w *world) document(n int) draft {
	dice := w.dice("document", n)
	d := w.draft("document")
	describe := func(kind, suffix, mimeType, resource string, of int) (name string) {
		name = fmt.Sprintf("%s-%06d%s", kind, n+1, suffix)
		d.text("name", name)
		d.text("kind", kind)
		d.text("mime_type", mimeType)
		d.text("resource", resource)
		d.ref("resource_id", w.id(resource, of))
		return name
	}
	switch n % 3 {
	case 0:
		describe("photo", ".png", "image/png", "vehicle", dice.IntN(w.vehicles))
		d.parsed("content", pixel)
	case 1:
		of := dice.IntN(w.orders)
		order := w.order(of)
		describe("quotation", ".txt", "text/plain", "order", of)
		text := fmt.Sprintf("Quotation of %s for a %s order.\n", order.Get("order_date").Time().Format("2 January 2006"), order.Get("kind").Text())
		d.put("content", mapping.BytesValue([]byte(text)))
	default:
		name := describe("invoice", ".pdf", "application/pdf", "order", dice.IntN(w.orders))
		d.text("external_url", "https://files.example.nl/"+name)
	}
	return d
}

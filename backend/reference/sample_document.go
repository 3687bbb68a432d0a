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
	switch n % 3 {
	case 0:
		of := dice.IntN(w.vehicles)
		d.text("name", fmt.Sprintf("photo-%06d.png", n+1))
		d.text("kind", "photo")
		d.text("mime_type", "image/png")
		d.text("resource", "vehicle")
		d.ref("resource_id", w.id("vehicle", of))
		d.parsed("content", pixel)
	case 1:
		of := dice.IntN(w.orders)
		order := w.order(of)
		d.text("name", fmt.Sprintf("quotation-%06d.txt", n+1))
		d.text("kind", "quotation")
		d.text("mime_type", "text/plain")
		d.text("resource", "order")
		d.ref("resource_id", w.id("order", of))
		text := fmt.Sprintf("Quotation of %s for a %s order.\n", order.Get("order_date").Time().Format("2 January 2006"), order.Get("kind").Text())
		d.put("content", mapping.BytesValue([]byte(text)))
	default:
		of := dice.IntN(w.orders)
		name := fmt.Sprintf("invoice-%06d.pdf", n+1)
		d.text("name", name)
		d.text("kind", "invoice")
		d.text("mime_type", "application/pdf")
		d.text("resource", "order")
		d.ref("resource_id", w.id("order", of))
		d.text("external_url", "https://files.example.nl/"+name)
	}
	return d
}

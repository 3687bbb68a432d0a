package reference

import "fmt"

func (w *world) turnoverGroup(n int) draft {
	d := w.draft("turnovergroup")
	d.texts(w.groups, n, "code", "description", "vat_kind", "ledger_account", "ledger_account_eu", "ledger_account_export")
	return d
}

// article is the n-th article: first those of the data file, then versions of
// its parts for single types of car.
func (w *world) article(n int) draft {
	dice := w.dice("article", n)
	d := w.draft("article")
	row, number, description := n, "", ""
	if n < len(w.parts.rows) {
		number, description = w.parts.get(row, "number"), w.parts.get(row, "description")
	} else {
		extra := n - len(w.parts.rows)
		row = w.partRow(extra)
		carRow := extra * 31 % len(w.cars.rows)
		version := w.cars.get(carRow, "brand") + " " + w.cars.get(carRow, "model")
		number = fmt.Sprintf("%s-%04d", w.parts.get(row, "number"), extra+1)
		description = w.parts.get(row, "description") + ", " + version
	}
	d.text("number", number)
	d.text("description", description)
	d.texts(w.parts, row, "article_kind", "unit_type")
	d.ref("turnover_group_id", w.groupIDs[w.parts.get(row, "turnover_group")])
	d.parsed("purchase_price", w.parts.get(row, "purchase_price"))
	d.parsed("price", w.parts.get(row, "price"))
	if w.parts.get(row, "article_kind") == "part" {
		d.ref("supplier_id", w.companyOf(dice, "supplier"))
		d.text("ean", ean(n+1))
		d.euros("stock", dice.IntN(40))
	}
	return d
}

// partRow is the data file's row that an extra article is a version of: one of
// the parts, in turn.
func (w *world) partRow(extra int) int {
	for ; ; extra++ {
		row := extra % len(w.parts.rows)
		if w.parts.get(row, "article_kind") == "part" && w.parts.get(row, "unit_type") == "piece" {
			return row
		}
	}
}

// partID finds an article of the data file by its number.
func (w *world) partID(number string) (row int, id int32) {
	row = w.parts.find("number", number)
	return row, w.id("article", row)
}

func (w *world) flatRate(n int) draft {
	d := w.draft("flatrate")
	d.texts(w.rates, n, "number", "description", "brand", "model")
	var lines []draft
	for i := range w.rateLines.rows {
		if w.rateLines.get(i, "flatrate") == w.rates.get(n, "number") {
			lines = append(lines, w.flatRateLine(i))
		}
	}
	d.children("flatratelines", lines)
	return d
}

func (w *world) flatRateLine(i int) draft {
	d := w.draft("flatrateline")
	row, article := w.partID(w.rateLines.get(i, "article"))
	d.ref("article_id", article)
	d.text("article_number", w.parts.get(row, "number"))
	d.texts(w.parts, row, "article_kind", "unit_type")
	d.parsed("quantity", w.rateLines.get(i, "quantity"))
	d.ref("turnover_group_id", w.groupIDs[w.parts.get(row, "turnover_group")])
	d.number("is_manual_input", 0)
	price := w.rateLines.get(i, "price")
	d.number("is_no_article_price", flag(price != ""))
	d.parsed("price", price)
	d.parsed("sort_order", w.rateLines.get(i, "sort_order"))
	return d
}

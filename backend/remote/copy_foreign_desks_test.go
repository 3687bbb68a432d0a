package remote

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"pgregory.net/rapid"

	"frontdesk/backend/drivertest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// as is a member as it is, null where it is not there.
func as(member string) func(foreigntest.Object) any {
	return func(o foreigntest.Object) any { return o[member] }
}

// unless is a member, and null where it is what stands for that.
func unless(member, nothing string) func(foreigntest.Object) any {
	return func(o foreigntest.Object) any {
		if o[member] == nil || fmt.Sprint(o[member]) == nothing {
			return nil
		}
		return o[member]
	}
}

// coded is what a code of a member stands for, null where it is none.
func coded(member string, codes map[string]string) func(foreigntest.Object) any {
	return func(o foreigntest.Object) any {
		if shown, is := codes[fmt.Sprint(o[member])]; is {
			return shown
		}
		return nil
	}
}

// refers is a member that refers to a row, or to nothing.
func refers(member string) func(foreigntest.Object) any {
	return func(o foreigntest.Object) any {
		if o[member] == nil || o[member] == "" {
			return nil
		}
		if company, is := o["company"]; is {
			return drivertest.Key(fmt.Sprint(company, "/", o[member]))
		}
		return drivertest.Key(fmt.Sprint(o[member]))
	}
}

// ownedBy reads whose a row is from a member; one without it is everybody's.
func ownedBy(member string) func(foreigntest.Object) int64 {
	return func(o foreigntest.Object) int64 {
		if o[member] == nil {
			return mapping.OfAll
		}
		var id int64
		_, _ = fmt.Sscan(fmt.Sprint(o[member]), &id)
		return id
	}
}

func keyAt(member string) func(foreigntest.Object) string {
	return func(o foreigntest.Object) string { return fmt.Sprint(o[member]) }
}

// listedAt reads a collection at a path, in which %s is its name.
func listedAt(path, at string) func(*foreigntest.System, string) ([]foreigntest.Object, error) {
	return func(s *foreigntest.System, of string) ([]foreigntest.Object, error) {
		return s.Rows(fmt.Sprintf(path, of), at)
	}
}

// drawnArticle draws an article of the fields that all services have.
func drawnArticle(t *rapid.T, pick func(string) drivertest.Key) map[string]any {
	return map[string]any{
		"number": foreignNumbers.Draw(t, "number"), "description": rapid.SampledFrom(foreignTexts).Draw(t, "description"),
		"turnover_group_id": pick("turnovergroup"), "price": foreignPrices.Draw(t, "price"),
	}
}

// drawnContact draws a contact of the fields that all services have.
func drawnContact(t *rapid.T) map[string]any {
	return map[string]any{
		"kind": rapid.SampledFrom([]string{"person", "company"}).Draw(t, "kind"), "name": rapid.SampledFrom(foreignTexts).Draw(t, "name"),
	}
}

var foreignCopies = map[string]foreignCopy{
	"json-server": jsonServerCopy(),
	"pocketbase":  pocketBaseCopy(),
	"soap":        soapCopy(),
	"feathers":    feathersCopy(),
	"loopback":    loopBackCopy(),
	"couchdb":     couchDBCopy(),
	"odata":       oDataCopy(),
	"jsonapi":     jsonAPICopy(),
}

func jsonServerCopy() foreignCopy {
	f := foreignCopy{
		start: foreigntest.JSONServer, sheet: "jsonserver.yaml", rows: listedAt("/%s?_sort=id", ""), key: keyAt("id"), owner: ownedBy("tenant"), hidden: "gone",
		meddled: "article", renames: "title",
		of: map[string]shownAs{
			"turnovergroup": {name: "groups", fields: map[string]func(foreigntest.Object) any{"code": as("code"), "description": as("text")}},
			"contact": {name: "contacts", fields: map[string]func(foreigntest.Object) any{
				"kind": coded("type", map[string]string{"P": "person", "B": "company"}), "name": as("name"), "first_name": as("first"), "payment_days": as("terms"), "note": as("memo"),
			}, says: map[string]string{"kind": "type", "name": "name", "first_name": "first", "payment_days": "terms", "note": "memo"}},
			"article": {name: "parts", fields: map[string]func(foreigntest.Object) any{
				"number": as("nr"), "description": as("title"), "article_kind": as("kind"), "unit_type": as("unit"), "turnover_group_id": refers("groupId"), "price": as("price"), "supplier_id": refers("vendor"),
			}, says: map[string]string{"number": "nr", "description": "title", "turnover_group_id": "groupId", "price": "price", "supplier_id": "vendor", "article_kind": "kind", "unit_type": "unit"}},
		},
		made: func(n int) (string, foreigntest.Object) {
			return "/parts", foreigntest.Object{"tenant": 1 + n%2, "nr": fmt.Sprintf("M%04d", n), "title": foreigntest.Name(n), "kind": "part", "unit": "piece", "groupId": 1, "cost": "1,00", "price": n, "vendor": nil, "stock": 0, "gone": false, "shelf": "T"}
		},
		draw: func(t *rapid.T, resource string, pick func(string) drivertest.Key) map[string]any {
			if resource == "article" {
				drawn := drawnArticle(t, pick)
				drawn["article_kind"], drawn["unit_type"] = "part", "piece"
				if rapid.Bool().Draw(t, "supplied") {
					drawn["supplier_id"] = pick("contact")
				}
				return drawn
			}
			drawn := drawnContact(t)
			drawn["note"] = rapid.SampledFrom(foreignTexts).Draw(t, "note")
			if rapid.Bool().Draw(t, "more") {
				drawn["payment_days"] = rapid.IntRange(0, 30).Draw(t, "days")
			}
			return drawn
		},
	}
	f.change, f.remove = patchAt(func(o foreigntest.Object) string { return fmt.Sprint("/parts/", o["id"]) })
	return f
}

func pocketBaseCopy() foreignCopy {
	updated := func(o foreigntest.Object) any {
		text, _ := o["updated"].(string)
		return text[:10] + "T" + text[11:]
	}
	f := foreignCopy{
		start: foreigntest.PocketBase, sheet: "pocketbase.yaml", rows: listedAt("/api/collections/%s/records?perPage=1000&sort=@rowid", "items"), key: keyAt("id"), owner: ownedBy("org"), hidden: "gone",
		meddled: "contact", renames: "name",
		of: map[string]shownAs{
			"turnovergroup": {name: "groups", fields: map[string]func(foreigntest.Object) any{"code": as("code"), "description": as("text"), "vat_kind": as("vat"), "ledger_account": as("ledger"), "modified_at": updated},
				says: map[string]string{"code": "code", "description": "text", "vat_kind": "vat", "ledger_account": "ledger", "modified_at": "updated"}},
			"contact": {name: "contacts", fields: map[string]func(foreigntest.Object) any{
				"kind": coded("type", map[string]string{"P": "person", "B": "company"}), "name": as("name"), "payment_days": unless("days", "0"), "note": unless("memo", ""), "modified_at": updated,
			}, says: map[string]string{"kind": "type", "name": "name", "payment_days": "days", "note": "memo", "modified_at": "updated"}},
			"article": {name: "parts", fields: map[string]func(foreigntest.Object) any{
				"number": as("nr"), "description": as("title"), "turnover_group_id": refers("grp"), "price": as("price"), "modified_at": updated,
			}, says: map[string]string{"number": "nr", "description": "title", "turnover_group_id": "grp", "price": "price", "modified_at": "updated"}},
		},
		made: func(n int) (string, foreigntest.Object) {
			return "/api/collections/contacts/records", foreigntest.Object{"org": 1 + n%2, "type": "P", "name": foreigntest.Name(n), "days": n % 3, "customer": true}
		},
		draw: func(t *rapid.T, resource string, pick func(string) drivertest.Key) map[string]any {
			switch resource {
			case "article":
				return drawnArticle(t, pick)
			case "turnovergroup":
				return map[string]any{"code": rapid.StringMatching(`[A-F]{2}`).Draw(t, "code"), "description": rapid.SampledFrom(foreignTexts).Draw(t, "description"), "vat_kind": "high", "ledger_account": "1"}
			}
			drawn := drawnContact(t)
			drawn["note"], drawn["payment_days"] = rapid.SampledFrom([]any{nil, "O'Neil", `"`}).Draw(t, "note"), rapid.SampledFrom([]any{nil, 1, 30}).Draw(t, "days")
			return drawn
		},
	}
	f.change, f.remove = patchAt(func(o foreigntest.Object) string {
		return fmt.Sprint("/api/collections/contacts/records/", o["id"])
	})
	return f
}

func soapCopy() foreignCopy {
	texts := func(members ...string) map[string]func(foreigntest.Object) any {
		all := map[string]func(foreigntest.Object) any{}
		for i := 0; i < len(members); i += 2 {
			all[members[i]] = as(members[i+1])
		}
		return all
	}
	contact, article := texts("name", "Name", "note", "Note"), texts("number", "Vendor_No", "description", "Description", "price", "Unit_Price")
	contact["language"] = coded("Language", map[string]string{"NLD": "nl", "ENU": "en"})
	contact["kind"], contact["payment_days"] = coded("Type", map[string]string{"P": "person", "B": "company"}), unless("Payment_Days", "0")
	article["turnover_group_id"] = refers("Group_No")
	order := map[string]func(foreigntest.Object) any{"contact_id": refers("Customer_No"), "reference": as("Reference")}
	line := texts("description", "Description", "quantity", "Quantity", "price", "Unit_Price")
	line["order_id"] = refers("Order_No")
	return foreignCopy{
		start: foreigntest.SOAP, sheet: "soap.yaml", rows: soapRows, hidden: "Blocked", meddled: "article", renames: "Description",
		key: func(o foreigntest.Object) string {
			if o["Line_No"] != nil {
				return sheet.KeyText(o["Order_No"], fmt.Sprint(o["Line_No"]))
			}
			return fmt.Sprint(o["No"])
		},
		owner: func(o foreigntest.Object) int64 {
			return int64(1 + slices.Index(foreigntest.Companies, o["company"].(string)))
		},
		of: map[string]shownAs{
			"turnovergroup": {name: "Group", fields: texts("code", "Code", "description", "Description", "ledger_account", "Account")},
			"contact":       {name: "Customer", fields: contact, says: map[string]string{"kind": "Type", "name": "Name", "note": "Note", "payment_days": "Payment_Days", "language": "Language"}},
			"article":       {name: "Item", fields: article, says: map[string]string{"number": "Vendor_No", "description": "Description", "price": "Unit_Price", "turnover_group_id": "Group_No"}},
			"order":         {name: "SalesOrder", fields: order, says: map[string]string{"contact_id": "Customer_No", "reference": "Reference"}},
			"orderline":     {name: "Sales_Line", fields: line},
		},
		rest: func(row foreigntest.Object, _ string) map[string]any {
			row = maps.Clone(row)
			delete(row, "Key") // which every change makes anew
			return row
		},
		made: func(n int) (string, foreigntest.Object) {
			return "/rows/" + foreigntest.Companies[n%2] + "/Item", foreigntest.Object{"Vendor_No": fmt.Sprintf("M%04d", n), "Description": foreigntest.Name(n), "Group_No": "", "Unit_Price": n}
		},
		draw: func(t *rapid.T, resource string, pick func(string) drivertest.Key) map[string]any {
			switch resource {
			case "article":
				return drawnArticle(t, pick)
			case "order":
				return map[string]any{"contact_id": pick("contact"), "reference": rapid.SampledFrom([]any{nil, "O'Neil", "<b>&amp;", "‘’"}).Draw(t, "reference")}
			}
			drawn := drawnContact(t)
			drawn["note"], drawn["payment_days"] = rapid.SampledFrom([]any{nil, "O'Neil", "<b>&amp;"}).Draw(t, "note"), rapid.SampledFrom([]any{nil, 1, 30}).Draw(t, "days")
			drawn["language"] = rapid.SampledFrom([]any{nil, "nl", "en"}).Draw(t, "language")
			return drawn
		},
		change: func(s *foreigntest.System, row, members foreigntest.Object) error {
			_, err := s.Try(http.MethodPatch, fmt.Sprintf("/rows/%s/Item/%s", row["company"], row["No"]), members)
			return err
		},
		remove: func(s *foreigntest.System, row foreigntest.Object) error {
			_, err := s.Try(http.MethodDelete, fmt.Sprintf("/rows/%s/Item/%s", row["company"], row["No"]), nil)
			return err
		},
	}
}

// soapRows are the rows of a page of both companies, or the lines of their orders.
func soapRows(s *foreigntest.System, of string) (all []foreigntest.Object, err error) {
	page := of
	if of == "Sales_Line" {
		page = "SalesOrder"
	}
	for _, company := range foreigntest.Companies {
		rows, err := s.Rows("/rows/"+company+"/"+page, "")
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			row["company"] = company
			if of == page {
				all = append(all, row)
				continue
			}
			lines, _ := row["SalesLines"].(foreigntest.Object)
			within, _ := lines["Sales_Line"].([]any)
			for _, line := range within {
				line := line.(foreigntest.Object)
				line["company"], line["Order_No"] = company, row["No"]
				all = append(all, line)
			}
		}
	}
	return all, nil
}

func feathersCopy() foreignCopy {
	f := foreignCopy{
		start: foreigntest.Feathers, sheet: "feathers.yaml", rows: feathersRows, key: keyAt("id"), owner: ownedBy("orgId"), hidden: "deleted", meddled: "contact", renames: "name",
		of: map[string]shownAs{
			"turnovergroup": {name: "groups", fields: map[string]func(foreigntest.Object) any{"code": as("code"), "description": as("title"), "vat_kind": coded("rate", map[string]string{"21": "high", "9": "low"}), "ledger_account": as("ledger"), "modified_at": as("updatedAt")},
				says: map[string]string{"code": "code", "description": "title", "vat_kind": "rate", "ledger_account": "ledger", "modified_at": "updatedAt"}},
			"contact": {name: "companies", fields: map[string]func(foreigntest.Object) any{
				"kind": coded("person", map[string]string{"true": "person", "false": "company"}), "name": as("name"), "payment_days": as("terms"), "modified_at": as("updatedAt"),
			}, says: map[string]string{"kind": "person", "name": "name", "payment_days": "terms", "modified_at": "updatedAt"}},
			"article": {name: "products", fields: map[string]func(foreigntest.Object) any{
				"number": as("sku"), "description": as("title"), "turnover_group_id": refers("groupId"), "price": as("price"), "modified_at": as("updatedAt"),
			}, says: map[string]string{"number": "sku", "description": "title", "turnover_group_id": "groupId", "price": "price", "modified_at": "updatedAt"}},
		},
		made: func(n int) (string, foreigntest.Object) {
			return "/companies", foreigntest.Object{"orgId": 1 + n%2, "person": true, "name": foreigntest.Name(n), "terms": n % 3}
		},
		draw: func(t *rapid.T, resource string, pick func(string) drivertest.Key) map[string]any {
			switch resource {
			case "article":
				return drawnArticle(t, pick)
			case "turnovergroup":
				return map[string]any{"code": rapid.StringMatching(`[A-F]{2}`).Draw(t, "code"), "description": rapid.SampledFrom(foreignTexts).Draw(t, "description"), "vat_kind": "high", "ledger_account": "1"}
			}
			drawn := drawnContact(t)
			drawn["payment_days"] = rapid.SampledFrom([]any{nil, 0, 30}).Draw(t, "days")
			return drawn
		},
	}
	f.change, f.remove = patchAt(func(o foreigntest.Object) string { return fmt.Sprint("/companies/", o["id"]) })
	return f
}

// feathersRows reads a collection in the pages that the service gives.
func feathersRows(s *foreigntest.System, of string) (all []foreigntest.Object, err error) {
	for {
		some, err := s.Rows(fmt.Sprintf("/%s?$sort[id]=1&$limit=20&$skip=%d", of, len(all)), "data")
		if all = append(all, some...); err != nil || len(some) == 0 {
			return all, err
		}
	}
}

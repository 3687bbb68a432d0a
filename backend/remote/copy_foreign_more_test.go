package remote

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"pgregory.net/rapid"

	"frontdesk/backend/drivertest"
	"frontdesk/backend/remote/foreigntest"
)

func loopBackCopy() foreignCopy {
	f := foreignCopy{
		start: foreigntest.LoopBack, sheet: "loopback.yaml", rows: listedAt("/%s?filter[order]=id%%20ASC", ""), key: keyAt("id"), owner: ownedBy("tenant"), hidden: "deleted", meddled: "article", renames: "label",
		of: map[string]shownAs{
			"turnovergroup": {name: "groups", fields: map[string]func(foreigntest.Object) any{"code": as("code"), "description": as("label")}},
			"article": {name: "parts", fields: map[string]func(foreigntest.Object) any{
				"number": as("sku"), "description": as("label"), "article_kind": as("sort"), "unit_type": as("per"), "turnover_group_id": refers("groupId"), "price": as("list"),
			}, says: map[string]string{"number": "sku", "description": "label", "turnover_group_id": "groupId", "price": "list", "article_kind": "sort", "unit_type": "per"}},
		},
		made: func(n int) (string, foreigntest.Object) {
			return "/parts", foreigntest.Object{"tenant": 1 + n%2, "sku": fmt.Sprintf("M%04d", n), "label": foreigntest.Name(n), "sort": "part", "per": "piece", "groupId": 1, "list": n}
		},
		draw: func(t *rapid.T, _ string, pick func(string) drivertest.Key) map[string]any {
			drawn := drawnArticle(t, pick)
			drawn["article_kind"], drawn["unit_type"] = "part", "piece"
			return drawn
		},
	}
	f.change, f.remove = patchAt(func(o foreigntest.Object) string { return fmt.Sprint("/parts/", o["id"]) })
	return f
}

func couchDBCopy() foreignCopy {
	put := func(s *foreigntest.System, row, members foreigntest.Object) error {
		row = maps.Clone(row)
		maps.Copy(row, members)
		_, err := s.Try(http.MethodPut, "/people/"+row["_id"].(string), row)
		return err
	}
	return foreignCopy{
		start: foreigntest.CouchDB, sheet: "couchdb.yaml", key: keyAt("_id"), owner: ownedBy("org"), hidden: "gone", meddled: "contact", renames: "name", change: put,
		rows: func(s *foreigntest.System, of string) ([]foreigntest.Object, error) {
			rows, err := s.Rows("/"+of+"/_all_docs?include_docs=true", "rows")
			for i := range rows {
				rows[i] = rows[i]["doc"].(foreigntest.Object)
			}
			return slices.DeleteFunc(rows, func(o foreigntest.Object) bool { return o["type"] != "person" }), err
		},
		remove: func(s *foreigntest.System, row foreigntest.Object) error {
			_, err := s.Try(http.MethodDelete, fmt.Sprintf("/people/%s?rev=%s", row["_id"], url.QueryEscape(row["_rev"].(string))), nil)
			return err
		},
		of: map[string]shownAs{"contact": {name: "people", fields: map[string]func(foreigntest.Object) any{"kind": as("type"), "name": as("name"), "note": as("note")}, says: map[string]string{"kind": "type", "name": "name", "note": "note"}}},
		rest: func(row foreigntest.Object, _ string) map[string]any {
			row = maps.Clone(row)
			delete(row, "_rev") // which every change makes anew
			return row
		},
		made: func(n int) (string, foreigntest.Object) {
			return "/people", foreigntest.Object{"_id": fmt.Sprintf("m%03d", n), "type": []string{"person", "person", "lead"}[n%3], "org": 1 + n%2, "name": foreigntest.Name(n)}
		},
		draw: func(t *rapid.T, _ string, _ func(string) drivertest.Key) map[string]any {
			drawn := drawnContact(t)
			drawn["kind"], drawn["note"] = "person", rapid.SampledFrom([]any{nil, "", "O'Neil"}).Draw(t, "note")
			return drawn
		},
	}
}

func oDataCopy() foreignCopy {
	f := foreignCopy{
		start: foreigntest.OData, sheet: "odata.yaml", rows: listedAt("/odata/%s?$orderby=ID", "value"), key: keyAt("ID"), owner: ownedBy("Org"), hidden: "Deleted", meddled: "article", renames: "Description",
		of: map[string]shownAs{
			"turnovergroup": {name: "Groups", fields: map[string]func(foreigntest.Object) any{"code": as("Code"), "description": as("Text")}},
			"contact": {name: "Customers", fields: map[string]func(foreigntest.Object) any{
				"kind": coded("Kind", map[string]string{"PRIVATE": "person", "BUSINESS": "company"}), "name": as("Name"), "payment_days": as("Days"), "note": unless("Memo", ""),
			}, says: map[string]string{"kind": "Kind", "name": "Name", "payment_days": "Days", "note": "Memo"}},
			"article": {name: "Articles", fields: map[string]func(foreigntest.Object) any{
				"number": as("Number"), "description": as("Description"), "turnover_group_id": refers("GroupID"), "price": as("Price"),
			}, says: map[string]string{"number": "Number", "description": "Description", "turnover_group_id": "GroupID", "price": "Price"}},
		},
		made: func(n int) (string, foreigntest.Object) {
			return "/odata/Articles", foreigntest.Object{"Org": 1 + n%2, "Number": fmt.Sprintf("M%04d", n), "Description": foreigntest.Name(n), "Price": n, "GroupID": 1}
		},
		draw: func(t *rapid.T, resource string, pick func(string) drivertest.Key) map[string]any {
			if resource == "article" {
				return drawnArticle(t, pick)
			}
			drawn := drawnContact(t)
			drawn["note"], drawn["payment_days"] = rapid.SampledFrom([]any{nil, "O'Neil", `"`}).Draw(t, "note"), rapid.IntRange(0, 30).Draw(t, "days")
			return drawn
		},
	}
	f.change, f.remove = patchAt(func(o foreigntest.Object) string { return fmt.Sprintf("/odata/Articles(%s)", o["ID"]) })
	return f
}

func jsonAPICopy() foreignCopy {
	article := func(o foreigntest.Object) string { return fmt.Sprint("/rest/articles/", o["id"]) }
	return foreignCopy{
		start: foreigntest.JSONAPI, sheet: "jsonapi.yaml", key: keyAt("id"), owner: ownedBy("tenant"), meddled: "article", renames: "description",
		rows: func(s *foreigntest.System, of string) (all []foreigntest.Object, err error) {
			for {
				rows, err := s.Rows(fmt.Sprintf("/rest/%s?page[limit]=40&page[offset]=%d", of, len(all)), "data")
				for _, row := range rows {
					flat := maps.Clone(row["attributes"].(foreigntest.Object))
					flat["id"] = row["id"]
					relations, _ := row["relationships"].(foreigntest.Object)
					for name, of := range relations {
						to, _ := of.(foreigntest.Object)["data"].(foreigntest.Object)
						flat[name] = to["id"]
					}
					all = append(all, flat)
				}
				if err != nil || len(rows) == 0 {
					return all, err
				}
			}
		},
		of: map[string]shownAs{
			"turnovergroup": {name: "groups", fields: map[string]func(foreigntest.Object) any{"code": as("code"), "description": as("description")}},
			"contact": {name: "customers", fields: map[string]func(foreigntest.Object) any{
				"kind": coded("kind", map[string]string{"PRIVATE": "person", "BUSINESS": "company"}), "name": as("name"), "payment_days": as("paymentDays"), "note": unless("memo", ""),
			}, says: map[string]string{"kind": "kind", "name": "name", "payment_days": "paymentDays", "note": "memo"}},
			"article": {name: "articles", fields: map[string]func(foreigntest.Object) any{
				"number": as("number"), "description": as("description"), "turnover_group_id": refers("group"), "price": as("price"), "supplier_id": refers("supplier"),
			}, says: map[string]string{"number": "number", "description": "description", "turnover_group_id": "group", "price": "price", "supplier_id": "supplier"}},
		},
		made: func(n int) (string, foreigntest.Object) {
			return "/rest/groups", foreigntest.Object{"data": foreigntest.Object{"type": "groups", "attributes": foreigntest.Object{"code": fmt.Sprint("M", n), "description": foreigntest.Name(n)}}}
		},
		change: func(s *foreigntest.System, row, members foreigntest.Object) error {
			_, err := s.Try(http.MethodPatch, article(row), foreigntest.Object{"data": foreigntest.Object{"type": "articles", "id": row["id"], "attributes": members}})
			return err
		},
		remove: func(s *foreigntest.System, row foreigntest.Object) error {
			_, err := s.Try(http.MethodDelete, article(row), nil)
			return err
		},
		draw: func(t *rapid.T, resource string, pick func(string) drivertest.Key) map[string]any {
			if resource == "article" {
				drawn := drawnArticle(t, pick)
				if rapid.Bool().Draw(t, "supplied") {
					drawn["supplier_id"] = pick("contact")
				}
				return drawn
			}
			drawn := drawnContact(t)
			drawn["note"], drawn["payment_days"] = rapid.SampledFrom([]any{nil, "O'Neil", `"`}).Draw(t, "note"), rapid.IntRange(0, 30).Draw(t, "days")
			return drawn
		},
	}
}

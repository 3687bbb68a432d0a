package foreigntest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
)

// articles is how many articles each service begins with, of two tenants; every seventh
// is hidden.
const articles = 45

// JSONServer starts json-server (npm), which keeps a JSON file: lists in pages, filters
// as parameters, PATCH that merges at the top.
func JSONServer(t testing.TB) *System {
	t.Helper()
	program, node := installed(t, "node_modules/.bin/json-server"), sqltest.Tool(t, "foreign", "node")
	db := map[string][]Object{"contacts": {}, "parts": {}}
	for i, code := range []string{"A", "B", "C"} {
		db["groups"] = append(db["groups"], Object{"id": i + 1, "code": code, "text": "group " + code, "vat": "H", "ledger": "8000"})
	}
	for i := range 20 {
		db["contacts"] = append(db["contacts"], Object{
			"id": i + 1, "tenant": 1 + i%3/2, "type": "PB"[i%2 : i%2+1], "name": Name(i), "first": []any{nil, "Jo"}[i%2], "terms": i % 4 * 7, "memo": "", "gone": i%7 == 3, "extra": Object{"score": i},
		})
	}
	for i := range articles {
		db["parts"] = append(db["parts"], Object{
			"id": i + 1, "tenant": 1 + i%3/2, "nr": fmt.Sprintf("N%03d", i), "title": Name(i), "kind": "part", "unit": "piece", "groupId": 1 + i%2,
			"cost": "7,10", "price": float64(i) / 4, "vendor": nil, "stock": 3, "gone": i%7 == 3, "shelf": "S",
		})
	}
	text, err := json.Marshal(db)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "db.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return start(t, "/groups", func(port string) *exec.Cmd {
		return exec.Command(node, program, "--quiet", "--host", "127.0.0.1", "--port", port, file)
	})
}

// LoopBack starts LoopBack 4 (npm) with models in memory: filters and paging as members
// of one parameter, a count of its own, PATCH that answers nothing.
func LoopBack(t testing.TB) *System {
	t.Helper()
	installed(t, "node_modules/@loopback/rest-crud")
	program, node := installed(t, "loopback.js"), sqltest.Tool(t, "foreign", "node")
	s := start(t, "/groups/count", func(port string) *exec.Cmd { return exec.Command(node, program, port) })
	for _, code := range []string{"A", "B", "C"} {
		s.Make(t, "/groups", Object{"code": code, "label": "group " + code, "vat": "high", "ledger": "8000"})
	}
	for i := range articles {
		s.Make(t, "/parts", Object{
			"tenant": 1 + i%3/2, "sku": fmt.Sprintf("N%03d", i), "label": Name(i), "sort": "part", "per": "piece", "groupId": 1 + i%2, "cost": 2.5, "list": float64(i) / 4, "deleted": i%7 == 3,
		})
	}
	return s
}

// JSONAPI starts jsonapi-server (npm), which keeps to JSON:API: members in attributes,
// references with their types, pages by links. It filters a page after it has cut it off, so
// that pages are short.
func JSONAPI(t testing.TB) *System {
	t.Helper()
	installed(t, "node_modules/jsonapi-server")
	program, node := installed(t, "jsonapi.js"), sqltest.Tool(t, "foreign", "node")
	s := start(t, "/rest/groups", func(port string) *exec.Cmd { return exec.Command(node, program, port) })
	made := func(kind string, attributes, relationships Object) Object {
		data := s.Make(t, "/rest/"+kind, Object{"data": Object{"type": kind, "attributes": attributes, "relationships": relationships}})["data"].(Object)
		return Object{"data": Object{"type": kind, "id": data["id"]}}
	}
	var groups, customers []Object
	for _, code := range []string{"A", "B", "C"} {
		groups = append(groups, made("groups", Object{"code": code, "description": "group " + code}, Object{}))
	}
	for i := range 12 {
		customers = append(customers, made("customers", Object{
			"tenant": 1 + i%3/2, "kind": []string{"PRIVATE", "BUSINESS"}[i%2], "name": Name(i), "memo": "", "paymentDays": i % 4 * 7, "createdAt": "2026-11-22T08:47:21Z",
		}, Object{}))
	}
	for i := range 15 {
		relations := Object{"group": groups[i%2]}
		if i%3 == 0 {
			relations["supplier"] = customers[0]
		}
		made("articles", Object{"tenant": 1 + i%3/2, "number": fmt.Sprintf("N%03d", i), "description": Name(i), "price": float64(i) / 4}, relations)
	}
	return s
}

// OData starts fe-mockserver (npm), SAP's server of OData V4, with sets in memory. It reads no
// quote within quotes.
func OData(t testing.TB) *System {
	t.Helper()
	installed(t, "node_modules/@sap-ux/fe-mockserver-core")
	program, node := installed(t, "odata.js"), sqltest.Tool(t, "foreign", "node")
	s := start(t, "/odata/Groups", func(port string) *exec.Cmd { return exec.Command(node, program, port) })
	s.fill(t, "/odata/Groups", "/odata/Customers", "/odata/Articles", func(i int, of Object) Object {
		named := Object{"ID": i + 1}
		for member, v := range of {
			named[map[string]string{"org": "Org", "code": "Code", "text": "Text", "kind": "Kind", "name": "Name", "memo": "Memo", "days": "Days", "modified": "Modified", "number": "Number", "description": "Description", "price": "Price", "groupId": "GroupID"}[member]] = v
		}
		return named
	})
	return s
}

// fill makes groups, customers and articles of two tenants, in the form of the service.
func (s *System) fill(t testing.TB, groups, customers, articles string, as func(i int, of Object) Object) {
	t.Helper()
	for i, code := range []string{"A", "B", "C"} {
		s.Make(t, groups, as(i, Object{"code": code, "text": "group " + code}))
	}
	for i := range 14 {
		s.Make(t, customers, as(i, Object{
			"org": 1 + i%3/2, "kind": []string{"PRIVATE", "BUSINESS"}[i%2], "name": Name(i), "memo": "", "days": i % 4 * 7, "modified": fmt.Sprintf("2026-11-%02dT08:47:21Z", i+1),
		}))
	}
	for i := range 15 {
		s.Make(t, articles, as(i, Object{"org": 1 + i%3/2, "number": fmt.Sprintf("N%03d", i), "description": Name(i), "price": float64(i) / 4, "groupId": 1 + i%2}))
	}
}

// Superuser is PocketBase's.
const Superuser = "root@example.com"

// Password is that of all users, PasswordHash what it is in a sheet. They are noord and
// zuid, in PocketBase noord@example.com and zuid@example.com.
const (
	Password     = "not-a-secret-1"
	PasswordHash = "$argon2id$v=19$m=8,t=1,p=1$j+trRUM9fdPr8QI720kfSw$a5BVEZsj3I/bZc4/nTNYWEDEo2rkvlrCpKNHIkscpLo"
)

// CouchDB starts PouchDB's server (npm), which speaks CouchDB's protocol: documents with texts
// for keys, and a feed of what has changed.
func CouchDB(t testing.TB) *System {
	t.Helper()
	installed(t, "node_modules/express-pouchdb")
	program, node := installed(t, "couchdb.js"), sqltest.Tool(t, "foreign", "node")
	s := start(t, "/", func(port string) *exec.Cmd { return exec.Command(node, program, port) })
	_, err := s.Try(http.MethodPut, "/people", nil)
	require.NoError(t, err)
	for i := range 20 {
		s.Make(t, "/people", Object{"_id": fmt.Sprintf("p%02d", i), "type": "person", "org": 1 + i%3/2, "name": Name(i), "note": []any{nil, Name(i)}[i%2]})
	}
	s.Make(t, "/people", Object{"_id": "s1", "type": "settings"})
	return s
}

// Companies are those of SOAP, in the order of their clients.
var Companies = []string{"noord", "zuid"}

// SOAP starts a service of SOAP 1.1 with a WSDL, by npm's soap: a company has groups, customers,
// items and sales orders with lines, which System.Rows has at /rows/COMPANY/PAGE.
func SOAP(t testing.TB) *System {
	t.Helper()
	installed(t, "node_modules/soap")
	program, node := installed(t, "soap.js"), sqltest.Tool(t, "foreign", "node")
	s := start(t, "/rows/noord/Group", func(port string) *exec.Cmd { return exec.Command(node, program, port) })
	for _, company := range Companies {
		at := "/rows/" + company
		var groups, customers []any
		for i, code := range []string{"A", "B", "C"} {
			groups = append(groups, s.Make(t, at+"/Group", Object{"Code": code, "Description": "group " + code, "High_Rate": i != 1, "Account": "8000"})["No"])
		}
		for i := range 24 {
			customers = append(customers, s.Make(t, at+"/Customer", Object{"Type": "PB"[i%2 : i%2+1], "Name": Name(i), "Note": []string{"", Name(i)}[i%2], "Payment_Days": i % 4 * 7, "Language": []string{"NLD", "ENU", ""}[i%3], "Blocked": i%7 == 3, "Score": i})["No"])
		}
		for i := range articles {
			s.Make(t, at+"/Item", Object{"Vendor_No": fmt.Sprintf("N%03d", i), "Description": Name(i), "Group_No": groups[i%2], "Unit_Price": float64(i) / 4, "Blocked": i%7 == 3, "Shelf": "S"})
		}
		for i := range 23 {
			order := Object{"Customer_No": customers[i%3], "Reference": []string{"", Name(i)}[i%2], "Order_Date": fmt.Sprintf("2026-11-%02d", i+1)}
			var lines []Object
			for k := range i % 4 {
				lines = append(lines, Object{"Line_No": 10000 * (k + 1), "Description": Name(k), "Quantity": []float64{1, 0.5, 2}[k], "Unit_Price": float64(k) + 2.5, "Group_Code": "A"})
			}
			if len(lines) > 0 {
				order["SalesLines"] = Object{"Sales_Line": lines}
			}
			s.Make(t, at+"/SalesOrder", order)
		}
	}
	return s
}

// Feathers starts FeathersJS (npm) with services in memory: groups, companies and products of two
// tenants, of which it gives 20 at most at a time.
func Feathers(t testing.TB) *System {
	t.Helper()
	installed(t, "node_modules/@feathersjs/express")
	program, node := installed(t, "feathers.js"), sqltest.Tool(t, "foreign", "node")
	s := start(t, "/groups", func(port string) *exec.Cmd { return exec.Command(node, program, port) })
	for i, code := range []string{"A", "B", "C"} {
		s.Make(t, "/groups", Object{"code": code, "title": "group " + code, "rate": []int{21, 9, 21}[i], "ledger": "8000"})
	}
	for i := range 24 {
		s.Make(t, "/companies", Object{"orgId": 1 + i%3/2, "person": i%2 == 0, "name": Name(i), "terms": []any{nil, 7, 14}[i%3], "deleted": i%7 == 3, "score": Object{"of": i}})
	}
	for i := range articles {
		s.Make(t, "/products", Object{"orgId": 1 + i%3/2, "sku": fmt.Sprintf("N%03d", i), "title": Name(i), "price": float64(i) / 4, "groupId": 1 + i%2, "deleted": i%7 == 3, "shelf": "S"})
	}
	return s
}

// PocketBase starts PocketBase (Go): lists in pages, one filter expression, ids that are
// texts, empty values in place of nulls.
func PocketBase(t testing.TB) *System {
	t.Helper()
	program, dir := installed(t, "node_modules/.bin/pocketbase"), t.TempDir()
	output, err := exec.Command(program, "superuser", "upsert", Superuser, Password, "--dir", dir).CombinedOutput()
	require.NoError(t, err, "%s", output)
	s := start(t, "/api/health", func(port string) *exec.Cmd {
		return exec.Command(program, "serve", "--http", "127.0.0.1:"+port, "--dir", dir)
	})
	s.Token, _ = s.Make(t, "/api/collections/_superusers/auth-with-password", Object{"identity": Superuser, "password": Password})["token"].(string)
	stamps := []Object{{"name": "created", "type": "autodate", "onCreate": true}, {"name": "updated", "type": "autodate", "onCreate": true, "onUpdate": true}}
	collection := func(name string, indexes []string, fields ...Object) string {
		id, _ := s.Make(t, "/api/collections", Object{"name": name, "type": "base", "fields": append(fields, stamps...), "indexes": indexes})["id"].(string)
		return id
	}
	field := func(name, kind string) Object { return Object{"name": name, "type": kind} }
	groups := collection("groups", []string{"CREATE UNIQUE INDEX groups_code ON groups (code)"}, field("code", "text"), field("text", "text"), field("vat", "text"), field("ledger", "text"))
	collection("contacts", nil, field("org", "number"), field("type", "text"), field("name", "text"), field("memo", "text"), field("days", "number"), field("customer", "bool"), field("gone", "bool"))
	collection("parts", []string{"CREATE UNIQUE INDEX parts_nr ON parts (org, nr)"}, field("org", "number"), field("nr", "text"), field("title", "text"),
		field("price", "number"), field("gone", "bool"), field("shelf", "text"),
		Object{"name": "grp", "type": "relation", "collectionId": groups, "required": true, "maxSelect": 1})
	_, err = s.Try(http.MethodPatch, "/api/collections/users", Object{"fields": append(s.fields(t, "users"), field("org", "number"))})
	require.NoError(t, err)
	for i, name := range []string{"noord", "zuid"} {
		s.Make(t, "/api/collections/users/records", Object{"email": name + "@example.com", "emailVisibility": true, "password": Password, "passwordConfirm": Password, "org": i + 1})
	}
	var of []any
	for _, code := range []string{"A", "B", "C"} {
		of = append(of, s.Make(t, "/api/collections/groups/records", Object{"code": code, "text": "group " + code, "vat": "high", "ledger": "8000"})["id"])
	}
	for i := range 20 {
		s.Make(t, "/api/collections/contacts/records", Object{"org": 1 + i%3/2, "type": "PB"[i%2 : i%2+1], "name": Name(i), "days": i % 4 * 7, "customer": i%2 == 0, "gone": i%7 == 3})
	}
	for i := range articles {
		s.Make(t, "/api/collections/parts/records", Object{
			"org": 1 + i%3/2, "nr": fmt.Sprintf("N%03d", i), "title": Name(i), "price": float64(i) / 4, "gone": i%7 == 3, "shelf": "S", "grp": of[i%2],
		})
	}
	return s
}

// Shop is PocketBase with two collections more: orders of contacts, and their lines.
func Shop(t testing.TB) *System {
	t.Helper()
	s := PocketBase(t)
	field := func(name, kind string) Object { return Object{"name": name, "type": kind} }
	choice := func(name string, of ...string) Object {
		return Object{"name": name, "type": "select", "required": true, "maxSelect": 1, "values": of}
	}
	relation := func(name, to string, required bool) Object {
		return Object{"name": name, "type": "relation", "collectionId": s.one(t, "/api/collections/"+to)["id"], "required": required, "maxSelect": 1}
	}
	collection := func(name string, fields ...Object) {
		s.Make(t, "/api/collections", Object{"name": name, "type": "base", "fields": append(fields,
			Object{"name": "created", "type": "autodate", "onCreate": true}, Object{"name": "updated", "type": "autodate", "onCreate": true, "onUpdate": true})})
	}
	collection("orders", field("org", "number"), field("nr", "text"), relation("contact", "contacts", true),
		choice("kind", "WORKSHOP", "SALES", "PARTS"), choice("state", "DRAFT", "OPEN", "READY", "BILLED"), field("placed", "date"), field("due", "date"), field("ref", "text"), field("memo", "text"))
	collection("orderlines", field("org", "number"), relation("order", "orders", true), field("pos", "number"), relation("part", "parts", false),
		field("title", "text"), field("qty", "number"), field("price", "number"), relation("grp", "groups", true))
	rows := func(of string) []Object {
		all, err := s.Rows("/api/collections/"+of+"/records?perPage=100&sort=@rowid", "items")
		require.NoError(t, err)
		return all
	}
	contacts, parts, groups := rows("contacts"), rows("parts"), rows("groups")
	contacts = slices.DeleteFunc(contacts, func(of Object) bool { return of["gone"] == true })
	for i, contact := range contacts[:12] {
		order := s.Make(t, "/api/collections/orders/records", Object{
			"org": contact["org"], "nr": fmt.Sprintf("O%04d", i), "contact": contact["id"], "kind": []string{"WORKSHOP", "SALES", "PARTS"}[i%3], "state": []string{"DRAFT", "OPEN", "READY"}[i%3],
			"placed": fmt.Sprintf("2026-07-%02d 10:00:00.000Z", i+1), "due": []string{"", "2026-08-01 12:30:00.000Z"}[i%2], "ref": []string{"", Name(i)}[i%2],
		})["id"]
		for k := range i%3 + 1 {
			part := parts[slices.IndexFunc(parts, func(of Object) bool { return fmt.Sprint(of["org"]) == fmt.Sprint(contact["org"]) })]
			s.Make(t, "/api/collections/orderlines/records", Object{
				"org": contact["org"], "order": order, "pos": k + 1, "part": []any{part["id"], ""}[k%2], "title": Name(k), "qty": []float64{1, 0.5, 2}[k], "price": float64(k) + 2.5, "grp": groups[k%2]["id"],
			})
		}
	}
	return s
}

// one is an existing object.
func (s *System) one(t testing.TB, path string) Object {
	t.Helper()
	found, err := s.Try(http.MethodGet, path, nil)
	require.NoError(t, err)
	return found.(Object)
}

// fields are those that a collection of PocketBase has.
func (s *System) fields(t testing.TB, name string) []any {
	t.Helper()
	all, _ := s.one(t, "/api/collections/"+name)["fields"].([]any)
	return all
}

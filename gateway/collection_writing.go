package gateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"frontdesk/gateway/postman"
	"frontdesk/mapping"
)

// writing is the folder that makes records of its own, uses and deletes them. Nothing of it is
// sent unless the variable write says so: a run of the whole collection must change nothing.
func (c *collector) writing() *postman.Item {
	folder := &postman.Item{
		Name: "Writing", Description: "Makes records of its own, uses them and deletes them. Run it by hand, with the variable write set to yes.", Items: []*postman.Item{c.logIn()},
	}
	folder.Before(`if (pm.variables.get("write") !== "yes") pm.execution.skipRequest();`)
	made := map[*mapping.Resource]bool{}
	var deletions []*postman.Item
	for _, r := range byNeed(c.g.o.Offer.Model) {
		create, remove := c.operation(r, "POST", false), c.operation(r, "DELETE", true)
		if create == nil || remove == nil || !c.makes(r, made) {
			continue
		}
		made[r] = true
		variable := madeVariable(r)
		folder.Items = append(folder.Items, c.create(create, made))
		folder.Items = append(folder.Items, c.use(r, variable)...)
		gone := expects(c.item(remove, remove.about.summary, "{{"+variable+"}}"), 200)
		gone.After(fmt.Sprintf("pm.collectionVariables.unset(%q);", variable))
		deletions = append(deletions, skipWithout(gone, variable))
	}
	if len(made) == 0 {
		return nil
	}
	slices.Reverse(deletions)
	folder.Items = append(append(folder.Items, deletions...), c.logOut())
	return folder
}

// madeVariable holds the id of the record that the folder has made.
func madeVariable(r *mapping.Resource) string { return "made_" + r.Name + "_id" }

// makes tells whether the folder can make a record: whatever it must refer to is made before.
func (c *collector) makes(r *mapping.Resource, made map[*mapping.Resource]bool) bool {
	for _, f := range mapping.Each(r.Fields) {
		if f.Required && f.Reference != "" && !made[f.Target()] || f.Required && f.ReferenceBy != "" && !made[c.referred(r, f)] {
			return false
		}
	}
	return true
}

// referred is the resource of a reference whose resource differs by record: that of the
// example.
func (c *collector) referred(r *mapping.Resource, f *mapping.Field) *mapping.Resource {
	return c.g.o.Offer.Model.Resource(r.Field(f.ReferenceBy).Example)
}

// create makes a record with the fields that it must have. Where a new value is taken by
// chance, it is made again with another.
func (c *collector) create(op *Operation, made map[*mapping.Resource]bool) *postman.Item {
	r := op.Endpoint.Resource
	var members, fresh, needs []string
	for _, f := range mapping.Each(r.Fields) {
		if !f.Required || f.Readonly || f.Primary || f.Type == mapping.Array {
			continue
		}
		var value string
		target := f.Target()
		if f.ReferenceBy != "" {
			target = c.referred(r, f)
		}
		switch {
		case target != nil:
			value = "{{" + madeVariable(target) + "}}"
			needs = append(needs, madeVariable(target))
		case f.Unique && len(f.OneOf) == 0:
			value = `"{{new_` + f.Name + `}}"`
			fresh = append(fresh, fmt.Sprintf("pm.variables.set(%q, %s);", "new_"+f.Name, freshValue(f)))
		default:
			text, _ := json.Marshal(literal(f, sample(f))) // a text, or a number as it stands in the model
			value = string(text)
		}
		members = append(members, fmt.Sprintf("  %q: %s", f.Name, value))
	}
	body := "{\n" + strings.Join(members, ",\n") + "\n}"
	item := skipWithout(send(c.item(op, op.about.summary, ""), body), needs...)
	if len(fresh) > 0 {
		item.Before(append([]string{freshScript}, fresh...)...)
		item.After(
			`const tries = Number(pm.variables.get("tries") ?? 0) + 1;`,
			`const again = pm.response.code === 409 && tries < 20;`,
			`pm.collectionVariables.set("tries", again ? tries : 0);`,
			`if (again) { pm.execution.setNextRequest(pm.info.requestId); return; }`,
		)
	}
	return saves(expects(item, 201), madeVariable(r))
}

func saves(item *postman.Item, variable string) *postman.Item {
	item.After(keep(variable, "pm.response.json().data"))
	return item
}

// sample is a value that a field may have.
func sample(f *mapping.Field) string {
	switch {
	case f.Example != "":
		return f.Example
	case len(f.OneOf) > 0:
		return f.OneOf[0]
	case f.Type == mapping.Int4 || f.Type == mapping.Float8:
		return "1"
	case f.Type == mapping.Timestamp:
		return "2026-07-01"
	}
	return "frontdesk"
}

// freshScript picks characters by chance.
const freshScript = `const some = (n, of) => Array.from({ length: n }, () => of[Math.floor(Math.random() * of.length)]).join("");`

const (
	letters    = `"ABCDEFGHJKLMNPRSTUVWXYZ"`
	digits     = `"0123456789"`
	consonants = `"BDFGHJKLNPRSTVXZ"`
)

// freshValue is an expression of a new value for a field that no two records share.
func freshValue(f *mapping.Field) string {
	length := 12
	if f.Length > 0 {
		length = min(length, f.Length)
	}
	switch {
	case f.Check == "license_plate":
		return fmt.Sprintf(`some(2, %s) + "-" + some(3, %s) + "-" + some(1, %s)`, consonants, digits, consonants)
	case f.Check == "email":
		return `some(10, "abcdefghjk") + "@example.nl"`
	case f.Check == "vin":
		return fmt.Sprintf(`some(17, %s)`, letters)
	case f.Check == "digits" || f.Type == mapping.Int4:
		return fmt.Sprintf(`some(%d, "123456789")`, min(length, 8))
	}
	return fmt.Sprintf(`some(%d, %s)`, length, letters)
}

// use reads and changes a record that was made: one field, alone and among many.
func (c *collector) use(r *mapping.Resource, variable string) (items []*postman.Item) {
	id := "{{" + variable + "}}"
	if op := c.operation(r, "GET", true); op != nil {
		items = append(items, skipWithout(expects(c.item(op, op.about.summary, id), 200), variable))
	}
	change := updateExample(r)
	if len(change) == 0 {
		return items
	}
	name := change[0].Name
	value, _ := json.Marshal(change[0].Value)
	if op := c.operation(r, "PUT", true); op != nil {
		item := send(c.item(op, op.about.summary, id), fmt.Sprintf("{\n  %q: %s\n}", name, value))
		items = append(items, skipWithout(expects(item, 200), variable))
	}
	if e := c.g.routes.endpoints["/"+r.Name+"/bulk"]; e != nil && e.list["PUT"] != nil && !e.list["PUT"].mustCall && c.may(e.list["PUT"]) {
		body := fmt.Sprintf("{\n  \"records\": [{\"id\": %s, %q: %s}]\n}", id, name, value)
		item := expects(send(c.item(e.list["PUT"], e.list["PUT"].about.summary, ""), body), 200)
		item.After(`pm.test("is changed", () => pm.expect(pm.response.json().data[0].status).to.equal(200));`)
		items = append(items, skipWithout(item, variable))
	}
	return items
}

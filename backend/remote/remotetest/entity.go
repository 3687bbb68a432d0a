package remotetest

import (
	"math/big"
	"strings"
	"time"
)

// kind is what a field holds, and which Go type its value has.
type kind uint8

const (
	text      kind = iota // string
	whole                 // int64
	amount                // *big.Rat
	flag                  // bool
	moment                // time.Time
	day                   // time.Time, at midnight UTC
	choice                // string, one of the words
	reference             // string, the ID of a record of another entity
	blob                  // []byte
)

// field is one field of an entity.
type field struct {
	name     string
	kind     kind
	required bool
	unique   bool
	readOnly bool // given by the administration
	fixed    bool // cannot be changed once it is set
	max      int  // characters of a text, 0 for no bound
	scale    int  // decimals of an amount
	words    []string
	to       string // entity that a reference leads to
	initial  any
}

func textField(name string, maximum int) field { return field{name: name, kind: text, max: maximum} }
func wholeField(name string) field             { return field{name: name, kind: whole} }
func flagField(name string) field              { return field{name: name, kind: flag, initial: false} }
func momentField(name string) field            { return field{name: name, kind: moment} }
func dayField(name string) field               { return field{name: name, kind: day} }
func refField(name, to string) field           { return field{name: name, kind: reference, to: to} }
func amountField(name string, scale int) field { return field{name: name, kind: amount, scale: scale} }

func choiceField(name, words string) field {
	return field{name: name, kind: choice, words: strings.Fields(words)}
}

func (f field) must() field  { f.required = true; return f }
func (f field) only() field  { f.unique = true; return f }
func (f field) given() field { f.readOnly = true; return f }
func (f field) stays() field { f.fixed = true; return f }

// entity is one kind of record.
type entity struct {
	name   string
	fields []field
	system bool // the same for all tenants, and never changed
}

func (e *entity) field(name string) *field {
	for i := range e.fields {
		if e.fields[i].name == name {
			return &e.fields[i]
		}
	}
	return nil
}

// values are the fields of a record that are not empty, by name.
type values map[string]any

func (v values) text(name string) string { s, _ := v[name].(string); return s }
func (v values) flag(name string) bool   { b, _ := v[name].(bool); return b }
func (v values) time(name string) time.Time {
	t, _ := v[name].(time.Time)
	return t
}

// amount is the value of an amount, 0 where it is empty.
func (v values) amount(name string) *big.Rat {
	if r, ok := v[name].(*big.Rat); ok {
		return r
	}
	return new(big.Rat)
}

const (
	units        = "piece hour litre kg metre set"
	articleKinds = "part labour external text"
	longText     = 65535
)

// schema is what an administration keeps. An entity comes after those that it
// refers to, so that sample data can be made in this order.
func schema() []*entity {
	state := []field{flagField("blocked"), flagField("archived")}
	entities := append(basics(), relations()...)
	entities = append(entities, trade()...)
	for _, e := range entities {
		if !e.system {
			e.fields = append(e.fields, state...)
		}
	}
	return entities
}

func basics() []*entity {
	return []*entity{
		{name: "country", system: true, fields: []field{
			textField("code", 2).must().only(), textField("name", 60).must(), textField("phone_prefix", 5),
			textField("postcode_pattern", 100), flagField("eu"),
		}},
		{name: "turnovergroup", fields: []field{
			textField("code", 10).must().only(), textField("description", 60).must(),
			choiceField("vat_kind", "high low zero margin exempt").must(), textField("ledger_account", 10).must(),
			textField("ledger_account_eu", 10), textField("ledger_account_export", 10),
		}},
		{name: "employee", fields: []field{
			textField("number", 20).only(), textField("username", 64).must().only(), textField("first_name", 50),
			textField("last_name", 50).must(), textField("email", 254), textField("job_title", 50),
			flagField("external"), amountField("hourly_rate", 2),
		}},
	}
}

func relations() []*entity {
	return []*entity{
		{name: "contact", fields: []field{
			textField("number", 20).only().given(), choiceField("kind", "person company").must(), textField("name", 100).must(),
			textField("first_name", 50), textField("infix", 20), textField("initials", 20), textField("company_number", 20),
			textField("vat_number", 20), textField("language", 2), dayField("birth_date"), wholeField("payment_days"),
			flagField("customer"), flagField("supplier"), textField("note", longText),
		}},
		{name: "communication", fields: []field{
			refField("contact", "contact").must().stays(), choiceField("type", "phone mobile fax email website messaging").must(),
			textField("value", 255).must(), textField("description", 50), flagField("preferred"),
		}},
		{name: "address", fields: []field{
			refField("contact", "contact").must().stays(), choiceField("type", "visit postal billing delivery").must(),
			textField("street", 100).must(), wholeField("house_number").must(), textField("addition", 10),
			textField("postcode", 10).must(), textField("city", 60).must(), refField("country", "country").must(),
		}},
		{name: "vehicle", fields: []field{
			textField("plate", 15).must().only(), refField("country", "country"), textField("vin", 17).only(),
			textField("brand", 50).must(), textField("model", 50).must(), textField("version", 100),
			choiceField("body", "hatchback saloon estate suv mpv coupe convertible van"),
			choiceField("fuel", "petrol diesel electric hybrid lpg"), choiceField("transmission", "manual automatic"),
			textField("color", 30), dayField("admitted"), dayField("inspected_until"), wholeField("mileage"), wholeField("power"),
			choiceField("tax", "vat margin exempt"), amountField("bpm", 2), amountField("purchase_price", 2), amountField("sales_price", 2),
			{name: "published", kind: flag, readOnly: true, initial: false}, momentField("published_at").given(), textField("remark", longText),
		}},
	}
}

func trade() []*entity {
	return []*entity{
		{name: "article", fields: []field{
			textField("number", 40).must().only(), textField("description", 255).must(), choiceField("kind", articleKinds).must(),
			choiceField("unit", units).must(), refField("group", "turnovergroup").must(), amountField("purchase_price", 4),
			amountField("price", 4).must(), refField("supplier", "contact"), textField("ean", 14), amountField("stock", 4).given(),
		}},
		{name: "order", fields: []field{
			textField("number", 20).only().given(), refField("contact", "contact").must(), refField("vehicle", "vehicle"),
			refField("employee", "employee"), choiceField("kind", "workshop sales parts lease").must(),
			choiceField("status", "concept open in_progress ready invoiced cancelled").must(), momentField("ordered").must(),
			momentField("delivery"), wholeField("mileage"), textField("reference", 50), textField("description", longText),
			textField("invoice", 20).given(), amountField("total_excl", 2).given(), amountField("total_incl", 2).given(),
		}},
		{name: "orderline", fields: []field{
			refField("order", "order").must().stays(), wholeField("position"), refField("article", "article"),
			textField("article_number", 40), textField("description", 255).must(), amountField("quantity", 4).must(),
			choiceField("unit", units), amountField("price", 4).must(), amountField("discount", 2),
			refField("group", "turnovergroup").must(), refField("employee", "employee"), amountField("total", 2).given(),
		}},
		{name: "document", fields: []field{
			textField("name", 255).must(), choiceField("kind", "invoice quotation photo contract other"), textField("mime", 100),
			{name: "size", kind: whole, readOnly: true}, textField("sha256", 64).given(), {name: "content", kind: blob},
			choiceField("owner_kind", "contact vehicle order").must().stays(), field{name: "owner", kind: text}.must().stays(),
			textField("url", 255),
		}},
	}
}

package remotetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"net/mail"
	"regexp"
	"strings"
	"unicode/utf8"
)

// trouble is why an administration refuses a call.
type trouble uint8

const (
	required trouble = iota
	invalid
	tooLong
	unknownField
	readOnly
	unknownReference
	duplicate
	inUse
	orderClosed
	advertised
)

// problem is the first thing that is wrong with a call. Like most services, this
// one does not look for a second.
type problem struct {
	trouble trouble
	field   string // of the entity, or as the client spelled it where it is unknown
	detail  string // the value, or the entity that uses the record
}

// judge returns what is wrong with a record that is about to be stored. before is
// nil for a new one.
func (l *ledger) judge(e *entity, before *row, id string, v values) *problem {
	if p := l.judgeState(e, before, v); p != nil {
		return p
	}
	for i := range e.fields {
		if p := l.judgeField(e, &e.fields[i], before, id, v); p != nil {
			return p
		}
	}
	return l.judgeRecord(e, id, v)
}

// judgeState guards what has been invoiced.
func (l *ledger) judgeState(e *entity, before *row, v values) *problem {
	switch e.name {
	case "order":
		if before != nil && closed(before) {
			return &problem{trouble: orderClosed, field: "status", detail: before.values.text("status")}
		}
		if status := v.text("status"); before == nil && (status == "invoiced" || status == "cancelled") {
			return &problem{trouble: orderClosed, field: "status", detail: status}
		}
	case "orderline":
		if order := l.living("order", v.text("order")); order != nil && closed(order) {
			return &problem{trouble: orderClosed, field: "order", detail: order.values.text("status")}
		}
	}
	return nil
}

func closed(order *row) bool {
	status := order.values.text("status")
	return status == "invoiced" || status == "cancelled"
}

func (l *ledger) judgeField(e *entity, f *field, before *row, id string, v values) *problem {
	value, there := v[f.name]
	switch {
	case !there && f.required:
		return &problem{trouble: required, field: f.name}
	case before != nil && f.fixed && key(before.values[f.name]) != key(value):
		return &problem{trouble: readOnly, field: f.name}
	case !there:
		return nil
	}
	s, _ := value.(string)
	switch {
	case f.kind == text && f.max > 0 && utf8.RuneCountInString(s) > f.max:
		return &problem{trouble: tooLong, field: f.name, detail: fmt.Sprint(f.max)}
	case f.kind == reference && l.living(f.to, s) == nil:
		return &problem{trouble: unknownReference, field: f.name, detail: s}
	case f.unique && l.taken(e, f, id, s):
		return &problem{trouble: duplicate, field: f.name, detail: s}
	}
	return nil
}

// taken reports whether another record has the value. User names are unique over
// all tenants, since they are what people log in with.
func (l *ledger) taken(e *entity, f *field, id, value string) bool {
	if f.name == "plate" {
		value = barePlate(value) // as it is stored
	}
	ledgers := map[string]*ledger{l.tenant: l}
	if f.name == "username" {
		ledgers = l.ledgers
	}
	for _, other := range ledgers {
		for _, r := range other.rows[e.name] {
			if (other != l || r.id != id) && r.alive() && r.values.text(f.name) == value {
				return true
			}
		}
	}
	return false
}

func barePlate(s string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(s))
}

var (
	dutchPostcode = regexp.MustCompile(`^[1-9][0-9]{3} ?[A-Z]{2}$`)
	vinForm       = regexp.MustCompile(`^[A-HJ-NPR-Z0-9]{17}$`)
	plateForm     = regexp.MustCompile(`^[A-Z0-9]{4,10}$`)
	hundred       = big.NewRat(100, 1)
)

// judgeRecord has the rules that are particular to an entity.
func (l *ledger) judgeRecord(e *entity, id string, v values) *problem {
	wrong := func(field string) *problem {
		return &problem{trouble: invalid, field: field, detail: key(v[field])}
	}
	switch e.name {
	case "employee":
		if _, err := mail.ParseAddress(v.text("email")); err != nil && v.text("email") != "" && v.text("username") != badEmailUser {
			return wrong("email")
		}
	case "communication":
		return l.judgeCommunication(id, v)
	case "address":
		if country := l.row("country", v.text("country")); country.values.text("code") == "NL" && !dutchPostcode.MatchString(v.text("postcode")) {
			return wrong("postcode")
		}
	case "vehicle":
		switch {
		case !plateForm.MatchString(barePlate(v.text("plate"))):
			return wrong("plate")
		case v["vin"] != nil && !vinForm.MatchString(v.text("vin")):
			return wrong("vin")
		case v["admitted"] != nil && v["inspected_until"] != nil && !v.time("inspected_until").After(v.time("admitted")):
			return wrong("inspected_until")
		}
	case "order":
		if v["delivery"] != nil && !v.time("delivery").After(v.time("ordered")) {
			return wrong("delivery")
		}
	case "orderline":
		if d := v.amount("discount"); d.Sign() < 0 || d.Cmp(hundred) > 0 {
			return wrong("discount")
		}
	case "document":
		if l.living(v.text("owner_kind"), v.text("owner")) == nil {
			return &problem{trouble: unknownReference, field: "owner", detail: v.text("owner")}
		}
	}
	return nil
}

func (l *ledger) judgeCommunication(id string, v values) *problem {
	email := v.text("type") == "email"
	if _, err := mail.ParseAddress(v.text("value")); email && err != nil {
		return &problem{trouble: invalid, field: "value", detail: v.text("value")}
	}
	if !v.flag("preferred") {
		return nil
	}
	if !email {
		return &problem{trouble: invalid, field: "preferred", detail: "true"}
	}
	for _, r := range l.find("communication", query{filters: values{"contact": v.text("contact"), "preferred": true}}) {
		if r.id != id {
			return &problem{trouble: duplicate, field: "preferred", detail: "true"}
		}
	}
	return nil
}

func (l *ledger) judgeRemoval(entityName string, r *row) *problem {
	switch {
	case entityName == "vehicle" && r.values.flag("published"):
		return &problem{trouble: advertised, field: "published", detail: r.id}
	case entityName == "order" && closed(r):
		return &problem{trouble: orderClosed, field: "status", detail: r.values.text("status")}
	case entityName == "orderline":
		if order := l.living("order", r.values.text("order")); order != nil && closed(order) {
			return &problem{trouble: orderClosed, field: "order", detail: order.values.text("status")}
		}
	}
	for _, other := range l.schema {
		if other.name == "orderline" && entityName == "order" { // deleted with it
			continue
		}
		for _, f := range other.fields {
			if f.to == entityName && len(l.find(other.name, query{filters: values{f.name: r.id}})) > 0 {
				return &problem{trouble: inUse, detail: other.name}
			}
		}
	}
	return nil
}

// derive sets what follows from the rest of a record.
func (l *ledger) derive(e *entity, r *row) {
	switch e.name {
	case "vehicle":
		r.values["plate"] = barePlate(r.values.text("plate"))
	case "order":
		if r.values.text("status") == "invoiced" && r.values["invoice"] == nil {
			l.counter["invoice"]++
			r.values["invoice"] = l.number("invoice", l.counter["invoice"], l.now().Year())
		}
		if r.values["total_excl"] == nil {
			r.values["total_excl"], r.values["total_incl"] = new(big.Rat), new(big.Rat)
		}
	case "orderline":
		if article := l.row("article", r.values.text("article")); article != nil && r.values["article_number"] == nil {
			r.values["article_number"] = article.values["number"]
		}
		off := new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Quo(r.values.amount("discount"), hundred))
		total := new(big.Rat).Mul(r.values.amount("quantity"), r.values.amount("price"))
		r.values["total"] = round(total.Mul(total, off), 2)
		l.addUp(r.values.text("order"))
	case "document":
		if content, ok := r.values["content"].([]byte); ok {
			sum := sha256.Sum256(content)
			r.values["size"], r.values["sha256"] = int64(len(content)), hex.EncodeToString(sum[:])
		}
	}
}

// addUp sets the totals of an order. VAT is rounded once per rate.
func (l *ledger) addUp(orderID string) {
	order := l.living("order", orderID)
	if order == nil {
		return
	}
	excl, byRate := new(big.Rat), map[string]*big.Rat{}
	for _, line := range l.find("orderline", query{filters: values{"order": orderID}}) {
		excl.Add(excl, line.values.amount("total"))
		rate := l.row("turnovergroup", line.values.text("group")).values.text("vat_kind")
		if byRate[rate] == nil {
			byRate[rate] = new(big.Rat)
		}
		byRate[rate].Add(byRate[rate], line.values.amount("total"))
	}
	incl := new(big.Rat).Set(excl)
	for rate, base := range byRate {
		incl.Add(incl, round(new(big.Rat).Mul(base, vat(rate)), 2))
	}
	l.set(order, values{"total_excl": excl, "total_incl": incl})
}

func vat(kind string) *big.Rat {
	switch kind {
	case "high":
		return big.NewRat(21, 100)
	case "low":
		return big.NewRat(9, 100)
	default:
		return new(big.Rat)
	}
}

// round rounds half away from zero.
func round(r *big.Rat, scale int) *big.Rat {
	rounded, _ := new(big.Rat).SetString(r.FloatString(scale))
	return rounded
}

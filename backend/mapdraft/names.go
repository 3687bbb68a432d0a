package mapdraft

import (
	"strings"

	"frontdesk/mapping"
)

// resourceNames are what tables of a resource are called, in ideas; one of
// several forms. The rest is what the resource's own name says.
var resourceNames = map[string]string{
	"contact":                  "contact, customer, customer supplier",
	"contactaddress":           "contact address, customer address, address",
	"contactcommunication":     "contact communication, customer communication, communication, contact phone",
	"country":                  "country",
	"document":                 "document",
	"employee":                 "employee",
	"article":                  "article",
	"turnovergroup":            "turnover group, turnover code, article group",
	"vehicle":                  "vehicle",
	"vehicleroleline":          "vehicle contact, vehicle role, vehicle owner, vehicle customer, vehicle role line",
	"vehicleadvertisementsite": "vehicle advertisement, vehicle site, vehicle advertisement site",
	"advertisementsite":        "advertisement site, site",
	"order":                    "order, order head",
	"orderline":                "order line",
	"flatrate":                 "flatrate, flatrate head",
	"flatrateline":             "flatrate line",
}

// The tables that are no resource.
const (
	branchNames = "branch"
	userNames   = "user"
)

// fieldNames are what columns of a field are called, in ideas, besides what its
// own name says. A field without its resource is of every resource.
var fieldNames = map[string]string{
	"article.number":                         "article number, article code, number, code",
	"article.description":                    "description, name",
	"article.article_kind":                   "kind, article kind",
	"article.unit_type":                      "unit, unit kind, unit code",
	"article.price":                          "sales price, price, sales amount",
	"article.purchase_price":                 "purchase price, purchase amount",
	"article.ean":                            "ean, ean code",
	"article.stock":                          "stock, stock quantity",
	"contact.number":                         "contact number, customer number, number",
	"contact.kind":                           "kind, contact kind",
	"contact.name":                           "name, last name, last, branch name",
	"contact.company_number":                 "companyregister number, companyregister",
	"contact.payment_days":                   "payment term, payment days, term",
	"contact.is_customer":                    "customer",
	"contact.is_supplier":                    "supplier",
	"contactaddress.type":                    "kind, address kind",
	"contactaddress.house_number_addition":   "addition, house addition, house number addition",
	"contactaddress.postcode":                "postcode, postcode code",
	"contactaddress.city":                    "city, city name",
	"contactcommunication.type":              "kind, communication kind",
	"contactcommunication.value":             "value, communication value, number, address",
	"contactcommunication.is_prefered_email": "preferred, preferred email",
	"country.code":                           "iso, iso code, country iso, code",
	"country.phone_prefix":                   "phone prefix, prefix, phone code, phone number",
	"country.postcode_pattern":               "postcode postpattern, postpattern",
	"country.is_eu":                          "european",
	"document.kind":                          "kind, document kind",
	"document.mime_type":                     "mime, mime kind",
	"document.size":                          "size",
	"document.sha256":                        "hash",
	"document.content":                       "content",
	"document.resource":                      "entity kind, entity name, reference kind, entity",
	"document.resource_id":                   "entity number, entity id, reference id, reference number",
	"document.external_url":                  "url, external url",
	"employee.number":                        "employee number, employee code, number, code",
	"employee.username":                      "user, user name",
	"employee.last_name":                     "last name, last, name",
	"employee.job_title":                     "function, job title",
	"employee.hourly_rate":                   "hour rate, hour price, rate",
	"order.kind":                             "kind, order kind",
	"order.order_status":                     "status, order status",
	"order.order_date":                       "date, order date",
	"order.total_excl":                       "total excluding, total",
	"order.total_incl":                       "total including",
	"order.invoice_number":                   "invoice number, invoice",
	"order.reference":                        "reference, customer reference",
	"orderline.sort_order":                   "sequence, line sequence, sequence number",
	"orderline.article_number":               "article number, article code",
	"orderline.unit_type":                    "unit, unit kind, unit code",
	"first_name":                             "first name, first",
	"orderline.price":                        "price, sales price, unit price",
	"orderline.discount_percentage":          "discount, discount percentage",
	"orderline.total":                        "amount, line amount, total, line total",
	"turnovergroup.code":                     "code, turnover group, group code, turnover group code",
	"turnovergroup.vat_kind":                 "vat code, vat kind, vat",
	"turnovergroup.ledger_account":           "ledger account, ledger, account",
	"turnovergroup.ledger_account_eu":        "ledger account european, ledger european, account european",
	"turnovergroup.ledger_account_export":    "ledger account export, ledger export, account export",
	"vehicle.license_plate":                  "plate, plate number, plate code",
	"vehicle.vin":                            "chassis, chassis number",
	"vehicle.model":                          "model, kind",
	"vehicle.version":                        "version",
	"vehicle.body_kind":                      "body, body kind",
	"vehicle.fuel_kind":                      "fuel, fuel kind",
	"vehicle.transmission_kind":              "transmission, transmission kind",
	"vehicle.color":                          "color",
	"vehicle.first_admission_date":           "first admission date, admission date, date one, one admission, one admission date",
	"vehicle.apk_expiry_date":                "inspection date, inspection expiry, inspection until",
	"vehicle.mileage":                        "mileage",
	"vehicle.power_kw":                       "power",
	"vehicle.tax_kind":                       "vat kind, vat code",
	"vehicle.bpm_amount":                     "bpm, bpm amount",
	"vehicle.purchase_price":                 "purchase price",
	"vehicle.sales_price":                    "sales price, price",
	"vehicle.publish_status":                 "publish, publish status",
	"vehicle.published_at":                   "publish date, publish timestamp",
	"vehicle.remark":                         "note",
	"vehicleroleline.start_date":             "from date, from",
	"vehicleroleline.end_date":               "until date, until",
	"mileage":                                "mileage",
	"note":                                   "note",
	"is_blocked":                             "blocked",
	"is_archived":                            "archived",
	"created_at":                             "created timestamp, created date, created",
	"modified_at":                            "changed timestamp, changed date, changed",
	"delivery_date":                          "delivery date",
	"email":                                  "email, email address",
}

// forms are the ideas that a field, or a resource, may be named by.
func forms(w words, own string, listed string) [][]string {
	var all [][]string
	if plain := ideasOf(w.split(own)); plain != nil {
		all = append(all, plain)
	}
	for form := range strings.SplitSeq(listed, ",") {
		if ideas := strings.Fields(form); len(ideas) > 0 {
			all = append(all, ideas)
		}
	}
	return all
}

// ideasOf takes the first idea of each part; nil where a part is no word.
func ideasOf(parts []part) []string {
	var ideas []string
	for _, p := range parts {
		if len(p.ideas) == 0 {
			return nil
		}
		ideas = append(ideas, p.ideas[0])
	}
	return ideas
}

func (d *drafter) fieldForms(r *mapping.Resource, f *mapping.Field) [][]string {
	listed := fieldNames[r.Name+"."+f.Name]
	if listed == "" {
		listed = fieldNames[f.Name]
	}
	own := strings.TrimSuffix(strings.TrimPrefix(f.Name, "is_"), "_id")
	return forms(d.words, own, listed)
}

// likeness is how much of a name and of a form are the same, from 0 to 1. What
// the table is about says nothing of its columns: of context there is little.
func likeness(name []part, form []string, context []string) float64 {
	light := func(idea string) float64 {
		for _, c := range context {
			if c == idea {
				return 0.15
			}
		}
		return weight(idea)
	}
	used := make([]bool, len(form))
	var same, all float64
	for _, p := range name {
		if isNumeral(p.text) && len(p.ideas) == 0 {
			continue
		}
		matched, heaviest := -1, 0.0
		if len(p.ideas) == 0 {
			heaviest = min(1, 0.3*float64(len(p.text)))
		}
		for _, idea := range p.ideas {
			heaviest = max(heaviest, light(idea))
		}
		for i, idea := range form {
			if used[i] || matched >= 0 {
				continue
			}
			for _, own := range p.ideas {
				if own == idea {
					matched = i
				}
			}
		}
		if matched >= 0 {
			used[matched] = true
			same += 2 * light(form[matched])
			all += light(form[matched])
		} else {
			all += heaviest
		}
	}
	for _, idea := range form {
		all += light(idea)
	}
	if all == 0 {
		return 0
	}
	return same / all
}

func isNumeral(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

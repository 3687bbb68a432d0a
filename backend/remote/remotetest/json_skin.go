package remotetest

// garageSkins returns how Garage Cloud shows each entity.
func garageSkins() []*skin {
	skins := append(garageBasics(), garageRelations()...)
	skins = append(skins, garageTrade()...)
	for _, s := range skins {
		if s.entity != "country" {
			s.fields = append(s.fields, wire{name: "blocked", path: "blocked"}, wire{name: "archived", path: "archived"})
		}
	}
	return skins
}

var garageUnits = words("piece PIECE hour HOUR litre LITRE kg KG metre METRE set SET")

func garageBasics() []*skin {
	return []*skin{
		{entity: "country", prefix: "", collection: "countries", fields: []wire{
			{name: "code", path: "iso2"}, {name: "name", path: "name"}, {name: "phone_prefix", path: "dialCode"},
			{name: "postcode_pattern", path: "postcodeRegex"}, {name: "eu", path: "euMember"},
		}, params: []param{{"iso2", "code"}}},
		{entity: "turnovergroup", prefix: "tg_", collection: "turnover-groups", fields: []wire{
			{name: "code", path: "code"}, {name: "description", path: "label"}, {name: "vat_kind", path: "vatRate"},
			{name: "ledger_account", path: "ledger.domestic"}, {name: "ledger_account_eu", path: "ledger.eu"},
			{name: "ledger_account_export", path: "ledger.export"},
		}, params: []param{{"code", "code"}}},
		{entity: "employee", prefix: "e_", collection: "employees", fields: []wire{
			{name: "number", path: "personnelNumber"}, {name: "username", path: "login"}, {name: "first_name", path: "name.first"},
			{name: "last_name", path: "name.last"}, {name: "email", path: "email"}, {name: "job_title", path: "function"},
			{name: "external", path: "external"}, {name: "hourly_rate", path: "hourlyRate"},
		}, params: []param{{"login", "username"}, {"personnelNumber", "number"}}},
	}
}

func garageRelations() []*skin {
	return []*skin{
		{entity: "contact", prefix: "c_", collection: "customers", fields: []wire{
			{name: "number", path: "customerNumber"}, {name: "kind", path: "type", words: words("person PRIVATE company BUSINESS")},
			{name: "name", path: "lastNameOrCompany"}, {name: "first_name", path: "person.firstName"}, {name: "infix", path: "person.infix"},
			{name: "initials", path: "person.initials"}, {name: "birth_date", path: "person.birthDate"},
			{name: "company_number", path: "business.registrationNumber"}, {name: "vat_number", path: "business.vatNumber"},
			{name: "language", path: "language"}, {name: "payment_days", path: "paymentTermDays"},
			{name: "customer", path: "roles.customer"}, {name: "supplier", path: "roles.supplier"}, {name: "note", path: "remarks"},
		}, params: []param{{"customerNumber", "number"}, {"type", "kind"}, {"lastNameOrCompany", "name"}, {"supplier", "supplier"}}},
		{entity: "communication", prefix: "cp_", collection: "contact-points", fields: []wire{
			{name: "contact", path: "customerId"}, {name: "type", path: "channel", words: words("messaging CHAT website WEB")},
			{name: "value", path: "value"}, {name: "description", path: "label"}, {name: "preferred", path: "preferred"},
		}, params: []param{{"customerId", "contact"}, {"channel", "type"}}},
		{entity: "address", prefix: "a_", collection: "addresses", fields: []wire{
			{name: "contact", path: "customer.id"}, {name: "type", path: "purpose", words: words("visit VISITING")},
			{name: "street", path: "street"}, {name: "house_number", path: "houseNumber", style: quoted},
			{name: "addition", path: "houseNumberSuffix"}, {name: "postcode", path: "postalCode"}, {name: "city", path: "city"},
			{name: "country", path: "countryCode"},
		}, params: []param{{"customerId", "contact"}, {"purpose", "type"}}},
		{entity: "vehicle", prefix: "v_", collection: "vehicles", fields: []wire{
			{name: "plate", path: "licensePlate"}, {name: "country", path: "registrationCountry"}, {name: "vin", path: "vin"},
			{name: "brand", path: "make.brand"}, {name: "model", path: "make.model"}, {name: "version", path: "make.variant"},
			{name: "body", path: "bodyType", words: words("estate STATION_WAGON saloon SEDAN")}, {name: "fuel", path: "fuelType"},
			{name: "transmission", path: "gearbox"}, {name: "color", path: "colour"}, {name: "admitted", path: "firstRegistration"},
			{name: "inspected_until", path: "inspectionExpiry"}, {name: "mileage", path: "odometer.km"}, {name: "power", path: "powerKw"},
			{name: "tax", path: "taxScheme"}, {name: "bpm", path: "prices.bpm"}, {name: "purchase_price", path: "prices.purchase"},
			{name: "sales_price", path: "prices.sales"}, {name: "published", path: "advertising.active"},
			{name: "published_at", path: "advertising.since", style: millis}, {name: "remark", path: "remarks"},
		}, params: []param{{"licensePlate", "plate"}, {"vin", "vin"}, {"brand", "brand"}, {"advertised", "published"}}},
	}
}

func garageTrade() []*skin {
	return []*skin{
		{entity: "article", prefix: "art_", collection: "articles", fields: []wire{
			{name: "number", path: "articleNumber"}, {name: "description", path: "title"}, {name: "kind", path: "kind"},
			{name: "unit", path: "unit", words: garageUnits}, {name: "group", path: "turnoverGroup.id"},
			{name: "code", path: "turnoverGroup.code", via: "group"}, {name: "purchase_price", path: "pricing.purchase"},
			{name: "price", path: "pricing.retail"}, {name: "supplier", path: "supplierId"}, {name: "ean", path: "gtin"},
			{name: "stock", path: "stock.onHand"},
		}, params: []param{{"articleNumber", "number"}, {"kind", "kind"}, {"gtin", "ean"}}},
		{entity: "order", prefix: "o_", collection: "orders", fields: []wire{
			{name: "number", path: "orderNumber"}, {name: "contact", path: "customer.id"}, {name: "name", path: "customer.name", via: "contact"},
			{name: "vehicle", path: "vehicle.id"}, {name: "plate", path: "vehicle.licensePlate", via: "vehicle"},
			{name: "employee", path: "handledBy"}, {name: "kind", path: "type", words: words("sales SALE parts COUNTER")},
			{name: "status", path: "status", words: words("concept DRAFT in_progress IN_PROGRESS")}, {name: "ordered", path: "orderDate"},
			{name: "delivery", path: "deliveryAt", style: millis}, {name: "mileage", path: "odometer"},
			{name: "reference", path: "customerReference"}, {name: "description", path: "notes"}, {name: "invoice", path: "invoice.number"},
			{name: "total_excl", path: "totals.net"}, {name: "total_incl", path: "totals.gross"},
		}, params: []param{{"orderNumber", "number"}, {"customerId", "contact"}, {"vehicleId", "vehicle"}, {"status", "status"}}},
		{entity: "orderline", prefix: "l_", collection: "lines", fields: []wire{
			{name: "position", path: "position"}, {name: "article", path: "article.id"}, {name: "article_number", path: "article.number"},
			{name: "description", path: "description"}, {name: "quantity", path: "quantity"}, {name: "unit", path: "unit", words: garageUnits},
			{name: "price", path: "unitPrice"}, {name: "discount", path: "discountPercent"}, {name: "group", path: "turnoverGroupId"},
			{name: "employee", path: "mechanicId"}, {name: "total", path: "lineTotal"},
		}},
		{entity: "document", prefix: "d_", collection: "documents", fields: []wire{
			{name: "name", path: "fileName"}, {name: "kind", path: "category", words: words("quotation QUOTE")}, {name: "mime", path: "contentType"},
			{name: "size", path: "sizeBytes"}, {name: "sha256", path: "sha256"}, {name: "content", path: "contentBase64", apart: true},
			{name: "owner_kind", path: "entity.type", words: words("contact CUSTOMER")}, {name: "owner", path: "entity.id"},
			{name: "url", path: "externalUrl"},
		}, params: []param{{"entityType", "owner_kind"}, {"entityId", "owner"}, {"category", "kind"}}},
	}
}

package remotetest

// autolijnSkins are the record kinds of AutoLijn.
func autolijnSkins() []*skin {
	skins := append(autolijnBasics(), autolijnRelations()...)
	skins = append(skins, autolijnTrade()...)
	for _, s := range skins {
		if s.entity != "country" {
			s.fields = append(s.fields, wire{name: "blocked", path: "Geblokkeerd"}, wire{name: "archived", path: "Gearchiveerd"})
		}
	}
	return skins
}

var (
	autolijnUnits    = words("piece ST hour UUR litre LTR kg KG metre MTR set SET")
	autolijnArticles = words("part O labour A external U text T")
)

func autolijnBasics() []*skin {
	return []*skin{
		{entity: "country", one: "Land", many: "Landen", fields: []wire{
			{name: "code", path: "Landcode"}, {name: "name", path: "Naam"}, {name: "phone_prefix", path: "Netnummer"},
			{name: "postcode_pattern", path: "Postcodemasker"}, {name: "eu", path: "EULid"},
		}, params: []param{{"Landcode", "code"}}},
		{entity: "turnovergroup", one: "Omzetgroep", many: "Omzetgroepen", fresh: "Nieuwe", fields: []wire{
			{name: "code", path: "Code"}, {name: "description", path: "Omschrijving"},
			{name: "vat_kind", path: "BTWSoort", words: words("high H low L zero N margin M exempt V")}, {name: "ledger_account", path: "Grootboek"},
			{name: "ledger_account_eu", path: "GrootboekEU"}, {name: "ledger_account_export", path: "GrootboekExport"},
		}, params: []param{{"Code", "code"}}},
		{entity: "employee", one: "Medewerker", many: "Medewerkers", fresh: "Nieuwe", fields: []wire{
			{name: "number", path: "Personeelsnummer"}, {name: "username", path: "Gebruikersnaam"}, {name: "first_name", path: "Voornaam"},
			{name: "last_name", path: "Achternaam"}, {name: "email", path: "Email"}, {name: "job_title", path: "Functie"},
			{name: "external", path: "Extern"}, {name: "hourly_rate", path: "Uurtarief", style: comma},
		}, params: []param{{"Gebruikersnaam", "username"}, {"Personeelsnummer", "number"}}},
	}
}

func autolijnRelations() []*skin {
	return []*skin{
		{entity: "contact", one: "Relatie", many: "Relaties", fresh: "Nieuwe", fields: []wire{
			{name: "number", path: "Relatienummer"}, {name: "kind", path: "Soort", words: words("person P company B")},
			{name: "name", path: "Naam"}, {name: "first_name", path: "Voornaam"}, {name: "infix", path: "Tussenvoegsel"},
			{name: "initials", path: "Voorletters"}, {name: "company_number", path: "KvKNummer"}, {name: "vat_number", path: "BTWNummer"},
			{name: "language", path: "Taal"}, {name: "birth_date", path: "Geboortedatum"}, {name: "payment_days", path: "Betaaltermijn"},
			{name: "customer", path: "IsDebiteur"}, {name: "supplier", path: "IsCrediteur"}, {name: "note", path: "Notitie"},
		}, params: []param{{"Relatienummer", "number"}, {"Naam", "name"}, {"Soort", "kind"}}},
		{entity: "communication", one: "Communicatie", many: "Communicaties", fresh: "Nieuwe", fields: []wire{
			{name: "contact", path: "RelatieID"},
			{name: "type", path: "Soort", words: words("phone TEL mobile MOB fax FAX email EML website WEB messaging MSG")},
			{name: "value", path: "Waarde"}, {name: "description", path: "Omschrijving"}, {name: "preferred", path: "Voorkeur"},
		}, params: []param{{"RelatieID", "contact"}, {"Soort", "type"}}, needs: []string{"RelatieID"}},
		{entity: "address", one: "Adres", many: "Adressen", fresh: "Nieuw", fields: []wire{
			{name: "contact", path: "RelatieID"}, {name: "type", path: "Soort", words: words("visit B postal P billing F delivery A")},
			{name: "street", path: "Straat"}, {name: "house_number", path: "Huisnummer"}, {name: "addition", path: "Toevoeging"},
			{name: "postcode", path: "Postcode"}, {name: "city", path: "Plaats"}, {name: "country", path: "LandID"},
		}, params: []param{{"RelatieID", "contact"}}, needs: []string{"RelatieID"}},
		{entity: "vehicle", one: "Voertuig", many: "Voertuigen", fresh: "Nieuw", fields: []wire{
			{name: "plate", path: "Kenteken"}, {name: "country", path: "LandID"}, {name: "vin", path: "Chassisnummer"},
			{name: "brand", path: "Merk"}, {name: "model", path: "Model"}, {name: "version", path: "Uitvoering"},
			{name: "body", path: "Carrosserie", words: words("hatchback HB saloon SED estate STA suv SUV mpv MPV coupe CPE convertible CAB van BES")},
			{name: "fuel", path: "Brandstof", words: words("petrol B diesel D electric E hybrid H lpg G")},
			{name: "transmission", path: "Transmissie", words: words("manual H automatic A")}, {name: "color", path: "Kleur"},
			{name: "admitted", path: "DatumEersteToelating"}, {name: "inspected_until", path: "APKVervaldatum"},
			{name: "mileage", path: "Kilometerstand", style: zero}, {name: "power", path: "VermogenKW", style: zero},
			{name: "tax", path: "BTWMarge", words: words("vat BTW margin MARGE exempt VRIJ")}, {name: "bpm", path: "RestBPM", style: comma},
			{name: "purchase_price", path: "Inkoopprijs", style: comma}, {name: "sales_price", path: "Verkoopprijs", style: comma},
			{name: "published", path: "Gepubliceerd"}, {name: "published_at", path: "GepubliceerdOp"}, {name: "remark", path: "Opmerking"},
		}, params: []param{{"Kenteken", "plate"}, {"Chassisnummer", "vin"}, {"Merk", "brand"}}},
	}
}

func autolijnTrade() []*skin {
	return []*skin{
		{entity: "article", one: "Artikel", many: "Artikelen", fresh: "Nieuw", fields: []wire{
			{name: "number", path: "Artikelnummer"}, {name: "description", path: "Omschrijving"}, {name: "kind", path: "Soort", words: autolijnArticles},
			{name: "unit", path: "Eenheid", words: autolijnUnits}, {name: "group", path: "OmzetgroepID"},
			{name: "purchase_price", path: "Inkoopprijs", style: comma}, {name: "price", path: "Verkoopprijs", style: comma},
			{name: "supplier", path: "LeverancierID"}, {name: "ean", path: "EAN"}, {name: "stock", path: "Voorraad"},
		}, params: []param{{"Artikelnummer", "number"}, {"OmzetgroepID", "group"}}},
		{entity: "order", one: "Order", many: "Orders", fresh: "Nieuwe", fields: []wire{
			{name: "number", path: "Ordernummer"}, {name: "contact", path: "RelatieID"}, {name: "vehicle", path: "VoertuigID"},
			{name: "employee", path: "MedewerkerID"}, {name: "kind", path: "Soort", words: words("workshop W sales V parts O lease L")},
			{name: "status", path: "Status", words: words("concept 10 open 20 in_progress 30 ready 40 invoiced 50 cancelled 90")},
			{name: "ordered", path: "Orderdatum"}, {name: "delivery", path: "Leverdatum"}, {name: "mileage", path: "Kilometerstand", style: zero},
			{name: "reference", path: "Referentie"}, {name: "description", path: "Omschrijving"}, {name: "invoice", path: "Factuurnummer"},
			{name: "total_excl", path: "TotaalExcl"}, {name: "total_incl", path: "TotaalIncl"},
		}, params: []param{{"Ordernummer", "number"}, {"RelatieID", "contact"}, {"VoertuigID", "vehicle"}, {"Status", "status"}}},
		{entity: "orderline", one: "OrderRegel", many: "OrderRegels", fresh: "Nieuwe", fields: []wire{
			{name: "order", path: "OrderID"}, {name: "position", path: "Volgnummer"}, {name: "article", path: "ArtikelID"},
			{name: "article_number", path: "Artikelnummer"}, {name: "description", path: "Omschrijving"}, {name: "quantity", path: "Aantal"},
			{name: "unit", path: "Eenheid", words: autolijnUnits}, {name: "price", path: "Prijs", style: comma}, {name: "discount", path: "Korting"},
			{name: "group", path: "OmzetgroepID"}, {name: "employee", path: "MonteurID"}, {name: "total", path: "Regelbedrag", style: comma},
		}, params: []param{{"OrderID", "order"}}, needs: []string{"OrderID"}},
		{entity: "document", one: "Document", many: "Documenten", fresh: "Nieuw", fields: []wire{
			{name: "name", path: "Bestandsnaam"}, {name: "kind", path: "Soort", words: words("invoice FACTUUR quotation OFFERTE photo FOTO other OVERIG")},
			{name: "mime", path: "MimeType"}, {name: "size", path: "Grootte"}, {name: "sha256", path: "SHA256"},
			{name: "content", path: "Inhoud", apart: true}, {name: "owner_kind", path: "BijSoort", words: words("contact RELATIE vehicle VOERTUIG order ORDER")},
			{name: "owner", path: "BijID"}, {name: "url", path: "ExterneLink"},
		}, params: []param{{"BijSoort", "owner_kind"}, {"BijID", "owner"}}, needs: []string{"BijSoort", "BijID"}},
	}
}

package mapdraft

import (
	"slices"
	"strings"
)

// dictionary are the ideas that names are made of, each with its words: whole
// ones, and the abbreviations that administrations shorten them to. A word may
// stand for several ideas.
var dictionary = map[string]string{
	// Who and what an administration is about.
	"contact":         "contact contacts relation relations relatie relaties rel partner kontakt kontakte geschaeftspartner party person account",
	"customer":        "customer cust klant klanten debtor debiteur deb afnemer kunde kunden knd debitor",
	"supplier":        "supplier suppliers vendor leverancier leveranciers lever lev crediteur cred kreditor lieferant lief",
	"employee":        "employee employees staff personnel medewerker medewerkers mdw mw personeel pers monteur mitarbeiter mitarb ma",
	"user":            "user users login logon gebruiker gebruikers gebr usr benutzer anmeldung gebruikersnaam username",
	"country":         "country countries land landen laender staat nation",
	"address":         "address addresses addr adr adres adressen adresse anschrift",
	"communication":   "communication communications comm com communicatie kommunikation komm",
	"article":         "article articles art artikel artikelen item items product produkt",
	"vehicle":         "vehicle vehicles veh car cars auto voertuig voertuigen vtg vrtg fahrzeug fahrzeuge fzg kfz",
	"order":           "order orders ord opdracht werkorder auftrag auftraege auf bestellung",
	"line":            "line lines regel regels rgl rg position pos posten zeile detail details",
	"head":            "head header kop kopf hdr",
	"document":        "document documents doc dokument dokumente dok bestand file attachment bijlage",
	"turnover":        "turnover omzet omz revenue umsatz ums erloes",
	"group":           "group groups groep grp gr gruppe",
	"flatrate":        "flatrate pauschale standaardwerk jobcode servicepakket",
	"advertisement":   "advertisement advert ad advertentie inserat anzeige",
	"site":            "site portal portaal channel kanaal website",
	"role":            "role roles rol rolle",
	"branch":          "branch company tenant mandant administratie adm bedrijf bedr filiaal vestiging firma filiale office client",
	"entity":          "entity ent entiteit object obj owner parent bezug",
	"owner":           "owner eigenaar halter besitzer",
	"counter":         "counter nummers nummering numbering zaehler sequence",
	"companyregister": "kvk kvknr handelsregister registration handelsreg hrb hr tradereg coc chamber",
	// What is said of it.
	"number":       "number numbers no nr num nummer",
	"code":         "code kode cd kd kode",
	"id":           "id ident key sleutel schluessel guid uuid rowid",
	"name":         "name naam nm bezeichnung nam",
	"first":        "first voor vn voornaam vorname given v",
	"last":         "last achter achternaam nachname family surname",
	"infix":        "infix tussenvoegsel tussen tusv tv voorvoegsel namenszusatz",
	"initials":     "initials initial voorletters voorl vrlt vlt initialen",
	"title":        "title titel",
	"kind":         "kind type soort srt srt typ art category cat categorie",
	"description":  "description descr desc omschrijving omschr oms beschrijving bezeichnung bez beschreibung text tekst",
	"note":         "note notes memo remark remarks opmerking opmerkingen opm notitie aantekening notiz bemerkung bem comment",
	"status":       "status stat state toestand st",
	"value":        "value val waarde wrd wert inhalt",
	"amount":       "amount amt bedrag bedr betrag",
	"quantity":     "quantity qty aantal aant hoeveelheid menge mng anzahl anz",
	"unit":         "unit units uom eenheid eenh einheit einh me",
	"price":        "price prices prijs prs pr preis tarief",
	"purchase":     "purchase buy cost inkoop ink einkauf ek kost",
	"sales":        "sales sale sell verkoop vk vrk verkauf",
	"discount":     "discount disc korting kort krt rabatt rab",
	"percentage":   "percentage percent pct perc proz prozent",
	"total":        "total tot totaal gesamt sum summe totals",
	"excluding":    "excl ex excluding exclusief net netto zonder",
	"including":    "incl in including inclusief gross bruto brutto",
	"vat":          "vat btw tax mwst ust steuer belasting",
	"ledger":       "ledger gl gb grootboek grb sachkonto fibu hauptbuch",
	"account":      "account rekening rek acc konto kto",
	"european":     "eu european europa europees",
	"export":       "export ex exp ausland",
	"stock":        "stock voorraad voorr vrd lager bestand lagerbestand",
	"ean":          "ean gtin barcode upc",
	"language":     "language lang taal spr sprache",
	"birth":        "birth dob geboorte geb geburt geburts born",
	"date":         "date dat datum dt day",
	"time":         "time tijd tyd zeit uhrzeit tm hour",
	"timestamp":    "timestamp ts datetime moment stamp",
	"payment":      "payment pay betaal betaling bet zahlung zahl",
	"term":         "term terms termijn trm ziel frist",
	"days":         "days dagen tage dgn",
	"street":       "street straat str strasse",
	"house":        "house huis hs haus hausnr huisnr",
	"addition":     "addition toevoeging toev toevg zusatz suffix",
	"postcode":     "postcode pcode pc zip zipcode plz postal postleitzahl",
	"city":         "city plaats plts woonplaats ort stadt town place",
	"iso":          "iso iso2 isocode alpha2",
	"phone":        "phone tel telefoon telefon tlf telnr net dial",
	"prefix":       "prefix netnr landnummer vorwahl dialling voorloop",
	"postpattern":  "pattern patroon muster regex",
	"email":        "email mail eml emailadres",
	"preferred":    "preferred pref voorkeur voork standaard default bevorzugt primary",
	"function":     "function functie funktie fct beroep funktion job position",
	"external":     "external ext extern externe",
	"hour":         "hour hourly uur uren stunde std",
	"rate":         "rate tarief trf tarif satz",
	"password":     "password passwd pwd wachtwoord ww wachtw passwort kennwort pw hash",
	"salt":         "salt zout salz",
	"mime":         "mime mimetype contenttype mediatype",
	"size":         "size length lengte grootte groesse bytes len",
	"content":      "content inhoud data blob inhalt body",
	"hash":         "hash sha sha256 checksum controlegetal",
	"url":          "url link uri href pad",
	"plate":        "plate licenseplate license licence reg regno kenteken kent ktk kennzeichen kennz",
	"chassis":      "chassis chas chassisnummer vin fin fahrgestell frame wmi",
	"brand":        "brand make merk marke hersteller",
	"model":        "model modell",
	"version":      "version versie uitvoering uitv variant ausfuehrung edition",
	"body":         "body carrosserie carr karosserie opbouw",
	"fuel":         "fuel brandstof brst brandst kraftstoff",
	"transmission": "transmission trans versnelling transmissie getriebe gearbox schakeling",
	"color":        "color colour kleur klr farbe",
	"admission":    "admission toelating toel zulassung erstzulassung registration",
	"one":          "1 eerste erste",
	"inspection":   "apk inspection mot tuv tuev keuring hu",
	"expiry":       "expiry expires verval vervaldatum ablauf geldig",
	"mileage":      "mileage km kms kmstand kmst kilometerstand odometer tellerstand laufleistung",
	"power":        "power vermogen verm leistung kw kilowatt",
	"bpm":          "bpm restbpm",
	"publish":      "publish published internet int web online gepubliceerd veroeffentlicht",
	"delivery":     "delivery deliver aflever afl levering lief liefer liefertermin",
	"reference":    "reference ref referentie kenmerk referenz yourref",
	"invoice":      "invoice inv factuur fact fak rechnung rech faktura",
	"sequence":     "sequence seq volg volgorde volgnr sort sortering reihenfolge lfd",
	"from":         "from van vanaf start begin von ab",
	"until":        "until to tot t tm eind einde end bis",
	"created":      "created create creation aangemaakt aanmaak aan ingevoerd invoer erstellt angelegt insert inserted added add",
	"changed":      "changed change modified modify updated update gewijzigd wijziging wijz wij mut mutatie geaendert aenderung last",
	"deleted":      "deleted delete del verwijderd verwijder vervallen wis gewist geloescht loesch removed inactive",
	"left":         "left uit uitdienst uitgetreden leave ausgetreten austritt resigned",
	"blocked":      "blocked block geblokkeerd geblok blok blokkade gesperrt sperre locked",
	"archived":     "archived archive archief gearchiveerd historie hist archiviert",
	"system":       "system systeem",
}

// weights are the ideas that say little by themselves; any other weighs 1.
var weights = map[string]float64{
	"number": 0.5, "code": 0.5, "id": 0.45, "date": 0.5, "time": 0.5, "timestamp": 0.5, "kind": 0.6, "name": 0.7, "description": 0.8,
	"amount": 0.4, "value": 0.6, "days": 0.4, "one": 0.6, "head": 0.2, "account": 0.6, "last": 0.4, "status": 0.8, "price": 0.9, "rate": 0.9, "line": 0.6,
	"percentage": 0.3, "address": 0.8, "quantity": 0.9, "european": 0.9, "group": 0.6,
}

func weight(idea string) float64 {
	if w, ok := weights[idea]; ok {
		return w
	}
	return 1
}

// words is the dictionary the other way about: the ideas of every word.
type words map[string][]string

func newWords() words {
	w := words{}
	for idea, list := range dictionary {
		for _, word := range strings.Fields(list) {
			if !slices.Contains(w[word], idea) {
				w[word] = append(w[word], idea)
			}
		}
	}
	for _, ideas := range w {
		slices.Sort(ideas)
	}
	return w
}

// part is a piece of a name with the ideas that it may stand for.
type part struct {
	text  string
	ideas []string
}

// split takes a name apart: at marks and capitals that begin words, and then
// into words of the dictionary.
func (w words) split(name string) []part {
	var parts []part
	for _, piece := range pieces(name) {
		parts = append(parts, w.segment(piece)...)
	}
	return parts
}

// pieces divides license_plate, LicensePlate and LICENSE-PLATE alike.
func pieces(name string) []string {
	var all []string
	var piece []rune
	end := func() {
		if len(piece) > 0 {
			all = append(all, strings.ToLower(string(piece)))
		}
		piece = nil
	}
	previous := ' '
	for _, r := range name {
		switch {
		case !isLetter(r) && !isDigit(r):
			end()
		case isUpper(r) && previous >= 'a' && previous <= 'z', isDigit(r) != isDigit(previous) && previous != ' ':
			end()
			piece = append(piece, r)
		default:
			piece = append(piece, r)
		}
		previous = r
	}
	end()
	return slices.DeleteFunc(all, func(s string) bool {
		return slices.Contains([]string{"tbl", "tab", "t", "is", "v", "vw", "fld"}, s) && len(all) > 1
	})
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127 }
func isUpper(r rune) bool  { return r >= 'A' && r <= 'Z' }
func isDigit(r rune) bool  { return r >= '0' && r <= '9' }

// segment finds the words that one piece is made of, so that as few letters as
// possible are left over, and then as few words as possible. A piece of which
// most is no word may be a longer word with letters left out.
func (w words) segment(piece string) []part {
	if ideas := w[piece]; ideas != nil {
		return []part{{piece, ideas}}
	}
	type best struct {
		cost float64
		from int
		word bool
	}
	at := make([]best, len(piece)+1)
	for i := 1; i <= len(piece); i++ {
		at[i] = best{at[i-1].cost + 1, i - 1, false}
		for from := 0; from <= i-2; from++ {
			cost := at[from].cost + 0.2
			if i-from == 2 {
				cost += 0.3 // two letters are found in many words
			}
			ideas := w[piece[from:i]]
			if ideas == nil && i-from >= 4 && from == 0 {
				if ideas = w.abbreviated(piece[from:i], true); ideas != nil {
					cost += 0.3
				}
			}
			if ideas != nil && cost < at[i].cost {
				at[i] = best{cost, from, true}
			}
		}
	}
	if long := w.abbreviated(piece, false); long != nil && at[len(piece)].cost > 0.75 {
		return []part{{piece, long}}
	}
	var parts []part
	for i := len(piece); i > 0; i = at[i].from {
		text := piece[at[i].from:i]
		p := part{text: text}
		if at[i].word {
			if p.ideas = w[text]; p.ideas == nil {
				p.ideas = w.abbreviated(text, true)
			}
		}
		parts = append(parts, p)
	}
	slices.Reverse(parts)
	return joinUnknown(parts)
}

// joinUnknown makes neighbouring letters that are no word one part.
func joinUnknown(parts []part) []part {
	var out []part
	for _, p := range parts {
		if n := len(out); n > 0 && p.ideas == nil && out[n-1].ideas == nil {
			out[n-1].text += p.text
			continue
		}
		out = append(out, p)
	}
	return out
}

// abbreviated returns the ideas of the words that a text shortens: by their
// first letters, at least four of them, or else with letters left out of the
// middle, the first kept.
func (w words) abbreviated(text string, prefixOnly bool) []string {
	if len(text) < 3 {
		return nil
	}
	var found []string
	add := func(ideas []string) {
		for _, idea := range ideas {
			if !slices.Contains(found, idea) {
				found = append(found, idea)
			}
		}
	}
	for word, ideas := range w {
		if len(word) > len(text) && len(text) >= 4 && strings.HasPrefix(word, text) {
			add(ideas)
		}
	}
	if len(found) == 0 && !prefixOnly {
		for word, ideas := range w {
			if len(word) > len(text) && len(word) <= 3*len(text) && len(word) >= 6 && word[0] == text[0] && skips(text, word) {
				add(ideas)
			}
		}
	}
	slices.Sort(found)
	if len(found) > 3 {
		return nil // anything might be meant
	}
	return found
}

// skips tells whether text is word with letters left out.
func skips(text, word string) bool {
	i := 0
	for k := 0; k < len(word) && i < len(text); k++ {
		if word[k] == text[i] {
			i++
		}
	}
	return i == len(text)
}

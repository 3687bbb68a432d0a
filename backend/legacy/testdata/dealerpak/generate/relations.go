package main

import (
	"fmt"
)

var (
	surnames = [][2]string{{"", "Jansen"}, {"de", "Vries"}, {"van den", "Berg"}, {"van", "Dijk"}, {"", "Bakker"}, {"", "Janssen"}, {"", "Visser"},
		{"", "Smit"}, {"", "Meijer"}, {"de", "Boer"}, {"", "Mulder"}, {"de", "Groot"}, {"", "Bos"}, {"", "Vos"}, {"", "Peters"}, {"", "Hendriks"},
		{"van", "Leeuwen"}, {"", "Dekker"}, {"", "Brouwer"}, {"de", "Wit"}, {"", "Dijkstra"}, {"", "Müller"}, {"van 't", "Hof"}, {"", "Coördes"}, {"ter", "Horst"}, {"", "Yilmaz"}}
	firstNames = []string{"Jan", "Sanne", "Pieter", "Lotte", "Kees", "Fatima", "Hendrik", "Marieke", "Daan", "Zoë", "Willem", "Ingrid", "Joris", "Els", "Ahmed", "Anneke", "Bram", "Femke", "Gerrit", "Noor"}
	firms      = []string{"Bouwbedrijf Hendriks B.V.", "Schildersbedrijf De Kwast", "Bakkerij Van Wijk", "Taxi Centrale Noord", "Installatiebedrijf Kuipers", "Leasecentrale West N.V.",
		"Transport Gebr. Vermeer", "Bloemisterij 't Anker", "Café De Poort", "Makelaardij Zuid", "Hoveniersbedrijf Groen & Zn.", "Rijschool Direct"}
	suppliers = []string{"Veluwe Automaterialen B.V.", "Bandenservice Midden-Nederland", "Ruitservice Benelux", "Jan's Onderdelen Import"}
	streets   = []string{"Stationsweg", "Dorpsstraat", "Kerkstraat", "Molenweg", "Julianalaan", "Nijverheidsweg", "Hoofdstraat", "Schoolstraat", "Prins Bernhardlaan", "Industrieweg", "'s-Gravenweg", "Groene Zoom"}
	places    = []string{"AMERSFOORT", "ZALTBOMMEL", "HENGELO", "GOES", "'S-GRAVENHAGE", "UTRECHT", "LEUSDEN", "BORNE", "MIDDELBURG", "RIJSWIJK"}
)

func digits(n int) string {
	s := make([]byte, n)
	for i := range s {
		s[i] = byte('0' + rng.IntN(10))
	}
	return string(s)
}

func letters(n int) string {
	const set = "BDFGHJKLNPRSTVXZ"
	s := make([]byte, n)
	for i := range s {
		s[i] = set[rng.IntN(len(set))]
	}
	return string(s)
}

const relColumns = "REL BEDRNR RELNR SRT NAAM VNAAM TUSV VRLT KVKNR BTWNR TAAL GEBDAT BETTRM KLANT LEVER TELNR MEMO STATUS VERVALLEN AANDAT AANTIJD WIJDAT WIJTIJD MUTNR"

var comnr = 0

func (b *branch) relations() {
	for i := range b.rels {
		nr := 1001 + i
		b.lastRel = nr
		kind, name, born, pay := "P", "", noDate, 14
		var first, infix any
		initials, kvk, vat, supplier := "", "", "", false
		switch {
		case i < len(suppliers):
			kind, name, supplier, pay = "B", suppliers[i], true, 30
		case chance(25):
			kind, name, pay = "B", pick(firms...), 30
		default:
			s := pick(surnames...)
			f := pick(firstNames...)
			first, name, initials = f, s[1], string([]rune(f)[0])+"."
			if s[0] != "" {
				infix = s[0]
			}
			if chance(30) {
				initials += pick("A.", "J.", "M.", "P.")
			}
			if chance(80) {
				born = day("19400101", "20030101").Format("20060102")
			}
			if chance(10) {
				first = nil
			}
		}
		if kind == "B" {
			kvk, vat = "0"+digits(7), fmt.Sprintf("NL0%sB01", digits(8))
		}
		status := "A"
		switch i % 29 {
		case 17:
			status = "B"
		case 23:
			status = "H"
		}
		deleted := i%31 == 30
		if i == 12 && kind == "P" {
			born = "19560000" // only the year was known
		}
		added := day("19980105", "20250101")
		changed, changedAt := noDate, noTime
		if chance(60) {
			c := day("20250101", "20260630")
			changed, changedAt = c.Format("20060102"), c.Format("150405")
		}
		var memo any
		if chance(15) {
			memo = pick("Belt altijd 's ochtends.", "Let op: betaalt contant, max. € 3.000", "Wil geen reclame.\nVervangend vervoer aanbieden.", "Oude klant van vóór de overname")
		}
		phone := fmt.Sprintf("0%d-%s", between(10, 79), digits(7))
		insert(relColumns, b.nr, nr, kind, name, first, infix, initials, kvk, vat, pick("N", "N", "N", "N", "D", "E"), born, pay, jn(!supplier), jn(supplier), phone, memo, status, jn(deleted),
			added.Format("20060102"), added.Format("150405"), changed, changedAt, between(1, 9))
		if !deleted && status == "A" && !supplier {
			b.all = append(b.all, nr)
			if kind == "P" {
				b.persons = append(b.persons, nr)
			}
		}
		if supplier {
			b.suppliers = append(b.suppliers, nr)
		}
		b.communications(i, nr, phone)
		b.addresses(i, nr, kind)
	}
}

func (b *branch) communications(i, nr int, phone string) {
	add := func(kind, value string, text any, preferred bool) {
		comnr++
		insert("RELCOM COMNR BEDRNR RELNR SRT WAARDE OMS VOORK", comnr, b.nr, nr, kind, value, text, jn(preferred))
	}
	add("TL", phone, maybe(30, pick("thuis", "werk", "na 18 uur")), false)
	if chance(70) {
		add("MB", "06-"+digits(8), nil, false)
	}
	if chance(10) {
		add("FX", fmt.Sprintf("0%d-%s", between(10, 79), digits(7)), "alleen bestellingen", false)
	}
	if chance(75) {
		add("EM", fmt.Sprintf("relatie%d.%d@example.nl", b.nr, nr), nil, true)
	}
	if i == 7 { // the program of release 2 did not look for another one
		add("EM", fmt.Sprintf("prive%d.%d@example.nl", b.nr, nr), "privé", true)
		add("EM", fmt.Sprintf("oud%d.%d@example.nl", b.nr, nr), nil, true)
	}
	if chance(10) {
		add("WW", fmt.Sprintf("https://www.example.nl/%d", nr), nil, false)
	}
	if chance(10) {
		add("WA", "+316"+digits(8), nil, false)
	}
}

func (b *branch) addresses(i, nr int, kind string) {
	kinds := []string{"B"}
	if kind == "B" {
		kinds = append(kinds, "F")
	}
	if chance(20) {
		kinds = append(kinds, "P")
	}
	for n, k := range kinds {
		street, house, addition := pick(streets...), any(between(1, 240)), pick("", "", "", "A", "bis", "2e")
		postcode, place, land := fmt.Sprintf("%d %s", between(1011, 9999), letters(2)), pick(places...), 528
		if i == 9 && n == 0 {
			street, house, addition = fmt.Sprint(street, " ", house), nil, "" // an old import
		}
		if i%37 == 20 {
			postcode, place, land = digits(5), "NORDHORN", 276
		}
		insert("RELADR BEDRNR RELNR VOLGNR SRT STRAAT HUISNR TOEV PCODE PLAATS LANDNR", b.nr, nr, n+1, k, street, house, addition, postcode, place, land)
	}
}

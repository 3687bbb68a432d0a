package main

import (
	"fmt"
	"time"
)

var models = [][3]string{{"VOLKSWAGEN", "Golf", "HB"}, {"VOLKSWAGEN", "Passat Variant", "STA"}, {"OPEL", "Astra", "HB"}, {"OPEL", "Corsa", "HB"}, {"RENAULT", "Mégane", "HB"}, {"RENAULT", "Scénic", "MPV"},
	{"PEUGEOT", "206", "HB"}, {"CITROËN", "Berlingo", "MPV"}, {"VOLVO", "V70", "STA"}, {"TOYOTA", "Corolla", "SED"}, {"FORD", "Focus", "HB"}, {"SKODA", "Octavia Combi", "STA"}, {"BMW", "318i", "SED"}, {"MAZDA", "MX-5", "CAB"}}

// makers are the first three characters of a VIN.
var makers = map[string]string{"VOLKSWAGEN": "WVW", "OPEL": "W0L", "RENAULT": "VF1", "PEUGEOT": "VF3", "CITROËN": "VF7", "VOLVO": "YV1",
	"TOYOTA": "SB1", "FORD": "WF0", "SKODA": "TMB", "BMW": "WBA", "MAZDA": "JMZ"}

var (
	plates = map[string]bool{}
	vtgid  = 0
)

func plate() string {
	for {
		var p string
		switch rng.IntN(5) {
		case 0:
			p = letters(2) + digits(2) + letters(2)
		case 1:
			p = digits(2) + letters(2) + letters(2)
		case 2:
			p = digits(2) + letters(3) + digits(1)
		case 3:
			p = letters(2) + digits(3) + letters(1)
		default:
			p = letters(1) + digits(3) + letters(2)
		}
		if !plates[p] {
			plates[p] = true
			return p
		}
	}
}

const vtgColumns = "VTG VTGID BEDRNR KENT LANDNR CHAS MERK TYPE UITV CARR BRST TRANS KLEUR DAT1 APKDAT KMST VERMKW BTWSRT BPM INKPR VKPR INTERNET INTDAT OPM GEBLOK WISDAT MUTNR MUTTS"

func (b *branch) vehicles() {
	for i := range b.cars {
		vtgid++
		m := pick(models...)
		brand, model := m[0], any(m[1])
		if chance(30) {
			brand = fmt.Sprintf("%-20s", brand)
		}
		if i == 11 {
			model = nil
		}
		kent, land := plate(), any(528)
		switch {
		case i%19 == 13:
			kent, land = "NOH "+letters(1)+" "+digits(3), 276
		case chance(30):
			land = nil
		}
		first := day("19990101", "20251201")
		apk := first.AddDate(4, 0, 0)
		for apk.Before(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
			apk = apk.AddDate(1, 0, 0)
		}
		apkText := apk.Format(time.DateOnly)
		if chance(10) {
			apkText = zeroDay
		}
		online, onlineAt := false, zero
		var buy, sell any
		if chance(30) {
			sell, buy = between(20, 300)*10000-5000, between(15, 200)*10000
			if online = chance(50); online {
				onlineAt = day("20260101", "20260630").Format(time.DateTime)
			}
		}
		deleted := noDate
		if i%25 == 24 {
			deleted, online, onlineAt = "20260301", false, zero
		}
		if deleted == noDate {
			b.vehicleIDs = append(b.vehicleIDs, vtgid)
		}
		var vin any
		if chance(85) {
			vin = makers[m[0]] + "ZZZ" + letters(2) + "Z" + fmt.Sprintf("%s%06d", digits(2), vtgid)
		}
		insert(vtgColumns, vtgid, b.nr, kent, land, vin, brand, model, maybe(60, pick("1.6 16V Comfortline", "1.9 TDI", "2.0 Executive", "1.2 Young-Timer")), m[2], pick("B", "B", "D", "L", "E", "H"), pick("H", "H", "A"),
			maybe(85, pick("ZWART", "GRIJS MET.", "BLAUW", "ROOD", "WIT")), first.Format("20060102"), apkText, maybe(90, between(8, 260)*1000+rng.IntN(1000)), maybe(70, between(44, 150)),
			pick("B", "M", "M", "", "V"), maybe(40, between(1000, 9000)*100), buy, sell, jn(online), onlineAt, maybe(15, "Trekhaak; 2 sleutels"), jn(i%23 == 22), deleted, between(1, 12), day("20250101", "20260630").Format(time.DateTime))
		if deleted == noDate && chance(85) {
			b.roles(vtgid, first)
		}
	}
}

func (b *branch) roles(vehicle int, first time.Time) {
	n := 0
	add := func(relation int, role, from, to string) {
		n++
		insert("VTGREL VTGID VOLGNR BEDRNR RELNR ROL VANDAT TOTDAT", vehicle, n, b.nr, relation, role, from, to)
	}
	bought := first.AddDate(between(0, 3), 0, 0)
	if chance(30) {
		add(pick(b.all...), "V", first.Format("20060102"), bought.Format("20060102"))
	}
	add(pick(b.all...), "E", bought.Format("20060102"), noDate)
	if chance(30) {
		add(pick(b.persons...), pick("B", "L", "W", "D", "A"), noDate, noDate)
	}
}

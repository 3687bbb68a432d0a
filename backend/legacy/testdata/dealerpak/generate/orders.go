package main

import (
	"fmt"
	"time"
)

const ordColumns = "ORDKOP BEDRNR ORDNR SRT STAT RELNR VTGID MDWNR DATUM TIJD AFLDAT AFLTIJD KMST REF OMS FACTNR TOTEX TOTIN AANTS MUTTS MUTNR"

func (b *branch) orders() {
	b.lastInvoice = 26000000
	at := day("20240102", "20240110")
	for i := range b.ords {
		b.lastOrd = 24001 + i
		at = at.AddDate(0, 0, rng.IntN(1+2*800/b.ords))
		at = time.Date(at.Year(), at.Month(), at.Day(), between(8, 17), between(0, 59), pick(0, between(0, 59)), 0, time.UTC)
		kind := pick("W", "W", "W", "O", "O", "V", "L")
		status := pick("F", "F", "F", "F", "F", "F", "F", "X")
		if i > b.ords*6/10 {
			status = pick("C", "O", "O", "B", "G", "F")
		}
		var vehicle, km any
		if kind != "O" {
			vehicle, km = pick(b.vehicleIDs...), maybe(70, between(9, 280)*1000)
		}
		delivered, deliveredAt := noDate, noTime
		if chance(70) {
			d := at.AddDate(0, 0, between(1, 9))
			delivered, deliveredAt = d.Format("20060102"), d.Format("1504")+"00"
		}
		invoice := 0
		if status == "F" {
			b.lastInvoice++
			invoice = b.lastInvoice
		}
		added, changed := at.Format(time.DateTime), at.Add(time.Duration(rng.IntN(300))*time.Minute).Format(time.DateTime)
		if i < 5 {
			added, changed = zero, zero // brought over from release 2
		}
		ex, vat := b.lines(b.lastOrd, kind)
		insert(ordColumns, b.nr, b.lastOrd, kind, status, pick(b.all...), vehicle, maybe(85, between(1, 4)), at.Format("20060102"), at.Format("150405"), delivered, deliveredAt, km,
			maybe(30, fmt.Sprintf("PO-%04d", rng.IntN(10000))), maybe(50, pick("Grote beurt", "Kleine beurt en APK", "Klacht: trilt bij 110 km/u", "Bandenwissel\nOude banden opslaan", "Inruil volgens taxatie")),
			invoice, ex, ex+vat, added, changed, between(1, 14))
		if chance(13) {
			b.document("ORD", b.lastOrd, pick("FA", "OF"), fmt.Sprintf("order-%d.txt", b.lastOrd), nil)
		}
	}
	b.document("REL", b.all[0], "CO", "onderhoudscontract.txt", nil)
	b.document("VTG", b.vehicleIDs[0], "FO", "Foto voorzijde", "https://www.example.nl/foto/1.jpg")
}

func (b *branch) document(kind string, number int, sort, name string, url any) {
	var g [16]byte
	for i := range g {
		g[i] = byte(rng.Uint32())
	}
	id := fmt.Sprintf("%X-%X-%X-%X-%X", g[0:4], g[4:6], g[6:8], g[8:10], g[10:])
	var mime any = "text/plain"
	if url != nil {
		mime = nil
	}
	insert("DOKMT DOKID BEDRNR NAAM SRT MIME ENTSRT ENTNR URL AANTS", id, b.nr, name, sort, mime, kind, number, url, day("20250101", "20260630").Format(time.DateTime))
}

var rates = map[string]int{"0310": 0, "0400": 90, "0900": 0, "0910": 0} // all else 210

const rglColumns = "ORDRGL BEDRNR ORDNR RGLNR VOLG ARTID ARTNR OMS AANT EENH PRIJS KORT OGRP MDWNR BEDRAG"

// lines adds the lines of an order and returns its total and the VAT on it.
func (b *branch) lines(order int, kind string) (ex, vat int) {
	perRate := map[int]int{}
	add := func(n int, id any, nr string, text any, quantity int, unit string, price, discount int, group string) {
		amount := round(quantity*price*(1000-discount), 1_000_000)
		insert(rglColumns, b.nr, order, n, n*10, id, nr, text, thousandths(quantity), unit, price, discount, group, maybe(40, between(1, 4)), amount)
		rate, other := rates[group]
		if !other {
			rate = 210
		}
		perRate[rate] += amount
		ex += amount
	}
	count := pick(1, 1, 2, 2, 2, 3, 3, 4)
	if kind == "V" {
		add(1, nil, "", "Occasion volgens koopovereenkomst", 1000, "ST", between(30, 250)*10000, 0, pick("0310", "0310", "0320"))
		count = 2
	}
	for n := 1; n <= count; n++ {
		if kind == "V" && n == 1 {
			continue
		}
		a := pick(b.articleIDs...)
		quantity := 1000 * between(1, 4)
		switch a.unit {
		case "UUR", "LTR", "KG", "MTR":
			quantity = between(1, 24) * 250
		}
		if chance(3) {
			quantity = -quantity // a return
		}
		var text any = a.text
		if a.kind == "T" && chance(50) {
			text = nil // a blank line on the invoice
		}
		add(n, a.id, a.nr, text, quantity, a.unit, a.price, pick(0, 0, 0, 0, 50, 100, 125), a.group)
	}
	for rate, sum := range perRate {
		vat += round(sum*rate, 1000)
	}
	return ex, vat
}

// round divides, half away from zero.
func round(a, by int) int {
	if a < 0 {
		return -round(-a, by)
	}
	return (a + by/2) / by
}

func (b *branch) numbers() {
	insert("NUMMERS BEDRNR SRT LAATST", b.nr, "REL", b.lastRel)
	insert("NUMMERS", b.nr, "ORD", b.lastOrd)
	insert("NUMMERS", b.nr, "FAC", b.lastInvoice)
}

package main

import (
	"fmt"
)

var artid = 0

func (b *branch) articles() {
	for n, a := range []article{
		{nr: "00041042", text: "Oliefilter", kind: "O", unit: "ST", group: "0100", price: 1295},
		{nr: "00041043", text: "Luchtfilter", kind: "O", unit: "ST", group: "0100", price: 1895},
		{nr: "00070530", text: "Motorolie 5W-30", kind: "O", unit: "LTR", group: "0100", price: 1149},
		{nr: "00070001", text: "Koelvloeistof", kind: "O", unit: "LTR", group: "0100", price: 525},
		{nr: "00090210", text: "Remblokken voorzijde", kind: "O", unit: "SET", group: "0100", price: 6450},
		{nr: "00090211", text: "Remschijf voorzijde", kind: "O", unit: "ST", group: "0100", price: 5299},
		{nr: "00051234", text: "Distributieriemset", kind: "O", unit: "SET", group: "0100", price: 18950},
		{nr: "1955515H", text: "Zomerband 195/55 R15 H", kind: "O", unit: "ST", group: "0110", price: 7425},
		{nr: "2055516V", text: "Winterband 205/55 R16 V", kind: "O", unit: "ST", group: "0110", price: 9980},
		{nr: "00060100", text: "Ruitenwisserblad", kind: "O", unit: "ST", group: "0100", price: 1475},
		{nr: "00060240", text: "Gloeilamp H7", kind: "O", unit: "ST", group: "0100", price: 895},
		{nr: "00033001", text: "Remvloeistofleiding", kind: "O", unit: "MTR", group: "0100", price: 415},
		{nr: "00033009", text: "Vet, los", kind: "O", unit: "KG", group: "0100", price: 990},
		{nr: "00033010", text: "Bouten M8", kind: "O", unit: "DS", group: "0100", price: 1250}, // a box, which the list of units does not know
		{nr: "ARB", text: "Arbeidsloon werkplaats", kind: "A", unit: "UUR", group: "0200", price: 8950},
		{nr: "APK", text: "APK-keuring", kind: "A", unit: "ST", group: "0200", price: 4500},
		{nr: "AFM", text: "Afmelding RDW", kind: "E", unit: "ST", group: "0900", price: 625},
		{nr: "SPUIT", text: "Spuitwerk derden", kind: "E", unit: "ST", group: "0210", price: 32500},
		{nr: "FIETS", text: "Reparatie leenfiets", kind: "A", unit: "UUR", group: "0400", price: 4250},
		{nr: "T01", text: "Volgens afspraak", kind: "T", unit: "ST", group: "0100"},
	} {
		if n >= 22-b.nr {
			break
		}
		artid++
		a.id = artid
		b.articleIDs = append(b.articleIDs, a)
		var cost, supplier any
		ean, stock := "", 0
		if a.kind == "O" {
			cost, supplier, stock = a.price*6/10, b.suppliers[n%len(b.suppliers)], between(-1, 60)*1000
			if a.unit == "LTR" {
				stock += 500
			}
			if chance(70) {
				ean = ean13("871" + digits(9))
			}
		}
		insert("ART ARTID BEDRNR ARTNR OMS SRT EENH OGRP INKPR VKPR LEVNR EAN VOORR VERVALLEN MUTNR", artid, b.nr, a.nr, a.text, a.kind, a.unit, a.group, cost, a.price, supplier, ean, thousandths(stock), jn(a.nr == "00060240"), between(1, 30))
	}
}

func ean13(s string) string {
	sum := 0
	for i, c := range s {
		sum += int(c-'0') * (1 + 2*(i%2))
	}
	return fmt.Sprint(s, (10-sum%10)%10)
}

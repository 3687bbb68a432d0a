package main

import (
	"crypto/sha1"
	"fmt"
	"strings"
)

const (
	bcryptHash = "$2a$10$r1k2A9UqMEQIDRgKml1hMOpFlK0s7hg1vjbZq.VHwNjE1aRzH5WCi" // of Sleutelbos-1998
	oldSecret  = "Welkom01"
)

func shared() {
	for _, b := range branches {
		insert("BEDR BEDRNR NAAM PLAATS DLRNR BTWNR", b.nr, b.name, b.place, b.dlr, fmt.Sprintf("NL%09dB01", 800100000+b.nr*4321))
	}
	for _, l := range []struct {
		nr                   int
		car, iso, name, dial string
		eu                   bool
	}{
		{528, "NL", "NL", "NEDERLAND", "0031", true}, {56, "B", "BE", "BELGIË", "0032", true},
		{276, "D", "DE", "DUITSLAND", "0049", true}, {442, "L", "LU", "LUXEMBURG", "00352", true},
		{250, "F", "FR", "FRANKRIJK", "0033", true}, {826, "GB", "GB", "VERENIGD KONINKRIJK", "0044", false},
		{724, "E", "ES", "SPANJE", "0034", true}, {380, "I", "IT", "ITALIË", "0039", true},
		{40, "A", "AT", "OOSTENRIJK", "0043", true}, {756, "CH", "CH", "ZWITSERLAND", "0041", false},
		{616, "PL", "PL", "POLEN", "0048", true}, {203, "CZ", "CZ", "TSJECHIË", "00420", true},
		{752, "S", "SE", "ZWEDEN", "0046", true}, {208, "DK", "DK", "DENEMARKEN", "0045", true},
		{578, "N", "NO", "NOORWEGEN", "0047", false}, {792, "TR", "TR", "TURKIJE", "0090", false},
	} {
		insert("LAND LANDNR LANDKD ISO2 NAAM NETNR EU", l.nr, l.car, l.iso, l.name, l.dial, jn(l.eu))
	}
	insert("BTWTRF BTWKD OMS PERC", "H", "BTW HOOG", 210)
	insert("BTWTRF", "L", "BTW LAAG", 90)
	insert("BTWTRF", "N", "BTW NUL", 0)
	insert("BTWTRF", "M", "MARGE", 0)
	insert("BTWTRF", "V", "VRIJGESTELD", 0)
}

func (b branch) basics() {
	for _, g := range [][4]string{
		{"0100", "ONDERDELEN", "H", "8000"}, {"0110", "BANDEN", "H", "8010"}, {"0200", "ARBEID WERKPLAATS", "H", "8100"},
		{"0210", "WERK DERDEN", "H", "8110"}, {"0300", "NIEUWE AUTO'S", "H", "8200"}, {"0310", "OCCASIONS MARGE", "M", "8210"},
		{"0320", "OCCASIONS BTW", "H", "8220"}, {"0400", "FIETSREPARATIE", "L", "8300"}, {"0900", "LEGES EN APK-AFMELDING", "V", "8900"},
		{"0910", "EXPORT", "N", "8910"},
	} {
		var eu, export any
		if g[3] < "8300" {
			eu, export = "85"+g[3][2:], "86"+g[3][2:]
		}
		insert("OMZGRP BEDRNR OGRP OMS BTWKD GBREK GBREKEU GBREKEX VERVALLEN", b.nr, g[0], g[1], g[2], g[3], eu, export, jn(g[0] == "0910" && b.nr == 7))
	}
	for i, m := range staff {
		if i >= 8-b.nr/2 {
			break
		}
		login := strings.ToLower(m.first + "." + strings.ReplaceAll(m.name, " ", ""))
		if b.nr > 1 {
			login = fmt.Sprint(login, b.nr)
		}
		if len(login) > 20 {
			login = login[:20]
		}
		var account, mail any = login, login + "@example.nl"
		if m.job == "MONTEUR" && i%2 == 1 {
			account, mail = nil, nil
		}
		out := noDate
		if i == 5 {
			out = "20241231"
		}
		insert("MDW BEDRNR MDWNR CODE VNAAM NAAM LOGIN EMAIL FUNCTIE EXTERN UURTRF UITDAT", b.nr, i+1, m.code, m.first, m.name, account, mail, m.job, jn(m.job == "ADMINISTRATEUR"), maybe(80, m.rate), out)
		if account != nil && i < 4 {
			b.user(i, login, m.first+" "+m.name)
		}
	}
}

// user adds an account: the first of a branch has bcrypt, the rest SHA-1 with salt.
func (b branch) user(i int, login, name string) {
	kind, secret, salt := "2", bcryptHash, ""
	if i > 0 {
		kind, salt = "1", fmt.Sprintf("%08X", rng.Uint32())
		secret = fmt.Sprintf("%X", sha1.Sum([]byte(salt+oldSecret)))
	}
	insert("GEBRUIKER LOGIN BEDRNR DLRNR NAAM EMAIL WWSRT WW ZOUT EXTERN GEBLOK POGING", login, b.nr, b.dlr, name, login+"@example.nl", kind, secret, salt, jn(i == 3), jn(i == 2 && b.nr == 5), 0)
}

var staff = []struct {
	code, first, name, job string
	rate                   int
}{
	{"PD", "Piet", "Dekker", "RECEPTIONIST", 0}, {"SB", "Sanne", "Bos", "VERKOPER", 0}, {"KV", "Kees", "Visser", "MONTEUR", 8950},
	{"AM", "Anja", "Mulder", "ADMINISTRATEUR", 0}, {"RJ", "René", "Jacobs", "MONTEUR", 8950}, {"HS", "Henk", "Smit", "MONTEUR", 8450},
	{"MG", "Marjolein", "de Groot", "MAGAZIJN", 7250}, {"TL", "Ton", "Leemans", "CHEF WERKPLAATS", 9750},
}

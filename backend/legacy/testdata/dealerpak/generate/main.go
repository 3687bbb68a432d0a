// Generate writes data.sql, from a fixed seed: the rows of DEALERPAK in an SQL
// that MariaDB (with ANSI_QUOTES), PostgreSQL and SQLite all read. "No date" in a
// DATE or DATETIME is 0001-01-01 here; the MariaDB programs.sql makes that zero.
//
//	go run ./generate
package main

import (
	"bytes"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

var (
	rng = rand.New(rand.NewPCG(1994, 42))
	out bytes.Buffer
)

func main() {
	out.WriteString("-- Written by generate: change that, not this.\n")
	shared()
	for _, b := range branches {
		b.basics()
	}
	for i := range branches {
		branches[i].relations()
		branches[i].articles()
	}
	for i := range branches {
		branches[i].vehicles()
	}
	for i := range branches {
		branches[i].orders()
	}
	for i := range branches {
		branches[i].numbers()
	}
	flush()
	if err := os.WriteFile("data.sql", out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// Rows gather per table; tables stands in the order that foreign keys ask for.
var (
	tables = strings.Fields("BEDR LAND BTWTRF OMZGRP MDW GEBRUIKER REL RELCOM RELADR ART VTG VTGREL ORDKOP ORDRGL DOKMT NUMMERS")
	rows   = map[string][]string{}
)

func insert(table string, values ...any) {
	key := strings.Fields(table)[0]
	if rows[key] == nil {
		rows[key] = []string{strings.TrimPrefix(table, key)}
	}
	text := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			text[i] = "NULL"
		case string:
			text[i] = "'" + strings.ReplaceAll(v, "'", "''") + "'"
		case thousandths:
			text[i] = fmt.Sprintf("%.3f", float64(v)/1000)
		default:
			text[i] = fmt.Sprint(v)
		}
	}
	rows[key] = append(rows[key], "("+strings.Join(text, ", ")+")")
}

func flush() {
	for _, t := range tables {
		columns := strings.Fields(rows[t][0])
		fmt.Fprintf(&out, "\nINSERT INTO \"%s\" (\"%s\") VALUES\n%s;\n", t,
			strings.Join(columns, `", "`), strings.Join(rows[t][1:], ",\n"))
	}
}

type thousandths int

func pick[T any](of ...T) T   { return of[rng.IntN(len(of))] }
func chance(percent int) bool { return rng.IntN(100) < percent }
func between(low, high int) int {
	return low + rng.IntN(high-low+1)
}
func jn(b bool) string {
	if b {
		return "J"
	}
	return "N"
}
func maybe(percent int, v any) any {
	if chance(percent) {
		return v
	}
	return nil
}

const (
	noDate  = "00000000"
	noTime  = "000000"
	zeroDay = "0001-01-01"
	zero    = "0001-01-01 00:00:00"
)

func day(from, to string) time.Time {
	a, _ := time.Parse("20060102", from)
	b, _ := time.Parse("20060102", to)
	return a.AddDate(0, 0, rng.IntN(int(b.Sub(a).Hours()/24))).Add(time.Duration(8*60+rng.IntN(590)) * time.Minute)
}

type branch struct {
	nr                      int
	name, place, dlr        string
	rels, cars, ords        int
	persons, all, suppliers []int // RELNR
	articleIDs              []article
	vehicleIDs              []int
	staff                   []int
	lastRel, lastOrd        int
	lastInvoice             int
}

type article struct {
	id             int
	nr, text, kind string
	unit, group    string
	price          int
}

var branches = []branch{
	{nr: 1, name: "Autobedrijf Van Dijk B.V.", place: "AMERSFOORT", dlr: "004711", rels: 80, cars: 60, ords: 120},
	{nr: 2, name: "Garage De Brug", place: "ZALTBOMMEL", dlr: "004712", rels: 40, cars: 30, ords: 60},
	{nr: 3, name: "Autohuis Twente", place: "HENGELO", dlr: "010093", rels: 35, cars: 25, ords: 50},
	{nr: 5, name: "Zeeuwse Automobiel Mij.", place: "GOES", dlr: "000870", rels: 25, cars: 20, ords: 40},
	{nr: 7, name: "Garage 't Hof", place: "DEN HAAG", dlr: "021550", rels: 20, cars: 15, ords: 30},
}

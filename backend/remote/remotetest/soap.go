package remotetest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// The account that AutoLijn has for others' programs.
const (
	SOAPUser     = "koppeling"
	SOAPPassword = "geheim"
)

// SOAPAction is what names of actions begin with in the SOAPAction header.
const SOAPAction = autolijnNS + "/"

// SOAP is "AutoLijn": SOAP 1.1 at one address. It is safe for concurrent use.
//
// Administrations are NOORD and ZUID, filled alike, and LEEG, which has no more
// than is needed to begin. A ticket is for one of them.
type SOAP struct {
	service
	skins   map[string]*skin // by entity
	actions map[string]action
}

// action carries out one action and returns what its result element holds.
type action func(l *ledger, in *node) (result string, fault *fault)

var _ http.Handler = (*SOAP)(nil)

// NewSOAP returns an AutoLijn with its sample data.
func NewSOAP(o Options) *SOAP {
	a := &SOAP{skins: map[string]*skin{}, actions: map[string]action{}}
	a.service = newService(o, variant{
		plates: dashedPlate,
		number: func(entity string, n, year int) string {
			if entity == "contact" {
				return strconv.Itoa(10000 + n)
			}
			return fmt.Sprintf("%d%05d", year, n)
		},
		id: func(_, _ string, seq int) string { return strconv.Itoa(seq) },
	}, "NOORD", "ZUID", "LEEG")
	for _, s := range autolijnSkins() {
		a.skins[s.entity] = s
		a.offer(s)
	}
	a.actions["ControleerGebruiker"] = a.verify
	return a
}

// ExpireTickets ends every ticket that was given out.
func (a *SOAP) ExpireTickets() { a.expire() }

// ServeHTTP serves one call. Whatever is wrong is a fault, and every fault is a
// 500, as SOAP 1.1 has it.
func (a *SOAP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	name, result, f := a.serve(r)
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	if f != nil {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, envelope(f.xml()))
		return
	}
	_, _ = io.WriteString(w, envelope(fmt.Sprintf(
		`<%[1]sResponse xmlns="%[2]s"><%[1]sResult>%[3]s</%[1]sResult></%[1]sResponse>`, name, autolijnNS, result)))
}

func (a *SOAP) serve(r *http.Request) (name, result string, f *fault) {
	doc, err := parseXML(http.MaxBytesReader(nil, r.Body, 32<<20))
	switch {
	case err != nil:
		return "", "", faultOf("E1099", "", "Ongeldig bericht")
	case doc.XMLName.Local != "Envelope" || doc.XMLName.Space != soapNS:
		return "", "", &fault{kind: "VersionMismatch", code: "E1099", text: "Alleen SOAP 1.1"}
	}
	body := doc.child("Body")
	if body == nil || len(body.Children) != 1 {
		return "", "", faultOf("E1099", "", "Ongeldig bericht")
	}
	in := body.Children[0]
	name = in.XMLName.Local
	if strings.Trim(r.Header.Get("SOAPAction"), `"`) != SOAPAction+name || in.XMLName.Space != autolijnNS {
		return "", "", faultOf("E1090", "", "Onbekende of afwijkende SOAPAction: "+r.Header.Get("SOAPAction"))
	}
	a.count(name)
	if name == "Aanmelden" {
		result, f = a.issue(in)
		return name, result, f
	}
	ticket, given, holds := a.known(doc.child("Header").value("Ticket"))
	switch {
	case !given:
		return "", "", faultOf("E1002", "", "Ticket ongeldig")
	case !holds:
		return "", "", faultOf("E1001", "", "Ticket verlopen")
	}
	do, ok := a.actions[name]
	if !ok {
		return "", "", faultOf("E1090", "", "Onbekende actie: "+name)
	}
	if name == "ControleerGebruiker" { // looks through every administration
		result, f = do(nil, in)
		return name, result, f
	}
	a.admin.in(ticket.tenant, func(l *ledger) { result, f = do(l, in) })
	return name, result, f
}

// issue gives out a ticket for one administration.
func (a *SOAP) issue(in *node) (string, *fault) {
	tenant := in.value("Administratie")
	if in.value("Gebruiker") != SOAPUser || in.value("Wachtwoord") != SOAPPassword || !a.admin.in(tenant, func(*ledger) {}) {
		return "", faultOf("E1003", "", "Aanmelden mislukt")
	}
	id, expires := a.logOn("AL-", tenant)
	var p printer
	p.leaf("Ticket", id)
	p.leaf("GeldigTot", expires.In(zone).Format(localForm))
	return p.String(), nil
}

// dashedPlate puts the dashes into a plate: between letters and digits, and in
// the middle of four alike.
func dashedPlate(s string) string {
	bare := barePlate(s)
	var out strings.Builder
	run := 0
	for i := range len(bare) {
		digit := bare[i] >= '0' && bare[i] <= '9'
		if i > 0 && digit != (bare[i-1] >= '0' && bare[i-1] <= '9') {
			out.WriteByte('-')
			run = 0
		} else if run == 2 && len(bare) == 6 && alike(bare, i-2) {
			out.WriteByte('-')
			run = 0
		}
		out.WriteByte(bare[i])
		run++
	}
	return out.String()
}

// alike tells whether four signs from i on are all letters or all digits.
func alike(s string, i int) bool {
	if i+4 > len(s) {
		return false
	}
	digits := 0
	for _, c := range s[i : i+4] {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return digits == 0 || digits == 4
}

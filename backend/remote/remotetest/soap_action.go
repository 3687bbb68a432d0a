package remotetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fault is a SOAP fault with AutoLijn's own code in its detail.
type fault struct {
	kind, code, field, text string // kind "Client" where empty
}

func faultOf(code, field, text string) *fault { return &fault{code: code, field: field, text: text} }

func (f *fault) xml() string {
	var p printer
	p.open("soap:Fault")
	kind := f.kind
	if kind == "" {
		kind = "Client"
	}
	p.leaf("faultcode", "soap:"+kind)
	p.leaf("faultstring", f.text)
	p.open("detail")
	p.WriteString(`<Fout xmlns="" code="` + f.code + `"`)
	if f.field != "" {
		p.WriteString(` veld="`)
		p.escape(f.field)
		p.WriteString(`"`)
	}
	p.WriteString(">")
	p.escape(f.text)
	p.WriteString("</Fout>")
	p.close("detail")
	p.close("soap:Fault")
	return p.String()
}

// refuse words a problem as AutoLijn does.
func (a *SOAP) refuse(s *skin, p *problem) *fault {
	name := s.spelling(p.field)
	switch p.trouble {
	case required:
		return faultOf("E1060", name, name+" is verplicht")
	case duplicate:
		return faultOf("E1062", name, name+" bestaat al: "+p.detail)
	case tooLong:
		return faultOf("E1063", name, name+" is langer dan "+p.detail+" tekens")
	case unknownField:
		return faultOf("E1064", name, "Onbekend veld: "+name)
	case unknownReference:
		return faultOf("E1065", name, name+" bestaat niet: "+p.detail)
	case readOnly:
		return faultOf("E1066", name, name+" kan niet worden gewijzigd")
	case inUse:
		return faultOf("E1070", "", "In gebruik bij "+a.skins[p.detail].one)
	case orderClosed:
		return faultOf("E1071", "Status", "Order is afgesloten, status "+a.skins["order"].wireOf("status").spell(p.detail))
	case advertised:
		return faultOf("E1072", name, "Voertuig is gepubliceerd")
	default:
		return faultOf("E1061", name, name+" heeft een ongeldige waarde: "+p.detail)
	}
}

// offer adds the five actions of a kind of record, or the two of one that never
// changes.
func (a *SOAP) offer(s *skin) {
	e := a.admin.entities[s.entity]
	a.actions["Get"+s.one] = func(l *ledger, in *node) (string, *fault) {
		r, f := a.target(l, s, in)
		if f != nil {
			return "", f
		}
		var p printer
		s.print(&p, e, *r, true)
		return p.String(), nil
	}
	a.actions["Lijst"+s.many] = func(l *ledger, in *node) (string, *fault) { return a.list(l, s, e, in) }
	if e.system {
		return
	}
	a.actions[s.fresh+s.one] = func(l *ledger, in *node) (string, *fault) { return a.create(l, s, e, in) }
	a.actions["Wijzig"+s.one] = func(l *ledger, in *node) (string, *fault) { return a.change(l, s, e, in) }
	a.actions["Verwijder"+s.one] = func(l *ledger, in *node) (string, *fault) {
		r, f := a.target(l, s, in)
		if f != nil {
			return "", f
		}
		if p := l.remove(s.entity, r); p != nil {
			return "", a.refuse(s, p)
		}
		return "true", nil
	}
}

// target finds the record whose ID is in an element.
func (a *SOAP) target(l *ledger, s *skin, in *node) (*row, *fault) {
	name := s.one + "ID"
	id := in.value(name)
	if id == "" {
		return nil, faultOf("E1060", name, name+" is verplicht")
	}
	if r := l.row(s.entity, id); r != nil {
		return r, nil
	}
	return nil, faultOf("E1040", name, s.one+" niet gevonden: "+id)
}

func (a *SOAP) create(l *ledger, s *skin, e *entity, in *node) (string, *fault) {
	n := in.child(s.one)
	if n == nil {
		return "", faultOf("E1060", s.one, s.one+" is verplicht")
	}
	v, p := s.scan(e, n)
	if p != nil {
		return "", a.refuse(s, p)
	}
	r, p := l.insert(s.entity, v)
	if p != nil {
		return "", a.refuse(s, p)
	}
	return r.id, nil
}

func (a *SOAP) change(l *ledger, s *skin, e *entity, in *node) (string, *fault) {
	n := in.child(s.one)
	if n == nil {
		return "", faultOf("E1060", s.one, s.one+" is verplicht")
	}
	r, f := a.target(l, s, n)
	if f != nil {
		return "", f
	}
	v, p := s.scan(e, n)
	if p == nil && len(v) > 0 {
		p = l.update(s.entity, r, v)
	}
	if p != nil {
		return "", a.refuse(s, p)
	}
	return "true", nil
}

// list answers one page, by ID.
func (a *SOAP) list(l *ledger, s *skin, e *entity, in *node) (string, *fault) {
	q, f := s.scanFilter(e, in)
	if f != nil {
		return "", f
	}
	page, pageOK := natural(in.value("Pagina"), 1, 1<<20)
	size, sizeOK := natural(in.value("AantalPerPagina"), 25, 100)
	switch {
	case !pageOK:
		return "", faultOf("E1061", "Pagina", "Pagina heeft een ongeldige waarde: "+in.value("Pagina"))
	case !sizeOK:
		return "", faultOf("E1061", "AantalPerPagina", "AantalPerPagina moet van 1 tot 100 zijn")
	}
	rows := l.find(s.entity, q)
	var p printer
	p.leaf("Totaal", strconv.Itoa(len(rows)))
	p.leaf("Pagina", strconv.Itoa(page))
	first := min((page-1)*size, len(rows))
	p.open(s.many)
	for _, r := range rows[first:min(first+size, len(rows))] {
		s.print(&p, e, r, false)
	}
	p.close(s.many)
	return p.String(), nil
}

// natural reads a number from 1 to most.
func natural(s string, otherwise, most int) (int, bool) {
	if s == "" {
		return otherwise, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && n <= most
}

func (s *skin) scanFilter(e *entity, in *node) (query, *fault) {
	q := query{filters: values{}}
	if since := in.value("GewijzigdVanaf"); since != "" && since != noMoment {
		t, err := time.ParseInLocation(localForm, since, zone)
		if err != nil {
			return q, faultOf("E1061", "GewijzigdVanaf", "GewijzigdVanaf heeft een ongeldige waarde: "+since)
		}
		q.since = t
	}
	filter := in.child("Filter")
	if filter != nil {
		for _, c := range filter.Children {
			p, ok := s.param(c.XMLName.Local)
			if !ok {
				return q, faultOf("E1064", c.XMLName.Local, "Filteren kan niet op "+c.XMLName.Local)
			}
			v, ok := scanField(e.field(p.field), s.wireOf(p.field), c)
			if !ok {
				return q, faultOf("E1061", p.name, fmt.Sprintf("%s heeft een ongeldige waarde: %s", p.name, c.Text))
			}
			q.filters[p.field] = v
		}
	}
	missing := slices.IndexFunc(s.needs, func(name string) bool { return filter.value(name) == "" })
	if missing >= 0 {
		return q, faultOf("E1060", s.needs[missing], s.needs[missing]+" is verplicht in Filter")
	}
	return q, nil
}

// verify judges the log-in of an employee, of whatever administration.
func (a *SOAP) verify(_ *ledger, in *node) (string, *fault) {
	username := in.value("Gebruikersnaam")
	tenant, r, ok := a.admin.user(username)
	if !ok || in.value("Wachtwoord") != username || r.values.flag("blocked") {
		return "", faultOf("E1010", "", "Onjuiste combinatie van gebruikersnaam en wachtwoord")
	}
	var p printer
	p.leaf("MedewerkerID", r.id)
	p.leaf("Gebruikersnaam", username)
	p.leaf("Email", r.values.text("email"))
	p.leaf("Extern", map[bool]string{true: "J", false: "N"}[r.values.flag("external")])
	p.leaf("Administratie", tenant)
	p.leaf("AdministratieNaam", "Garage "+tenantName(strings.ToLower(tenant)))
	return p.String(), nil
}

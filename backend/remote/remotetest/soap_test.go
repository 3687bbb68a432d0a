package remotetest_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/remote/remotetest"
)

// lijn is an AutoLijn under test and a client that is logged on.
type lijn struct {
	*remotetest.SOAP
	t      *testing.T
	clock  *clock
	url    string
	client *http.Client
	ticket string
}

func newLijn(t *testing.T) *lijn {
	t.Helper()
	a := &lijn{t: t, clock: newClock()}
	a.SOAP = remotetest.NewSOAP(remotetest.Options{Now: a.clock.Now})
	a.url, a.client = serve(t, a.SOAP)
	a.logOn("NOORD")
	return a
}

func (a *lijn) logOn(tenant string) {
	a.t.Helper()
	a.ticket = ""
	status, body := a.call("Aanmelden", "<Administratie>"+tenant+"</Administratie><Gebruiker>"+remotetest.SOAPUser+
		"</Gebruiker><Wachtwoord>"+remotetest.SOAPPassword+"</Wachtwoord>")
	require.Equal(a.t, 200, status, body)
	a.ticket = element(body, "Ticket")
}

// call makes a call; in is what its element holds.
func (a *lijn) call(action, in string) (status int, body string) {
	a.t.Helper()
	return a.send(action, soapCall(action, a.ticket, in))
}

func soapCall(action, ticket, in string) string {
	header := ""
	if ticket != "" {
		header = `<soap:Header><Ticket xmlns="http://autolijn.example/2011/administratie">` + ticket + `</Ticket></soap:Header>`
	}
	return `<?xml version="1.0"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">` +
		header + `<soap:Body><` + action + ` xmlns="http://autolijn.example/2011/administratie">` + in + `</` + action + `></soap:Body></soap:Envelope>`
}

func (a *lijn) send(action, envelope string) (status int, body string) {
	a.t.Helper()
	req, err := http.NewRequest(http.MethodPost, a.url, strings.NewReader(envelope))
	require.NoError(a.t, err)
	req.Header.Set("Content-Type", "text/xml; charset=utf-8")
	req.Header.Set("SOAPAction", `"`+remotetest.SOAPAction+action+`"`)
	resp, err := a.client.Do(req)
	require.NoError(a.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(a.t, err)
	assert.Equal(a.t, "text/xml; charset=utf-8", resp.Header.Get("Content-Type"))
	return resp.StatusCode, string(raw)
}

// must makes a call that succeeds, and returns what its result holds.
func (a *lijn) must(action, in string) string {
	a.t.Helper()
	status, body := a.call(action, in)
	require.Equal(a.t, 200, status, body)
	return element(body, action+"Result")
}

// fault makes a call that fails, and returns its code and field.
func (a *lijn) fault(action, in string) string {
	a.t.Helper()
	status, body := a.call(action, in)
	require.Equal(a.t, 500, status, body)
	assert.Equal(a.t, "soap:Client", element(body, "faultcode"))
	found := regexp.MustCompile(`<Fout xmlns="" code="(E\d+)"(?: veld="(\w+)")?>`).FindStringSubmatch(body)
	require.NotNil(a.t, found, body)
	return strings.TrimSpace(found[1] + " " + found[2])
}

// element is what the first element of a name holds.
func element(body, name string) string {
	_, after, found := strings.Cut(body, "<"+name+">")
	if !found {
		return ""
	}
	inner, _, _ := strings.Cut(after, "</"+name+">")
	return inner
}

func TestSOAPTicket(t *testing.T) {
	a := newLijn(t)
	assert.Equal(t, "100", element(a.must("LijstRelaties", ""), "Totaal"))
	a.clock.advance(5 * time.Minute)
	assert.Equal(t, "E1001", a.fault("LijstRelaties", ""))
	a.logOn("LEEG")
	assert.Equal(t, "0", element(a.must("LijstRelaties", ""), "Totaal"))
	a.ExpireTickets()
	assert.Equal(t, "E1001", a.fault("LijstRelaties", ""))
	a.ticket = "AL-0"
	assert.Equal(t, "E1002", a.fault("LijstRelaties", ""))
	assert.Equal(t, "E1003", a.fault("Aanmelden", "<Administratie>NOORD</Administratie>"))
	assert.Equal(t, 3, a.Calls("Aanmelden"))
}

func TestSOAPPages(t *testing.T) {
	a := newLijn(t)
	id := regexp.MustCompile(`<OrderID>(\d+)</OrderID>`)
	seen := map[string]bool{}
	for page := 1; page <= 4; page++ {
		body := a.must("LijstOrders", fmt.Sprintf("<Pagina>%d</Pagina><AantalPerPagina>50</AantalPerPagina>", page))
		assert.Equal(t, "120", element(body, "Totaal"))
		for _, m := range id.FindAllStringSubmatch(body, -1) {
			seen[m[1]] = true
		}
	}
	assert.Len(t, seen, 120)
	assert.Equal(t, "E1061 Pagina", a.fault("LijstOrders", "<Pagina>0</Pagina>"))
	assert.Equal(t, "E1061 AantalPerPagina", a.fault("LijstOrders", "<AantalPerPagina>101</AantalPerPagina>"))
	assert.Equal(t, "E1064 Kleur", a.fault("LijstVoertuigen", "<Filter><Kleur>rood</Kleur></Filter>"))
	assert.Equal(t, "E1060 OrderID", a.fault("LijstOrderRegels", ""))
	assert.NotEqual(t, "0", element(a.must("LijstOrderRegels", "<Filter><OrderID>1</OrderID></Filter>"), "Totaal"))
	assert.Equal(t, "0", element(a.must("LijstRelaties", "<GewijzigdVanaf>2026-07-01T10:00:00</GewijzigdVanaf>"), "Totaal"))
}

func TestSOAPRecord(t *testing.T) {
	a := newLijn(t)
	id := a.must("NieuweRelatie", "<Relatie><Soort>P</Soort><Naam>Boer &amp; Zn</Naam><Geboortedatum>1984-03-14</Geboortedatum><IsDebiteur>J</IsDebiteur></Relatie>")
	assert.Equal(t, "102", id, "the deleted one's ID is not given out again")
	at := "<RelatieID>" + id + "</RelatieID>"
	body := a.must("GetRelatie", at)
	assert.Contains(t, body, "<Naam>Boer &amp; Zn</Naam><Voornaam /><Tussenvoegsel />")
	assert.Contains(t, body, "<Geboortedatum>1984-03-14</Geboortedatum><Betaaltermijn xsi:nil=\"true\" />")
	assert.Contains(t, body, "<IsDebiteur>J</IsDebiteur><IsCrediteur>N</IsCrediteur>")
	assert.Equal(t, "10102", element(body, "Relatienummer"))
	assert.Equal(t, "2026-07-01T10:00:00", element(body, "Aangemaakt"), "local time")

	assert.Equal(t, "true", a.must("WijzigRelatie", "<Relatie>"+at+`<Geboortedatum xsi:nil="true" /><Voornaam>Jan</Voornaam></Relatie>`))
	body = a.must("GetRelatie", at)
	assert.Contains(t, body, `<Geboortedatum xsi:nil="true" />`)
	assert.Equal(t, "Jan", element(body, "Voornaam"))
	assert.Equal(t, "true", a.must("VerwijderRelatie", at))
	assert.Equal(t, "E1040 RelatieID", a.fault("GetRelatie", at))
}

func TestSOAPOrder(t *testing.T) {
	a := newLijn(t)
	id := a.must("NieuweOrder", "<Order><RelatieID>1</RelatieID><VoertuigID>0</VoertuigID><Soort>W</Soort><Status>20</Status>"+
		"<Orderdatum>2026-07-01T10:00:00</Orderdatum><Leverdatum>0001-01-01T00:00:00</Leverdatum></Order>")
	line := "<OrderRegel><OrderID>" + id + "</OrderID><Omschrijving>Filter</Omschrijving><Aantal>1.5</Aantal><Prijs>12,95</Prijs><OmzetgroepID>2</OmzetgroepID></OrderRegel>"
	made := a.must("NieuweOrderRegel", line)
	assert.Contains(t, a.must("GetOrderRegel", "<OrderRegelID>"+made+"</OrderRegelID>"), "<Regelbedrag>19,43</Regelbedrag>")
	order := a.must("GetOrder", "<OrderID>"+id+"</OrderID>")
	assert.Contains(t, order, "<VoertuigID>0</VoertuigID><MedewerkerID>0</MedewerkerID>")
	assert.Contains(t, order, "<Leverdatum>0001-01-01T00:00:00</Leverdatum><Kilometerstand>0</Kilometerstand>")
	assert.Contains(t, order, "<TotaalExcl>19.43</TotaalExcl><TotaalIncl>23.51</TotaalIncl>")
	assert.Equal(t, "202600121", element(order, "Ordernummer"))

	assert.Equal(t, "E1070", a.fault("VerwijderOrder", "<OrderID>"+id+"</OrderID>"))
	a.must("WijzigOrder", "<Order><OrderID>"+id+"</OrderID><Status>50</Status></Order>")
	assert.NotEmpty(t, element(a.must("GetOrder", "<OrderID>"+id+"</OrderID>"), "Factuurnummer"))
	assert.Equal(t, "E1071 Status", a.fault("NieuweOrderRegel", line))
}

func TestSOAPFaults(t *testing.T) {
	a := newLijn(t)
	plate := element(a.must("GetVoertuig", "<VoertuigID>1</VoertuigID>"), "Kenteken")
	car := "<Merk>Opel</Merk><Model>Corsa</Model>"
	for _, c := range []struct{ action, in, want string }{
		{"NieuwVoertuig", "<Voertuig><Kenteken>" + strings.ReplaceAll(plate, "-", "") + "</Kenteken>" + car + "</Voertuig>", "E1062 Kenteken"},
		{"NieuwVoertuig", "<Voertuig>" + car + "</Voertuig>", "E1060 Kenteken"},
		{"NieuwVoertuig", "<Voertuig><Kenteken>GT-123-B</Kenteken>" + car + "<Verkoopprijs>12.50</Verkoopprijs></Voertuig>", "E1061 Verkoopprijs"},
		{"NieuwVoertuig", "<Voertuig><Wielen>4</Wielen></Voertuig>", "E1064 Wielen"},
		{"NieuwVoertuig", "<Voertuig><Kenteken>GT-123-B</Kenteken>" + car + "<LandID>999</LandID></Voertuig>", "E1065 LandID"},
		{"NieuwVoertuig", "<Voertuig><Gepubliceerd>J</Gepubliceerd></Voertuig>", "E1066 Gepubliceerd"},
		{"NieuweRelatie", "<Relatie><Soort>P</Soort><Naam>" + strings.Repeat("é", 101) + "</Naam></Relatie>", "E1063 Naam"},
		{"NieuweVoertuig", "", "E1090"},
		{"VerwijderLand", "<LandID>1</LandID>", "E1090"},
		{"VerwijderVoertuig", "<VoertuigID>1</VoertuigID>", "E1072 Gepubliceerd"},
	} {
		assert.Equal(t, c.want, a.fault(c.action, c.in), c.action+c.in)
	}
	status, body := a.send("GetLand", `<!DOCTYPE x [<!ENTITY e "e">]>`+strings.TrimPrefix(soapCall("GetLand", a.ticket, ""), `<?xml version="1.0"?>`))
	assert.Equal(t, 500, status)
	assert.Contains(t, body, "E1099")
	_, body = a.send("GetLand", soapCall("GetOrder", a.ticket, ""))
	assert.Contains(t, body, "E1090")
}

func TestSOAPUsers(t *testing.T) {
	a := newLijn(t)
	other := a.must("ControleerGebruiker", "<Gebruikersnaam>other</Gebruikersnaam><Wachtwoord>other</Wachtwoord>")
	assert.Equal(t, "ZUID", element(other, "Administratie"))
	assert.Equal(t, "N", element(other, "Extern"))
	assert.Equal(t, "E1010", a.fault("ControleerGebruiker", "<Gebruikersnaam>other</Gebruikersnaam><Wachtwoord>x</Wachtwoord>"))
}

package remotetest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/remote/remotetest"
)

// recorder writes down calls and their answers as they went over the wire, but
// for the headers that say nothing.
type recorder struct {
	t      *testing.T
	client *http.Client
	out    strings.Builder
	known  map[string]string // what stands in later calls for what was answered
}

func (r *recorder) call(title, method, url string, header [][2]string, body string) string {
	r.t.Helper()
	for name, value := range r.known {
		url, body = strings.ReplaceAll(url, name, value), strings.ReplaceAll(body, name, value)
	}
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(r.t, err)
	fmt.Fprintf(&r.out, "### %s\n\n%s %s\n", title, method, req.URL.RequestURI())
	for _, h := range header {
		for name, value := range r.known {
			h[1] = strings.ReplaceAll(h[1], name, value)
		}
		req.Header.Set(h[0], h[1])
		fmt.Fprintf(&r.out, "%s: %s\n", h[0], h[1])
	}
	fmt.Fprintf(&r.out, "\n%s\n\n", body)
	resp, err := r.client.Do(req)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	fmt.Fprintf(&r.out, "%s\n", resp.Status)
	for _, name := range []string{"Content-Type", "ETag", "Location", "Retry-After", "WWW-Authenticate"} {
		if value := resp.Header.Get(name); value != "" {
			fmt.Fprintf(&r.out, "%s: %s\n", name, value)
		}
	}
	fmt.Fprintf(&r.out, "\n%s\n", answer)
	return string(answer)
}

// compare holds the record to the file, or writes it.
func (r *recorder) compare(name string) {
	r.t.Helper()
	path := filepath.Join("..", "testdata", name)
	if *update {
		require.NoError(r.t, os.WriteFile(path, []byte(r.out.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(r.t, err)
	assert.Equal(r.t, string(want), r.out.String(), "go test ./backend/remote/remotetest -run Recorded -update writes it anew")
}

func TestRecordedGarageCloud(t *testing.T) {
	clock := newClock()
	g := remotetest.NewJSON(remotetest.Options{Now: clock.Now})
	url, client := serve(t, g)
	r := &recorder{t: t, client: client, known: map[string]string{}}
	know := func(name, answer, path string) {
		var body any
		require.NoError(t, json.Unmarshal([]byte(answer), &body))
		r.known[name] = reply{body: body}.text(path)
		require.NotEmpty(t, r.known[name], answer)
	}
	form := [][2]string{{"Content-Type", "application/x-www-form-urlencoded"}}
	know("$TOKEN", r.call("Log on", "POST", url+"/oauth/token", form, "grant_type=client_credentials&client_id=frontdesk&client_secret=let-me-in"), "access_token")
	call := func(title, method, path, body string) string {
		header := [][2]string{{"Authorization", "Bearer $TOKEN"}, {"X-Tenant", "garage-noord"}}
		if body != "" {
			header = append(header, [2]string{"Content-Type", "application/json"})
		}
		return r.call(title, method, url+path, header, body)
	}
	call("Someone's log-in", "POST", "/v3/users/verify", `{"login":"demo","password":"demo"}`)
	call("A wrong password", "POST", "/v3/users/verify", `{"login":"demo","password":"wrong"}`)
	know("$CUSTOMER", call("Customers, a page", "GET", "/v3/customers?limit=2", ""), "items.0.id")
	know("$CURSOR", call("How many of a kind", "GET", "/v3/customers?type=BUSINESS&limit=1", ""), "nextCursor")
	call("The next page", "GET", "/v3/customers?type=BUSINESS&limit=1&cursor=$CURSOR", "")
	call("How many there are", "GET", "/v3/customers/count?type=BUSINESS", "")
	call("A customer's contact points", "GET", "/v3/contact-points?customerId=$CUSTOMER", "")
	call("A customer's addresses", "GET", "/v3/addresses?customerId=$CUSTOMER", "")
	call("Vehicles", "GET", "/v3/vehicles?limit=2", "")
	call("Articles", "GET", "/v3/articles?limit=2", "")
	call("Employees", "GET", "/v3/employees?login=demo", "")
	know("$GROUP", call("A turnover group", "GET", "/v3/turnover-groups?code=PARTS", ""), "items.0.id")
	call("A country", "GET", "/v3/countries/NL", "")
	know("$ORDER", call("A new order", "POST", "/v3/orders", `{"customer":{"id":"$CUSTOMER"},"type":"WORKSHOP","status":"OPEN","orderDate":"2026-07-01T10:00:00+02:00","deliveryAt":1782997200000,"lines":[{"position":10,"description":"Oil filter","quantity":"1","unit":"PIECE","unitPrice":"12.95","turnoverGroupId":"$GROUP"}]}`), "id")
	call("A change", "PATCH", "/v3/orders/$ORDER", `{"status":"IN_PROGRESS","customerReference":"PO-2026-118"}`)
	know("$LINE", call("A line more", "POST", "/v3/orders/$ORDER/lines", `{"position":20,"description":"Labour","quantity":"0.5","unit":"HOUR","unitPrice":"89.50","discountPercent":"10","turnoverGroupId":"$GROUP"}`), "id")
	call("The order, with its lines", "GET", "/v3/orders/$ORDER", "")
	call("A line goes", "DELETE", "/v3/orders/$ORDER/lines/$LINE", "")
	know("$DOCUMENT", call("A document", "POST", "/v3/documents", `{"fileName":"hello.txt","category":"OTHER","contentType":"text/plain","entity":{"type":"ORDER","id":"$ORDER"},"contentBase64":"SGVsbG8="}`), "id")
	call("Its content", "GET", "/v3/documents/$DOCUMENT?include=content", "")
	call("A required field that is missing", "POST", "/v3/vehicles", `{"licensePlate":"GT123B","make":{"brand":"Opel"}}`)
	call("A duplicate", "POST", "/v3/articles", `{"articleNumber":"FLT-OIL","title":"Filter","kind":"PART","unit":"PIECE","turnoverGroup":{"id":"$GROUP"},"pricing":{"retail":"1"}}`)
	call("In use", "DELETE", "/v3/customers/$CUSTOMER", "")
	call("Unknown", "GET", "/v3/customers/c_0", "")
	call("A filter that there is not", "GET", "/v3/customers?remarks=x", "")
	call("The order is deleted", "DELETE", "/v3/orders/$ORDER", "")
	call("It can still be read", "GET", "/v3/orders/$ORDER", "")
	g.ExpireTokens()
	call("The token has expired", "GET", "/v3/customers?limit=1", "")
	r.compare("garagecloud.http")
}

func TestRecordedAutoLijn(t *testing.T) {
	clock := newClock()
	a := remotetest.NewSOAP(remotetest.Options{Now: clock.Now})
	url, client := serve(t, a)
	r := &recorder{t: t, client: client, known: map[string]string{}}
	ticket := ""
	call := func(title, action, in string) string {
		return r.call(title, "POST", url+"/", [][2]string{
			{"Content-Type", "text/xml; charset=utf-8"}, {"SOAPAction", `"` + remotetest.SOAPAction + action + `"`},
		}, soapCall(action, ticket, in))
	}
	ticket = element(call("Log on", "Aanmelden", "<Administratie>NOORD</Administratie><Gebruiker>koppeling</Gebruiker><Wachtwoord>geheim</Wachtwoord>"), "Ticket")
	call("Someone's log-in", "ControleerGebruiker", "<Gebruikersnaam>demo</Gebruikersnaam><Wachtwoord>demo</Wachtwoord>")
	call("A wrong password", "ControleerGebruiker", "<Gebruikersnaam>demo</Gebruikersnaam><Wachtwoord>fout</Wachtwoord>")
	call("Relations, a page", "LijstRelaties", "<Pagina>2</Pagina><AantalPerPagina>2</AantalPerPagina>")
	call("Filtered", "LijstRelaties", "<AantalPerPagina>1</AantalPerPagina><Filter><Soort>B</Soort></Filter>")
	call("A relation", "GetRelatie", "<RelatieID>1</RelatieID>")
	call("How a relation is reached", "LijstCommunicaties", "<Filter><RelatieID>1</RelatieID></Filter>")
	call("Where", "LijstAdressen", "<Filter><RelatieID>1</RelatieID></Filter>")
	call("A vehicle", "GetVoertuig", "<VoertuigID>1</VoertuigID>")
	call("An article", "GetArtikel", "<ArtikelID>6</ArtikelID>")
	call("An employee", "GetMedewerker", "<MedewerkerID>5</MedewerkerID>")
	call("A turnover group", "GetOmzetgroep", "<OmzetgroepID>2</OmzetgroepID>")
	call("A country", "LijstLanden", "<Filter><Landcode>NL</Landcode></Filter>")
	order := "<OrderID>" + element(call("A new order", "NieuweOrder", "<Order><RelatieID>1</RelatieID><VoertuigID>0</VoertuigID><Soort>W</Soort><Status>20</Status><Orderdatum>2026-07-01T10:00:00</Orderdatum></Order>"), "NieuweOrderResult") + "</OrderID>"
	line := call("Its line", "NieuweOrderRegel", "<OrderRegel>"+order+"<Volgnummer>10</Volgnummer><Omschrijving>Oliefilter</Omschrijving><Aantal>1</Aantal><Eenheid>ST</Eenheid><Prijs>12,95</Prijs><OmzetgroepID>2</OmzetgroepID></OrderRegel>")
	call("A change", "WijzigOrder", "<Order>"+order+"<Status>30</Status><Referentie>PO-2026-118</Referentie></Order>")
	call("The order", "GetOrder", order)
	call("Its lines", "LijstOrderRegels", "<Filter>"+order+"</Filter>")
	call("In use", "VerwijderOrder", order)
	call("The line goes", "VerwijderOrderRegel", "<OrderRegelID>"+element(line, "NieuweOrderRegelResult")+"</OrderRegelID>")
	call("A document", "GetDocument", "<DocumentID>1</DocumentID>")
	call("A duplicate", "NieuwArtikel", "<Artikel><Artikelnummer>FLT-OIL</Artikelnummer><Omschrijving>Filter</Omschrijving><Soort>O</Soort><Eenheid>ST</Eenheid><OmzetgroepID>2</OmzetgroepID><Verkoopprijs>1,00</Verkoopprijs></Artikel>")
	call("A required field that is missing", "NieuwVoertuig", "<Voertuig><Kenteken>GT-123-B</Kenteken><Merk>Opel</Merk></Voertuig>")
	call("Unknown", "GetRelatie", "<RelatieID>99999</RelatieID>")
	a.ExpireTickets()
	call("The ticket has expired", "GetRelatie", "<RelatieID>1</RelatieID>")
	r.compare("autolijn.http")
}

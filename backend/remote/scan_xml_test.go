package remote

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping/sheet"
)

func TestXMLPlaces(t *testing.T) {
	s := newShape("Body.Order.Naam", "Body.Order.@id", "Body.Order.Regel.1.Aantal", "Body.Order.Adres.Plaats", "Body.Order.Leeg", "Body.Order.Niets", "Body.Order")
	got, err := new(xmlScanner).scan(s, `<?xml version="1.0" encoding="utf-8"?>
		<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><s:Header><x>1</x></s:Header>
		<s:Body><o:Order id="7" xmlns:o="urn:x"><!-- c --><o:Naam>Jan &amp; <![CDATA[<Piet>]]></o:Naam><Regel><Aantal>1</Aantal></Regel>
		<Regel><Aantal>2</Aantal></Regel><Leeg/><Niets xsi:nil="true"/><Adres></Adres></o:Order></s:Body></s:Envelope>`)
	require.NoError(t, err)
	require.Equal(t, []sheet.Raw{text("Jan & <Piet>"), text("7"), text("2"), absent, text(""), null, absent}, got.values)
}

func TestXMLLists(t *testing.T) {
	line := newShape("Oms")
	order := newShape("Nr")
	err := order.addList("Regels.Regel", line)
	require.NoError(t, err)
	top := newShape("Body.Totaal")
	err = top.addList("Body.Orders.Order", order)
	require.NoError(t, err)
	got, err := new(xmlScanner).scan(top, `<E><Body><Totaal>9</Totaal><Orders><Order><Nr>1</Nr><Regels><Regel><Oms>a</Oms></Regel><Regel><Oms>b</Oms></Regel></Regels></Order>
		<Order><Nr>2</Nr><Regels/></Order><Order><Nr>3</Nr></Order></Orders></Body></E>`)
	require.NoError(t, err)
	rows := got.lists[0].rows
	require.Len(t, rows, 3)
	require.Equal(t, text("b"), rows[0].lists[0].rows[1].values[0])
	require.True(t, rows[1].lists[0].there)
	require.Empty(t, rows[1].lists[0].rows)
	require.False(t, rows[2].lists[0].there)
	got, err = new(xmlScanner).scan(top, `<E><Body><Orders></Orders></Body></E>`)
	require.NoError(t, err)
	require.True(t, got.lists[0].there)
	got, err = new(xmlScanner).scan(top, `<E><Body><Fault/></Body></E>`)
	require.NoError(t, err)
	require.False(t, got.lists[0].there)
}

func TestXMLIsRefused(t *testing.T) {
	s := newShape("a", "b.c")
	for _, bad := range []string{
		``, `<x>`, `<x></y>`, `<x/><y/>`, `not xml`, `{"a":1}`, `<x><a>1</a><a>2</a></x>`, `<x><a><y/></a></x>`,
		`<!DOCTYPE x [<!ENTITY e "boo">]><x><a>&e;</a></x>`, `<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>`, `<x><a>&e;</a></x>`,
		`<?xml version="1.0" encoding="EBCDIC"?><x/>`, strings.Repeat("<x>", 100) + strings.Repeat("</x>", 100), "<x>\xff</x>",
	} {
		_, err := new(xmlScanner).scan(s, bad)
		require.Error(t, err, bad)
	}
	got, err := new(xmlScanner).scan(s, "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><x><a>caf\xe9 \x80</a></x>")
	require.NoError(t, err)
	require.Equal(t, text("café €"), got.values[0])
}

func FuzzXML(f *testing.F) {
	for _, seed := range []string{`<x><a>1</a><b c="2"><c/></b></x>`, `<x xmlns:p="u"><p:l><x>1</x></p:l></x>`, `<!DOCTYPE x><x/>`, `<a><![CDATA[x]]></a>`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s := newShape("a", "b.c", "b.@c", "l.1")
		if err := s.addList("d.e", newShape("x", "")); err != nil {
			t.Fatal(err)
		}
		got, err := new(xmlScanner).scan(s, in)
		if err == nil && (len(got.values) != 4 || strings.Contains(in, "<!DOCTYPE") && !strings.ContainsAny(in, "-[")) {
			t.Fatalf("taken: %q", in)
		}
	})
}

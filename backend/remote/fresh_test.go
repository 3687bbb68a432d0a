package remote

import (
	"bufio"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// parrotSheet has calls whose answers carry nothing that tells whose they are: a list
// of records that have the same key whatever was asked, and a create without an answer.
const parrotSheet = `
source: {http: {url: "${GARAGE_URL}", ca_file: %q%s}}
errors: [{when: {status: "409"}, reason: duplicate_value, field: code}]
resources:
  turnovergroup:
    key: {columns: code, id: kept, generated: supplied}
    operations:
      list: {path: /group, query: {code: "{filter.code}"}, result: list%s}
      create: {path: /group, result: none%s}
    fields: {code: code, description: text, vat_kind: {constant: high}, ledger_account: {constant: "1"}}
`

// parrot is a service that says again what it said before on a connection, right when
// it is asked the next: no look at the connection can find that.
type parrot struct {
	url, ca  string
	old      bool // it answers as HTTP/1.0 does, and hangs up
	accepted atomic.Int32
	work     sync.WaitGroup
}

func newParrot(t *testing.T, secure bool) *parrot {
	p := &parrot{ca: filepath.Join(t.TempDir(), "ca.pem")}
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	require.NoError(t, os.WriteFile(p.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw}), 0o600))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p.url = "http://" + listener.Addr().String()
	if secure {
		p.url = "https://" + listener.Addr().String()
		listener = tls.NewListener(listener, certified.TLS.Clone())
	}
	p.work.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			p.accepted.Add(1)
			p.work.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		p.work.Wait()
	})
	return p
}

func (p *parrot) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	in, said := bufio.NewReader(c), ""
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		sent, _ := io.ReadAll(r.Body)
		answer := httpAnswer(200, fmt.Sprintf(`{"list":[{"code":%q,"text":"is %[1]s"}]}`, r.URL.Query().Get("code")))
		switch {
		case r.Method == http.MethodPost && strings.Contains(string(sent), "TAKEN"):
			answer = httpAnswer(409, "{}")
		case r.Method == http.MethodPost:
			answer = httpAnswer(201, "")
		}
		if p.old {
			head, body, _ := strings.Cut(answer, "\r\n\r\n")
			_, _ = io.WriteString(c, strings.Replace(head[:strings.Index(head, "\r\n")], "1.1", "1.0", 1)+"\r\n\r\n"+body)
			return
		}
		if _, err := io.WriteString(c, said+answer); err != nil {
			return
		}
		said = answer
	}
}

// TestFreshConnections: an answer that comes twice, and carries neither key nor client,
// is taken for that to the next question unless each has a connection of its own.
func TestFreshConnections(t *testing.T) {
	for name, test := range map[string]struct {
		secure, old           bool
		service, list, create string // what the sheet says
		wrong                 bool
	}{
		"kept":               {wrong: true},
		"kept, TLS":          {secure: true, wrong: true},
		"kept, but for one":  {list: ", connections: fresh", wrong: true},
		"kept, HTTP/1.0":     {old: true}, // which never uses a connection again
		"fresh":              {service: ", connections: fresh"},
		"fresh, TLS":         {secure: true, service: ", connections: fresh"},
		"fresh, HTTP/1.0":    {old: true, service: ", connections: fresh"},
		"fresh for both":     {list: ", connections: fresh", create: ", connections: fresh"},
		"fresh, but for one": {service: ", connections: fresh", create: ", connections: kept", wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newParrot(t, test.secure)
			p.old = test.old
			store := openText(t, fmt.Sprintf(parrotSheet, p.ca, test.service, test.list, test.create), p.url)
			c := front(t, store)
			r := c.Model().Resource("turnovergroup")
			wrong := 0
			for range 5 {
				for _, code := range []string{"G1", "g1"} { // which a service may take for the same
					page, err := c.List(bg(), r, backend.Query{Client: anna, Limit: 10, Filters: []backend.Filter{{Field: r.Field("code"), Value: mapping.TextValue(code)}}})
					require.NoError(t, err)
					require.Len(t, page.Records, 1)
					if page.Records[0].Get("description").Text() != "is "+code {
						wrong++
					}
				}
				for _, code := range []string{"NEW", "TAKEN"} {
					_, err := c.Create(bg(), anna, body(t, r, fmt.Sprintf(`{"code":%q,"description":"x"}`, code)), backend.Write{})
					if duplicate := mapping.Is(err, mapping.DuplicateValue); duplicate != (code == "TAKEN") {
						wrong++
					}
				}
			}
			require.Equal(t, test.wrong, wrong > 0, "%d of 20", wrong)
			if !test.wrong {
				require.EqualValues(t, 20, p.accepted.Load())
				require.Zero(t, store.Pool().InUse)
			}
		})
	}
}

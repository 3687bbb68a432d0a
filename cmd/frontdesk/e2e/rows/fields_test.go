package rows

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/cmd/frontdesk/rig/play"
)

// TestFieldsTakenAway asks as an api_key from which its allowlist takes fields away, and holds the answers
// to the description that this key gets.
func TestFieldsTakenAway(t *testing.T) {
	t.Parallel()
	common, sections := play.Read(t, filepath.Join("testdata", "fields.txt"))
	onPractice(t, func(t *testing.T, p *rig.Practice) {
		part := p.Login(rig.PartKey, "demo")
		own := must.Have(rig.NewContract(p.Call("GET", "/openapi.json?api_key="+rig.PartKey, "", "").Body))(t)
		whole := p.HTTP.Transport.(*rig.Holding)
		for _, section := range sections {
			t.Run(section.Name, func(t *testing.T) {
				s := play.New(p.In(t))
				s.Vars["part"] = part
				s.HTTP = &http.Client{Transport: byToken{part, whole, &rig.Holding{RoundTripper: whole.RoundTripper, Contract: own, Base: &p.Base, Fault: func(err error) { require.NoError(t, err) }}}}
				s.Run(common)
				s.Run(section.Lines)
			})
		}
	})
}

// byToken sends the requests of a session another way.
type byToken struct {
	token            string
	others, sessions http.RoundTripper
}

func (b byToken) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Token") == b.token {
		return b.sessions.RoundTrip(req)
	}
	return b.others.RoundTrip(req)
}

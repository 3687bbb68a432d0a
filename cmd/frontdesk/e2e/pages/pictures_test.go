package pages

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/instrument"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway"
)

// pictureMost is how many bytes a picture of README.md may have.
const pictureMost = 150 << 10

// TestBrowserPictures makes the pictures of README.md, in the folder FRONTDESK_PICTURES.
func TestBrowserPictures(t *testing.T) {
	folder := os.Getenv("FRONTDESK_PICTURES")
	if folder == "" {
		t.Skip("pictures of README.md: make pictures makes them")
	}
	file := filepath.Join(t.TempDir(), "frontdesk.db")
	require.NoError(t, os.WriteFile(file, must.Have(rig.SampleFile())(t), 0o600))
	require.NoError(t, anHour(time.Now()).Save(file+"-history"))
	d := rig.Start(t, rig.Options{DSN: "sqlite:" + file, Edit: strings.NewReplacer("name: full", "name: webshop", "name: orders", "name: planner")})
	b := startBrowser(t)

	p := b.open(t, "http://"+d.Ops)
	p.visit("/?span=2h")
	p.await(`document.querySelectorAll(".notices li").length > 1`)
	p.picture(filepath.Join(folder, "window.webp"), 880)

	p = signedIn(t, b, d, rig.FullKey)
	p.route("listOrders")
	p.eval(`document.querySelector("#send").click()`)
	p.await("document.querySelector('.outcome .status')?.textContent === '200'")
	p.picture(filepath.Join(folder, "testpage.webp"), 800)
}

// picture keeps what is in a window of that height, in light.
func (p *tab) picture(file string, height int64) {
	p.t.Helper()
	p.look(1280, "light")
	_, err := chromedp.Call(p.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1120, Height: height, DeviceScaleFactor: 1})
	require.NoError(p.t, err)
	p.eval("document.activeElement.blur(); scrollTo(0, 0); new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(() => f(1))))")
	quality := int64(85)
	picture := must.Have(chromedp.Call(p.ctx, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{Format: "webp", Quality: &quality}))(p.t)
	require.LessOrEqual(p.t, len(picture.Data), pictureMost, file)
	require.NoError(p.t, os.WriteFile(file, picture.Data, 0o644))
}

// anHour is what a gateway did until now: a customer whose password is wrong, a key that runs
// into its limit, and a database that was slow for some minutes after a change.
func anHour(now time.Time) *instrument.Instrument {
	at := now.Add(-100 * time.Minute)
	h := instrument.New(func() time.Time { return at })
	random := rand.New(rand.NewPCG(1, 2))
	endpoints := []string{"/order", "/order/{id}", "/vehicle", "/contact/{id}", "/orderline"}
	clients := []string{"Garage Jansen", "Autohuis De Vries", "Fleet & Co"}
	for ; at.Before(now); at = at.Add(10 * time.Second) {
		left := now.Sub(at)
		slow := left > 6*time.Minute && left < 14*time.Minute
		if left > 14*time.Minute && left <= 14*time.Minute+10*time.Second {
			h.Mark("configuration", "changed: webshop gains GET /orderline")
		}
		for range int(90 + 40*math.Sin(float64(at.Unix())/900) + 12*random.NormFloat64()) {
			a := gateway.Answer{At: at, RequestID: uuid.NewString(), Method: "GET", Endpoint: endpoints[min(random.IntN(7), 4)], Key: "webshop", Client: clients[random.IntN(3)], Status: 200, Address: "192.0.2.7"}
			a.Backend = time.Duration((4 + 3*random.ExpFloat64()) * float64(time.Millisecond))
			if slow {
				a.Backend *= time.Duration(60 + random.IntN(60))
			}
			a.Took = a.Backend + time.Duration(1+random.IntN(3))*time.Millisecond
			switch {
			case random.IntN(4) == 0:
				a.Key, a.Client = "planner", "Fleet & Co"
				if left < 8*time.Minute && random.IntN(3) > 0 {
					a.Status, a.Reason, a.Cause, a.Backend, a.Took = 429, "too_many_requests", "rate", 0, time.Millisecond
				}
			case slow && random.IntN(40) == 0:
				a.Status, a.Reason = 500, "backend_timeout"
			case random.IntN(60) == 0:
				a.Status, a.Reason = 404, "record_not_found"
			}
			h.Answered(a)
			h.Called(context.Background(), backend.Call{Resource: "order", Operation: "list", Lane: "reads of order", Outcome: backend.Answered, Took: a.Backend})
		}
		if left < 9*time.Minute && random.IntN(4) == 0 {
			h.Answered(gateway.Answer{At: at, RequestID: uuid.NewString(), Method: "GET", Endpoint: "/authenticate", Key: "webshop", Client: "Autohuis De Vries", Status: 401, Reason: "credentials_invalid", Cause: "wrong_password", Took: 24 * time.Millisecond, Address: "192.0.2.44"})
		}
		h.Take(instrument.Levels{instrument.Connections: uint32(18 + random.IntN(8))})
	}
	return h
}

package rig

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/gateway/webhook/webhooktest"
)

// Night is a gateway on which everything goes wrong that wakes people, one thing after the
// other.
type Night struct {
	*Kept
	Faults   Faults
	text     string // of the configuration
	receiver string // refuses all callbacks
	planner  string // a token
	folder   string // of the database
}

// NightStep is one thing that goes wrong.
type NightStep struct {
	Name  string
	Play  func() // has it go wrong
	Mend  func() // if it is to be over before the next
	Shows string // what the first page says of it, under what stands out
	Tells string // what the command prints that stands beside it
}

// nightKeys are an api_key of a customer, and one that is bound to a rate.
const nightKeys = `
  - name: webshop
    key_sha256: ["e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"]
    allow: ["* /order", "* /contact", "GET /vehicle"]
  - name: planner
    key_sha256: ["c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf"]
    allow: ["GET /vehicle", "GET /country"]
    rate: {per_second: 0.01, burst: 30}
`

// StartNight starts a gateway whose database is in folder, and has some requests served.
func StartNight(t testing.TB, folder string) *Night {
	t.Helper()
	o := Options{}
	o.OnDisk(t, folder)
	authority := webhooktest.NewAuthority(t)
	receiver := authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	n := &Night{receiver: receiver.URL, folder: folder, Kept: &Kept{File: filepath.Join(t.TempDir(), "frontdesk.yaml"), Signals: make(chan os.Signal)}}
	n.text = KeptConfig(t, o.DSN, fmt.Sprintf("callbacks: [GET /country]\nwebhooks: {allow_hosts: [127.0.0.1], ports: [443, %d], ca_file: %q}",
		webhooktest.Port(t, receiver), authority.File(t)), nightKeys)
	n.Desk = Desk{T: t, Ops: FreeAddress(t), Log: new(LockedBuffer), Stopped: make(chan struct{}), HTTP: &http.Client{Transport: &http.Transport{}}}
	n.Write(n.text)
	n.Serve(desk.Program{Signals: n.Signals, After: n.Timers.After, Now: n.Clock.Now, Wrap: n.Faults.Wrap}, n.File, true)
	webshop := n.Login(FullKey, "demo")
	n.planner = n.Login(OrdersKey, "demo")
	for _, path := range []string{"/order", "/order/1", "/vehicle", "/contact/1"} {
		require.Equal(t, 200, n.Status("GET", path, webshop))
	}
	return n
}

// Steps are what goes wrong on any disk.
func (n *Night) Steps() []NightStep {
	return []NightStep{
		{Name: "login", Play: n.locksOut, Shows: "4 logins of Demo Garage with the key webshop were refused: wrong_password, the first ", Tells: "The password is not that of the user."},
		{Name: "flood", Play: n.floods, Shows: "The key planner makes 61 of ", Tells: "asked for "},
		{Name: "slow", Play: n.slows, Mend: n.Faults.None, Shows: "GET /order took up to "},
		{
			Name: "deploy", Play: func() { n.deploys(strings.Replace(n.text, "GET /vehicle", "GET /vehicel", 1)) }, Mend: func() { n.deploys(n.text) },
			Shows: "The files of the configuration are refused", Tells: "did you mean GET /vehicle?",
		},
		{Name: "receiver", Play: n.refusesCallbacks, Shows: "Receivers did not take the callbacks of 1 job(s)", Tells: "status 500"},
	}
}

// DiskFills is what goes wrong where the folder is a disk of its own.
func (n *Night) DiskFills() NightStep {
	return NightStep{Name: "disk", Play: n.fills, Shows: "A disk is full or does not answer", Tells: "the disk of database"}
}

// locksOut has a customer use a password that is no more.
func (n *Night) locksOut() {
	for range 4 {
		require.Equal(n.T, 401, n.Status("GET", LoginPath(FullKey, "demo", "the-old-one"), ""))
	}
}

// floods has an api_key ask more than it may.
func (n *Night) floods() {
	for range 60 {
		n.Status("GET", "/vehicle", n.planner)
	}
}

// slowness is how long each call of a slow backend takes.
const slowness = 600 * time.Millisecond

// slows has the backend take its time.
func (n *Night) slows() {
	webshop := n.Login(FullKey, "demo")
	n.Faults.Set(func(ctx context.Context) error {
		select {
		case <-time.After(slowness):
		case <-ctx.Done():
		}
		return ctx.Err()
	})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { _, _ = n.Try("GET", "/order", webshop, "") })
	}
	all.Wait()
}

func (n *Night) deploys(text string) {
	n.Write(text)
	n.HangUp()
}

// refusesCallbacks has a receiver refuse a callback. Its api_key has no rate left for it.
func (n *Night) refusesCallbacks() {
	n.deploys(strings.Replace(n.text, "    rate: {per_second: 0.01, burst: 30}\n", "", 1))
	n.Call("GET", "/country?webhook_url="+url.QueryEscape(n.receiver), n.planner, "").Promise(n.T)
	n.RequireLogged(`"msg":"callback"`)
	n.Clock.Pass(time.Minute) // what is pending is counted anew
}

// fills has the disk of the database fill up, and writes fail.
func (n *Night) fills() {
	webshop := n.Login(FullKey, "demo")
	FillDisk(n.T, n.folder)
	for failed := 0; failed < 4; { // the first ones find room within the files
		if n.Call("POST", "/contact", webshop, NewContact).Status == 500 {
			failed++
		}
	}
	require.Equal(n.T, 200, n.Status("GET", "/contact/1", webshop))
}

// NightNotice is what the first page says, and the command beside it, ready to be run.
func (n *Night) NightNotice(step NightStep) (notice desk.Notice, command []string) {
	n.T.Helper()
	var page struct {
		Notices []desk.Notice `json:"stands_out"`
	}
	n.OpsJSON("/", &page)
	for _, notice := range page.Notices {
		if !strings.HasPrefix(notice.Text, step.Shows) {
			continue
		}
		last := "the-last-one-of-" + step.Name // that of another step may be in the log before its lines are
		n.Call("GET", "/nowhere", "", "", "X-Request-Id", last)
		n.RequireLogged(last)
		log := filepath.Join(n.T.TempDir(), "night.log")
		require.NoError(n.T, os.WriteFile(log, []byte(n.Log.String()), 0o600))
		command = strings.Fields(strings.TrimPrefix(strings.NewReplacer("LOG", log, "FILE", n.File).Replace(notice.Command), "frontdesk "))
		return notice, command
	}
	require.Fail(n.T, "the first page does not say: "+step.Shows, "%+v", page.Notices)
	return notice, nil
}

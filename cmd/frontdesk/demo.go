package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/mapping"
)

// demoListen is where the demo serves by default.
const demoListen = "127.0.0.1:8080"

type demoCommand struct {
	Listen  string `default:"${demo_listen}" help:"Where to serve; a loopback address."`
	Ops     string `default:"127.0.0.1:9090" help:"Where the status page is; a loopback address."`
	Data    string `default:"frontdesk-demo" placeholder:"DIR" help:"Folder of the demo's database, made when it is not there (default: frontdesk-demo)."`
	Records int    `help:"How many sample orders (default: as many as the folder has, or 250)."`
}

// Run serves the sample data until the program is to stop.
func (d demoCommand) Run(p desk.Program) error {
	for flag, address := range map[string]string{"--listen": d.Listen, "--ops": d.Ops} {
		if err := onLoopback(flag, address); err != nil {
			return err
		}
	}
	if err := seed(p, d.Data, d.Records); errors.Is(err, reference.ErrSampleData) {
		return desk.Misused("--data %s: %w; start it with as many --records, or in another folder", d.Data, err)
	} else if err != nil {
		return err
	}
	c, err := desk.DemoConfig(d.Listen, d.Ops, d.Data)
	if err != nil {
		return err
	}
	logFile, err := desk.OpenLog(filepath.Join(d.Data, "frontdesk.log"))
	if err != nil {
		return err
	}
	defer logFile.Close()
	logs, err := desk.NewLogs(c.Log, logFile, desk.LogDelay)
	if err != nil {
		return err
	}
	defer logs.Stop()
	h, err := desk.Build(p, c, desk.DemoEnvironment, logs)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; --listen and --ops choose other ports", err)
	}
	if err != nil {
		return err
	}
	defer h.Close()
	err = h.Serve(p.Ctx, func(baseURL string) { d.welcome(p, baseURL, h.Ops.At.Addr()) })
	if err == nil {
		fmt.Fprintln(p.Stdout, "stopped; the data stays in", d.Data)
	}
	return err
}

// welcome prints how to use the demo. The last line says that it serves.
func (d demoCommand) welcome(p desk.Program, baseURL string, ops net.Addr) {
	fmt.Fprintf(p.Stdout, `frontdesk demo: a small garage with sample data in %[2]s (log: %[2]s/frontdesk.log)

api_key  %[3]s  demo-full: everything
api_key  %[4]s  demo-orders: GET /order, GET /orderline, GET /model/*
login    demo, other (two clients), external, noemail, bademail; the password is the username
pages    %[1]s/ to try the interface, http://%[5]s/ for how it does

Log in, list vehicles, create an order:

TOKEN=$(curl -s '%[1]s/authenticate?api_key=%[3]s&organization_name=&username=demo&password=demo' | cut -d'"' -f4)
curl -s -H "token: $TOKEN" '%[1]s/vehicle?page_size=2'
curl -s -H "token: $TOKEN" -d '{"contact_id":1,"kind":"workshop","order_status":"open","order_date":"2026-07-01"}' '%[1]s/order'

Ctrl-C stops it.
ready: %[1]s/
`, baseURL, d.Data, desk.DemoFullKey, desk.DemoOrdersKey, ops)
}

// onLoopback refuses addresses that other machines can reach, since everybody knows the keys and
// passwords of the demo.
func onLoopback(flag, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return desk.Misused("%s %s: expected a loopback address and a port, such as 127.0.0.1:8080", flag, address)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return desk.Misused("%s %s: the demo's keys and passwords are public, so it serves on a loopback address only, such as 127.0.0.1:8080", flag, address)
	}
	return nil
}

type seedCommand struct {
	Records int    `default:"1000" help:"How many orders."`
	Data    string `required:"" placeholder:"DIR" help:"The folder to make or fill."`
}

// Run makes the folder and its sample data.
func (s seedCommand) Run(p desk.Program) error {
	if s.Records < 1 {
		return desk.Misused("--records %d: expected at least 1", s.Records)
	}
	began := time.Now()
	if err := seed(p, s.Data, s.Records); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Stdout, "%s holds the sample data (%s)\n", filepath.Join(s.Data, desk.DatabaseFile), time.Since(began).Round(time.Millisecond))
	return err
}

// seed makes a data folder, and fills it with the sample data unless it has it already. With 0
// records it keeps as many as there are.
func seed(p desk.Program, folder string, records int) error {
	if records < 0 {
		return desk.Misused("--records %d: expected at least 1", records)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	model, err := mapping.LoadModel("")
	if err != nil {
		return err
	}
	store, err := reference.Open(p.Ctx, reference.Options{
		DSN: "sqlite:" + filepath.Join(folder, desk.DatabaseFile), Model: model, Hasher: auth.NewHasher(), Now: time.Now, Readers: 1, Log: zap.NewNop(),
	})
	if err != nil {
		return err
	}
	show := terminal.NewStatus(p.Stderr)
	err = reference.Seed(p.Ctx, store, reference.SeedOptions{Records: records, Progress: func(done, total int) { show("sample data: %d of %d orders", done, total) }})
	show("")
	if closing := store.Close(); err == nil {
		err = closing
	}
	return err
}

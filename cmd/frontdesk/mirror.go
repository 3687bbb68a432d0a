package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/mirror"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
)

type mirrorCommand struct {
	URL      string        `arg:"" help:"Base URL of the interface, such as https://api.example.nl/webservice_v2."`
	To       string        `required:"" placeholder:"sqlite:FILE" help:"The copy, such as sqlite:copy.db. It is made where there is none."`
	Resource []string      `placeholder:"NAME" help:"Copy these resources only, separated by commas. Otherwise all that the api_key may GET and whose changes are told."`
	Follow   bool          `help:"Go on with the changes that come, until it is stopped." xor:"way"`
	Every    time.Duration `default:"5s" help:"How often --follow asks for changes."`
	Verify   bool          `help:"Compare the copy with the service, and mend what differs." xor:"way"`

	APIKey       string `name:"api-key" env:"FRONTDESK_API_KEY" placeholder:"UUID" help:"The api_key. It needs GET /changes, GET /model/* and the resources; for --verify and lines also GET /changes/digest."`
	Username     string `env:"FRONTDESK_USERNAME" placeholder:"NAME" help:"The user whose client's records are copied."`
	PasswordFile string `placeholder:"FILE" help:"A file with the user's password. Otherwise it is that of the environment's FRONTDESK_PASSWORD, or is asked for on a terminal."`
}

// Help tells what is made, and what the exit codes mean.
func (mirrorCommand) Help() string {
	return "It keeps a copy of a client's records: a table for each resource, with a column for each field. It reads everything once, then what has changed. It may be stopped at any moment; the same command goes on from there. " +
		"Contents of documents are not copied; lines are in the table of their own resource. Programs may read the copy meanwhile. " +
		"It ends with 0 where the copy is up to date (with --verify: and was whole) or --follow was stopped, with 1 where something failed, with 2 where the command line is wrong, and with 3 where --verify found a difference and mended it."
}

// Run copies.
func (c mirrorCommand) Run(p desk.Program) error {
	file, ok := strings.CutPrefix(c.To, "sqlite:")
	base, err := url.Parse(c.URL)
	switch {
	case !ok || file == "":
		return desk.Misused("--to %s: expected sqlite: and a file, such as sqlite:copy.db", c.To)
	case err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return desk.Misused("expected an address such as https://api.example.nl/webservice_v2")
	case c.Every < 100*time.Millisecond:
		return desk.Misused("--every %s: expected at least 100ms", c.Every)
	case c.APIKey == "" || c.Username == "":
		return desk.Misused("expected --api-key and --username, or FRONTDESK_API_KEY and FRONTDESK_USERNAME in the environment")
	}
	password, err := c.password(p)
	if err != nil {
		return err
	}
	follow := time.Duration(0)
	if c.Follow {
		follow = c.Every
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	say, show := terminal.NewProgress(p.Stdout, p.Stderr)
	defer show("", 0, 0)
	err = mirror.Run(p.Ctx, mirror.Options{
		Base: strings.TrimSuffix(c.URL, "/"), UsualPath: config.Default().Server.BasePath, APIKey: c.APIKey, Username: c.Username, Password: password,
		File: file, Resources: c.Resource, Follow: follow, Verify: c.Verify,
		HTTP: &http.Client{Transport: transport, Timeout: 2 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		Now:  time.Now, After: time.After, Say: say, Show: show,
	})
	var wrong mirror.Wrong
	switch {
	case errors.As(err, &wrong):
		return desk.Misused("%w", err)
	case p.Ctx.Err() != nil && errors.Is(err, p.Ctx.Err()):
		if c.Follow {
			return nil // to be stopped is how it ends
		}
		return errors.New("stopped; the same command goes on from here")
	}
	return err
}

// password is that of the file, of the environment, or what is typed.
func (c mirrorCommand) password(p desk.Program) (string, error) {
	if c.PasswordFile != "" {
		text, err := os.ReadFile(c.PasswordFile)
		if err != nil {
			return "", desk.Misused("--password-file: %w", err)
		}
		return strings.TrimRight(string(text), "\r\n"), nil
	}
	if given := os.Getenv("FRONTDESK_PASSWORD"); given != "" {
		return given, nil
	}
	keyboard := terminal.Keyboard(p.Stdin)
	if keyboard == nil {
		return "", desk.Misused("expected --password-file, or FRONTDESK_PASSWORD in the environment")
	}
	return terminal.AskPassword(keyboard, p.Stderr, fmt.Sprintf("Password of %s: ", terminal.Safe(c.Username)))
}

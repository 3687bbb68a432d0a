package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"frontdesk/backend/backendtest"
	"frontdesk/cmd/frontdesk/atomicfile"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

// conformCommand runs the conformance suite.
type conformCommand struct {
	URL    string `name:"url" xor:"where" placeholder:"BASE" help:"Base URL of a gateway that runs, such as https://api.example.nl/webservice_v2."`
	Config string `xor:"where" placeholder:"FILE" help:"Configuration of a gateway to start for this, on this machine only; none other may serve its database meanwhile."`

	APIKey   string `name:"api-key" env:"API_KEY" placeholder:"UUID" help:"The api_key, best one that may call everything (with --config: made for the occasion)."`
	Username string `env:"FRONTDESK_USER" help:"A user of a scratch client: records are made in it, and deleted again."`
	Password string `env:"FRONTDESK_PASSWORD" help:"The user's password; better in the environment, where nobody sees it."`

	OtherUsername    string `env:"FRONTDESK_OTHER_USERNAME" placeholder:"NAME" help:"A user of another client, to test that neither sees the other."`
	OtherPassword    string `env:"FRONTDESK_OTHER_PASSWORD" placeholder:"WORD"`
	ExternalUsername string `env:"FRONTDESK_EXTERNAL_USERNAME" placeholder:"NAME" help:"An external user."`
	ExternalPassword string `env:"FRONTDESK_EXTERNAL_PASSWORD" placeholder:"WORD"`
	NoemailUsername  string `env:"FRONTDESK_NOEMAIL_USERNAME" placeholder:"NAME" help:"A user without an e-mail address."`
	NoemailPassword  string `env:"FRONTDESK_NOEMAIL_PASSWORD" placeholder:"WORD"`
	BademailUsername string `env:"FRONTDESK_BADEMAIL_USERNAME" placeholder:"NAME" help:"A user with an e-mail address that is not valid."`
	BademailPassword string `env:"FRONTDESK_BADEMAIL_PASSWORD" placeholder:"WORD"`

	ReadOnly   bool   `help:"Send nothing but GET, and test with the records that are there."`
	Only       string `placeholder:"PATTERN" help:"Run the cases of this ID only; * stands for anything, such as 'post.*'."`
	Exceptions string `placeholder:"FILE" help:"Cases that are known to fail (YAML: a list of case, reason and, where it is of one, resource)."`
	List       bool   `help:"Print all cases with the rows they come from, and run none."`
	JUnit      string `name:"junit" placeholder:"FILE" help:"Write the report as JUnit XML."`
	HTML       string `name:"html" placeholder:"FILE" help:"Write the report as one HTML page, with request, answer and expectation of each failure."`
}

// Run tests a gateway. It fails if any case does.
func (c conformCommand) Run(p desk.Program) error {
	cases, err := backendtest.Select(c.Only)
	if err != nil {
		return desk.Misused("%w", err)
	}
	if c.List {
		return backendtest.WriteList(p.Stdout, cases)
	}
	if err := c.complete(); err != nil {
		return err
	}
	options, err := c.options(p)
	if err != nil {
		return err
	}
	var report *backendtest.Report
	if c.Config == "" {
		report, err = backendtest.Run(p.Ctx, options)
	} else {
		report, err = c.runOwn(p, options)
	}
	if report == nil {
		return err
	}
	return errors.Join(c.write(p, report), err)
}

// complete judges the flags that depend on each other.
func (c conformCommand) complete() error {
	switch {
	case c.URL == "" && c.Config == "":
		return desk.Misused("expected --url BASE or --config FILE")
	case c.URL != "" && c.APIKey == "":
		return desk.Misused("--url: expected --api-key too, or API_KEY in the environment")
	case c.Username == "" || c.Password == "":
		return desk.Misused("expected --username and --password, or FRONTDESK_USER and FRONTDESK_PASSWORD in the environment")
	}
	if u, err := url.Parse(c.URL); c.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "") {
		return desk.Misused("--url: expected an address such as https://api.example.nl/webservice_v2")
	}
	return nil
}

func (c conformCommand) options(p desk.Program) (backendtest.Options, error) {
	show := terminal.NewStatus(p.Stderr)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	options := backendtest.Options{
		BaseURL: c.URL, APIKey: c.APIKey, Login: backendtest.Login{Username: c.Username, Password: c.Password},
		Other:    backendtest.Login{Username: c.OtherUsername, Password: c.OtherPassword},
		External: backendtest.Login{Username: c.ExternalUsername, Password: c.ExternalPassword},
		NoEmail:  backendtest.Login{Username: c.NoemailUsername, Password: c.NoemailPassword},
		BadEmail: backendtest.Login{Username: c.BademailUsername, Password: c.BademailPassword},
		ReadOnly: c.ReadOnly, Only: c.Only,
		HTTP: &http.Client{Transport: transport, Timeout: 60 * time.Second},
		Progress: func(done, total int, id string) {
			if done == total {
				show("")
				return
			}
			show("conform: %d of %d, %s", done, total, id)
		},
	}
	if c.Exceptions == "" {
		return options, nil
	}
	src, err := os.ReadFile(c.Exceptions)
	if err != nil {
		return options, desk.Misused("--exceptions: %w", err)
	}
	exceptions, problems := backendtest.ReadExceptions(c.Exceptions, src)
	options.Exceptions = exceptions
	return options, problems.Err()
}

// runOwn starts a gateway and tests it.
func (c conformCommand) runOwn(p desk.Program, options backendtest.Options) (report *backendtest.Report, err error) {
	conf, err := desk.LoadConfig(c.Config)
	if err != nil {
		return nil, err
	}
	if options.Shared, err = sharedResources(conf); err != nil {
		return nil, err
	}
	if conf.Backend.Driver == desk.ReferenceDriver { // with another driver, this may be the first start
		database, err := desk.DatabaseOf(conf)
		if err == nil {
			err = database.There()
		}
		if err != nil {
			return nil, err
		}
	}
	err = withGateway(p, conf, func(baseURL, key string) (err error) {
		options.BaseURL, options.APIKey, options.AllowsAll = baseURL, key, true
		report, err = backendtest.Run(p.Ctx, options)
		return err
	})
	return report, err
}

// write prints the table and writes the files that were asked for.
func (c conformCommand) write(p desk.Program, report *backendtest.Report) error {
	if err := report.WriteTable(p.Stdout); err != nil {
		return err
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{{c.JUnit, report.WriteJUnit}, {c.HTML, report.WriteHTML}} {
		if file.name == "" {
			continue
		}
		if err := atomicfile.Write(file.name, 0o600, file.write); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	if n := report.Count(backendtest.Failed); n > 0 {
		return fmt.Errorf("the backend does not conform: %d failed", n)
	}
	return nil
}

package adopt

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"frontdesk/backend/backendtest"
	"frontdesk/backend/mapfixture"
	"frontdesk/cmd/frontdesk/atomicfile"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

type testCommand struct {
	Config   string   `required:"" placeholder:"FILE" help:"Configuration of a gateway to start for this, on this machine only; none other may serve its database meanwhile."`
	Fixtures []string `arg:"" name:"fixture" help:"Files of requests and their documented answers (YAML)."`
	Record   bool     `help:"Write what is answered into the files, in place of what they expect."`
	JUnit    string   `name:"junit" placeholder:"FILE" help:"Write the results as JUnit XML."`
}

// Run fails where an answer differs.
func (c testCommand) Run(p desk.Program) error {
	fixtures, err := c.read()
	if err != nil {
		return err
	}
	conf, err := desk.LoadConfig(c.Config)
	if err != nil {
		return err
	}
	var all []mapfixture.Result
	err = desk.WithGateway(p, conf, "map-test", func(baseURL, key string) error {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		defer transport.CloseIdleConnections()
		g := mapfixture.Gateway{
			BaseURL: baseURL, APIKey: key, Record: c.Record, Now: time.Now,
			HTTP: &http.Client{Transport: transport, Timeout: time.Minute},
		}
		for _, f := range fixtures {
			results, err := g.Run(p.Ctx, f)
			all = append(all, results...)
			if err != nil {
				return err
			}
			if c.Record {
				if err := save(f); err != nil {
					return fmt.Errorf("record: %w", err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.write(p, all)
}

// read reads all fixtures; what is wrong with them is told at once.
func (c testCommand) read() (fixtures []*mapfixture.Fixture, err error) {
	var problems strictyaml.Problems
	for _, file := range c.Fixtures {
		f, err := mapfixture.Read(file, config.Expander(os.LookupEnv), c.Record)
		var found strictyaml.Problems
		switch {
		case errors.As(err, &found):
			problems = append(problems, found...)
		case err != nil:
			return nil, desk.Misused("%w", err)
		}
		fixtures = append(fixtures, f)
	}
	return fixtures, problems.Err()
}

// save writes a fixture with its answers into its file, also behind a link.
func save(f *mapfixture.Fixture) error {
	file, err := filepath.EvalSymlinks(f.File)
	if err != nil {
		return err
	}
	return atomicfile.Replace(file, f.Source, f.Text())
}

func (c testCommand) write(p desk.Program, all []mapfixture.Result) error {
	failed, fixture := 0, ""
	for _, r := range all {
		if r.Fixture != fixture {
			fixture = r.Fixture
			fmt.Fprintln(p.Stdout, fixture)
		}
		word := "ok    "
		if !r.Passed() {
			word = "FAILED"
			failed++
		} else if c.Record {
			word = "saved "
		}
		fmt.Fprintf(p.Stdout, "  %s %s\n", word, r.Case)
		for _, line := range r.Differences {
			fmt.Fprintf(p.Stdout, "         %s\n", line)
		}
	}
	fmt.Fprintf(p.Stdout, "%d passed, %d failed\n", len(all)-failed, failed)
	if c.JUnit != "" {
		if err := atomicfile.Write(c.JUnit, 0o600, func(w io.Writer) error { return backendtest.WriteJUnit(w, suiteOf(all)) }); err != nil {
			return fmt.Errorf("write the results: %w", err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d answer(s) differ", failed)
	}
	return nil
}

// suiteOf is the results for JUnit.
func suiteOf(all []mapfixture.Result) backendtest.JUnitSuite {
	s := backendtest.JUnitSuite{Name: "frontdesk map test", Tests: len(all)}
	for _, r := range all {
		c := backendtest.JUnitCase{Class: r.Fixture, Name: r.Case, Time: fmt.Sprintf("%.3f", r.Took.Seconds())}
		if !r.Passed() {
			s.Failures++
			c.Failure = &backendtest.JUnitMessage{Message: "the answer differs", Text: strings.Join(r.Differences, "\n")}
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

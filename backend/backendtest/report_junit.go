package backendtest

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// JUnitSuite is a suite of cases, in the structure that CI servers read as JUnit.
type JUnitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []JUnitCase `xml:"testcase"`
}

// JUnitCase is a case of a suite.
type JUnitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *JUnitMessage `xml:"failure"`
	Skipped *JUnitMessage `xml:"skipped"`
}

// JUnitMessage says why a case failed, or was skipped.
type JUnitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitGroup `xml:"testsuite"`
}

// junitGroup is a suite that counts what was skipped, too.
type junitGroup struct {
	JUnitSuite
	Skipped int `xml:"skipped,attr"`
}

// WriteJUnit writes the report as JUnit XML: a suite for each group of cases;
// what is impossible, needs more or is known to fail counts as skipped.
func (r *Report) WriteJUnit(w io.Writer) error {
	all := junitSuites{Name: "frontdesk-kit conform", Tests: len(r.Results), Failures: r.Count(Failed), Time: fmt.Sprintf("%.3f", r.Took.Seconds())}
	all.Skipped = r.Count(Known) + r.Count(Impossible) + r.Count(Needs)
	place := map[string]int{}
	for _, result := range r.Results {
		group, _, _ := strings.Cut(result.Case.ID, ".")
		i, there := place[group]
		if !there {
			i = len(all.Suites)
			place[group] = i
			all.Suites = append(all.Suites, junitGroup{JUnitSuite: JUnitSuite{Name: group}})
		}
		suite := &all.Suites[i]
		one := JUnitCase{Class: "frontdesk.conform." + group, Name: result.Name(), Time: fmt.Sprintf("%.3f", result.Took.Seconds())}
		switch result.Status {
		case Failed:
			one.Failure = &JUnitMessage{Message: result.Reason, Type: "conformance", Text: result.detail()}
			suite.Failures++
		case Known, Impossible, Needs:
			one.Skipped = &JUnitMessage{Message: string(result.Status) + ": " + result.Reason}
			suite.Skipped++
		}
		suite.Tests++
		suite.Cases = append(suite.Cases, one)
	}
	return WriteJUnit(w, all)
}

// WriteJUnit writes a JUnitSuite as XML, or several.
func WriteJUnit(w io.Writer, suites any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suites); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// detail is a failure in plain text, without what XML cannot hold.
func (r Result) detail() string {
	var b strings.Builder
	fmt.Fprintf(&b, "row: %s\nexpected: %s\ngot: %s\n", r.Case.Row, r.Expected, r.Got)
	if n := len(r.Exchanges); n > 0 {
		x := r.Exchanges[n-1]
		fmt.Fprintf(&b, "request: %s %s\n%s\nanswer: %d\n%s\n", x.Method, x.URL, x.RequestBody, x.Status, x.AnswerBody)
	}
	fmt.Fprintf(&b, "cure: %s\n", r.Case.Hint)
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == utf8.RuneError {
			return '�'
		}
		return c
	}, b.String())
}

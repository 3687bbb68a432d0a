package backendtest

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// junitReport and what is in it have the structure that CI servers read as JUnit.
type junitReport struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitCounts
	Time   string       `xml:"time,attr"`
	Suites []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCounts
	Cases []junitCase `xml:"testcase"`
}

type junitCounts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Skipped  int `xml:"skipped,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report as JUnit XML: a suite for each group of cases;
// what is impossible, needs more or is known to fail counts as skipped.
func (r *Report) WriteJUnit(w io.Writer) error {
	all := junitReport{Name: "frontdesk-kit conform", Time: fmt.Sprintf("%.3f", r.Took.Seconds())}
	place := map[string]int{}
	for _, result := range r.Results {
		group, _, _ := strings.Cut(result.Case.ID, ".")
		i, there := place[group]
		if !there {
			i = len(all.Suites)
			place[group] = i
			all.Suites = append(all.Suites, junitSuite{Name: group})
		}
		one, count := junitCase{Class: "frontdesk.conform." + group, Name: result.Name(), Time: fmt.Sprintf("%.3f", result.Took.Seconds())}, junitCounts{Tests: 1}
		switch result.Status {
		case Failed:
			one.Failure, count.Failures = &junitMessage{Message: result.Reason, Type: "conformance", Text: result.detail()}, 1
		case Known, Impossible, Needs:
			one.Skipped, count.Skipped = &junitMessage{Message: string(result.Status) + ": " + result.Reason}, 1
		}
		suite := &all.Suites[i]
		suite.Cases = append(suite.Cases, one)
		suite.add(count)
		all.add(count)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	return encoder.Encode(all)
}

func (c *junitCounts) add(more junitCounts) {
	c.Tests, c.Failures, c.Skipped = c.Tests+more.Tests, c.Failures+more.Failures, c.Skipped+more.Skipped
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

package backendtest

import (
	"context"
	"fmt"
	"net/http"
	glob "path"
	"slices"
	"time"

	"frontdesk/mapping"
)

// Login is a username and its password.
type Login struct{ Username, Password string }

func (l Login) given() bool { return l.Username != "" }

// Options say what is tested, and how.
type Options struct {
	BaseURL string // with the base path, without a slash at the end
	APIKey  string
	Login   Login

	// The logins that some rows are about; without one these rows end as Needs.
	Other    Login // of another client
	External Login // of an external user
	NoEmail  Login // of a user without an e-mail address
	BadEmail Login // of a user whose e-mail address is not valid

	ReadOnly   bool        // sends nothing but GET
	AllowsAll  bool        // the api_key may call everything that exists
	Shared     []string    // resources whose records all clients see, on purpose
	Only       string      // a pattern of case IDs, such as "post.*"; "" for all
	Exceptions []Exception // known failures

	HTTP     *http.Client // nil for one that gives up after 30 s
	Progress func(done, total int, id string)
}

// Status is how a case ended.
type Status string

// The ways a case can end.
const (
	Passed     Status = "passed"
	Failed     Status = "failed"
	Known      Status = "known"      // failed, as an exception says
	Impossible Status = "impossible" // there is nothing to test here, or no way to
	Needs      Status = "needs"      // needs something that it was not given
)

// Result is how a case ended; on one resource, if it runs on each.
type Result struct {
	Case     Case
	Resource string // "" if the case chooses for itself
	Status   Status
	// Reason says why the case is impossible, what it needs, what the exception says,
	// or in a word why it failed.
	Reason        string
	Expected, Got string // of a failure
	Exchanges     []Exchange
	Took          time.Duration
	unneeded      bool // failed because an exception was not needed
}

// Name is the case and, if it runs on each, the resource.
func (r Result) Name() string {
	if r.Resource == "" {
		return r.Case.ID
	}
	return r.Case.ID + " [" + r.Resource + "]"
}

// Report is a whole run.
type Report struct {
	BaseURL   string
	Began     time.Time
	Took      time.Duration
	ReadOnly  bool
	Resources []string // that were tested
	Results   []Result
	LeftOver  []string // records that the run made and could not delete, each with the reason
}

// Count is how many results ended in a status.
func (r *Report) Count(s Status) int {
	n := 0
	for _, result := range r.Results {
		if result.Status == s {
			n++
		}
	}
	return n
}

// Run runs the suite. Its error says why it could not begin, or that ctx ended;
// failures of cases are in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	cases, err := Select(o.Only)
	if err != nil {
		return nil, err
	}
	s := newSuite(ctx, o)
	report := &Report{BaseURL: s.base, Began: time.Now(), ReadOnly: o.ReadOnly}
	defer s.http.CloseIdleConnections()
	if err := s.prepare(); err != nil {
		return nil, err
	}
	for _, r := range s.resources {
		report.Resources = append(report.Resources, r.Name)
	}
	for i, c := range cases {
		s.Progress(i, len(cases), c.ID)
		on := []*Resource{nil}
		if c.Each {
			on = s.resources
		}
		for _, r := range on {
			report.Results = append(report.Results, s.runOn(c, r))
		}
		if ctx.Err() != nil {
			break
		}
	}
	s.Progress(len(cases), len(cases), "")
	s.ctx = context.WithoutCancel(ctx) // the run's records are deleted even after ctx has ended
	report.LeftOver = s.cleanUp()
	report.Results = except(report.Results, o.Exceptions)
	report.Took = time.Since(report.Began)
	s.logout()
	return report, ctx.Err()
}

// suite is what the cases of a run share.
type suite struct {
	Options
	ctx       context.Context
	base      string
	http      *http.Client
	catalogue *mapping.Catalogue
	secrets   []string

	token, otherToken string
	loggedIn          time.Time
	access            map[string]bool // "GET /order"
	resources         []*Resource

	run     string // in every value that must be unique
	count   int
	made    []madeRecord
	shared  map[string]int            // a record of each resource that cases may read
	system  map[string]int            // a system record of each resource; 0 for none
	records map[string]map[string]any // in read-only, one of each resource
	closed  *closedOrder
	stale   string // the token of a session that was logged out

	alphabets map[string]rune // of fields that were found to keep less than Unicode
	zone      *time.Location
}

// runOn runs a case; on a resource, if it runs on each.
func (s *suite) runOn(c Case, r *Resource) Result {
	t := &T{suite: s, c: c, resource: r}
	began := time.Now()
	result := Result{Case: c}
	if r != nil {
		result.Resource = r.Name
	}
	ended := t.run()
	result.Status, result.Reason, result.Expected, result.Got = ended.status, s.redact(ended.reason), s.redact(ended.expected), s.redact(ended.got)
	result.Exchanges, result.Took = t.exchanges, time.Since(began)
	return result
}

// Select returns the cases whose ID a pattern names: * stands for anything.
func Select(pattern string) ([]Case, error) {
	all := Cases()
	if pattern == "" {
		return all, nil
	}
	selected := slices.DeleteFunc(all, func(c Case) bool {
		fits, err := glob.Match(pattern, c.ID)
		return err != nil || !fits
	})
	if len(selected) == 0 {
		return nil, fmt.Errorf("no case is called %s%s", pattern, suggestCase(pattern))
	}
	return selected, nil
}

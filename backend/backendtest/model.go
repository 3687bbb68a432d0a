package backendtest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"frontdesk/mapping"
)

// Field is a field as GET /model describes it.
type Field struct {
	Name       string `json:"name"`
	Datatype   string `json:"datatype"`
	Length     int    `json:"length"`
	Required   bool   `json:"required"`
	Readonly   bool   `json:"readonly"`
	Unique     bool   `json:"unique"`
	Primary    bool   `json:"primary"`
	Reference  string `json:"reference"`
	Validation string `json:"custom_validation"`
	After      string `json:"after"`
	Array      bool   `json:"array"`

	NotFilterableBy []string `json:"not_filterable_by"`
}

func (f *Field) writable() bool { return !f.Readonly && !f.Primary }

// scalar reports whether lists answer the field, filter and sort by it.
func (f *Field) scalar() bool { return !f.Array && f.Datatype != "bytea" }

// options are the values of a custom validation that lists them.
func (f *Field) options() []string {
	if !strings.Contains(f.Validation, "|") {
		return nil
	}
	return strings.Split(f.Validation, "|")
}

// Resource is a resource as its model describes it.
type Resource struct {
	Name     string   `json:"name"`
	Fields   []*Field `json:"fields"`
	Changes  string   `json:"changes"`
	requires []string
	listed   bool // records come only in lists, and cannot be read one by one
}

func (r *Resource) field(name string) *Field {
	return r.find(func(f *Field) bool { return f.Name == name })
}

// find is the first field that suits, or nil.
func (r *Resource) find(suits func(f *Field) bool) *Field {
	if i := slices.IndexFunc(r.Fields, suits); i >= 0 {
		return r.Fields[i]
	}
	return nil
}

// sortsBy is the first field that lists may be sorted by, or nil.
func (r *Resource) sortsBy() *Field {
	return r.find(func(f *Field) bool { return f.scalar() })
}

// newestFirst is the parameter for lists that begin with the newest record.
const newestFirst = "&sort=-id"

// well-known resources, those that cases prefer first.
var resourceNames = []string{
	"contact", "order", "orderline", "vehicle", "vehicleroleline", "vehicleadvertisementsite", "contactcommunication", "contactaddress",
	"flatrate", "flatrateline", "article", "employee", "document", "turnovergroup", "advertisementsite", "country",
}

func newSuite(ctx context.Context, o Options) *suite {
	s := &suite{
		Options: o, ctx: ctx, base: strings.TrimRight(o.BaseURL, "/"), http: o.HTTP, catalogue: mapping.NewCatalogue(),
		run: strings.ToLower(rand.Text()[:6]), shared: map[string]int{}, system: map[string]int{}, records: map[string]map[string]any{},
		alphabets: map[string]rune{},
	}
	if s.Progress == nil {
		s.Progress = func(int, int, string) {}
	}
	if s.http == nil {
		s.http = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(), Timeout: 30 * time.Second}
	}
	client := *s.http
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.http = &client
	for _, secret := range []string{o.APIKey, o.Login.Password, o.Other.Password, o.External.Password, o.NoEmail.Password, o.BadEmail.Password} {
		s.secret(secret)
	}
	return s
}

func (s *suite) loginPath(key string, l Login) string {
	return "/authenticate?api_key=" + url.QueryEscape(key) + "&organization_name=&username=" + url.QueryEscape(l.Username) + "&password=" + url.QueryEscape(l.Password)
}

// login begins a session.
func (s *suite) login(l Login) (string, error) {
	a, _, err := s.do("", "GET", s.loginPath(s.APIKey, l), "")
	if err != nil {
		return "", err
	}
	var body struct{ Token string }
	if json.Unmarshal(a.body, &body) != nil || a.status != http.StatusOK || body.Token == "" {
		f, _ := a.failure() // if the body has no reason, the status is used
		return "", fmt.Errorf("user %s cannot log in: %d %s", l.Username, a.status, f.Message)
	}
	s.secret(body.Token)
	return body.Token, nil
}

// session is the token of the login, a new one before the old one ends.
func (s *suite) session() string {
	if time.Since(s.loggedIn) > 25*time.Minute {
		if token, err := s.login(s.Login); err == nil {
			s.token, s.loggedIn = token, time.Now()
		}
	}
	return s.token
}

func (s *suite) logout() {
	for _, token := range []string{s.token, s.otherToken} {
		if token != "" {
			_, _, _ = s.do(token, "GET", "/authenticate/logout", "") // the session ends by itself too
		}
	}
}

// prepare logs in, and reads what the api_key may call, and the model.
func (s *suite) prepare() (err error) {
	if s.token, err = s.login(s.Login); err != nil {
		return err
	}
	s.loggedIn = time.Now()
	if s.Other.given() {
		if s.otherToken, err = s.login(s.Other); err != nil {
			return err
		}
	}
	t := &T{suite: s, c: Case{run: learn}}
	if o := t.run(); o.status == Failed {
		return fmt.Errorf("%s %s: %s: expected %s, got %s", t.last.method, t.last.path, o.reason, o.expected, o.got)
	}
	switch {
	case !s.can("GET", "/model/order"):
		return errors.New("the api_key may not call GET /model/*, from which the suite learns what to test: allow it")
	case len(s.resources) == 0:
		return errors.New("GET /model describes none of the resources that the api_key may call")
	}
	return nil
}

// learn reads what the api_key may call, and the models of these resources.
func learn(t *T) {
	var body struct {
		Data struct {
			Endpoints []struct{ Method, Path string }
		}
	}
	t.read(t.send(t.token, "GET", "/authenticate/acces", ""), &body)
	t.access = map[string]bool{}
	names := slices.Clone(resourceNames)
	for _, e := range body.Data.Endpoints {
		t.access[e.Method+" "+e.Path] = true
		if name := strings.TrimPrefix(e.Path, "/"); !strings.ContainsAny(name, "/*") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if t.can("GET", "/"+name) || t.can("POST", "/"+name) {
			t.learn(name)
		}
	}
}

var requiredParameters = regexp.MustCompile(`^These parameter\(s\): (.+) are required$`)

// learn reads the model of a resource, if there is one, and learns from refusals which
// parameters its list needs, and whether single records can be read.
func (t *T) learn(name string) {
	var body struct{ Data *Resource }
	a := t.send(t.token, "GET", "/model/"+name, "")
	if a.status != http.StatusOK {
		return
	}
	t.read(a, &body)
	r := body.Data
	if r == nil || r.field("id") == nil {
		return
	}
	if t.can("GET", "/"+name) {
		list, _ := t.send(t.token, "GET", "/"+name+"?page_size=1", "").failure() // zero for a page
		if parameters := requiredParameters.FindStringSubmatch(list.Message); parameters != nil {
			r.requires = strings.Split(parameters[1], " , ")
		}
		one, _ := t.send(t.token, "GET", "/"+name+"/1", "").failure()
		r.listed = one.Reason == string(mapping.MethodUnsupported)
	}
	t.resources = append(t.resources, r)
}

// can reports whether the api_key may call something.
func (s *suite) can(method, path string) bool {
	path, _, _ = strings.Cut(path, "?")
	if strings.HasPrefix(path, "/authenticate") || s.access[method+" "+path] {
		return true
	}
	above := path[:max(strings.LastIndexByte(path, '/'), 0)]
	item := path[len(above)+1:]
	return s.access[method+" "+above+"/*"] || above != "" && item != "" && item[0] >= '0' && item[0] <= '9' && s.access[method+" "+above]
}

// known is the resource of that name, or nil.
func (s *suite) known(name string) *Resource {
	for _, r := range s.resources {
		if r.Name == name {
			return r
		}
	}
	return nil
}

package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestConformNarrow gives the suite less: an api_key for some of the endpoints,
// a model of a vendor's own, nothing but GET.
func TestConformNarrow(t *testing.T) {
	t.Parallel()
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Keys: rig.KeyConfig("few", rig.TinyKey, "    allow: [\"* /contact\", \"* /contactcommunication\", \"GET /model/*\"]\n")})
	o := rig.ConformOptions(d.Base)
	o.APIKey = rig.TinyKey
	few := rig.Conform(t, o)
	require.Empty(t, rig.Ended(few, backendtest.Failed), "%s", rig.Failures(few))
	require.Empty(t, few.LeftOver)
	require.Equal(t, []string{"contact", "contactcommunication"}, few.Resources)
	require.Greater(t, few.Count(backendtest.Passed), 130)
	require.Contains(t, rig.Needs(few), "an api_key that may call /vehicle")

	o.APIKey = rig.OrdersKey
	orders := rig.Conform(t, o)
	require.Empty(t, rig.Ended(orders, backendtest.Failed), "%s", rig.Failures(orders))
	require.Contains(t, rig.Ended(orders, backendtest.Passed), "list.paging [order orderline]")

	o.APIKey, o.ReadOnly = rig.FullKey, true
	p := &rig.Practice{T: t, Desk: d, Count: new(int)}
	before := p.Counts()
	reading := rig.Conform(t, o)
	require.Empty(t, rig.Ended(reading, backendtest.Failed), "%s", rig.Failures(reading))
	require.Greater(t, reading.Count(backendtest.Passed), 200)
	require.Equal(t, before, p.Counts(), "it only read")
}

// defect is one of testdata/defects.yaml.
type defect struct {
	Name, Of, Without, Instead string
	Query, Body, Answer        [2]string
	Headers                    map[string]string
	Status                     [2]int
	Fails                      []string
}

const everyResource = "[contact order orderline vehicle vehicleroleline vehicleadvertisementsite contactcommunication contactaddress " +
	"flatrate flatrateline article employee document turnovergroup advertisementsite country]"

// base is the path of every desk here.
const base = "/webservice_v2"

// asked is what a defect is told by: method, path and query.
func asked(r *http.Request) string {
	return r.Method + " " + strings.TrimPrefix(r.URL.Path, base) + "?" + r.URL.RawQuery
}

func rewrite(text string, how [2]string) string {
	if how[0] == "" {
		return text
	}
	return regexp.MustCompile(how[0]).ReplaceAllString(text, how[1])
}

// request does to a request what the defect does.
func (d *defect) request(r *http.Request) {
	r.Header.Del(d.Without)
	r.URL.RawQuery = strings.TrimPrefix(rewrite(r.URL.RawQuery, d.Query), "&")
	if d.Body[0] != "" {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		text := rewrite(string(body), d.Body)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		r.Header.Set("Content-Length", strconv.Itoa(len(text)))
	}
	if d.Instead != "" {
		r.Method, r.URL.Path = "GET", base+d.Instead
	}
}

// answer does so to an answer.
func (d *defect) answer(a *http.Response, body string) string {
	for name, value := range d.Headers {
		if a.Header.Del(name); value != "" {
			a.Header.Set(name, value)
		}
	}
	if a.StatusCode == d.Status[0] {
		a.StatusCode = d.Status[1]
	}
	return rewrite(body, d.Answer)
}

// fitting are the defects that a request is meant by.
type fitting struct{}

// behind is the base URL of a desk behind a proxy with these defects.
func behind(t *testing.T, desk string, defects []defect) string {
	target := must.Have(url.Parse(desk))(t)
	transport := &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.RawQuery = target.Scheme, target.Host, r.In.URL.RawQuery
			var fit []*defect
			for i := range defects {
				if d := &defects[i]; regexp.MustCompile(d.Of).MatchString(asked(r.In)) {
					fit = append(fit, d)
					d.request(r.Out)
				}
			}
			r.Out = r.Out.WithContext(context.WithValue(r.Out.Context(), fitting{}, fit))
		},
		ModifyResponse: func(a *http.Response) error {
			body, err := io.ReadAll(a.Body)
			if err != nil {
				return err
			}
			if a.StatusCode != http.StatusNotModified {
				for _, d := range a.Request.Context().Value(fitting{}).([]*defect) {
					body = []byte(d.answer(a, string(body)))
				}
			}
			a.Body, a.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			a.Header.Set("Content-Length", strconv.Itoa(len(body)))
			return nil
		},
	})
	t.Cleanup(func() {
		proxy.Close()
		transport.CloseIdleConnections()
	})
	return proxy.URL + target.Path
}

// TestConformFindsDefects puts proxies before a desk that is whole: each defect
// fails the cases that are about it, and no other.
func TestConformFindsDefects(t *testing.T) {
	t.Parallel()
	text := must.Have(os.ReadFile("testdata/defects.yaml"))(t)
	var batches [][]defect
	require.NoError(t, yaml.UnmarshalWithOptions(text, &batches, yaml.Strict()))
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	for _, batch := range batches {
		var names, fails []string
		for _, defect := range batch {
			names = append(names, defect.Name)
			for _, of := range defect.Fails {
				fails = append(fails, strings.Replace(of, "ALL", everyResource, 1))
			}
		}
		t.Run(strings.Join(names, ", "), func(t *testing.T) {
			report := rig.Conform(t, rig.ConformOptions(behind(t, d.Base, batch)))
			require.ElementsMatch(t, apart(fails), apart(rig.Ended(report, backendtest.Failed)), "%s", rig.Failures(report))
		})
	}
}

// apart names each resource of a case by itself.
func apart(names []string) (all []string) {
	for _, name := range names {
		id, resources, _ := strings.Cut(strings.TrimSuffix(name, "]"), " [")
		for _, resource := range strings.Split(resources, " ") {
			all = append(all, id+" "+resource)
		}
	}
	return all
}

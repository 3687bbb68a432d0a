package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	"frontdesk/cmd/frontdesk/rig"
)

// defect is what a proxy makes of a desk, and the cases that must find it:
// these, and no other.
type defect struct {
	name    string
	request func(r *http.Request)                      // nil leaves requests alone
	answer  func(a *http.Response, body []byte) []byte // nil leaves answers alone
	fails   []string
}

// batches are defects that do not get into each other's way, so that one run
// finds several.
var batches = [][]defect{
	{
		{name: "another message",
			answer: replace(` ID not found"`, ` ID was not found"`),
			fails: []string{
				"post.related_id_not_found", "put.related_id_not_found", "order.children_undone",
				"record.references [order orderline vehicle vehicleroleline vehicleadvertisementsite contactcommunication contactaddress flatrateline article]",
				"isolation.references",
			}},
		{name: "another status",
			answer: func(a *http.Response, body []byte) []byte {
				if a.StatusCode == http.StatusNotAcceptable {
					a.StatusCode = http.StatusConflict
				}
				return body
			},
			fails: []string{"delete.in_use", "empoyee.email.username_missing"}},
		{name: "another reason", answer: replace(`"reason":"second_owner"`, `"reason":"owner_twice"`), fails: []string{"vehicleroleline.second_owner"}},
		{name: "another field", answer: replace(`"field":"Huisnummer"`, `"field":"house_number"`),
			fails: []string{"contact.checkaddress.int4_invalid", "contact.checkaddress.address_part_too_long"}},
		{name: "no request id", answer: header("X-Request-Id", ""), fails: []string{"wire.request_id"}},
		{name: "cached answers", answer: header("Cache-Control", "max-age=60"), fails: []string{"wire.cache_control"}},
		{name: "no If-Match", request: without("If-Match"), fails: []string{"general.record_changed", "etag.if_match", "etag.one_wins"}},
		{name: "values swapped",
			answer: rewrite(`"first_name":("(?:[^"\\]|\\.)+"),"infix":("(?:[^"\\]|\\.)+")`, `"first_name":$2,"infix":$1`), fails: []string{"record.round_trip [contact]", "list.filters [contact]"}},
	},
	{
		{name: "fields swapped",
			answer: rewrite(`("vin":[^,]+),("brand":[^,]+)`, "$2,$1"), fails: []string{"record.field_order [vehicle]"}},
		{name: "seconds only",
			answer: rewrite(`("birth_date":"[^".]+\.)\d{3}Z`, "${1}000Z"), fails: []string{"record.milliseconds [contact]", "list.filters [contact]", "list.operators [contact]"}},
		{name: "a filter left out", request: dropQuery("/article", "ean"), fails: []string{"list.filters [article]"}},
		{name: "modified_since left out", request: dropQuery("/employee", "modified_since"), fails: []string{"list.modified_since [employee]", "list.modified_since_milliseconds [employee]"}},
		{name: "sort left out", request: dropQuery("/flatrate", "sort"), fails: []string{"list.sort [flatrate]"}},
		{name: "until too late",
			answer: func(a *http.Response, body []byte) []byte {
				if a.Request.URL.Path == "/webservice_v2/flatrate" {
					body = regexp.MustCompile(`"until":"\d{4}`).ReplaceAll(body, []byte(`"until":"2999`))
				}
				return body
			},
			fails: []string{"list.until [flatrate]"}},
		{name: "two users of one client",
			request: func(r *http.Request) {
				r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "username=other&password=other", "username=demo&password=demo", 1)
			},
			fails: []string{"isolation.records " + everyResource, "isolation.lists " + everyResource, "isolation.references"}},
		{name: "an update that empties",
			request: func(r *http.Request) {
				if r.Method == "PUT" && strings.HasPrefix(r.URL.Path, "/webservice_v2/employee/") {
					changeBody(r, func(body []byte) []byte {
						return regexp.MustCompile(`^\{"first_name":"Ün`).ReplaceAll(body, []byte(`{"job_title":null,"first_name":"Ün`))
					})
				}
			},
			fails: []string{"record.put_merges [employee]"}},
	},
	{
		{name: "no ETag", answer: header("ETag", ""), fails: []string{"order.etag_of_lines", "etag.strong", "etag.if_none_match", "etag.if_match", "etag.one_wins"}},
		{name: "no Idempotency-Key", request: without("Idempotency-Key"), fails: []string{
			"general.idempotency_key_invalid", "general.idempotency_key_reused", "idempotency.replay", "idempotency.at_once"}},
		{name: "records that stay",
			request: func(r *http.Request) {
				if r.Method == "DELETE" && strings.HasPrefix(r.URL.Path, "/webservice_v2/turnovergroup/") {
					r.Method, r.URL.Path = "GET", "/webservice_v2/authenticate/acces"
					r.Header.Set("X-Kept", "yes")
				}
			},
			answer: func(a *http.Response, body []byte) []byte {
				if a.Request.URL.Path == "/webservice_v2/authenticate/acces" && a.Request.Header.Get("X-Kept") != "" {
					return []byte(`{"successCode":200}`)
				}
				return body
			},
			fails: []string{"record.deleted [turnovergroup]", "list.written [turnovergroup]", "isolation.records [turnovergroup]"}},
		{name: "lists that are behind", request: without("Accept-Encoding"),
			answer: func(a *http.Response, body []byte) []byte {
				if a.Request.URL.Path == "/webservice_v2/country" && strings.HasPrefix(a.Request.URL.RawQuery, "page_size=1000&sort=-id") {
					body = regexp.MustCompile(`"name":"CF[^"]*"`).ReplaceAll(body, []byte(`"name":"Before"`))
				}
				return body
			},
			fails: []string{"list.written [country]", "list.filters [country]"}},
	},
}

const everyResource = "[contact order orderline vehicle vehicleroleline vehicleadvertisementsite contactcommunication contactaddress " +
	"flatrate flatrateline article employee document turnovergroup advertisementsite country]"

func replace(old, with string) func(*http.Response, []byte) []byte {
	return func(_ *http.Response, body []byte) []byte {
		return bytes.ReplaceAll(body, []byte(old), []byte(with))
	}
}

// rewrite is replace by a pattern.
func rewrite(pattern, with string) func(*http.Response, []byte) []byte {
	re := regexp.MustCompile(pattern)
	return func(_ *http.Response, body []byte) []byte { return re.ReplaceAll(body, []byte(with)) }
}

// header gives answers a header; "" leaves it out.
func header(name, value string) func(*http.Response, []byte) []byte {
	return func(a *http.Response, body []byte) []byte {
		if a.Header.Del(name); value != "" {
			a.Header.Set(name, value)
		}
		return body
	}
}

func without(name string) func(r *http.Request) {
	return func(r *http.Request) { r.Header.Del(name) }
}

// dropQuery leaves a parameter out of the lists of a resource.
func dropQuery(path, name string) func(r *http.Request) {
	parameter := regexp.MustCompile(`(^|&)` + name + `=[^&]*`)
	return func(r *http.Request) {
		if r.Method == "GET" && r.URL.Path == "/webservice_v2"+path {
			r.URL.RawQuery = strings.TrimPrefix(parameter.ReplaceAllString(r.URL.RawQuery, ""), "&")
		}
	}
}

func changeBody(r *http.Request, change func([]byte) []byte) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	body = change(body)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

// behind is the base URL of a desk behind a proxy with these defects.
func behind(t *testing.T, base string, defects []defect) string {
	target, err := url.Parse(base)
	require.NoError(t, err)
	transport := &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.RawQuery = target.Scheme, target.Host, r.In.URL.RawQuery
			for _, d := range defects {
				if d.request != nil {
					d.request(r.Out)
				}
			}
		},
		ModifyResponse: func(a *http.Response) error {
			body, err := io.ReadAll(a.Body)
			if err != nil {
				return err
			}
			for _, d := range defects {
				if d.answer != nil && a.StatusCode != http.StatusNotModified {
					body = d.answer(a, body)
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
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	for _, batch := range batches {
		var names, fails []string
		for _, defect := range batch {
			names, fails = append(names, defect.name), append(fails, defect.fails...)
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

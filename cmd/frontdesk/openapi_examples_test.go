package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
)

// exampleRequest is a request as the description's examples make it.
type exampleRequest struct {
	operation, method, path, body string
	headers                       []string
	success                       []string
}

// exampleRequests are every example of a description: each body with what is
// required, and each optional parameter that has an example by itself.
func exampleRequests(doc *openapi3.T) []exampleRequest {
	var all []exampleRequest
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			all = append(all, examplesOf(path, method, op)...)
		}
	}
	// What is deleted was made before, and the session ends last.
	order := func(r exampleRequest) string {
		rank := map[bool]string{true: "1"}[r.method == "DELETE"] + map[bool]string{true: "2"}[r.operation == "logout"]
		return rank + r.path + " " + r.method
	}
	slices.SortStableFunc(all, func(a, b exampleRequest) int { return cmp.Compare(order(a), order(b)) })
	return all
}

func examplesOf(path, method string, op *openapi3.Operation) []exampleRequest {
	base := exampleRequest{operation: op.OperationID, method: method}
	for status := range op.Responses.Map() {
		if status < "4" {
			base.success = append(base.success, status)
		}
	}
	required, optional := url.Values{}, url.Values{}
	var headers [][]string
	for _, p := range op.Parameters {
		example := any(nil)
		if e := p.Value.Examples["example"]; e != nil {
			example = e.Value.Value
		} else if examples := p.Value.Schema.Value.Examples; len(examples) > 0 {
			example = examples[0]
		}
		text := asQuery(example)
		switch {
		case example == nil:
		case p.Value.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", text)
		case p.Value.In == "header":
			headers = append(headers, []string{p.Value.Name, text})
		case p.Value.Required:
			required.Set(p.Value.Name, text)
		default:
			optional.Set(p.Value.Name, text)
		}
	}
	with := func(name string) string {
		query := url.Values{}
		for k, v := range required {
			query[k] = v
		}
		if name != "" {
			query[name] = optional[name]
		}
		if len(query) == 0 {
			return path
		}
		return path + "?" + query.Encode()
	}
	base.path = with("")
	all := []exampleRequest{base}
	if op.RequestBody != nil {
		all = nil
		examples := op.RequestBody.Value.Content["application/json"].Examples
		if len(examples) == 0 {
			return nil // of /bulk, whose records are as those of the operation on one
		}
		for name := range examples {
			r := base
			text, _ := json.Marshal(examples[name].Value.Value)
			r.body = string(text)
			all = append(all, r)
		}
		slices.SortFunc(all, func(a, b exampleRequest) int { return cmp.Compare(len(a.body), len(b.body)) })
	}
	first := all[0]
	for name := range optional {
		r := first
		r.path = with(name)
		all = append(all, r)
	}
	for _, h := range headers {
		if h[0] == "If-Match" && method != "DELETE" {
			r := first
			r.headers = h
			all = append(all, r)
		}
	}
	return all
}

func asQuery(example any) string {
	list, ok := example.([]any)
	if !ok {
		return fmt.Sprint(example)
	}
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, ",")
}

// TestOpenAPIExamples sends every example of the demo's description to a new
// demo.
func TestOpenAPIExamples(t *testing.T) {
	for _, key := range []string{desk.DemoFullKey, desk.DemoOrdersKey} {
		t.Run(key[:8], func(t *testing.T) {
			d := newDemo(t)
			doc := loadDescription(t, d.Call("GET", "/openapi.json?api_key="+key, "", "").Body)
			token := d.Login(key, "demo")
			seen := map[string]bool{}
			for _, r := range exampleRequests(doc) {
				switch r.operation {
				case "getWebhookResult", "downloadResult":
					continue // of a job, which every backup has its own of: below
				case "endWaitForChanges":
					seen[r.operation] = true
					continue // of a request that waits: behind it
				case "waitForChanges":
					var now struct{ Cursor string } // which no example can know
					require.NoError(t, json.Unmarshal(d.Call("GET", "/changes", token, "").Body, &now))
					r.body = strings.Replace(r.body, "c1_ZXhhbXBsZQ", now.Cursor, 1)
				}
				a := d.Call(r.method, r.path, token, r.body, r.headers...)
				require.Contains(t, r.success, fmt.Sprint(a.Status), "%s: %s %s %s\n%s", r.operation, r.method, r.path, r.body, a.Body)
				seen[r.operation] = true
				if r.operation == "backupOwner" {
					d.FollowBackup(token, a.Header.Get("Location"))
					seen["getWebhookResult"], seen["downloadResult"] = true, true
				}
			}
			for path, item := range doc.Paths.Map() {
				for method, op := range item.Operations() {
					require.True(t, seen[op.OperationID] || strings.HasSuffix(path, "/bulk"), "%s %s has no example", method, path)
				}
			}
		})
	}
}

package rig

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"frontdesk/mapping"
)

// Described is an operation of the description, and what it is said to answer.
type Described struct {
	Name, Method, Path string            // the path as the description has it
	Resource           *mapping.Resource // nil where it is none of the record operations
	Scope              mapping.Scope     // which of them it is
	Reasons            []mapping.Reason
	Statuses           []string // those that are no error
}

// Contract is the description that answers are held to.
func (d *Desk) Contract() *Contract { return d.HTTP.Transport.(*Holding).Contract }

// Described lists the operations, in the order of their names.
func (c *Contract) Described(model *mapping.Model) []Described {
	var all []Described
	for path, item := range c.doc["paths"].(map[string]any) {
		for method, v := range item.(map[string]any) {
			op := Described{Name: v.(map[string]any)["operationId"].(string), Method: strings.ToUpper(method), Path: path}
			name, one := strings.CutSuffix(path[1:], "/{id}")
			if op.Resource = model.Resource(name); op.Resource != nil {
				op.Scope = map[string]mapping.Scope{"POST": mapping.OpCreate, "PUT": mapping.OpUpdate, "DELETE": mapping.OpDelete, "GET": mapping.OpList}[op.Method]
				if one && op.Method == "GET" {
					op.Scope = mapping.OpGet
				}
			}
			for status, r := range v.(map[string]any)["responses"].(map[string]any) {
				response, _ := c.deref(r, "")
				reasons, _ := response["x-reasons"].([]any)
				for _, reason := range reasons {
					op.Reasons = append(op.Reasons, mapping.Reason(reason.(string)))
				}
				if status < "4" || len(reasons) == 0 {
					op.Statuses = append(op.Statuses, status)
				}
			}
			slices.Sort(op.Reasons)
			slices.Sort(op.Statuses)
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b Described) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// hits are the operations and errors that the tests of this run have met.
var hits = struct {
	sync.Mutex
	met map[string]bool
}{met: map[string]bool{}}

// EverythingMet tells of the operations of any desk's description that were not
// once answered as they should be, and the reasons that were met nowhere: what
// TestOpenAPIEveryAnswer is to one configuration this is to all of them, if less
// strictly. Where only some of the tests were run there is nothing to tell.
func EverythingMet() error {
	if missing := unmet(); len(missing) > 0 {
		return fmt.Errorf("described, and met by no test:\n%s", strings.Join(missing, "\n"))
	}
	return nil
}

func unmet() []string {
	if flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" {
		return nil
	}
	hits.Lock()
	defer hits.Unlock()
	met := maps.Clone(hits.met)
	for hit := range hits.met {
		name, what, _ := strings.Cut(hit, " ")
		met[what] = true
		met["answered "+name] = met["answered "+name] || what < "4"
	}
	missing := map[string]bool{}
	contracts.Range(func(_, made any) bool {
		c := made.(*Contract)
		for _, item := range c.doc["paths"].(map[string]any) {
			for _, op := range item.(map[string]any) {
				c.unmetOf(op.(map[string]any), met, missing)
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(missing))
}

func (c *Contract) unmetOf(op map[string]any, met, missing map[string]bool) {
	name := op["operationId"].(string)
	for reason := range c.reasonsOf(op) {
		if !met[reason] {
			missing["the reason "+reason] = true
		}
	}
	if !met["answered "+name] { // directly or by callback, whatever this desk does
		missing["the operation "+name] = true
	}
}

// Holding is a transport that holds every answer of a desk to the contract.
type Holding struct {
	http.RoundTripper
	Contract *Contract
	Base     *string // of the desk, which is known once it serves
	Fault    func(error)
}

func (h Holding) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := h.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	path, below := strings.CutPrefix("http://"+req.URL.Host+req.URL.EscapedPath(), *h.Base)
	if err != nil || !below {
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), brokenOff{err}))
		return resp, nil
	}
	target := *req.URL
	target.Path, _ = url.PathUnescape(path)
	target.RawPath = path
	if req.Method == http.MethodHead || req.Header.Get("Range") != "" && resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	hit, err := h.Contract.hold(req.Method, &target, resp, body)
	if err != nil {
		h.Fault(fmt.Errorf("the description and the answer of %s %s differ: %w", req.Method, target.Path, err))
	}
	if hit != "" {
		hits.Lock()
		hits.met[hit] = true
		hits.Unlock()
	}
	return resp, nil
}

// brokenOff ends a body as it ended.
type brokenOff struct{ err error }

func (f brokenOff) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

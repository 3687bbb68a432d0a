// Package postman is a collection of requests in the format of Postman, v2.1, which other
// programs import too. It knows how a collection is written, and not what is asked.
package postman

import (
	"strings"

	"github.com/go-json-experiment/json"
)

// Schema names the format.
const Schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

// Collection is a file that Postman imports.
type Collection struct {
	Info      Info       `json:"info"`
	Items     []*Item    `json:"item"`
	Variables []Variable `json:"variable,omitempty"`
}

// Info says what a collection is.
type Info struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Schema      string `json:"schema"`
}

// Variable is what {{its key}} stands for.
type Variable struct {
	Key         string `json:"key"`
	Value       string `json:"value"`
	Description string `json:"description,omitzero"`
}

// Item is a folder, which has items, or a request.
type Item struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitzero"`
	Events      []Event  `json:"event,omitempty"`
	Items       []*Item  `json:"item,omitempty"`
	Request     *Request `json:"request,omitzero"`
}

// Event is a script that runs before a request, or after it.
type Event struct {
	Listen string `json:"listen"`
	Script Script `json:"script"`
}

// Script is JavaScript, by lines.
type Script struct {
	Type string   `json:"type"`
	Exec []string `json:"exec"`
}

// Before adds lines to the script that runs before the request.
func (i *Item) Before(lines ...string) { i.on("prerequest", lines) }

// After adds lines to the script that runs after the request, where tests are.
func (i *Item) After(lines ...string) { i.on("test", lines) }

func (i *Item) on(listen string, lines []string) {
	for n := range i.Events {
		if s := &i.Events[n].Script; i.Events[n].Listen == listen {
			s.Exec = append(s.Exec, lines...)
			return
		}
	}
	i.Events = append(i.Events, Event{listen, Script{"text/javascript", lines}})
}

// Request is one request.
type Request struct {
	Method      string `json:"method"`
	Headers     []Pair `json:"header"`
	URL         URL    `json:"url"`
	Body        *Body  `json:"body,omitzero"`
	Description string `json:"description,omitzero"`
}

// Pair is a header or a parameter. One that is disabled is shown, and not sent.
type Pair struct {
	Key         string `json:"key"`
	Value       string `json:"value"`
	Description string `json:"description,omitzero"`
	Disabled    bool   `json:"disabled,omitzero"`
}

// URL is an address, in parts and as a whole.
type URL struct {
	Raw   string   `json:"raw"`
	Host  []string `json:"host"`
	Path  []string `json:"path"`
	Query []Pair   `json:"query,omitempty"`
}

// At makes the address of a path below a base.
func At(base, path string, query ...Pair) URL {
	u := URL{Raw: base + path, Host: []string{base}, Path: strings.Split(strings.TrimPrefix(path, "/"), "/"), Query: query}
	sep := "?"
	for _, p := range query {
		if !p.Disabled {
			u.Raw += sep + p.Key + "=" + p.Value
			sep = "&"
		}
	}
	return u
}

// Body is a body as text.
type Body struct {
	Mode    string  `json:"mode"`
	Raw     string  `json:"raw"`
	Options Options `json:"options"`
}

// Options say how a body is shown.
type Options struct {
	Raw struct {
		Language string `json:"language"`
	} `json:"raw"`
}

// JSONBody is a body of JSON.
func JSONBody(text string) *Body {
	b := &Body{Mode: "raw", Raw: text}
	b.Options.Raw.Language = "json"
	return b
}

// JSON writes the collection.
func (c *Collection) JSON() ([]byte, error) { return json.Marshal(c, json.Deterministic(true)) }

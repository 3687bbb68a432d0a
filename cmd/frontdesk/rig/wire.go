package rig

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Wire is a request and what the contract says of its answer.
type Wire struct {
	What    string
	Ask     string   // a method, a path and, after a blank, a body
	Token   string   // "" for the session of demo, noToken for none
	Headers []string // in pairs
	Status  int
	// message is that of an error, errors are those of all errors where there
	// are several. Without either the answer is not looked into, unless body
	// says what it must be as JSON.
	Message string
	Errors  []string
	Body    string
}

// NoToken is the token of a request without one.
const NoToken = "none"

// Holds asks in order, and judges every answer. $1, $2, … stand for what is
// given.
func (p *Practice) Holds(t *testing.T, cases []Wire, given ...any) {
	t.Helper()
	for i, c := range cases {
		name := c.What
		if name == "" {
			name = c.Ask
		}
		if len(name) > 60 {
			name = name[:60]
		}
		t.Run(fmt.Sprintf("%02d %s", i+1, strings.ReplaceAll(name, "/", "∕")), func(t *testing.T) {
			p.In(t).Answers(c, given...)
		})
	}
}

// Answers asks once, and judges the answer.
func (p *Practice) Answers(c Wire, given ...any) Answer {
	p.T.Helper()
	line := Fill(c.Ask, given)
	method, rest, _ := strings.Cut(line, " ")
	path, body, _ := strings.Cut(rest, " ")
	token := c.Token
	switch token {
	case "":
		token = p.Token
	case NoToken:
		token = ""
	}
	a := p.Call(method, path, token, body, c.Headers...)
	require.Equal(p.T, c.Status, a.Status, "%s: %s", line, a.Body)
	if c.Body != "" {
		require.JSONEq(p.T, Fill(c.Body, given), string(a.Body))
	}
	messages := c.Errors
	if c.Message != "" {
		messages = []string{c.Message}
	}
	if len(messages) > 0 {
		for i := range messages {
			messages[i] = Fill(messages[i], given)
		}
		require.Equal(p.T, messages, a.messages(p.T))
	}
	return a
}

// messages are those of all errors of an answer.
func (a Answer) messages(t testing.TB) []string {
	t.Helper()
	e := a.Failure(t)
	if len(e.Errors) == 0 {
		return []string{e.Message}
	}
	var all []string
	for _, one := range e.Errors {
		all = append(all, one.Message)
	}
	return all
}

// Get reads one record.
func (p *Practice) Get(path string) map[string]any {
	p.T.Helper()
	a := p.Call("GET", path, p.Token, "")
	require.Equal(p.T, http.StatusOK, a.Status, "%s: %s", path, a.Body)
	return a.Data(p.T)
}

// Page is what GET many answers.
type Page struct {
	Data     []map[string]any `json:"data"`
	Page     *int             `json:"page"`
	PageSize int              `json:"page_size"`
	Next     *string          `json:"next"`
	Total    *int             `json:"total"`
	Until    string           `json:"until"`
}

// Page reads one page of a list.
func (p *Practice) Page(path string) Page {
	p.T.Helper()
	a := p.Call("GET", path, p.Token, "")
	require.Equal(p.T, http.StatusOK, a.Status, "%s: %s", path, a.Body)
	var answered Page
	decoder := json.NewDecoder(strings.NewReader(string(a.Body)))
	decoder.DisallowUnknownFields()
	require.NoError(p.T, decoder.Decode(&answered), "%s", a.Body)
	return answered
}

// Pages follows next to the end, and returns all pages.
func (p *Practice) Pages(path string) []Page {
	p.T.Helper()
	all := []Page{p.Page(path)}
	for next := all[0].Next; next != nil; next = all[len(all)-1].Next {
		below, ok := strings.CutPrefix(*next, "/webservice_v2")
		require.True(p.T, ok, *next)
		all = append(all, p.Page(below))
		require.Less(p.T, len(all), 1000, "next never ends")
	}
	return all
}

// Ids are those of all records of some pages.
func Ids(pages ...Page) []int {
	all := []int{}
	for _, one := range pages {
		for _, rec := range one.Data {
			all = append(all, int(rec["id"].(float64)))
		}
	}
	return all
}

package rig

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/stretchr/testify/require"
)

// Rivals is how many clients want the same thing at once.
const Rivals = 32

// Rival is a request that is sent beside others.
type Rival struct {
	Method, Path, Body string
	Headers            []string
}

// AtOnce sends all requests at the same time, each on a connection of its own,
// and returns their answers in the order of the requests. None may be a failure.
func (d *Desk) AtOnce(token string, requests []Rival) []Answer {
	d.T.Helper()
	answers := d.SideBySide(token, requests)
	for i, a := range answers {
		require.Less(d.T, a.Status, 500, "%s %s: %s\n%s", requests[i].Method, requests[i].Path, a.Body, d.Log)
	}
	return answers
}

// SideBySide is AtOnce where answers may be failures.
func (d *Desk) SideBySide(token string, requests []Rival) []Answer {
	d.T.Helper()
	answers, errs := make([]Answer, len(requests)), make([]error, len(requests))
	var start, end sync.WaitGroup
	start.Add(1)
	for i, r := range requests {
		end.Go(func() {
			start.Wait()
			answers[i], errs[i] = d.Try(r.Method, r.Path, token, r.Body, r.Headers...)
		})
	}
	start.Done()
	end.Wait()
	for _, err := range errs {
		require.NoError(d.T, err)
	}
	return answers
}

// Race sends what each rival wants, and checks that one of them gets it, and
// that the others get status and message. It returns the winner's answer.
func (d *Desk) Race(token string, status int, message string, want func(i int) Rival) Answer {
	d.T.Helper()
	var requests []Rival
	for i := range Rivals {
		requests = append(requests, want(i))
	}
	var won []Answer
	for i, a := range d.AtOnce(token, requests) {
		if a.Status < 300 {
			won = append(won, a)
			continue
		}
		require.Equal(d.T, status, a.Status, "%s %s: %s", requests[i].Method, requests[i].Path, a.Body)
		if message != "" {
			require.Equal(d.T, message, a.Failure(d.T).Message)
		}
	}
	require.Len(d.T, won, 1, "how many won")
	return won[0]
}

// List returns all records that a path lists.
func (d *Desk) List(token, path string) []map[string]any {
	d.T.Helper()
	a := d.Call("GET", path, token, "")
	require.Equal(d.T, 200, a.Status, "%s", a.Body)
	var page struct {
		Data []map[string]any
		Next *string
	}
	require.NoError(d.T, json.Unmarshal(a.Body, &page))
	require.Nil(d.T, page.Next, "more than one page")
	return page.Data
}

const (
	NewContact = `{"kind":"person","name":"Visser"}`
	NewOrder   = `{"contact_id":%d,"kind":"workshop","order_status":"open","order_date":"2026-07-01"%s}`
)

// LifeOfAContact makes a contact, finds it, and changes it. It may run concurrently.
func (d *Desk) LifeOfAContact(token string) {
	expect := func(status int, method, path, body string) []byte {
		a, err := d.Try(method, path, token, body)
		if err != nil || a.Status != status {
			d.T.Errorf("%s %s: %v %d %s", method, path, err, a.Status, a.Body)
		}
		return a.Body
	}
	var made struct{ Data struct{ ID int } }
	if err := json.Unmarshal(expect(201, "POST", "/contact", NewContact), &made); err != nil {
		d.T.Error(err)
	}
	path := fmt.Sprint("/contact/", made.Data.ID)
	expect(200, "GET", path, "")
	expect(200, "GET", "/contact?total=1&sort=-id", "")
	expect(200, "GET", "/contact?name=Jansen&modified_since=2026-01-01T00:00:00Z", "")
	expect(200, "GET", "/order/1", "")
	expect(200, "PUT", path, `{"name":"Jansen"}`)
}

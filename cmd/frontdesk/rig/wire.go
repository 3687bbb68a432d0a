package rig

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"
)

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

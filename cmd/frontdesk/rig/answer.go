package rig

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Answer is what the desk answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// ErrorBody is the one shape of an error answer.
type ErrorBody struct {
	ErrorCode int                         `json:"errorCode"`
	Message   string                      `json:"message"`
	Reason    string                      `json:"reason"`
	Field     string                      `json:"field"`
	Position  *struct{ Line, Column int } `json:"position"`
	RequestID string                      `json:"request_id"`
	Errors    []ErrorEntry                `json:"errors"`
}

// ErrorEntry is one of several violations in an error answer.
type ErrorEntry struct {
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Field   string `json:"field"`
}

// Failure reads an error answer.
func (a Answer) Failure(t testing.TB) ErrorBody {
	t.Helper()
	var e ErrorBody
	decoder := json.NewDecoder(bytes.NewReader(a.Body))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&e), "%s", a.Body)
	return e
}

// Judge checks what every answer must be, and every error answer beyond it. The
// pages for people and the problems of RFC 9457 have other shapes.
func (a Answer) Judge(t testing.TB, what string) {
	t.Helper()
	require.NotEmpty(t, a.Header.Get("X-Request-Id"), what)
	require.Contains(t, []string{"no-store", "private, no-cache"}, a.Header.Get("Cache-Control"), what)
	kind := a.Header.Get("Content-Type")
	isError := bytes.HasPrefix(a.Body, []byte(`{"errorCode"`))
	if strings.HasPrefix(kind, "text/html") || kind == "application/problem+json" || len(a.Body) == 0 {
		return
	}
	require.Equal(t, "application/json", kind, what)
	require.True(t, json.Valid(a.Body), "%s: %s", what, a.Body)
	if a.Status < 400 && !isError {
		return
	}
	e := a.Failure(t)
	require.Equal(t, a.Status, e.ErrorCode, what)
	require.Equal(t, a.Header.Get("X-Request-Id"), e.RequestID, what)
	require.NotEmpty(t, e.Message, what)
	require.Regexp(t, `^[a-z0-9_]+$`, e.Reason, what)
	if e.Errors != nil {
		require.Greater(t, len(e.Errors), 1, what)
		require.Equal(t, ErrorEntry{e.Message, e.Reason, e.Field}, e.Errors[0], what)
	}
}

// Data reads {"data": {…}}.
func (a Answer) Data(t testing.TB) map[string]any {
	t.Helper()
	var body struct{ Data map[string]any }
	require.NoError(t, json.Unmarshal(a.Body, &body), "%s", a.Body)
	return body.Data
}

// ID is the id of the record that was answered.
func (a Answer) ID(t testing.TB) int {
	t.Helper()
	id, ok := a.Data(t)["id"].(float64)
	require.True(t, ok, "no id in %s", a.Body)
	return int(id)
}

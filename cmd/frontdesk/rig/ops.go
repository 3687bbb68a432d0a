package rig

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/stretchr/testify/require"
)

// Ready asks for the desk's readiness.
func (d *Desk) Ready() (status int, circuit string) {
	d.T.Helper()
	a := d.AskOps("/readyz")
	var body struct{ Circuit string }
	require.NoError(d.T, json.Unmarshal(a.Body, &body))
	return a.Status, body.Circuit
}

// AskOps asks the operators' listener. Headers come in pairs; Host is the name that it is asked by.
func (d *Desk) AskOps(path string, headers ...string) Answer {
	d.T.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+d.Ops+path, nil)
	require.NoError(d.T, err)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	req.Host = req.Header.Get("Host")
	resp, err := d.HTTP.Do(req)
	require.NoError(d.T, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(d.T, err)
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}
}

// OpsText is what a path of the operators' listener answers while all is well.
func (d *Desk) OpsText(path string) string {
	d.T.Helper()
	a := d.AskOps(path)
	require.Equal(d.T, 200, a.Status, "%s: %s", path, a.Body)
	return string(a.Body)
}

// OpsJSON reads what a page of the operators' listener answers programs.
func (d *Desk) OpsJSON(path string, into any) {
	d.T.Helper()
	a := d.AskOps(path, "Accept", "application/json")
	require.Equal(d.T, 200, a.Status, "%s: %s", path, a.Body)
	require.NoError(d.T, json.Unmarshal(a.Body, into), path)
}

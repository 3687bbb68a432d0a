package rig

import (
	"encoding/json"
	"io"

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

// AskOps asks the operators' listener.
func (d *Desk) AskOps(path string) Answer {
	d.T.Helper()
	resp, err := d.HTTP.Get("http://" + d.Ops + path)
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

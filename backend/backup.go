package backend

import (
	"context"
	"errors"
	"io"
	"time"

	"frontdesk/auth"
)

// ErrNoExport says that the administration cannot make a backup.
var ErrNoExport = errors.New("this administration cannot be exported")

// Exporter is a Driver that can write all records of a client as one ZIP file:
// <resource>.ndjson for each resource that the client has records of, one record
// a line, and manifest.json. System records are not among them, and users are
// no records.
//
// All of it is read in one snapshot, which is held until the last byte is
// written, in memory that does not grow with the number of records. An open
// snapshot makes a database keep what others change meanwhile, so w should be a
// file rather than somebody's slow connection. What was written before an error
// is no backup.
type Exporter interface {
	Export(ctx context.Context, client auth.Client, w io.Writer) (Manifest, error)
}

// Manifest tells what a backup holds.
type Manifest struct {
	Format        string    `json:"format"`
	FormatVersion int       `json:"format_version"`
	Time          time.Time `json:"time"` // of the snapshot, UTC
	Client        string    `json:"client"`
	ModelVersion  string    `json:"model_version"`
	Parts         []Part    `json:"parts"` // by resource
	// Counters are the last numbers given out, by the name of the counter: those
	// of deleted records are not given out again.
	Counters map[string]int64 `json:"counters"`
	// LastIDs are the highest IDs given out, by resource, for the same reason.
	LastIDs map[string]int32 `json:"last_ids"`
}

// Part is one file of a backup.
type Part struct {
	Resource string `json:"resource"`
	Count    int64  `json:"count"`  // of records
	Bytes    int64  `json:"bytes"`  // uncompressed
	SHA256   string `json:"sha256"` // of the uncompressed bytes, in hexadecimal
}

// Records is the number of records in all parts.
func (m Manifest) Records() int64 {
	n := int64(0)
	for _, p := range m.Parts {
		n += p.Count
	}
	return n
}

// Export writes a backup of the client, or fails with ErrNoExport. It takes as
// long as it takes: no call's deadline holds for it, and its failures do not open
// the circuit. Those of the driver are told as those of any call are; those of w
// as they are.
func (c *Client) Export(ctx context.Context, client auth.Client, w io.Writer) (Manifest, error) {
	e, ok := optional[Exporter](c.driver)
	if !ok {
		return Manifest{}, ErrNoExport
	}
	noted := noting{w: w}
	m, err := e.Export(ctx, client, &noted)
	if err != nil && noted.err == nil {
		_, err = c.judgeCall(ctx, err)
	}
	return m, err
}

// noting notes that writing failed.
type noting struct {
	w   io.Writer
	err error
}

func (n *noting) Write(data []byte) (int, error) {
	written, err := n.w.Write(data)
	if err != nil {
		n.err = err
	}
	return written, err
}

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
// <resource>.ndjson for each resource of which the client has records, with one record a
// line, and manifest.json. System records and users are not in it.
//
// Export reads all records in one snapshot, in constant memory, and holds the snapshot until
// the last byte is written. An open snapshot makes the database keep old versions of what
// others change, so w should be a file and not a slow connection. If Export fails, what
// was written so far is not a backup.
type Exporter interface {
	Export(ctx context.Context, client auth.Client, w io.Writer) (Manifest, error)
}

// Manifest describes the content of a backup.
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

// Export writes a backup of the client, or fails with ErrNoExport. It has no deadline,
// and its failures do not open the circuit. Failures of the driver are translated like
// those of any call; failures of w are returned as they are.
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

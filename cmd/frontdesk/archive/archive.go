// Package archive is frontdesk backup --all and restore --all. An archive is a ZIP file with a whole
// installation: the configuration with its keys and certificates, the SQLite database, results of
// callbacks, and history. It is written, checked, and restored completely or not at all. Which
// files belong to an installation, package desk knows.
//
// An archive says where its files go, so restoring one needs as much trust as installing a package.
// It contains all records, hashes of api_keys and passwords, and private keys of certificates as
// they are: nobody but its owner may read it.
package archive

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// The form of an archive. Version changes when an older frontdesk would misread a newer file.
const (
	Format       = "frontdesk-archive"
	Version      = 1
	manifestName = "manifest.json"
	mostManifest = 256 << 20 // some 800,000 files
)

// Kind is what a file is for.
type Kind string

// The kinds, in the order in which files are put in their places. Nothing is served before the
// main file of the configuration is there, which comes last of all.
const (
	Result        Kind = "result"        // of a callback job
	Past          Kind = "past"          // history, and configurations that there were
	Store         Kind = "database"      // of SQLite
	Named         Kind = "named"         // by the configuration: sheet, model, certificates
	Configuration Kind = "configuration" // with api_keys
)

var order = map[Kind]int{Result: 0, Past: 1, Store: 2, Named: 3, Configuration: 4}

// Manifest says what an archive holds.
type Manifest struct {
	Format        string    `json:"format"`
	FormatVersion int       `json:"format_version"`
	Time          time.Time `json:"time"` // when it was begun: what it holds is not older
	Program       string    `json:"program"`
	Host          string    `json:"host"`
	Config        string    `json:"config"` // the main file
	Parts         []Part    `json:"parts"`
	Lacks         []string  `json:"lacks"` // what belongs to the installation and is not in it

	remains []string // folders of killed backups that Write could not remove; not written
}

// Part is one file.
type Part struct {
	Path   string      `json:"path"`
	Kind   Kind        `json:"kind"`
	Mode   fs.FileMode `json:"mode"`
	Owner  string      `json:"owner,omitempty"`
	Group  string      `json:"group,omitempty"`
	Bytes  int64       `json:"bytes"`
	SHA256 string      `json:"sha256"`
}

// member is the name of a part in the ZIP file.
func (p Part) member() string {
	return "files/" + strings.TrimLeft(strings.ReplaceAll(filepath.ToSlash(p.Path), ":", ""), "/")
}

// Bytes is the size of all parts.
func (m Manifest) Bytes() (n int64) {
	for _, p := range m.Parts {
		n += p.Bytes
	}
	return n
}

// Count tells how many parts are of a kind.
func (m Manifest) Count(kind Kind) (n int) {
	for _, p := range m.Parts {
		if p.Kind == kind {
			n++
		}
	}
	return n
}

// shown is a path of an archive as it may be shown: what a terminal would obey is escaped.
func shown(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(path)
	}
	return path
}

// ErrForeign says that a file is no archive of an installation.
var ErrForeign = errors.New("it is no archive that frontdesk backup --all has written")

// readManifest reads and judges what an archive says of itself.
func readManifest(z *zip.Reader) (m Manifest, err error) {
	file, err := z.Open(manifestName)
	if err != nil {
		return m, ErrForeign
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostManifest+1)) // to its end, where its sum is compared
	if err != nil {
		return m, fmt.Errorf("its list of files is damaged: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Format != Format {
		return m, ErrForeign
	}
	if m.FormatVersion > Version {
		return m, fmt.Errorf("it is of a newer frontdesk (%q), with format %d; this one reads up to %d", m.Program, m.FormatVersion, Version)
	}
	seen, whole := map[string]bool{}, false
	for _, p := range m.Parts {
		_, known := order[p.Kind]
		if !known || !filepath.IsAbs(p.Path) || filepath.Clean(p.Path) != p.Path || seen[p.member()] || p.Mode != p.Mode.Perm() || p.Bytes < 0 {
			return m, fmt.Errorf("its list of files is damaged at %q", p.Path)
		}
		seen[p.member()] = true
		whole = whole || p.Path == m.Config && p.Kind == Configuration
	}
	if !whole {
		return m, fmt.Errorf("its list of files is damaged: it lacks %q", m.Config)
	}
	return m, nil
}

package desk

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"frontdesk/config"
	"frontdesk/mapping"
)

// partFiles are the sheet and the model that a gateway is built from, and digests of their contents.
// Changes in them take effect at the next start.
type partFiles struct {
	sheet, model string // paths; "" where there is none
	ofSheet      string // digest of the contents
	ofModel      string
}

// partsOf reads the files that a configuration names.
func partsOf(c *config.Config) partFiles {
	p := partFiles{sheet: c.Backend.Sheet, model: c.Model.Dir}
	if p.sheet != "" {
		p.ofSheet = digestOf(p.sheet)
	}
	if p.model != "" {
		files, err := mapping.ResourceFiles(p.model)
		if err != nil {
			files = append(files, p.model) // its digest differs from that of any readable folder
		}
		p.ofModel = digestOf(files...)
	}
	return p
}

// changedSince names the files whose contents have changed.
func (p partFiles) changedSince(built partFiles) (all []string) {
	if p.sheet == built.sheet && p.ofSheet != built.ofSheet {
		all = append(all, "backend.sheet: "+p.sheet+" has changed")
	}
	if p.model == built.model && p.ofModel != built.ofModel {
		all = append(all, "model.dir: what is in "+p.model+" has changed")
	}
	return all
}

// digestOf identifies the names and contents of files, independent of their folder. A file that
// cannot be read differs from any that can.
func digestOf(files ...string) string {
	all := sha256.New()
	for _, file := range files {
		text, err := readRegular(file)
		fmt.Fprintf(all, "%q %t %d\n", filepath.Base(file), err == nil, len(text))
		all.Write(text)
	}
	return hex.EncodeToString(all.Sum(nil))
}

// readRegular reads a regular file; reading a pipe might never end.
func readRegular(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New(file + ": is no regular file")
	}
	return os.ReadFile(file)
}

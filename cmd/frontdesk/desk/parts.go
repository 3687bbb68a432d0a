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

// partFiles are the files beside the configuration that a gateway is built from, and digests of
// their contents. Changes in them are used from the next start on.
type partFiles struct {
	sheet, model string // paths; "" where there is none
	ofSheet      string // of what is written
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
			files = append(files, p.model) // which has another digest than any folder that can be read
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

// digestOf identifies the names and contents of files, whatever folder they are in. A file that
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

// readRegular reads a file that has an end; a pipe would be waited for.
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

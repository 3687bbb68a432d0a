package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/mapping"
)

type seedCommand struct {
	Records int    `default:"1000" help:"How many orders."`
	Data    string `required:"" placeholder:"DIR" help:"The folder to make or fill."`
}

// Run makes the folder.
func (s seedCommand) Run(p desk.Program) error {
	if s.Records < 1 {
		return desk.Misused("--records %d: expected at least 1", s.Records)
	}
	if err := os.MkdirAll(s.Data, 0o700); err != nil {
		return err
	}
	began := time.Now()
	if err := seed(p, s.Data, s.Records); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Stdout, "%s holds the sample data (%s)\n", filepath.Join(s.Data, desk.DatabaseFile), time.Since(began).Round(time.Millisecond))
	return err
}

// seed fills a data folder with the sample data, unless it has it already; 0
// records take what is there.
func seed(p desk.Program, folder string, records int) error {
	if records < 0 {
		return desk.Misused("--records %d: expected at least 1", records)
	}
	model, err := mapping.LoadModel("")
	if err != nil {
		return err
	}
	store, err := reference.Open(p.Ctx, reference.Options{
		DSN: "sqlite:" + filepath.Join(folder, desk.DatabaseFile), Model: model, Hasher: auth.NewHasher(), Now: time.Now, Readers: 1, Log: zap.NewNop(),
	})
	if err != nil {
		return err
	}
	show := terminal.NewStatus(p.Stderr)
	err = reference.Seed(p.Ctx, store, reference.SeedOptions{Records: records, Progress: func(done, total int) { show("sample data: %d of %d orders", done, total) }})
	show("")
	if closing := store.Close(); err == nil {
		err = closing
	}
	return err
}

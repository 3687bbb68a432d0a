package desk

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"time"

	"frontdesk/cmd/frontdesk/revisions"
	"frontdesk/config"
)

// configView is the page of the configuration: what is in force, what waits, and what there was.
type configView struct {
	Now      time.Time            `json:"now"`
	Digest   string               `json:"digest"`
	N        int                  `json:"n,omitempty"` // of the history; 0 where it is not in it
	Since    time.Time            `json:"since"`
	Files    []configFile         `json:"files"`
	Keys     int                  `json:"api_keys"`
	Settings []string             `json:"settings"` // other than the defaults, without secrets
	Waiting  []string             `json:"needs_restart"`
	Error    []string             `json:"error"`             // why the files as they are were refused
	Pending  string               `json:"pending,omitempty"` // what only SIGHUP takes up
	Restart  string               `json:"restart_error,omitempty"`
	Folder   string               `json:"folder,omitempty"` // of the history
	History  []revisions.Revision `json:"history"`          // newest first
}

// configFile is a file that was read.
type configFile struct {
	Path    string     `json:"file"`
	Owner   string     `json:"owner,omitempty"`
	Written *time.Time `json:"written,omitempty"`
}

// filesShown is how many files the page lists.
const filesShown = 100

func configPage(n int) string { return fmt.Sprintf("/config#c%d", n) }

func (p *pages) config(w http.ResponseWriter, r *http.Request) {
	p.answer(w, r, "config", p.of.configuration())
}

// configuration is what the page tells.
func (h *Desk) configuration() configView {
	current, state := h.live.Current(), h.reloads.state()
	v := configView{
		Now: time.Now(), Digest: current.policy.Hash, Since: current.since, Keys: len(current.config.APIKeys),
		Files: []configFile{}, Settings: []string{}, Waiting: append([]string{}, state.needsRestart()...), Error: []string{}, Pending: state.pending,
		Folder: string(h.book.store), History: h.book.revisions(),
	}
	if last, ok := h.book.inForce(); ok && last.Digest == v.Digest {
		v.N, v.Since = last.N, last.At
	}
	for _, path := range current.config.Files() {
		f := configFile{Path: path}
		if info, err := os.Stat(path); err == nil && len(v.Files) < filesShown {
			written := info.ModTime()
			f.Owner, f.Written = ownerOf(info), &written
		}
		v.Files = append(v.Files, f)
	}
	parts := *current.config
	parts.APIKeys = nil
	for _, change := range config.Changes(config.Default(), &parts) {
		v.Settings = append(v.Settings, change.Path+": "+cmp.Or(change.To, "none"))
	}
	if state.fault != nil {
		v.Error = problemsOf(state.fault)
	}
	if state.restart != nil {
		v.Restart = state.restart.Error()
	}
	return v
}

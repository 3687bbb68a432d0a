package desk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/config"
)

// The parts in which the gateways of a service must agree, because the answers to clients depend on
// them. Addresses, certificates and the log are each gateway's own.
const (
	partVersion   = "version"
	partZone      = "time_zone"
	partBasePath  = "base_path"
	partVendor    = "vendor"
	partCallbacks = "callbacks"
	partModel     = "model"
	partSheet     = "sheet"
	partKeys      = "api_keys" // without their limits
	partLimits    = "limits"   // of api_keys
	partSessions  = "sessions" // the identity of their store
)

var driftParts = []string{partVersion, partZone, partBasePath, partVendor, partCallbacks, partModel, partSheet, partKeys, partLimits, partSessions}

// shownParts are the parts whose values are shown; the other parts are compared by digests.
var shownParts = map[string]bool{partVersion: true, partZone: true, partBasePath: true, partVendor: true}

// setup is how a gateway describes itself to the others. It holds no secret: api_keys are in it as
// digests of what the audit log shows of them.
type setup struct {
	Host   string            `json:"host"`
	Listen string            `json:"listen"`
	Parts  map[string]string `json:"parts"`
	Same   time.Duration     `json:"same"` // for how long the parts have not changed
}

// setup returns the current setup of this gateway; the part for the store of sessions is missing if
// the store does not answer.
func (d *drift) setup(ctx context.Context) setup {
	now := d.live.Load()
	if d.of != now {
		d.of = now
		d.keys, d.limits = keyDigests(now.config)
	}
	rules := make([]string, 0, len(d.config.Callbacks))
	for _, rule := range d.config.Callbacks {
		rules = append(rules, rule.String())
	}
	server := d.config.Server
	s := setup{Host: hostName(), Listen: server.Listen, Parts: map[string]string{
		partVersion: Version(), partZone: server.TimeZone.String(), partBasePath: server.BasePath, partVendor: server.Vendor,
		partCallbacks: shortDigest(rules), partModel: d.parts.ofModel, partSheet: d.parts.ofSheet, partKeys: d.keys, partLimits: d.limits,
		partSessions: d.id, // holds for sessions in memory, which no other gateway has
	}}
	if d.identity != nil {
		delete(s.Parts, partSessions)
		if store, err := d.identity(ctx); err == nil {
			s.Parts[partSessions] = store
		}
	}
	if !maps.Equal(s.Parts, d.last) {
		d.last, d.since = s.Parts, d.now()
	}
	s.Same = d.now().Sub(d.since)
	return s
}

// askPatience bounds how long a command waits for a database that it can do without.
const askPatience = 5 * time.Second

// AskNeighbours calls ask with what the gateways keep for each other in the database of a configuration.
// It creates no database.
func AskNeighbours(p Program, c *config.Config, ask func(context.Context, *neighbours.Tables) error) error {
	database, err := DatabaseOf(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.Ctx, askPatience)
	defer cancel()
	p.Ctx = ctx
	db, err := database.Open(p, c)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := ask(ctx, neighbours.Of(db)); err != nil {
		return fmt.Errorf("%s: %w", database, err)
	}
	return nil
}

// gatewaysOf returns the names of the gateways that share a database.
func gatewaysOf(ctx context.Context, t *neighbours.Tables) (names []string, err error) {
	all, err := t.Documents(ctx)
	for _, document := range all {
		var of setup
		if json.Unmarshal([]byte(document), &of) == nil {
			names = append(names, of.Listen+" of "+of.Host)
		}
	}
	return names, err
}

// keyDigests returns two digests of all api_keys, independent of the files that they are in: one of
// their limits, one of everything else except secrets.
func keyDigests(c *config.Config) (keys, limits string) {
	var ofKeys, ofLimits []string
	for _, change := range config.Changes(new(config.Config), c) {
		path, inside := strings.CutPrefix(change.Path, "api_keys.")
		switch _, setting, _ := strings.Cut(path, "."); {
		case !inside:
		case slices.Contains([]string{"rate", "concurrent", "per_day"}, setting):
			ofLimits = append(ofLimits, change.String())
		default:
			ofKeys = append(ofKeys, change.String())
		}
	}
	return shortDigest(ofKeys), shortDigest(ofLimits)
}

// shortDigest identifies the contents of a list, independent of their order.
func shortDigest(list []string) string {
	slices.Sort(list)
	sum := sha256.Sum256([]byte(strings.Join(list, "\n")))
	return hex.EncodeToString(sum[:6])
}

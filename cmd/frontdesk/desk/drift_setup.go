package desk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"frontdesk/config"
)

// The parts that gateways of a service have to have in common, since they decide what clients are
// answered. What is a gateway's own is none of them: addresses, certificates, the log.
const (
	partVersion   = "version"
	partZone      = "time_zone"
	partBasePath  = "base_path"
	partVendor    = "vendor"
	partCallbacks = "callbacks"
	partModel     = "model"
	partSheet     = "sheet"
	partKeys      = "api_keys" // but for their limits
	partLimits    = "limits"   // of api_keys
	partSessions  = "sessions" // which store
)

var driftParts = []string{partVersion, partZone, partBasePath, partVendor, partCallbacks, partModel, partSheet, partKeys, partLimits, partSessions}

// toldOf are those whose values people are told; of the others it is a digest.
var toldOf = map[string]bool{partVersion: true, partZone: true, partBasePath: true, partVendor: true}

// setup is how a gateway is set up, as the others are told. It holds no secret: of api_keys it
// says what the audit log does, as a digest.
type setup struct {
	Host   string            `json:"host"`
	Listen string            `json:"listen"`
	Parts  map[string]string `json:"parts"`
}

// setup is that of this gateway by now. A store of sessions that cannot be asked is left out.
func (d *drift) setup(ctx context.Context) setup {
	h, now := d.desk, d.desk.live.Current()
	if d.of != now {
		d.of = now
		d.keys, d.limits = keyDigests(now.config)
	}
	rules := make([]string, 0, len(h.config.Callbacks))
	for _, rule := range h.config.Callbacks {
		rules = append(rules, rule.String())
	}
	server := h.config.Server
	s := setup{Host: hostName(), Listen: server.Listen, Parts: map[string]string{
		partVersion: Version(), partZone: server.TimeZone.String(), partBasePath: server.BasePath, partVendor: server.Vendor,
		partCallbacks: shortDigest(rules), partModel: h.parts.ofModel, partSheet: h.parts.ofSheet, partKeys: d.keys, partLimits: d.limits,
		partSessions: d.id, // in memory each has its own
	}}
	if h.common.identity != nil {
		delete(s.Parts, partSessions)
		if store, err := h.common.identity(ctx); err == nil {
			s.Parts[partSessions] = store
		}
	}
	return s
}

// keyDigests are names for what is said of all api_keys, whatever file they stand in: of their
// limits, and of all else but what is secret.
func keyDigests(c *config.Config) (keys, limits string) {
	var ofKeys, ofLimits []string
	for _, change := range config.Changes(new(config.Config), c) {
		path, inside := strings.CutPrefix(change.Path, "api_keys.")
		switch _, setting, _ := strings.Cut(path, "."); {
		case !inside:
		case slices.Contains([]string{"rate", "client_rate", "concurrent", "per_day"}, setting):
			ofLimits = append(ofLimits, change.String())
		default:
			ofKeys = append(ofKeys, change.String())
		}
	}
	return shortDigest(ofKeys), shortDigest(ofLimits)
}

// shortDigest is a name for what is in a list, in whatever order.
func shortDigest(list []string) string {
	slices.Sort(list)
	sum := sha256.Sum256([]byte(strings.Join(list, "\n")))
	return hex.EncodeToString(sum[:6])
}

package desk

import (
	"maps"
	"slices"
	"strings"

	"go.uber.org/zap"

	"frontdesk/config"
)

// audit writes a change of the configuration to the audit log: a line for the whole, and a line
// for each api_key.
func (k *reloader) audit(trigger string, before, after *snapshot, waiting []string) {
	audit := k.desk.logs.audit
	changes, byKey := byKey(config.Changes(before.config, after.config))
	names := slices.Sorted(maps.Keys(byKey))
	hashes := []zap.Field{zap.String("from", before.policy.Hash), zap.String("to", after.policy.Hash)}
	audit.Info("configuration changed", append(hashes, zap.String("trigger", trigger),
		zap.Strings("changes", changes), zap.Strings("api_keys", names), zap.Strings("needs_restart", waiting))...)
	for _, name := range names {
		audit.Info("api_key changed", append(hashes, zap.String("key", name), zap.Strings("changes", byKey[name]))...)
	}
	_ = audit.Sync() // a crash must not lose who changed what; the error is that pipes cannot be synced
}

// byKey separates the changes of each api_key from the others.
func byKey(all []config.Change) (others []string, keys map[string][]string) {
	keys = make(map[string][]string)
	for _, change := range all {
		of, ok := strings.CutPrefix(change.Path, "api_keys.")
		name, part, inside := strings.Cut(of, ".")
		switch {
		case !ok:
			others = append(others, change.String())
		case inside:
			change.Path = part
			keys[name] = append(keys[name], change.String())
		case change.From == "":
			keys[name] = append(keys[name], "added")
		default:
			keys[name] = append(keys[name], "removed")
		}
	}
	return others, keys
}

package desk

import (
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"frontdesk/config"
)

// audit writes a change of the configuration to the audit log: a line for the whole, and a line
// for each api_key.
func (k *reloader) audit(trigger string, before, after *snapshot, waiting []string) {
	changes, byKey := byKey(config.Changes(before.config, after.config))
	names := slices.Sorted(maps.Keys(byKey))
	hashes := []zap.Field{zap.String("from", before.policy.Hash), zap.String("to", after.policy.Hash)}
	k.logs.audit.Info("configuration changed", append(hashes, zap.String("trigger", trigger),
		zap.Array("files", writtenSince(after.config.Files(), before.since)), zap.Strings("changes", changes),
		zap.Strings("api_keys", names), zap.Strings("needs_restart", waiting))...)
	for _, name := range names {
		k.logs.audit.Info("api_key changed", append(hashes, zap.String("key", name), zap.Strings("changes", byKey[name]))...)
	}
	_ = k.logs.audit.Sync() // now, and not with the next lines: a crash must not lose who changed what; pipes cannot be synced
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

// writtenFiles are files, with their owners and times according to the system.
type writtenFiles []writtenFile

type writtenFile struct {
	name, owner string
	written     time.Time
}

// writtenSince returns the files that were written since then. If there are none, because an older
// file was moved here or one was removed, it returns the first file.
func writtenSince(files []string, then time.Time) (all writtenFiles) {
	for i := len(files) - 1; i >= 0; i-- {
		info, err := os.Stat(files[i])
		if err == nil && (info.ModTime().After(then) || i == 0 && all == nil) {
			all = append(all, writtenFile{files[i], ownerOf(info), info.ModTime()})
		}
	}
	return all
}

// MarshalLogArray implements zapcore.ArrayMarshaler.
func (w writtenFiles) MarshalLogArray(out zapcore.ArrayEncoder) error {
	for _, f := range w {
		if err := out.AppendObject(f); err != nil {
			return err
		}
	}
	return nil
}

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (f writtenFile) MarshalLogObject(out zapcore.ObjectEncoder) error {
	out.AddString("file", f.name)
	out.AddString("owner", f.owner)
	out.AddTime("written", f.written)
	return nil
}

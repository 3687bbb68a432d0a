package desk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"go.uber.org/zap"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// The triggers of a reload, as logs name them.
const (
	bySignal = "SIGHUP"
	byFile   = "file change"
	byLook   = "comparison with the files"
)

// Editors and deployments write a file in several steps: a reload waits until
// nothing has changed for settleTime, but not longer than settleLimit.
const (
	SettleTime  = 200 * time.Millisecond
	SettleLimit = 2 * time.Second
)

// reloader follows the configuration while a desk serves. It does everything in one goroutine.
type reloader struct {
	desk      *Desk
	loader    *config.Loader
	logs      *Logs
	signals   <-chan os.Signal // SIGHUP, and the one for debugging
	watch     *fileWatch       // nil where nothing is watched
	watching  string           // why files cannot be watched, once it was said
	debugEnds <-chan time.Time // nil while the configured level holds
	parts     partFiles        // as they were last looked at
	refused   error            // why the last reload could not use the files; nil if it could
	starting  *config.Loader   // reads the files as a start would; nil if all that they say is in force
	keyPair   string           // what was in the files of the certificate when they were last read
}

// startReloader follows the configuration until ctx ends or the desk closes.
func (h *Desk) startReloader(ctx context.Context, p Program, loader *config.Loader, logs *Logs, watch bool) error {
	k := &reloader{desk: h, loader: loader, logs: logs, parts: h.parts, keyPair: h.keyPairDigest()}
	loader.Serving()
	signals, release := p.operatorSignals()
	k.signals = signals
	if watch {
		var err error
		if k.watch, err = newFileWatch(); err != nil {
			release()
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		k.run(ctx)
		release()
		done <- k.watch.close()
	}()
	h.onClose(func() error {
		stop()
		select {
		case err := <-done:
			return err
		case <-h.after(FilesPatience): // nothing ends what hangs with a disk
			return errors.New("the files of the configuration do not answer")
		}
	})
	return nil
}

func (k *reloader) run(ctx context.Context) {
	var settled, limit <-chan time.Time
	compare := k.desk.after(CompareEvery)
	if k.watch != nil {
		k.follow()
		settled = k.desk.after(SettleTime) // what changed before it was watched is found once
	}
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-k.signals:
			if s == syscall.SIGHUP {
				settled, limit = nil, nil
				k.reload(bySignal)
			} else {
				k.toggleDebug()
			}
		case <-k.watch.changes():
			settled = k.desk.after(SettleTime)
			if limit == nil {
				limit = k.desk.after(SettleLimit)
			}
		case <-settled:
			settled, limit = nil, nil
			k.reload(byFile)
		case <-limit:
			settled, limit = nil, nil
			k.reload(byFile)
		case <-compare:
			k.look()
			compare = k.desk.after(CompareEvery)
		case <-k.debugEnds:
			k.toggleDebug()
		}
	}
}

// reload reads the configuration again and puts it in force if it is valid. Changes that need a
// restart are named and wait; the others apply at once, since a revoked key must not stay valid
// because of another line in the same file.
func (k *reloader) reload(trigger string) {
	h := k.desk
	looking := h.reloads.begin(h.now()) // zero where it is not while it looks at them
	defer func() { h.reloads.begin(looking) }()
	h.tell(h.supervisor.reloading())
	defer func() { h.tell(h.supervisor.ready(h.status())) }()
	defer k.survive(trigger)
	k.renewCertificates(trigger)
	var before, after *snapshot
	err := h.live.Reload(func(current *snapshot) (*snapshot, error) {
		before = current
		c, err := k.loader.Load()
		if err != nil {
			return nil, err
		}
		if c.Hash() == current.config.Hash() && slices.Equal(c.Files(), current.config.Files()) {
			return nil, nil
		}
		if err := config.Lost(current.config, c); err != nil {
			return nil, err
		}
		after, err = newSnapshot(c, h.Gateway, &h.keyEnds.ring)
		return after, err
	})
	if after != nil {
		h.keyEnds.changed(before.config.APIKeys, after.config.APIKeys)
	}
	k.refused = err
	k.follow()
	k.lookAtParts(true)
	k.report(trigger, before, after, err)
}

// survive keeps a panic in a reload from ending the program with all its requests: the
// configuration in force stays.
func (k *reloader) survive(trigger string) {
	p := recover()
	if p == nil {
		return
	}
	err := fmt.Errorf("panic: %v", p)
	k.desk.reloads.failed(err)
	k.desk.past.Mark("configuration", "configuration refused: "+summary(err))
	k.desk.log.Error("the reload failed by a fault of the program: the configuration in force stays", zap.String("trigger", trigger),
		zap.String("config", k.desk.policy().Hash), zap.Error(err), zap.Stack("stack"))
}

// report records the outcome of a reload for the charts, logs, /readyz and metrics.
func (k *reloader) report(trigger string, before, after *snapshot, err error) {
	h, was := k.desk, k.desk.reloads.state()
	switch {
	case err != nil:
		h.log.Error("configuration not reloaded: the one before stays in force", zap.String("trigger", trigger),
			zap.String("config", h.policy().Hash), zap.Strings("problems", problemsOf(err)))
		if !sameText(was.fault, err) {
			h.past.Mark("configuration", "configuration refused: "+summary(err))
		}
		h.reloads.failed(err)
	case after == nil || after.policy.Hash == before.policy.Hash: // but maybe for the names of files
		h.reloads.done(was.waiting)
		if trigger == bySignal || was.fault != nil {
			h.log.Info("configuration reloaded: nothing in it has changed", zap.String("trigger", trigger), zap.String("config", h.policy().Hash))
		}
	default:
		waiting := h.waiting(after.config)
		if k.debugEnds == nil {
			k.logs.set(after.config.Log.Level)
		}
		k.audit(trigger, before, after, waiting)
		h.past.Mark("configuration", fmt.Sprintf("configuration %s in force", after.policy.Hash))
		if len(waiting) > 0 {
			h.log.Warn("configuration reloaded, but some of it needs a restart", zap.Strings("needs_restart", waiting))
		}
		h.reloads.done(waiting)
	}
}

// waiting names the settings in which the configuration differs from the one that the running
// parts were built from.
func (h *Desk) waiting(c *config.Config) (all []string) {
	parts := *c
	parts.APIKeys = nil
	for _, change := range config.Changes(h.started, &parts) {
		if change.Restart {
			all = append(all, change.String())
		}
	}
	return all
}

// problemsOf returns the problems of an error, a line each.
func problemsOf(err error) []string {
	var problems strictyaml.Problems
	if !errors.As(err, &problems) {
		return []string{err.Error()}
	}
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.String()
	}
	return lines
}

// renewCertificates reads the certificates again. It is separate from the reload: another program
// may be writing them just now, and a revoked key must not wait for that.
func (k *reloader) renewCertificates(trigger string) {
	h := k.desk
	if h.certificates == nil {
		return
	}
	k.keyPair = h.keyPairDigest()
	renewed, err := h.certificates.reload()
	h.reloads.certificate(err)
	now := h.certificates.current.Load()
	switch {
	case err != nil:
		h.log.Error("certificate not reloaded: the one before stays in use", zap.String("trigger", trigger), zap.Error(err), zap.Time("expires", now.until))
	case renewed:
		k.logs.audit.Info("certificate changed", zap.String("trigger", trigger), zap.String("serial", now.serial), zap.Time("expires", now.until))
	}
}

// follow watches the files that the configuration depends on by now.
func (k *reloader) follow() {
	if k.watch == nil {
		return
	}
	files := k.desk.live.Current().config.Files()
	if k.desk.certificates != nil {
		files = append(files[:len(files):len(files)], k.desk.certificates.paths()...)
	}
	more, err := k.watch.follow(files, k.loader.Folders())
	if more && k.loader.Changed() { // between being read and being watched
		k.watch.wake()
	}
	if err != nil && k.watching != err.Error() {
		k.desk.log.Warn("not all files of the configuration can be watched; SIGHUP reloads them", zap.Error(err))
	}
	k.watching = ""
	if err != nil {
		k.watching = err.Error()
	}
}

// DebugTime is how long debugging lasts if nobody ends it. Otherwise it could fill the disk.
const DebugTime = time.Hour

// toggleDebug switches between logging everything and the configured level.
func (k *reloader) toggleDebug() {
	if k.debugEnds != nil {
		k.debugEnds = nil
		level := k.desk.live.Current().config.Log.Level
		k.logs.set(level)
		k.logs.audit.Info("log level changed", zap.String("from", "debug"), zap.String("to", level), zap.String("trigger", "SIGUSR1, or an hour has passed"))
		return
	}
	k.debugEnds = k.desk.after(DebugTime)
	k.logs.audit.Info("log level changed", zap.Stringer("from", k.logs.level), zap.String("to", "debug"), zap.String("trigger", "SIGUSR1"))
	k.logs.set("debug")
}

package desk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"go.uber.org/zap"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// The triggers of a reload, as logs name them.
const (
	bySignal = "SIGHUP"
	byFile   = "file change"
)

// LookEvery is how often a gateway polls the files of its configuration. It polls since file system events
// miss some changes: mounts, and changes on network disks.
const LookEvery = 500 * time.Millisecond

// A poll takes longer with many files, so the pause grows by LookEvery for each filesPerLook of them. One poll
// in partsEvery also reads the sheet and the model.
const (
	filesPerLook = 1000
	partsEvery   = 10
)

// reloader follows the configuration while a desk serves. It does everything in one goroutine.
type reloader struct {
	desk     *Desk
	loader   *config.Loader
	watch    bool             // polls the files, instead of only reloading on SIGHUP
	hangups  <-chan os.Signal // SIGHUP
	looks    int
	moving   bool           // the files had changed at the last poll
	parts    partFiles      // sheet and model at the last poll
	refused  error          // why the last reload could not use the files; nil if it could
	starting *config.Loader // reads the files as a start would; nil if nothing waits for a restart
	keyPair  string         // digest of the certificate's files when they were last read
}

// follow follows the configuration until the desk closes.
func (h *Desk) follow(p Program, loader *config.Loader, watch bool) {
	k := &reloader{desk: h, loader: loader, watch: watch, hangups: p.Signals, parts: h.parts, keyPair: h.keyPairDigest()}
	loader.Serving()
	ctx, stop := context.WithCancel(p.Ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.run(ctx)
	}()
	h.onClose(func() error {
		stop()
		select {
		case <-done:
			return nil
		case <-h.after(FilesPatience): // a read from a hanging disk cannot be ended
			return errors.New("the files of the configuration do not answer")
		}
	})
}

func (k *reloader) run(ctx context.Context) {
	next := k.nextLook()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.hangups:
			k.reload(bySignal)
		case <-next:
			k.look()
			next = k.nextLook()
		}
	}
}

func (k *reloader) nextLook() <-chan time.Time {
	if !k.watch {
		return nil
	}
	return k.desk.after(LookEvery * time.Duration(1+len(k.desk.live.Load().config.Files())/filesPerLook))
}

// look polls the files. If nothing has changed, it costs little and logs nothing. Editors and deployments
// write a file in several steps, so a change is read at the poll after the one that found it.
func (k *reloader) look() {
	defer k.survive(byFile)
	k.busy(k.desk.now())
	defer k.busy(time.Time{})
	moved := k.moving
	switch k.moving = k.loader.Changed(); {
	case k.moving && moved:
		k.moving = false
		k.reload(byFile)
		return
	case k.keyPair != k.desk.keyPairDigest():
		k.renewCertificates(byFile)
	}
	if k.looks++; k.looks%partsEvery == 0 {
		k.lookAtParts(false)
	}
}

// busy records since when the files are being read or polled; zero if they are not.
func (k *reloader) busy(since time.Time) {
	k.desk.reloads.note(func(s *reloadState) { s.began = since })
}

// reload reads the configuration again and puts it in force if it is valid. Changes that need a restart
// are reported and wait. The others apply at once: a revoked key must not stay valid because of another
// line in the same file.
func (k *reloader) reload(trigger string) {
	h := k.desk
	k.busy(h.now())
	defer k.busy(time.Time{})
	h.notified(h.supervisor.reloading())
	defer func() { h.notified(h.supervisor.ready(h.status())) }()
	defer k.survive(trigger)
	k.renewCertificates(trigger)
	before := h.live.Load()
	after, err := k.next(before)
	if after != nil {
		h.live.Store(after)
		h.keyEnds.changed(before.config.APIKeys, after.config.APIKeys)
	}
	k.refused = err
	k.lookAtParts(true)
	k.report(trigger, before, after, err)
}

// next builds a snapshot of the files; nil if they say what is in force.
func (k *reloader) next(current *snapshot) (*snapshot, error) {
	c, err := k.loader.Load()
	if err != nil || c.Hash() == current.config.Hash() && slices.Equal(c.Files(), current.config.Files()) {
		return nil, err
	}
	if err := config.Lost(current.config, c); err != nil {
		return nil, err
	}
	return newSnapshot(c, k.desk.Gateway, &k.desk.keyEnds.ring)
}

// survive recovers from a panic in a reload, which would end the program with all its requests. The
// configuration in force stays.
func (k *reloader) survive(trigger string) {
	if p := recover(); p != nil {
		k.refuse(fmt.Errorf("a fault of the program: %v", p), trigger, zap.Stack("stack"))
	}
}

// refuse records in the charts, the log, /readyz and the metrics that the files are not used.
func (k *reloader) refuse(err error, trigger string, more ...zap.Field) {
	h := k.desk
	h.log.Error("configuration not reloaded: the one before stays in force", append(more, zap.String("trigger", trigger),
		zap.String("config", h.policy().Hash), zap.Strings("problems", problemsOf(err)))...)
	if !sameText(h.reloads.state().fault, err) {
		h.past.Mark("configuration", "configuration refused: "+summary(err))
	}
	h.reloads.ended(err)
}

// report records the outcome of a reload.
func (k *reloader) report(trigger string, before, after *snapshot, err error) {
	h := k.desk
	switch {
	case err != nil:
		k.refuse(err, trigger)
		return
	case after == nil || after.policy.Hash == before.policy.Hash: // only the names of files may have changed
		if trigger == bySignal || h.reloads.state().fault != nil {
			h.log.Info("configuration reloaded: nothing in it has changed", zap.String("trigger", trigger), zap.String("config", h.policy().Hash))
		}
	default:
		waiting := h.waiting(after.config)
		h.logs.set(after.config.Log.Level)
		k.audit(trigger, before, after, waiting)
		h.past.Mark("configuration", fmt.Sprintf("configuration %s in force", after.policy.Hash))
		if len(waiting) > 0 {
			h.log.Warn("configuration reloaded, but some of it needs a restart", zap.Strings("needs_restart", waiting))
		}
		h.reloads.note(func(s *reloadState) { s.waiting = waiting })
	}
	h.reloads.ended(nil)
}

// waiting describes the changes since the start that need a restart.
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

// lookAtParts reports changes of the sheet and the model, which wait for a restart, and problems that
// would make the restart fail. It judges again if something has changed since it last did, if again is
// true, or if a restart would have failed then.
func (k *reloader) lookAtParts(again bool) {
	h := k.desk
	c, state := h.live.Load().config, h.reloads.state()
	now := partsOf(c)
	if now == k.parts && !again && state.restart == nil {
		return
	}
	k.parts = now
	changed := now.changedSince(h.parts)
	for i := range changed {
		changed[i] = c.Hide(changed[i])
	}
	var restart error
	if now != h.parts || len(h.waiting(c)) > 0 {
		restart = k.judgeRestart(c)
	} else {
		k.starting = nil
	}
	h.reloads.note(func(s *reloadState) { s.parts, s.restart = changed, restart })
	switch known := slices.Equal(changed, state.parts) && sameText(restart, state.restart); {
	case known:
	case len(changed) > 0:
		h.log.Warn("files beside the configuration have changed, and are used after a restart", zap.Strings("needs_restart", changed), zap.NamedError("problem", restart))
	case restart != nil:
		h.log.Warn("a restart would fail", zap.Error(restart))
	}
}

// judgeRestart returns what would keep the program from starting with these files, apart from what the last
// reload has reported.
func (k *reloader) judgeRestart(c *config.Config) error {
	if k.starting == nil {
		k.starting = newLoader(c.Files()[0])
	}
	_, err := judgedBy(k.starting, false)
	if err == nil {
		return nil
	}
	var reported []string
	if k.refused != nil {
		reported = problemsOf(k.refused)
	}
	left := slices.DeleteFunc(problemsOf(err), func(problem string) bool { return slices.Contains(reported, problem) })
	if len(left) == 0 {
		return nil
	}
	return errors.New(c.Hide(inOneLine(left)))
}

func sameText(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

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
	h.reloads.note(func(s *reloadState) { s.certificate = err })
	now := h.certificates.current.Load()
	switch {
	case err != nil:
		h.log.Error("certificate not reloaded: the one before stays in use", zap.String("trigger", trigger), zap.Error(err), zap.Time("expires", now.until))
	case renewed:
		h.logs.audit.Info("certificate changed", zap.String("trigger", trigger), zap.String("serial", now.serial), zap.Time("expires", now.until))
	}
}

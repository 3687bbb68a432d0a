package desk

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"frontdesk/config"

	"go.uber.org/zap"
)

// CompareEvery is how often the configuration in force is compared with the files. The system
// reports most changes before, but no mounts, and no changes on network disks.
const CompareEvery = 30 * time.Second

// look finds changes that no event has reported. If nothing has changed, it costs little and logs
// nothing.
func (k *reloader) look() {
	defer k.survive(byLook)
	k.desk.reloads.begin(k.desk.now())
	defer k.desk.reloads.begin(time.Time{})
	switch {
	case k.watch == nil: // only SIGHUP reloads
	case k.loader.Changed():
		k.reload(byLook)
	case k.keyPair != k.desk.keyPairDigest():
		k.renewCertificates(byLook)
	}
	k.lookAtParts(false)
}

// lookAtParts reports changes that wait for a restart, in the files beside the configuration and
// in settings, and problems that would make the restart fail. It judges again if something has
// changed since it last did, or if a restart would have failed then.
func (k *reloader) lookAtParts(again bool) {
	h := k.desk
	c, state := h.live.Current().config, h.reloads.state()
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
	h.reloads.beside(changed, restart)
	switch told := slices.Equal(changed, state.parts) && sameText(restart, state.restart); {
	case told:
	case len(changed) > 0:
		h.log.Warn("files beside the configuration have changed, and are used after a restart", zap.Strings("needs_restart", changed), zap.NamedError("problem", restart))
	case restart != nil:
		h.log.Warn("a restart would fail", zap.Error(restart))
	}
}

// judgeRestart finds what else would keep the program from starting with the files as they are.
func (k *reloader) judgeRestart(c *config.Config) error {
	if k.starting == nil {
		k.starting = newLoader(c.Files()[0])
	}
	_, err := judgedBy(k.starting, false)
	if err == nil {
		return nil
	}
	var told []string
	if k.refused != nil {
		told = problemsOf(k.refused)
	}
	left := slices.DeleteFunc(problemsOf(err), func(problem string) bool { return slices.Contains(told, problem) })
	if len(left) == 0 {
		return nil
	}
	return errors.New(c.Hide(inOneLine(left)))
}

func sameText(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

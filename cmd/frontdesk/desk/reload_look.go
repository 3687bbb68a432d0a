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
	changed := k.loader.Changed()
	switch {
	case k.watch == nil:
		if changed {
			k.compare()
		}
		k.compareCertificate()
	case changed:
		k.reload(byLook)
	case k.keyPair != k.desk.keyPairDigest():
		k.renewCertificates(byLook)
	}
	k.lookAtParts(false)
}

// compare reports that the files differ from the configuration in force, and leaves the reload to
// SIGHUP.
func (k *reloader) compare() {
	h, pending := k.desk, ""
	c, err := k.loader.Load()
	k.refused = err
	switch {
	case err != nil:
		pending = "the files cannot be used as they are: " + summary(err)
	case c.Hash() != h.policy().Hash:
		pending = fmt.Sprintf("the files say otherwise than what is in force (their hash is %s); SIGHUP takes them up", c.Hash())
	}
	if pending != "" && pending != h.reloads.state().pending {
		h.log.Warn("configuration files have changed, and are not watched", zap.String("config", h.policy().Hash), zap.String("pending", pending))
	}
	h.reloads.left(pending)
	k.lookAtParts(true)
}

// errCertificateWaits is told of a certificate whose files nobody watches.
var errCertificateWaits = errors.New("its files have changed, and are not watched; SIGHUP takes them up")

// compareCertificate reports changed files of the certificate, and leaves them to SIGHUP.
func (k *reloader) compareCertificate() {
	h := k.desk
	told, changed := h.reloads.state().certificate, k.keyPair != h.keyPairDigest()
	switch waits := errors.Is(told, errCertificateWaits); {
	case changed && !waits:
		k.certificateFault = told
		h.log.Warn("certificate files have changed, and are not watched")
		h.reloads.certificate(errCertificateWaits)
	case !changed && waits:
		h.reloads.certificate(k.certificateFault)
	}
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
	if now != h.parts || len(h.waiting(c)) > 0 || state.pending != "" {
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

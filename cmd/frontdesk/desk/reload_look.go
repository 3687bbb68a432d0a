package desk

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"frontdesk/config"

	"go.uber.org/zap"
)

// CompareEvery is how often what is in force is compared with the files, besides the
// changes that the system tells of: it tells of no mount, and of nothing on network disks.
const CompareEvery = 30 * time.Second

// look finds what no event told of. Where all is as it was it costs little, and nothing is
// told of it.
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

// compare tells what the files say otherwise than what is in force, and leaves it to SIGHUP.
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

// compareCertificate tells of files of the certificate that have changed, and leaves them to
// SIGHUP.
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

// lookAtParts tells of the files beside the configuration, and of all else that waits for a
// restart: what is wrong with it would keep the program from starting. It looks again where
// something has changed since it last did, or where a restart would have failed then.
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
		h.log.Warn("the program would not start with what needs a restart", zap.Error(restart))
	}
}

// judgeRestart finds what would keep the program from starting with what the files say, beside
// what was told of them already.
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

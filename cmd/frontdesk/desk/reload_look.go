package desk

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// CompareEvery is how often what is in force is compared with the files, besides the
// changes that the system tells of: it tells of no mount, and of nothing on network disks.
const CompareEvery = 30 * time.Second

// look finds what no event told of. Where all is as it was it costs little, and nothing is
// told of it.
func (k *keeper) look() {
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
	k.lookAtParts()
}

// compare tells what the files say otherwise than what is in force, and leaves it to SIGHUP.
func (k *keeper) compare() {
	h, pending := k.desk, ""
	switch c, err := k.loader.Load(); {
	case err != nil:
		pending = "the files cannot be used as they are: " + summary(err)
	case c.Hash() != h.policy().Hash:
		pending = fmt.Sprintf("the files say otherwise than what is in force (their hash is %s); SIGHUP takes them up", c.Hash())
	}
	if pending != "" && pending != h.reloads.state().pending {
		h.log.Warn("configuration files have changed, and are not watched", zap.String("config", h.policy().Hash), zap.String("pending", pending))
	}
	h.reloads.left(pending)
}

// errCertificateWaits is told of a certificate whose files nobody watches.
var errCertificateWaits = errors.New("its files have changed, and are not watched; SIGHUP takes them up")

// compareCertificate tells of files of the certificate that have changed, and leaves them to
// SIGHUP.
func (k *keeper) compareCertificate() {
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

// lookAtParts tells of the files beside the configuration: what they say otherwise waits for
// a restart, and what is wrong with them would keep the program from starting.
func (k *keeper) lookAtParts() {
	h := k.desk
	c := h.live.Current().config
	now := partsOf(c)
	if now == k.parts {
		return
	}
	k.parts = now
	changed := now.changedSince(h.parts)
	for i := range changed {
		changed[i] = c.Hide(changed[i])
	}
	var restart error
	if now != h.parts {
		if _, err := OfferOf(c); err != nil {
			restart = errors.New(c.Hide(summary(err)))
		}
	}
	h.reloads.beside(changed, restart)
	if len(changed) > 0 || restart != nil {
		h.log.Warn("files beside the configuration have changed, and are used after a restart", zap.Strings("needs_restart", changed), zap.NamedError("problem", restart))
	}
}

package desk

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"frontdesk/backend/sqlrecord"
	"frontdesk/config"
)

// A database or a store of sessions may be unavailable at the start. The start is then tried again, after
// pauses from firstPause to longestPause.
const (
	firstPause   = time.Second
	longestPause = 10 * time.Second
	// startPatience is how long a start may take before clients and operators get an answer.
	startPatience = time.Second
	// nextTry is within what time systemd is next notified of the start.
	nextTry = 2 * time.Minute
)

// away marks an error that may be gone later.
type away struct{ error }

func (a away) Unwrap() error { return a.error }

// isAway reports whether what failed may succeed later without a change of the files.
func isAway(err error) bool {
	_, ok := errors.AsType[away](err)
	return ok || sqlrecord.Away(err)
}

// start is the start of a gateway with one configuration.
type start struct {
	p       Program
	loader  *config.Loader
	watch   bool // reads the files again when they change, not only on SIGHUP
	logs    *Logs
	config  *config.Config
	refused error // why the changed files are not used
	front   *front
	logged  string // the logged cause of the wait
}

// desk builds the desk, however long that takes. It returns neither a desk nor an error if the program is to
// stop, or if the files have changed: then it returns their configuration, for another start.
func (s *start) desk() (h *Desk, changed *config.Config, err error) {
	if s.front, err = openFront(s.p, s.config, s.config.Server.Environment, s.logs); err != nil {
		return nil, nil, err
	}
	defer func() {
		if h == nil {
			err = errors.Join(err, s.front.close())
		}
	}()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		h, err := s.build()
		switch {
		case err == nil:
			h.onClose(s.front.close)
			return h, nil, nil
		case s.p.Ctx.Err() != nil:
			return nil, nil, nil
		case !isAway(err):
			return nil, nil, err
		}
		s.waits(inOneSentence(err))
		changed := s.wait(pause/2 + time.Duration(rand.Float64()*float64(pause/2)))
		if changed != nil || s.p.Ctx.Err() != nil {
			return nil, changed, nil
		}
	}
}

// build tries to build the desk. If that takes long, the front answers clients and operators meanwhile.
func (s *start) build() (h *Desk, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		h, err = build(s.p, s.config, s.config.Server.Environment, s.logs, s.front)
	}()
	select {
	case <-done:
	case <-s.p.After(startPatience):
		s.report("the start is under way")
	}
	<-done
	return h, err
}

// wait waits for the pause, until the program is to stop, or for SIGHUP. If the files have changed and can
// be used, it returns their configuration.
func (s *start) wait(pause time.Duration) *config.Config {
	again := s.watch
	select {
	case <-s.p.Ctx.Done():
		return nil
	case <-s.p.After(pause):
	case <-s.p.Signals:
		again = true
	}
	if !again || !s.loader.Changed() {
		return nil
	}
	c, err := judgedBy(s.loader, false)
	if s.refused = err; err != nil {
		s.logs.Log.Error("the start goes on with the configuration from before", zap.Strings("problems", problemsOf(err)))
	}
	return c
}

// waits reports why the start waits, and then logs it, once for each cause. In this order, whoever has seen
// the line in the log gets the cause from /readyz, too.
func (s *start) waits(cause string) {
	cause = s.config.Hide(cause)
	if s.refused != nil {
		cause += "; the configuration is not used as it is now: " + summary(s.refused)
	}
	s.report("the start waits, and is tried again: " + cause)
	if news := withoutPorts(cause); news != s.logged {
		s.logged = news
		s.logs.Log.Warn("the start waits, and is tried again", zap.String("cause", cause))
	}
}

// report notifies systemd, and sets the answer to operators and clients, why nothing is served yet.
func (s *start) report(why string) {
	if err := s.p.Supervisor.waiting(why, nextTry); err != nil {
		s.logs.Log.Warn("systemd could not be notified", zap.Error(err))
	}
	s.front.starts(why)
	s.front.answer()
}

// inOneSentence drops repetitions from an error: PostgreSQL is tried with TLS and without, and fails twice.
func inOneSentence(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(slices.Compact(lines), " ")
}

// withoutPorts drops the local address of a connection, whose port differs each time.
func withoutPorts(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if _, to, ok := strings.Cut(word, "->"); ok {
			words[i] = to
		}
	}
	return strings.Join(words, " ")
}

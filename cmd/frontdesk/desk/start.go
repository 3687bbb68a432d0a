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

// What a start needs of others may be away: a database, a store of sessions. The start tries again
// after a pause, from firstPause to longestPause, until it is there.
const (
	firstPause   = time.Second
	longestPause = 10 * time.Second
	// startPatience is how long a start may take before clients and operators get an answer.
	startPatience = time.Second
	// nextTry is when systemd hears of the start again, at the latest.
	nextTry = 2 * time.Minute
)

// away marks the error of what may be there later.
type away struct{ error }

func (a away) Unwrap() error { return a.error }

// isAway reports whether what failed may work later, without any change of the files.
func isAway(err error) bool {
	_, ok := errors.AsType[away](err)
	return ok || sqlrecord.Away(err)
}

// start is that of a gateway with one configuration.
type start struct {
	p       Program
	loader  *config.Loader
	watch   bool // has the files read again when they change, and not only on SIGHUP
	logs    *Logs
	config  *config.Config
	refused error // why the files are not used as they are now
	front   *front
	told    string // why it waits
}

// desk builds the desk, however long that takes. Without one, and without an error, the program is to stop,
// or the files have changed: then it returns their configuration, to start with that.
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

// build tries to build the desk. If that takes long, clients and operators are answered meanwhile.
func (s *start) build() (h *Desk, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		h, err = build(s.p, s.config, s.config.Server.Environment, s.logs, s.front)
	}()
	select {
	case <-done:
	case <-s.p.After(startPatience):
		s.tell("the start is under way")
	}
	<-done
	return h, err
}

// wait ends after the pause, when the program is to stop, or on SIGHUP. It returns the configuration of
// files that have changed, if these can be used.
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

// waits tells everybody why the start waits, then the log, once for each cause: who has read the log
// finds the cause wherever it asks.
func (s *start) waits(cause string) {
	cause = s.config.Hide(cause)
	if s.refused != nil {
		cause += "; the configuration is not used as it is now: " + summary(s.refused)
	}
	s.tell("the start waits, and is tried again: " + cause)
	if news := withoutPorts(cause); news != s.told {
		s.told = news
		s.logs.Log.Warn("the start waits, and is tried again", zap.String("cause", cause))
	}
}

// tell tells systemd, operators and clients why nothing is served yet.
func (s *start) tell(why string) {
	if err := s.p.Supervisor.waiting(why, nextTry); err != nil {
		s.logs.Log.Warn("systemd could not be notified", zap.Error(err))
	}
	s.front.starts(why)
	s.front.answer()
}

// inOneSentence is an error without its repetitions: PostgreSQL is tried with TLS and without.
func inOneSentence(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(slices.Compact(lines), " ")
}

// withoutPorts leaves out where connections came from, which is another port each time.
func withoutPorts(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if _, to, ok := strings.Cut(word, "->"); ok {
			words[i] = to
		}
	}
	return strings.Join(words, " ")
}

package desk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"
)

// ServeConfig serves a configuration until the program is to stop. It reads the configuration
// again on SIGHUP and, with watch, when its files change.
func ServeConfig(p Program, file string, watch bool) error {
	signal.Ignore(syscall.SIGPIPE) // the gateway outlives the program that reads its log
	p = p.whole()
	loader := newLoader(file)
	c, err := judgedBy(loader, false)
	if err != nil {
		return err
	}
	logs, err := NewLogs(c.Log, p.Stderr, p.LogDelay)
	if err != nil {
		return err
	}
	defer logs.Stop()
	if p.Signals == nil {
		hangups := make(chan os.Signal, 1) // from here on, SIGHUP does not end the program
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
		p.Signals = hangups
	}
	var h *Desk
	for h == nil {
		s := start{p: p, loader: loader, watch: watch, logs: logs, config: c}
		if h, c, err = s.desk(); err != nil || p.Ctx.Err() != nil && h == nil {
			return err
		}
		if h == nil {
			logs.set(c.Log.Level)
		}
	}
	defer h.Close()
	h.follow(p, loader, watch)
	return h.Serve(p.Ctx, func(baseURL string) { fmt.Fprintf(p.Stdout, "ready: %s/\n", baseURL) })
}

// Serve answers requests until ctx ends, and then lets those under way finish.
func (h *Desk) Serve(ctx context.Context, ready func(baseURL string)) error {
	database, err := DatabaseOf(h.config)
	if err != nil {
		return err
	}
	var serving sync.WaitGroup
	defer serving.Wait()
	alive, stopSigns := context.WithCancel(context.Background())
	defer stopSigns()
	h.past.begin()
	for _, watch := range []func(context.Context){
		h.watchEnded, h.watchStore, h.supervisor.keepAlive, h.watchDisks, h.drift.watch, h.watchKeyUse, h.past.watch, h.past.gather, h.watchQueues, h.watchBackups, h.giveBack,
		func(ctx context.Context) {
			every(ctx, time.After, 24*time.Hour, func() { logKeyEnds(h.keys(), time.Now(), h.log) })
		},
	} {
		serving.Go(func() { watch(alive) })
	}
	if h.commands != nil {
		serving.Go(func() {
			if err := h.commands.serve(); err != nil { // the gateway still serves clients
				h.log.Warn("frontdesk sessions cannot ask this gateway any more", zap.Error(err))
			}
		})
	}
	h.front.desk.Store(h)
	h.front.answer()
	h.notified(h.supervisor.ready(h.status()))
	h.log.Info("serving", zap.String("base_url", h.config.Server.BaseURL()), zap.String("config", h.policy().Hash), zap.Stringer("database", database),
		zap.String("version", Version()))
	ready(h.config.Server.BaseURL())
	select {
	case err = <-h.front.failed:
	case <-ctx.Done():
		h.drain()
	}
	return errors.Join(err, h.shutdown())
}

// drain gives load balancers time to send requests elsewhere before the listener closes: /readyz reports
// draining at once, and requests are still accepted for server.drain_delay.
func (h *Desk) drain() {
	h.draining.Store(true)
	h.notified(h.supervisor.stopping("draining"))
	delay := h.config.Server.DrainDelay
	h.log.Info("draining", zap.Duration("drain_delay", delay), zap.Duration("shutdown_timeout", h.config.Server.ShutdownTimeout))
	if delay > 0 {
		<-h.after(delay)
	}
}

// shutdown lets requests and callback jobs under way finish. The operators' listener closes last,
// so that they can watch.
func (h *Desk) shutdown() error {
	h.draining.Store(true)
	timeout := h.config.Server.ShutdownTimeout
	stop, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	jobs := make(chan error, 1)
	go func() { jobs <- h.callbacks.Shutdown(stop) }()
	err := h.server.Shutdown(stop)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("requests under way were broken off: they did not end within server.shutdown_timeout (%s)", timeout)
	}
	h.letJobsEnd(jobs)
	h.Ops.stop(stop)
	h.commands.stop(stop)
	return err
}

// letJobsEnd waits for the jobs under way. Jobs that do not end in time are no failure: the next
// process does them again.
func (h *Desk) letJobsEnd(jobs <-chan error) {
	var err error
	select {
	case err = <-jobs:
	default:
		h.log.Info("callbacks: waiting for jobs under way to end", zap.Duration("shutdown_timeout", h.config.Server.ShutdownTimeout))
		err = <-jobs
	}
	if err != nil {
		h.log.Warn("callbacks: jobs under way were cut off: they did not end within server.shutdown_timeout", zap.Error(err))
	}
}

// notified logs that notifying systemd failed, which is no reason to stop.
func (h *Desk) notified(err error) {
	if err != nil {
		h.log.Warn("systemd could not be notified", zap.Error(err))
	}
}

// every calls look at once, and again after each pause until ctx ends. after is the timer, such as
// time.After.
func every(ctx context.Context, after func(time.Duration) <-chan time.Time, pause time.Duration, look func()) {
	for {
		look()
		select {
		case <-ctx.Done():
			return
		case <-after(pause):
		}
	}
}

// giveBackAfter is how long after its use large memory is given back to the system; until then it can be
// used again.
const giveBackAfter = 3 * time.Second

// giveBack gives memory back to the system until ctx ends: that of the start, of passwords, and of large
// bodies and answers. The runtime alone would keep it for minutes while the program is idle.
func (h *Desk) giveBack(ctx context.Context) {
	for {
		select {
		case <-h.after(giveBackAfter):
			debug.FreeOSMemory()
		case <-ctx.Done():
			return
		}
		select {
		case <-h.hasher.Spent():
		case <-h.server.Spent():
		case <-ctx.Done():
			return
		}
	}
}

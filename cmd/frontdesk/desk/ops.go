package desk

import (
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"frontdesk/config"
)

// listenOps makes the server of the listener for operators, which is never under the base
// path: /healthz tells that the program runs, /readyz that it can serve.
func listenOps(h *Desk, listener net.Listener) (*http.Server, net.Listener, error) {
	if listener == nil {
		return nil, nil, nil
	}
	answers := probes{h.log, h.health}
	mux := http.NewServeMux()
	page := newPages(h)
	mux.HandleFunc("GET /{$}", page.overview)
	mux.HandleFunc("GET /history", ownOrigin(h.guarded(page.history)))
	mux.HandleFunc("GET /refusals", ownOrigin(h.guarded(page.refusals)))
	mux.HandleFunc("GET /config", ownOrigin(h.guarded(h.tellConfig)))
	mux.HandleFunc("GET /backends", ownOrigin(h.guarded(page.backends)))
	mux.HandleFunc("GET /callbacks", ownOrigin(h.guarded(page.callbacks)))
	mux.HandleFunc("GET /callbacks/{id}", ownOrigin(h.guarded(page.job)))
	mux.HandleFunc("GET /status.json", ownOrigin(page.status))
	mux.HandleFunc("GET /healthz", ownOrigin(answers.healthz))
	mux.HandleFunc("GET /readyz", ownOrigin(answers.readyz))
	h.watch()
	h.metrics.registry.MustRegister(NewReloadMetrics(h))
	mux.HandleFunc("GET /metrics", ownOrigin(promhttp.HandlerFor(h.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP))
	server, err := opsServer(h.config.Ops, mux, answers)
	return server, listener, err
}

// opsServer serves what is for operators, and to who asks by another name no more than the probes.
func opsServer(c config.Ops, pages *http.ServeMux, answers probes) (*http.Server, error) {
	faults, err := zap.NewStdLogAt(answers.log, zap.WarnLevel) // and not to standard error, which somebody may hold up
	if err != nil {
		return nil, err
	}
	handler := closed(ownHost(append([]string{c.Listen}, c.Hosts...), pages, answers.strangers()))
	return &http.Server{Handler: handler, ReadTimeout: 5 * time.Second, WriteTimeout: 15 * time.Second, MaxHeaderBytes: 8 << 10, ErrorLog: faults}, nil
}

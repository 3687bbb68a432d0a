package desk

import (
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
)

// listenOps opens the listener for operators, which is never under the base
// path: /healthz tells that the program runs, /readyz that it can serve.
func listenOps(h *Desk) (*http.Server, net.Listener, error) {
	if h.config.Ops.Listen == "" && h.supervisor.activated(opsSocket) == nil {
		return nil, nil, nil
	}
	listener, err := listen(h.basis, opsSocket, h.config.Ops.Listen)
	if err != nil {
		return nil, nil, err
	}
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
	mux.HandleFunc("GET /healthz", ownOrigin(h.healthz))
	mux.HandleFunc("GET /readyz", ownOrigin(h.readyz))
	h.watch()
	h.metrics.registry.MustRegister(NewReloadMetrics(h))
	mux.HandleFunc("GET /metrics", ownOrigin(promhttp.HandlerFor(h.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP))
	faults, err := zap.NewStdLogAt(h.log, zap.WarnLevel) // and not to standard error, which somebody may hold up
	if err != nil {
		return nil, nil, err
	}
	handler := closed(ownHost(append([]string{h.config.Ops.Listen}, h.config.Ops.Hosts...), mux, h.strangers()))
	return &http.Server{Handler: handler, ReadTimeout: 5 * time.Second, WriteTimeout: 15 * time.Second, MaxHeaderBytes: 8 << 10, ErrorLog: faults}, listener, nil
}

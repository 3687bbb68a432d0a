package main

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
)

// listenOps opens the listener for operators, which is never under the base
// path: /healthz tells that the program runs, /readyz that it can serve.
func (h *house) listenOps() error {
	if h.config.Ops.Listen == "" {
		return nil
	}
	listener, err := listen(h.config.Ops.Listen)
	if err != nil {
		return err
	}
	h.onClose(listener.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		h.answerHealth(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", h.readyz)
	h.metrics.watch(h.gateway, h.client)
	mux.Handle("GET /metrics", promhttp.HandlerFor(h.metrics.registry, promhttp.HandlerOpts{}))
	h.opsAt = listener
	h.ops = &http.Server{Handler: mux, ReadTimeout: 5 * time.Second, WriteTimeout: 15 * time.Second, MaxHeaderBytes: 8 << 10}
	return nil
}

func (h *house) readyz(w http.ResponseWriter, r *http.Request) {
	status, answer := http.StatusOK, map[string]string{"status": "ok", "backend": "ok", "circuit": h.client.State()}
	if err := h.client.Ready(r.Context()); err != nil {
		h.log.Warn("not ready", zap.Error(err))
		status, answer["status"], answer["backend"] = http.StatusServiceUnavailable, "unavailable", "unavailable"
	}
	h.answerHealth(w, status, answer)
}

func (h *house) answerHealth(w http.ResponseWriter, status int, answer map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		h.log.Debug("health answer not sent", zap.Error(err))
	}
}

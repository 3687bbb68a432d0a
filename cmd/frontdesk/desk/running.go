package desk

import (
	"encoding/json"
	"net/http"
	"time"

	"go.uber.org/zap"

	"frontdesk/config"
)

// Running is the configuration in force, as /config of the operators' listener tells it. It has no
// secrets, no values of variables, and of hashes only what identifies them.
type Running struct {
	Config   string           `json:"config"` // its hash
	Since    time.Time        `json:"since"`
	Settings []config.Setting `json:"settings"`
	Waiting  []string         `json:"needs_restart"` // settings that are read, and not used before a restart
}

func (h *Desk) tellConfig(w http.ResponseWriter, _ *http.Request) {
	current, state := h.live.Current(), h.reloads.state()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	err := json.NewEncoder(w).Encode(Running{
		Config: current.policy.Hash, Since: current.since, Settings: current.config.Settings(), Waiting: append([]string{}, state.needsRestart()...),
	})
	if err != nil {
		h.log.Debug("nobody took the configuration in force", zap.Error(err))
	}
}

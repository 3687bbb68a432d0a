package desk

import (
	"time"

	"github.com/gofiber/fiber/v2"

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

func (h *Desk) tellConfig(c *fiber.Ctx) error {
	current, state := h.live.Load(), h.reloads.state()
	return c.JSON(Running{
		Config: current.policy.Hash, Since: current.since, Settings: current.config.Settings(), Waiting: append([]string{}, state.needsRestart()...),
	})
}

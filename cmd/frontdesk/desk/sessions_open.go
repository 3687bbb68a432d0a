package desk

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/zap"

	"frontdesk/auth"
)

// SessionFilter selects sessions. The zero filter selects every session.
type SessionFilter struct{ ID, Key, Client, User string }

// Query returns the filter as query parameters of the socket.
func (f SessionFilter) Query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"id": f.ID, "key": f.Key, "client": f.Client, "user": f.User} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

func sessionFilterOf(c *fiber.Ctx) SessionFilter {
	return SessionFilter{c.Query("id"), c.Query("key"), c.Query("client"), c.Query("user")}
}

// OpenSession is a session as operators see it. It holds nothing with which somebody could use the session.
type OpenSession struct {
	ID      string     `json:"id"`
	Key     string     `json:"key"` // name of the api_key
	Client  string     `json:"client"`
	User    string     `json:"user"`
	Opened  time.Time  `json:"opened"`
	Used    *time.Time `json:"used"` // last use; nil if the store does not record it
	Expires time.Time  `json:"expires"`
}

// OpenSessions are the sessions that a filter selects, newest first.
type OpenSessions struct {
	Sessions []OpenSession `json:"sessions"`
	Count    int           `json:"count"` // how many the filter selects; Sessions may be cut
}

// EndedSessions is the outcome of ending sessions.
type EndedSessions struct {
	Ended int    `json:"ended"`
	Fault string `json:"fault,omitempty"` // why not all were ended
}

func (f SessionFilter) holds(s OpenSession) bool {
	return (f.ID == "" || f.ID == s.ID) && (f.Key == "" || f.Key == s.Key) && (f.Client == "" || f.Client == s.Client) && (f.User == "" || f.User == s.User)
}

// eachSession calls f with the valid sessions that a filter selects. Those of api_keys and users that have
// ended are not valid, although the store keeps them for a while.
func (h *Desk) eachSession(ctx context.Context, filter SessionFilter, f func(OpenSession, *auth.Session) error) error {
	lister, ok := h.common.sessions.Sessions.(auth.SessionLister)
	if !ok {
		return errors.New("the store of sessions does not tell which there are")
	}
	known, keys, now := h.common.sessions.known.Load(), h.policy().Keys, time.Now()
	return lister.EachSession(ctx, func(s *auth.Session, used time.Time) error {
		key, why := keys.Look(s.Key, now)
		if why != "" || known.why(s) != "" {
			return nil
		}
		one := OpenSession{ID: s.ID(), Key: key.Name, Client: s.User.Client.Name, User: s.User.Username, Opened: s.Issued, Used: moment(used), Expires: s.Expires}
		if !filter.holds(one) {
			return nil
		}
		return f(one, s)
	})
}

// listSessions answers a command with the sessions of a filter.
func (h *Desk) listSessions(c *fiber.Ctx) error {
	most := max(c.QueryInt("limit"), 0) // 0 to only count them
	found := OpenSessions{Sessions: []OpenSession{}}
	err := h.eachSession(c.UserContext(), sessionFilterOf(c), func(s OpenSession, _ *auth.Session) error {
		found.Count++
		if most > 0 {
			found.Sessions = append(found.Sessions, s)
		}
		return nil
	})
	if err != nil {
		h.log.Warn("sessions cannot be listed", zap.Error(err))
		return fiber.NewError(fiber.StatusServiceUnavailable, "the store of sessions cannot be read; the log says why")
	}
	slices.SortFunc(found.Sessions, func(a, b OpenSession) int { return cmp.Or(b.Opened.Compare(a.Opened), cmp.Compare(a.ID, b.ID)) })
	found.Sessions = found.Sessions[:min(most, len(found.Sessions))]
	return c.JSON(found)
}

// endSessions ends the sessions of a filter for a command.
func (h *Desk) endSessions(c *fiber.Ctx) error {
	filter := sessionFilterOf(c)
	if filter == (SessionFilter{}) {
		return fiber.NewError(fiber.StatusBadRequest, "expected which sessions")
	}
	var those []*auth.Session
	err := h.eachSession(c.UserContext(), filter, func(_ OpenSession, s *auth.Session) error {
		those = append(those, s)
		return nil
	})
	var done EndedSessions
	for _, s := range those {
		if err != nil {
			break
		}
		if err = h.common.sessions.End(c.UserContext(), s, auth.CauseEnded); err == nil {
			done.Ended++
		}
	}
	if err != nil {
		h.log.Warn("sessions cannot be ended", zap.Error(err))
		done.Fault = "the store of sessions failed; the log says why"
	}
	return c.JSON(done)
}

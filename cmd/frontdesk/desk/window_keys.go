package desk

import (
	"cmp"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"frontdesk/cmd/frontdesk/instrument"
)

// keysView is the page of all api_keys.
type keysView struct {
	Span string    `json:"span"`
	Now  time.Time `json:"now"`
	Keys []keyRow  `json:"keys"` // most requests first
}

// keyRow is an api_key, and its use in the span.
type keyRow struct {
	busyRow
	Hashes   int        `json:"hashes"`
	Entries  int        `json:"allow_entries"`
	Until    *time.Time `json:"until"`     // when it can no longer be used
	LastUsed *time.Time `json:"last_used"` // at any gateway
	Ended    bool       `json:"ended"`
}

func (p *pages) keys(c *fiber.Ctx) error {
	h := p.of
	name, span := spanOf(c.Queries())
	did := h.past.inSpan(c.UserContext(), span, h.past.others != nil)
	v := keysView{Span: name, Now: time.Now().In(h.config.Server.TimeZone.Location), Keys: []keyRow{}}
	for _, key := range h.keys() {
		s, _ := did.Of(instrument.Key, key.Name)
		row := keyRow{busyRow: rowOfSeries(s), Hashes: len(key.Hashes), Entries: len(key.Allow), Until: moment(endOf(key)), Ended: HasEnded(key, v.Now)}
		last := time.Time{}
		for _, hash := range key.Hashes {
			if used := h.lastUse(hash.Hash); used.After(last) {
				last = used
			}
		}
		row.LastUsed = moment(last)
		v.Keys = append(v.Keys, row)
	}
	slices.SortStableFunc(v.Keys, func(a, b keyRow) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	return p.answer(c, "keys", v)
}

package neighbours

import (
	"context"
	"fmt"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// A gateway that reports nothing any more counts as running for GatewayLife, and is deleted after GatewayForgotten.
const (
	GatewayLife      = 30 * time.Second
	GatewayForgotten = time.Hour
)

// Gateway is the latest report of a gateway to the others.
type Gateway struct {
	ID       string        // drawn at its start
	Quiet    time.Duration // how old the report is, by the clock of the database
	Document string
}

// Meet stores the report of a gateway, and returns the reports of the others.
func (t *Tables) Meet(ctx context.Context, id, document string) (others []Gateway, err error) {
	own, present := mapping.TextValue(id), t.db.Dialect().Present
	old := fmt.Sprintf(`DELETE FROM neighbour_gateway WHERE seen_at < %s - %d`, present, GatewayForgotten.Milliseconds())
	err = t.db.Write(ctx, func(c sqlrecord.Conn) error {
		others = nil
		if _, err := c.Exec(ctx, `INSERT INTO neighbour_gateway (id, seen_at, document) VALUES (?1, `+present+`, ?2)
			ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, document = excluded.document`, own, mapping.TextValue(document)); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, old); err != nil {
			return err
		}
		return c.Query(ctx, `SELECT id, `+present+` - seen_at, document FROM neighbour_gateway WHERE id <> ?1 ORDER BY id`, []sqlrecord.Column{words, number, words}, []mapping.Value{own},
			func(row []mapping.Value) error {
				others = append(others, Gateway{ID: row[0].Text(), Quiet: time.Duration(row[1].Int()) * time.Millisecond, Document: row[2].Text()})
				return nil
			})
	})
	return others, err
}

// Documents returns the reports of the gateways that count as running.
func (t *Tables) Documents(ctx context.Context) (all []string, err error) {
	err = t.db.Read(ctx, func(c sqlrecord.Conn) error {
		all = nil
		text := fmt.Sprintf(`SELECT document FROM neighbour_gateway WHERE seen_at >= %s - %d ORDER BY document`, t.db.Dialect().Present, GatewayLife.Milliseconds())
		return c.Query(ctx, text, []sqlrecord.Column{words}, nil, func(row []mapping.Value) error {
			all = append(all, row[0].Text())
			return nil
		})
	})
	return all, err
}

// Leave deletes the report of a gateway that stops.
func (t *Tables) Leave(ctx context.Context, id string) error {
	_, err := sqlrecord.Change(ctx, t.db, `DELETE FROM neighbour_gateway WHERE id = ?1`, mapping.TextValue(id))
	return err
}

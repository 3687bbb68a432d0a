package legacy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/follow"
	"frontdesk/mapping"
)

const notedSheet = `keep: keep.db
without_rules: [prefered_email]
client: adm
resources:
  contact: {table: f_rel, key: {columns: nr, generated: max+1}, where: weg = 0, changes: CHANGES,
    fields: {name: naam, kind: {constant: person}, modified_at: {column: gew, type: epoch_millis, stamp: change}}}
  contactcommunication: {table: f_com, key: {columns: code, id: kept, generated: supplied}, operations: {only: [get, list]}, changes: {by: table, table: f_wijz, sequence: SEQ, key: [sleutel], where: "tabel = 'f_com'"},
    fields: {contact_id: rel, type: {constant: 1}, value: waarde}}
`

// noted are tables whose changes the database notes in another one, by a number and by a time.
func noted(engine string) []string {
	stamp := map[string]string{"sqlite": "datetime", "postgres": "timestamptz", "mariadb": "datetime(3)"}[engine]
	return []string{
		"CREATE TABLE f_rel (nr integer PRIMARY KEY, adm integer NOT NULL, naam varchar(40) NOT NULL, weg integer NOT NULL DEFAULT 0, gew bigint NOT NULL DEFAULT 0)",
		"CREATE TABLE f_com (code varchar(10) NOT NULL PRIMARY KEY, adm integer NOT NULL, rel integer NOT NULL, waarde varchar(80) NOT NULL)",
		"INSERT INTO f_rel (nr, adm, naam) VALUES (1, 1, 'Een'), (2, 1, 'Twee'), (3, 1, 'Drie'), (4, 2, 'Zuid'), (5, 1, 'Vijf')",
		"INSERT INTO f_com VALUES ('zz', 1, 1, 'a'), ('b', 1, 2, 'b'), ('A', 2, 4, 'z')",
		"CREATE TABLE f_wijz (nr bigint NOT NULL, op " + stamp + ", tabel varchar(10) NOT NULL, sleutel varchar(20))",
	}
}

// TestChangesByTable reads what a table notes: which records by which key, those at one place
// together, each once, and what no longer follows the place that was read last.
func TestChangesByTable(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		for _, by := range []string{"nr", "op"} {
			t.Run(by, func(t *testing.T) {
				changes := "{by: table, table: f_wijz, sequence: SEQ, key: [sleutel], where: \"tabel = 'f_rel'\"}"
				x := onTables(t, engine, strings.NewReplacer("CHANGES", changes).Replace(strings.ReplaceAll(notedSheet, "SEQ", by)), noted(engine)...)
				x.sheet.Resource("contact").Changes.Sequence = by
				contact, com := x.model.Resource("contact"), x.model.Resource("contactcommunication")
				note := func(n int, table, key string) {
					x.exec(fmt.Sprintf("INSERT INTO f_wijz VALUES (%d, '2026-07-01 10:00:%02d.250', '%s', %s)", int64(9_000_000_000)+int64(n), n, table, key))
				}
				entries := func(after string, most int) follow.Entries {
					page, err := x.Entries(t.Context(), contact, one, after, most)
					require.NoError(t, err)
					return page
				}
				x.exec("INSERT INTO f_wijz VALUES (0, NULL, 'f_rel', '1')") // at a time that nobody knows
				if by == "nr" {
					x.exec("DELETE FROM f_wijz")
				}
				at, err := x.Position(t.Context(), contact, one)
				require.NoError(t, err)
				require.Empty(t, entries(at, 10).Keys)
				note(1, "f_rel", "'1'")
				note(2, "f_rel", "'3'")
				note(2, "f_rel", "'3'")
				note(2, "f_rel", "'4'")
				note(2, "f_com", "'b'")
				note(3, "f_rel", "'77'")
				note(3, "f_rel", "NULL")

				first := entries(at, 2)
				require.True(t, first.More)
				require.Len(t, first.Keys, 3, "1, and all at the next place")
				second := entries(first.Next, 2)
				require.Len(t, second.Keys, 1)
				require.Equal(t, 1, second.Nameless)
				require.Empty(t, entries(second.Next, 2).Keys)
				last, err := x.Position(t.Context(), contact, one)
				require.NoError(t, err)
				require.Equal(t, last, second.Next)

				records, others, err := x.Named(t.Context(), contact, one, append(first.Keys, second.Keys...))
				require.NoError(t, err)
				require.Len(t, records, 2)
				require.Equal(t, "Drie", records[1].Get("name").Text())
				require.Equal(t, []int32{4, 77}, others)

				page, err := x.Entries(t.Context(), com, one, "", 10)
				require.NoError(t, err)
				records, others, err = x.Named(t.Context(), com, one, page.Keys)
				require.NoError(t, err)
				require.Len(t, records, 1)
				require.Equal(t, "b", records[0].Get("value").Text())
				require.Empty(t, others)
				x.exec("DELETE FROM f_com WHERE code = 'b'")
				records, others, err = x.Named(t.Context(), com, one, page.Keys)
				require.NoError(t, err)
				require.Empty(t, records)
				require.Len(t, others, 1, "whose ID was given out")

				x.exec("DELETE FROM f_wijz")
				require.Empty(t, entries(last, 2).Keys, "nobody has noted anything since")
				note(1, "f_rel", "'1'")
				for _, gone := range []string{last, "x12"} {
					_, err = x.Entries(t.Context(), contact, one, gone, 2)
					require.ErrorIs(t, err, follow.ErrPositionGone, gone)
				}
			})
		}
	})
}

// TestDeletedByVersion reads the rows that the database marks as deleted, page by page.
func TestDeletedByVersion(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		changes := "{by: version, deleted: 'weg IN (1, 2)'}"
		x := onTables(t, engine, strings.NewReplacer("CHANGES", changes, "SEQ", "nr").Replace(notedSheet), noted(engine)...)
		contact := x.model.Resource("contact")
		now := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC).UnixMilli()
		x.exec(fmt.Sprintf("UPDATE f_rel SET weg = nr %% 3, gew = %d + nr", now))
		gone := func(since int64) (all []int32) {
			page, err := x.Entries(t.Context(), contact, one, fmt.Sprint(since), 1)
			for ; ; page, err = x.Entries(t.Context(), contact, one, page.Next, 1) {
				require.NoError(t, err)
				if all = append(all, page.Others...); !page.More {
					return all
				}
			}
		}
		require.Equal(t, []int32{1, 2, 5}, gone(now))
		require.Equal(t, []int32{2, 5}, gone(now+2))
		require.Empty(t, gone(now+6))
		require.Len(t, x.list(one, "contact"), 1)
		_, err := x.Entries(t.Context(), contact, one, "soon", 1)
		require.Error(t, err)
		require.Equal(t, mapping.IntValue(3), x.list(one, "contact")[0].Get("id"))
	})
}

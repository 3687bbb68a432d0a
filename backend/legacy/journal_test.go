package legacy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/follow"
	"frontdesk/mapping"
)

// TestEntries reads what a table notes, by a number and by a time: which records by which key, those
// at one place together, each once, and what no longer follows the place that was read last.
func TestEntries(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		stamp := map[string]string{"sqlite": "datetime", "postgres": "timestamptz", "mariadb": "datetime(3)"}[engine]
		for _, by := range []string{"nr", "op"} {
			x := onTables(t, engine, toldSheet(by, "0s"), append(slices.Clone(followedTables), "CREATE TABLE f_wijz (nr bigint NOT NULL, op "+stamp+", tabel varchar(10) NOT NULL, sleutel varchar(20))")...)
			contact, com := x.model.Resource("contact"), x.model.Resource("contactcommunication")
			note := func(n int, table string, keys ...string) {
				for _, key := range keys {
					x.exec(fmt.Sprintf("INSERT INTO f_wijz VALUES (%d, '2026-07-01 10:00:%02d.250', '%s', %s)", 9_000_000_000+int64(n), n, table, key))
				}
			}
			entries := func(after string) follow.Entries {
				page, err := x.Entries(t.Context(), contact, one, after, 2)
				require.NoError(t, err)
				return page
			}
			position := func() string {
				at, err := x.Position(t.Context(), contact, one)
				require.NoError(t, err)
				return at
			}
			if by == "op" {
				x.exec("INSERT INTO f_wijz VALUES (0, NULL, 'f_rel', '1')") // at a time that nobody knows
			}
			at := position()
			require.Empty(t, entries(at).Keys)
			note(1, "f_rel", "'1'")
			note(2, "f_rel", "'3'", "'3'", "'4'")
			note(2, "f_com", "'b'")
			note(3, "f_rel", "'77'", "NULL")
			first := entries(at)
			require.True(t, first.More)
			require.Len(t, first.Keys, 3, "1, and all at the next place")
			second := entries(first.Next)
			require.Len(t, second.Keys, 1)
			require.Equal(t, 1, second.Nameless)
			require.Empty(t, entries(second.Next).Keys)
			last := position()
			require.Equal(t, last, second.Next)

			named := func(r *mapping.Resource, keys [][]string) (texts []string, others []int32) {
				records, others, err := x.Named(t.Context(), r, one, keys)
				require.NoError(t, err)
				for _, rec := range records {
					texts = append(texts, rec.Get(map[*mapping.Resource]string{contact: "name", com: "value"}[r]).Text())
				}
				return texts, others
			}
			texts, others := named(contact, append(first.Keys, second.Keys...))
			require.Equal(t, []string{"Een", "Drie"}, texts)
			require.Equal(t, []int32{4, 77}, others)
			page, err := x.Entries(t.Context(), com, one, "", 10)
			require.NoError(t, err)
			texts, others = named(com, page.Keys)
			require.Equal(t, []string{"b"}, texts)
			require.Empty(t, others)
			x.exec("DELETE FROM f_com WHERE code = 'b'")
			texts, others = named(com, page.Keys)
			require.Empty(t, texts)
			require.Len(t, others, 1, "whose ID was given out")

			x.exec("DELETE FROM f_wijz")
			require.Empty(t, entries(last).Keys, "nobody has noted anything since")
			note(1, "f_rel", "'1'")
			for _, gone := range []string{last, "x12"} {
				_, err = x.Entries(t.Context(), contact, one, gone, 2)
				require.ErrorIs(t, err, follow.ErrPositionGone, gone)
			}
			x.exec("DROP TABLE f_wijz")
		}
	})
}

// TestDeletedByVersion reads the rows that the database marks as deleted, page by page.
func TestDeletedByVersion(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onTables(t, engine, strings.Replace(followedSheet, "where: weg = 0", "where: weg = 0, changes: {by: version, deleted: 'weg IN (1, 2)'}", 1), followedTables...)
		contact, now := x.model.Resource("contact"), time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC).UnixMilli()
		x.exec(fmt.Sprintf("UPDATE f_rel SET weg = nr %% 3, gew = %d + nr", now))
		for since, want := range map[int64][]int32{now: {1, 2, 5}, now + 2: {2, 5}, now + 6: nil} {
			var gone []int32
			for page := (follow.Entries{Next: fmt.Sprint(since), More: true}); page.More; gone = append(gone, page.Others...) {
				var err error
				page, err = x.Entries(t.Context(), contact, one, page.Next, 1)
				require.NoError(t, err)
			}
			require.Equal(t, want, gone)
		}
		require.Equal(t, []int32{3}, ids(x.list(one, "contact")))
		_, err := x.Entries(t.Context(), contact, one, "soon", 1)
		require.Error(t, err)
	})
}

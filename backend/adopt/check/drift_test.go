package check

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/remotetest"
)

// printed is a report as it is read again from what was printed of it.
func printed(t *testing.T, r *Report) *Report {
	t.Helper()
	var b strings.Builder
	require.NoError(t, r.WriteJSON(&b))
	out := &Report{}
	require.NoError(t, json.Unmarshal([]byte(b.String()), out))
	return out
}

// drift are the findings about what has changed, as words.
func drift(r *Report) (all []string) {
	for _, f := range r.Findings {
		if strings.HasPrefix(f.Rule, "drift.") {
			all = append(all, fmt.Sprintf("%s %s %s: %s", f.Severity, f.Rule, f.Path, f.Seen))
		}
	}
	return all
}

// TestSinceOfADatabase: what the tables of the sheet no longer have, or have otherwise, is told of, and
// nothing where nothing has changed.
func TestSinceOfADatabase(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	before := printed(t, checked(t, finished(t, "mariadb"), dsn))
	now := checked(t, finished(t, "mariadb"), dsn)
	now.Since(before)
	require.Empty(t, drift(now))
	execute(t, opened(t, dsn), "ALTER TABLE OMZGRP MODIFY OMS varchar(80) NOT NULL", "ALTER TABLE OMZGRP DROP COLUMN GBREKEX", "ALTER TABLE OMZGRP ADD SINDS date")
	now = checked(t, finished(t, "mariadb"), dsn)
	now.Since(before)
	require.ElementsMatch(t, []string{
		"warning drift.changed resources.turnovergroup: OMZGRP.GBREKEX was char(8) when the sheet was checked before, and is gone",
		"warning drift.changed resources.turnovergroup: OMZGRP.OMS was varchar(30) not null when the sheet was checked before, and is varchar(80) not null",
		"note drift.new resources.turnovergroup: OMZGRP.SINDS, date, was not there when the sheet was checked before",
	}, drift(now))
}

// TestSinceOfAService: members of records that are gone, new, or of another kind.
func TestSinceOfAService(t *testing.T) {
	s := emptyRack()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	check := func() *Report {
		driver, o, problems := inFront(t, remotetest.RackSheet, map[string]string{"URL": server.URL}, "SINCE", remotetest.WithSince)
		require.Empty(t, problems)
		report, err := HTTP(t.Context(), driver, auth.Client{ID: 1, Name: "Noord"}, o)
		require.NoError(t, err)
		return report
	}
	s.Put("contacts", "c1", map[string]any{"org": 1, "name": "N", "note": "", "kind": "P", "days": 14})
	before := printed(t, check())
	now := check()
	now.Since(before)
	require.Empty(t, drift(now))
	s.Put("contacts", "c1", map[string]any{"days": "14"})
	s.Rename = map[string]string{"note": "memo"}
	now = check()
	now.Since(before)
	require.ElementsMatch(t, []string{
		"warning drift.changed resources.contact: days was number when the sheet was checked before, and is text",
		"warning drift.changed resources.contact: note was text when the sheet was checked before, and is gone",
		"note drift.new resources.contact: memo, text, was not there when the sheet was checked before",
	}, drift(now))
}

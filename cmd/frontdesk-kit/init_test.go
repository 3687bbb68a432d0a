package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMapInit drafts sheets of a database and of a description, which map check then reads as far
// as it can.
func TestMapInit(t *testing.T) {
	dir := dealerpak(t)
	draft := filepath.Join(dir, "draft.yaml")
	t.Setenv("DATABASE_DSN", os.Getenv("DEALERPAK_DSN"))
	out, stderr := runs(t, 0, "map", "init", "--engine", "sqlite", "--out", draft)
	require.Empty(t, out)
	require.Regexp(t, `^Of \d+ tables: 0 resources with 0 fields; \d+ lines marked TODO.\nNot found: advertisementsite, `, stderr)
	text, err := os.ReadFile(draft)
	require.NoError(t, err)
	require.NotContains(t, string(text), os.Getenv("DATABASE_DSN"))
	require.Contains(t, string(text), "dsn: ${DATABASE_DSN}")
	_, stderr = runs(t, 2, "map", "init", "--engine", "sqlite", "--out", draft)
	require.Equal(t, "frontdesk-kit: --out "+draft+": expected a file that is not there yet\n", stderr)
	out, _ = runs(t, 1, "map", "check", "--sheet", draft)
	require.Contains(t, out, "error: sql.missing\n")

	described := filepath.Join(dir, "openapi.json")
	require.NoError(t, os.WriteFile(described, []byte(`{"swagger": "2.0", "basePath": "/v2", "paths": {"/contacts": {"get": {"responses": {"200": {"schema": {"type": "array", "items": {"$ref": "#/definitions/Contact"}}}}}}},
		"definitions": {"Contact": {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}}}`), 0o600))
	out, stderr = runs(t, 0, "map", "init", "--openapi", described)
	require.Contains(t, stderr, "Of 1 path: 1 resource with 1 field; ")
	require.Contains(t, out, `    path: "/v2/contacts"`)

	brief := filepath.Join(dir, "brief.md")
	out, _ = runs(t, 0, "map", "brief", "--engine", "sqlite", "--out", brief)
	require.Empty(t, out)
	text, err = os.ReadFile(brief)
	require.NoError(t, err)
	require.Contains(t, string(text), "\n### GEBRUIKER\n\n20 rows; ")
	out, _ = runs(t, 0, "map", "brief", "--openapi", described)
	require.Contains(t, out, "\n  /contacts:\n")

	for message, args := range map[string][]string{
		"expected either --engine of a database, or --openapi":    {},
		"expected either --engine of a database, or --openapi of": {"--engine", "sqlite", "--openapi", described},
		"--openapi: open ":     {"--openapi", described + ".none"},
		"has more than 64 MiB": {"--openapi", "/dev/zero"},
		"expected paths in it": {"--openapi", filepath.Join(dir, "frontdesk.yaml")},
		"open the database":    {"--engine", "sqlite", "--dsn", filepath.Join(dir, "none.db")},
	} {
		code, out, stderr := cli("", append([]string{"map", "init"}, args...)...)
		require.NotZero(t, code, message)
		require.Empty(t, out)
		require.Contains(t, stderr, message)
	}
	t.Setenv("DATABASE_DSN", "")
	_, stderr = runs(t, 2, "map", "init", "--engine", "sqlite")
	require.Contains(t, stderr, "--engine sqlite: expected DATABASE_DSN in the environment")
}

// TestMapPage writes the page of a check of DEALERPAK: the sheet is on it, with findings where they
// are, and nobody's name.
func TestMapPage(t *testing.T) {
	dir := dealerpak(t, "description: {column: OMS, length: 30", "description: {column: OMSCHR, length: 30")
	check := filepath.Join(dir, "check.html")
	runs(t, 1, "map", "check", "--sheet", filepath.Join(dir, "sheet.yaml"), "--html", check)
	text, err := os.ReadFile(check)
	require.NoError(t, err)
	for _, wanted := range []string{"<code>sql.missing</code>", "there is no column OMSCHR in OMZGRP", "birth_date:", "accounts: all 20 user(s) of GEBRUIKER"} {
		require.Contains(t, string(text), wanted)
	}
	for _, value := range []string{"Veluwe", "piet.dekker", "$2a$", os.Getenv("DEALERPAK_DSN")} {
		require.NotContains(t, string(text), value)
	}
	info, err := os.Stat(check)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	_, stderr := runs(t, 2, "map", "check", "--sheet", filepath.Join(dir, "sheet.yaml"), "--html", check)
	require.Contains(t, stderr, "--html "+check+": expected a file that is not there yet")
}

package sheet_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"frontdesk/auth"
	"frontdesk/mapping/sheet"
)

func replace(s, old, by string) string { return strings.ReplaceAll(s, old, by) }

func count(s, of string) int { return strings.Count(s, of) }

func factsRow(f *sheet.Facts, given map[string]sheet.Raw) []sheet.Raw {
	out := make([]sheet.Raw, len(f.Places))
	for i, p := range f.Places {
		out[i] = null()
		if raw, ok := given[p.Name]; ok {
			out[i] = raw
		}
	}
	return out
}

func TestFacts(t *testing.T) {
	a := load(t, "testdata/dealer.yaml").Accounts
	in := factsRow(a.Facts, map[string]sheet.Raw{
		"LOGIN": text("jansen   "), "EMAIL": text(""), "BEDRNR": number(1 << 40), "NAAM": text("De Wit"), "EXTERN": text("N"), "GEBLOK": text("J"),
	})
	got, err := a.Facts.User(in, "JANSEN")
	want := sheet.UserFacts{Username: "jansen", ClientID: 1 << 40, ClientName: "De Wit", Blocked: true}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	in = factsRow(a.Facts, map[string]sheet.Raw{"NAAM": text("secret\xff"), "BEDRNR": number(1)})
	if _, err := a.Facts.User(in, "x"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error = %v", err)
	}
	if _, err := a.Facts.User(factsRow(a.Facts, map[string]sheet.Raw{"BEDRNR": text("x")}), "x"); err == nil {
		t.Error("a client without a number")
	}
	for _, none := range []sheet.Raw{null(), {}, text(" "), number(0)} {
		if _, err := a.Facts.User(factsRow(a.Facts, map[string]sheet.Raw{"BEDRNR": none}), "x"); err == nil {
			t.Error("a user of no client", none)
		}
	}
	if _, err := a.Facts.User(nil, "x"); err == nil {
		t.Error("a row without places")
	}
}

// TestYesOfAnotherNumber: before, a user was blocked by 1 alone, and not by the -1 of other programs.
func TestYesOfAnotherNumber(t *testing.T) {
	a := parse(t, `
format: 1
source: {http: {url: "https://x.nl"}}
rules: backend
accounts: {verify: {path: /login}, result: {username: LOGIN, client_id: {constant: 1}, client_name: {constant: x}, blocked: GEBLOK, external: EXTERN}}
resources:
  country: {key: {columns: ID}, client: "", operations: {get: {path: "/c/{key}"}}, fields: {code: CODE, name: NAAM}}
`).Accounts
	for n, yes := range map[int64]bool{-1: true, 0: false, 1: true, 2: true} {
		u, err := a.Facts.User(factsRow(a.Facts, map[string]sheet.Raw{"LOGIN": text("x"), "GEBLOK": number(n), "EXTERN": number(n)}), "x")
		if err != nil || u.Blocked != yes || u.External != yes {
			t.Errorf("%d: blocked %v, external %v, %v", n, u.Blocked, u.External, err)
		}
	}
	if u, err := a.Facts.User(factsRow(a.Facts, map[string]sheet.Raw{"LOGIN": text("x")}), "x"); err != nil || u.Blocked || u.External {
		t.Error("null is no yes", err)
	}
}

func TestFactsOfAnAnswer(t *testing.T) {
	a := load(t, "testdata/cloud.yaml").Accounts
	in := factsRow(a.Facts, map[string]sheet.Raw{"user.login": text("jansen"), "user.tenant": text("7"), "user.active": {Kind: sheet.RawBool, Int: 1}})
	got, err := a.Facts.User(in, "jansen")
	want := sheet.UserFacts{Username: "jansen", ClientID: 7, ClientName: "Cloud"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, none := range []sheet.Raw{null(), {}, text("")} {
		if _, err := a.Facts.User(factsRow(a.Facts, map[string]sheet.Raw{"user.login": none, "user.tenant": text("7")}), "jansen"); err == nil {
			t.Error("nobody's answer is believed to be jansen's", none)
		}
	}
	if !a.Refused.Match(sheet.Failure{Status: 401}) || a.Refused.Match(sheet.Failure{Status: 403}) {
		t.Error("refused by the wrong status")
	}
}

func TestListedUsers(t *testing.T) {
	users := load(t, "testdata/lijn.yaml").Accounts.Users
	if len(users) != 1 || users[0].Username != "jansen" || users[0].Client != (auth.Client{ID: 1, Name: "De Wit"}) {
		t.Errorf("users %v", users)
	}
}

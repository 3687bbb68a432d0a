package secrets

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// agent has an actor call tools for what it draws.
type agent struct {
	*actor
	*rig.Desk
	token string
}

func newAgent(t *testing.T, d *rig.Desk, seed uint64, names []string, key string) *agent {
	a := &agent{newActor(seed, names), d, d.Login(key, "demo")}
	a.key, a.follows = key, true
	w := &walk{twins: newTwins(t, [2]*rig.Desk{d, d})}
	a.own = w.readAll(a.actor, 0, a.token)
	return a
}

// toolFor is the tool for a request, "" where there is none. A write is rehearsed.
func toolFor(q ask) (tool string, arguments map[string]any) {
	path, query, _ := strings.Cut(q.path[1:], "?")
	resource, item, one := strings.Cut(path, "/")
	id, err := strconv.Atoi(item)
	given := map[string]any{}
	parsed, _ := url.ParseQuery(query) // which is drawn
	for name, values := range parsed {
		given[name] = values[0]
	}
	operation := map[string]string{"POST": "create", "PUT": "update", "DELETE": "delete"}[q.method]
	arguments = map[string]any{"resource": resource}
	switch {
	case one && err != nil, given["id"] != nil, q.body != "" && !json.Valid([]byte(q.body)):
		return "", nil
	case operation != "":
		arguments["operation"] = operation
		if one {
			arguments["id"] = id
		}
		if q.body != "" {
			arguments["record"] = json.RawMessage(q.body)
		}
		return "rehearse", arguments
	case path == "changes":
		delete(arguments, "resource")
		for _, name := range []string{"resource", "after"} {
			if value := given[name]; value != nil {
				arguments[name] = value
			}
		}
		return "changes", arguments
	case one:
		arguments["id"] = id
		if fields := given["fields"]; fields != nil {
			arguments["fields"] = fields
		}
		return "get", arguments
	default:
		arguments["query"] = given
		return "list", arguments
	}
}

// TestRehearsalsSayWhatIsDone takes ten seconds for 1,000 writes on each engine, of which each is asked
// twice. It rehearses drawn writes, and does them: each is refused as it was rehearsed, or changes
// what it was to change.
func TestRehearsalsSayWhatIsDone(t *testing.T) {
	t.Parallel()
	for _, engine := range rig.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			d := rig.Start(t, rig.Options{DSN: engine.DSN(t)})
			newAgent(t, d, 31, allNames(), rig.FullKey).writes(t, shortOr(1_000, 50_000), func() string { return d.Login(rig.FullKey, "demo") })
		})
	}
	t.Run("mariadb behind a sheet", func(t *testing.T) {
		t.Parallel()
		k := dealerpak(t, "mariadb", legacytest.MariaDB) // which keeps idempotency keys, so all is rehearsed
		d := k.start(0)
		logIn := func() string { return k.viewer.at(d, rig.FullKey) }
		has := offered(t, d, logIn())
		delete(has, "document")
		a := &agent{newActor(34, slices.Sorted(maps.Keys(has))), d, logIn()}
		a.bySheet, a.has = true, has
		a.own = (&walk{twins: newTwins(t, [2]*rig.Desk{d, d})}).readAll(a.actor, 0, a.token)
		a.writes(t, shortOr(300, 20_000), logIn)
	})
}

// writes rehearses and does so many drawn writes.
func (a *agent) writes(t *testing.T, most int, logIn func() string) {
	outcomes := map[string]int{}
	for n := 0; n < most; {
		q := a.draw()
		if q.method == "GET" {
			continue
		}
		if tool, arguments := toolFor(q); tool == "rehearse" {
			if n++; n%renewAfter == 0 {
				a.token = logIn()
			}
			outcomes[q.method+" "+a.rehearsed(t, q, arguments)]++
		}
	}
	t.Log(outcomes)
	require.Greater(t, outcomes["POST 201"], most/50)
	require.Greater(t, outcomes["PUT 200"], most/50)
	require.Greater(t, outcomes["DELETE 200"], most/500)
}

func allNames() (all []string) {
	for _, r := range ownModel().Resources {
		all = append(all, r.Name)
	}
	return all
}

// rehearsed rehearses a write and does it, and tells how that ended.
func (a *agent) rehearsed(t *testing.T, q ask, arguments map[string]any) string {
	t.Helper()
	told := a.Tool(a.token, "rehearse", arguments)
	if told.Ticket == "" {
		done := a.Call(q.method, q.path, a.token, q.body)
		require.Equal(t, done.Status, told.Status, "%v\n%s\n%s", q, told.Body, done.Body)
		require.Equal(t, string(plain(done.Body)), string(plain(told.Body)), "%v", q)
		return fmt.Sprint(done.Status)
	}
	done := a.Commit(a.token, told.Ticket)
	require.Contains(t, []int{200, 201}, done.Status, "%v: %s", q, done.Body)
	require.Empty(t, done.Headers["Idempotent-Replayed"])
	data, _ := must.JSON[map[string]any](t, done.Body)["data"].(map[string]any)
	would := must.JSON[struct {
		Create map[string]any                          `json:"would_create"`
		Update *struct{ Before, After map[string]any } `json:"would_update"`
		Delete map[string]any                          `json:"would_delete"`
	}](t, told.Body)
	resource := arguments["resource"].(string)
	switch {
	case would.Create != nil:
		a.own[resource] = append(a.own[resource], fmt.Sprint(int(data["id"].(float64))))
		for _, name := range []string{"id", "created_at", "modified_at"} {
			require.Contains(t, data, name)
			delete(data, name)
		}
		require.Equal(t, would.Create, data, "%v", q)
	case would.Update != nil:
		for name, value := range would.Update.After {
			require.Equal(t, value, data[name], "%v: %s", q, name)
			require.NotEqual(t, value, would.Update.Before[name], "%v: %s", q, name)
		}
	default:
		require.NotEmpty(t, would.Delete)
		require.Equal(t, 404, a.Call("GET", q.path, a.token, "").Status, "%v", q)
	}
	return fmt.Sprint(done.Status)
}

// TestRehearsalsSendNothing has systems behind a sheet, which do not keep idempotency keys, be asked for what
// they have and sent nothing. What is committed is done once.
func TestRehearsalsSendNothing(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(testing.TB) kind{"in SQL": shopInSQL, "over HTTP": shopOverHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := of(t)
			d := k.start(0)
			token := k.viewer.at(d, rig.FullKey)
			contacts := func() string {
				return string(d.Gets(200, "GET", "/contact?page_size=1000&total=1", token, "", "Cache-Control", "no-cache").Body)
			}
			before := contacts()
			id := ids([]byte(before))[0]
			created := d.Rehearse(token, `{"operation":"create","resource":"contact","record":{"name":"New"}}`)
			updated := d.Rehearse(token, `{"operation":"update","resource":"contact","id":`+id+`,"record":{"name":"Other"}}`)
			require.Contains(t, string(created.Body), `"name":"New"`)
			require.Contains(t, string(updated.Body), `"after":{"name":"Other"}`)
			for _, told := range []rig.Told{created, updated} {
				require.Contains(t, told.NotJudged, "sent nothing")
			}
			require.Equal(t, 404, d.Tool(token, "rehearse", `{"operation":"delete","resource":"contact","id":9999}`).Status)
			require.Equal(t, 403, d.Tool(token, "rehearse", `{"operation":"create","resource":"contact","record":{}}`).Status)
			require.Equal(t, before, contacts())
			for ticket, status := range map[string]int{created.Ticket: 201, updated.Ticket: 200} {
				first, again := d.Commit(token, ticket), d.Commit(token, ticket)
				require.Equal(t, status, first.Status, "%s", first.Body)
				require.Equal(t, "true", again.Headers["Idempotent-Replayed"], "%s", again.Body)
			}
			after := contacts()
			require.Equal(t, 1, strings.Count(after, `"name":"New"`))
			require.Equal(t, 1, strings.Count(after, `"name":"Other"`))
		})
	}
}

// mark is in everything that the agent must not see.
const mark = "not-for-agents"

// TestAgentsWriteNothing draws calls of tools that commit no ticket of their own session: the
// database is as it was, and nothing is told that the api_key may not see.
func TestAgentsWriteNothing(t *testing.T) {
	t.Parallel()
	dsn := rig.Engines[0].DSN(t)
	p := rig.Practice{T: t, DSN: dsn}
	p.Alter("UPDATE orderline SET description = '" + mark + "'")
	p.Alter("UPDATE employee SET last_name = '" + mark + "'")
	p.Alter("UPDATE contactaddress SET street = '" + mark + "'")
	p.Alter("UPDATE contact SET name = '" + mark + "' WHERE client_id = (SELECT client_id FROM employee WHERE username = 'other')")
	rules := []string{"POST /mcp", "* /contact", "GET /order", "POST /vehicle", "PUT /article", "GET /country", "GET /changes"}
	d := rig.Start(t, rig.Options{DSN: dsn, Keys: rig.KeyConfig("agent", narrow, fmt.Sprintf("    allow: [\"%s\"]\n", strings.Join(rules, `", "`)))})
	a := newAgent(t, d, 32, allNames(), narrow)
	a.own = newAgent(t, d, 33, allNames(), rig.FullKey).own // numbers of what it may not see, too
	others := d.Rehearse(d.Login(rig.FullKey, "demo"), `{"operation":"update","resource":"contact","id":1,"record":{"note":"x"}}`).Ticket
	before := dumped(t, dsn)
	statuses := map[string]int{}
	for calls := 0; calls < shortOr(4_000, 1_000_000); calls++ {
		if calls%renewAfter == 0 {
			a.token = d.Login(narrow, "demo")
		}
		q := a.draw()
		tool, arguments := toolFor(q)
		if a.chance(10) {
			tool, arguments = pick(a.actor, []string{"describe", "commit", "commit"}), map[string]any{"resource": pick(a.actor, allNames())}
			if tool == "commit" {
				arguments = map[string]any{"ticket": pick(a.actor, []string{others, "x", others[:40], others + "AAAA"})}
			}
		}
		if tool == "" {
			continue
		}
		told := d.Tool(a.token, tool, arguments)
		statuses[tool+" "+strconv.Itoa(told.Status)]++
		all, _ := json.Marshal(told)
		require.NotContains(t, string(all), mark, "%v", q)
		resource, _ := arguments["resource"].(string)
		allowed := rig.AllowedBy(rules, q.method, "/"+resource)
		switch hidden := told.Status == 400 && strings.Contains(string(told.Body), `"message":"Invalid endpoint`) || strings.Contains(string(told.Body), `"reason":"method_unsupported"`); {
		case tool == "commit":
			require.Equal(t, 403, told.Status)
		case tool == "list" || tool == "get" || tool == "rehearse":
			require.Equal(t, !allowed, hidden, "%v: %s", q, told.Body)
		}
		if tool == "list" && allowed {
			query := url.Values{} // each parameter once
			for name, value := range arguments["query"].(map[string]any) {
				query.Set(name, value.(string))
			}
			asked := d.Call(q.method, "/"+resource+"?"+query.Encode(), a.token, "")
			require.Equal(t, asked.Status, told.Status, "%v", q)
		}
	}
	t.Log(statuses)
	require.Equal(t, before, dumped(t, dsn))
	require.Greater(t, statuses["rehearse 200"], 50)
}

// dumped is all that there is in a SQLite database, row by row.
func dumped(t *testing.T, dsn string) (rows []string) {
	t.Helper()
	db := openSQL(t, "sqlite", strings.TrimPrefix(dsn, "sqlite:")+"?_pragma=busy_timeout(10000)")
	all := func(query string) (found [][]any) {
		r := must.Have(db.QueryContext(t.Context(), query))(t)
		defer r.Close()
		columns := must.Have(r.Columns())(t)
		for r.Next() {
			row, places := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				places[i] = &row[i]
			}
			require.NoError(t, r.Scan(places...))
			found = append(found, row)
		}
		require.NoError(t, r.Err())
		return found
	}
	for _, table := range all("SELECT name FROM sqlite_master WHERE type = 'table'") {
		for _, row := range all(fmt.Sprintf("SELECT * FROM %q", table[0])) {
			rows = append(rows, fmt.Sprint(table[0], row))
		}
	}
	slices.Sort(rows)
	require.Greater(t, len(rows), 500)
	return rows
}

// shortOr is how many are drawn, in the soak and else.
func shortOr(short, soak int) int {
	if sqltest.Soak() {
		return soak
	}
	return short
}

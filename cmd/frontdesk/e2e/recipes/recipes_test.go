package recipes

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
)

// TestForeignRecipes takes some thirty seconds of a processor where it has to compile the program,
// which TestForeignRollingUpgrade does too, and so only one of them.
// The soak has the driver pass the whole conformance suite.
func TestForeignRecipes(t *testing.T) {
	t.Setenv("FRONTDESK_BINARY", Build(t, "frontdesk"))
	kit := Build(t, "frontdesk-kit")

	t.Run("command", command)
	t.Run("key", key)
	t.Run("driver", func(t *testing.T) { driver(t, kit) })
	t.Run("engine", func(t *testing.T) { engine(t, kit) })

	dsn := "sqlite:" + filepath.Join(t.TempDir(), "frontdesk.db")
	require.NoError(t, rig.SeedDatabase(dsn, 1)) // by the program as it was
	desk := rig.StartChild(t, rig.Options{DSN: dsn, Server: "  motto: Do come in"})
	token := desk.Login(rig.FullKey, "demo")
	t.Run("resource", func(t *testing.T) { resource(t, desk, token) })
	t.Run("validation", func(t *testing.T) { validation(t, desk, token) })
	t.Run("rule", func(t *testing.T) { rule(t, desk, token) })
	t.Run("error", func(t *testing.T) { anError(t, kit, desk) })
}

func command(t *testing.T) {
	code, out, problems := rig.Command(t, "", "ring", "--times", "2")
	require.Zero(t, code, problems)
	require.Equal(t, "ding ding\n", out)
	_, out, _ = rig.Command(t, "", "--help")
	require.Regexp(t, `(?m)^  ring +Ring the bell of the desk\.$`, out)
	code, _, problems = rig.Command(t, "", "ring", "--times", "0")
	require.Equal(t, 2, code)
	require.Equal(t, "frontdesk: --times 0: expected at least 1\n", problems)
}

// key is a key that is described, taken and refused. That serve takes it, TestForeignRecipes has seen.
func key(t *testing.T) {
	code, out, problems := rig.Command(t, "", "check", "--schema")
	require.Zero(t, code, problems)
	var schema map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &schema))
	require.Equal(t, "what the vendor stands for, in a few words", member(t, schema, "$defs", "Server", "properties", "motto", "description"))

	code, out, _ = rig.Command(t, "", "check", "--config", filepath.Join("testdata", "key", "config", "testdata", "motto.bad.yaml"))
	require.Equal(t, 2, code)
	require.Contains(t, out, `motto.bad.yaml:2:10: server.motto: found "Who reads so many words at the counter", expected five words at most`)
}

func driver(t *testing.T, kit string) {
	folder := t.TempDir()
	desk := rig.StartChild(t, rig.Options{DSN: "sqlite:" + filepath.Join(folder, "own.db"), Backend: ", driver: memory"})
	token := desk.Login(rig.FullKey, "demo")
	id := desk.Create(token, "turnovergroup", `{"code":"PARTS","description":"Parts","vat_kind":"high","ledger_account":"8000"}`)
	record := fmt.Sprintf("/turnovergroup/%d", id)
	require.Equal(t, "Parts", desk.Call("GET", record, token, "").Data(t)["description"])
	desk.Refuses(token, "POST", "/turnovergroup", `{"code":"PARTS","description":"Again","vat_kind":"low","ledger_account":"8000"}`, 409, "Field: code value: PARTS has a duplicate illegal value")
	require.Equal(t, 200, desk.Call("DELETE", record, token, "").Status)
	desk.Refuses(token, "GET", record, "", 404, fmt.Sprintf("Field: id value: %d not found", id))
	cases := "idempotency.*" // which takes transactions
	if sqltest.Soak() {
		cases = "*"
	}
	conform(t, kit, desk, "--only", cases, "--exceptions", filepath.Join("testdata", "memory_exceptions.yaml"))
	code, _, problems := rig.Command(t, "", "check", "--config", filepath.Join(filepath.Dir(desk.Mail), "frontdesk.yaml"))
	require.Zero(t, code, problems)
}

// groups is a sheet of one table of the engine that is added.
const groups = `format: 2
source: {sql: {engine: cockroach, dsn: %q}}
keep: keep.db
rules: backend
accounts: {users: [{username: demo, password_hash: %q, email: d@example.nl, client: {id: 1, name: demo}}]}
resources:
  turnovergroup:
    table: grp
    client: ""
    key: {columns: nr, generated: identity}
    fields: {code: code, description: name, vat_kind: {constant: high}, ledger_account: {constant: "8000"}}
`

// engine has the database of the tests, which is PostgreSQL, served under the other name.
func engine(t *testing.T, kit string) {
	dsn := sqltest.Postgres(t)
	require.NoError(t, sqltest.Execute(dsn, "CREATE TABLE grp (nr integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, code varchar(10) UNIQUE, name text)",
		"INSERT INTO grp (code, name) VALUES ('TYRES', 'Tyres')"))
	o, _ := rig.BySheet(t, "legacy", fmt.Sprintf(groups, dsn, rig.PasswordHash("demo")))
	o.Edit = strings.NewReplacer(`"GET /order", "GET /orderline", `, "")
	desk := rig.StartChild(t, o)
	token := desk.Login(rig.FullKey, "demo")
	id := desk.Create(token, "turnovergroup", `{"code":"PARTS","description":"Parts"}`)
	require.Equal(t, "Parts", desk.Call("GET", fmt.Sprintf("/turnovergroup/%d", id), token, "").Data(t)["description"])
	found := desk.List(token, "/turnovergroup?description[contains]=yre")
	require.Len(t, found, 1)
	require.Equal(t, "TYRES", found[0]["code"])
	out, err := exec.Command(kit, "map", "init", "--engine", "cockroach", "--dsn", dsn).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "engine: cockroach")
}

func resource(t *testing.T, desk *rig.Child, token string) {
	id := desk.Create(token, "tyre", `{"contact_id":1,"shelf":"A-12","tread":6}`)
	record := fmt.Sprintf("/tyre/%d", id)
	require.Equal(t, "A-12", desk.Call("GET", record, token, "").Data(t)["shelf"])
	require.Equal(t, 200, desk.Call("PUT", record, token, `{"shelf":"B-1"}`).Status)
	require.Contains(t, string(desk.Call("GET", "/tyre?shelf=B-1", token, "").Body), fmt.Sprintf(`"id":%d`, id))
	require.Equal(t, 200, desk.Call("GET", "/model/tyre", token, "").Status)
	document := description(t, desk)
	require.Contains(t, member(t, document, "paths"), "/tyre/{id}")
	require.Equal(t, "What is left of the tread, in millimetres.", member(t, document, "components", "schemas", "Tyre", "properties", "tread", "description"))
	require.Equal(t, 200, desk.Call("DELETE", record, token, "").Status)
}

func validation(t *testing.T, desk *rig.Child, token string) {
	desk.Refuses(token, "POST", "/tyre", `{"contact_id":1,"tread":6,"made":"9926"}`, 403, "Field: made has an invalid value: 9926 for validation: dot_code")
	require.Equal(t, "3526", desk.Call("GET", fmt.Sprintf("/tyre/%d", desk.Create(token, "tyre", `{"contact_id":1,"tread":6,"made":"3526"}`)), token, "").Data(t)["made"])
	schemas := member(t, description(t, desk), "components", "schemas")
	require.Equal(t, `^\d{4}$`, member(t, schemas, "TyreCreate", "properties", "made", "pattern"))
	require.Contains(t, member(t, schemas, "Tyre", "properties", "made", "description"), "A DOT code is week and year of the tyre")
}

func rule(t *testing.T, desk *rig.Child, token string) {
	desk.Refuses(token, "POST", "/tyre", `{"contact_id":1,"tread":1}`, 409, "Field: tread value: 1 is too little to be kept")
	document := description(t, desk)
	refusal, _ := member(t, document, "paths", "/tyre", "post", "responses", "409", "$ref").(string)
	require.Contains(t, member(t, document, "components", "responses", path.Base(refusal), "x-reasons"), "tyre_worn")
}

func anError(t *testing.T, kit string, desk *rig.Child) {
	require.Contains(t, member(t, description(t, desk), "components", "schemas", "Reason", "description"), "\n- `tyre_worn`: Field: ")
	require.Contains(t, string(desk.Call("GET", "/errors", "", "").Body), "Throw them away.")
	out := conform(t, kit, desk, "--only", "tyre.tyre_worn")
	require.Contains(t, out, "1 passed")
}

// conform runs cases of the suite.
func conform(t *testing.T, kit string, desk *rig.Child, args ...string) string {
	t.Helper()
	out, err := exec.Command(kit, append([]string{"conform", "--url", desk.Base, "--api-key", rig.FullKey, "--username", "demo", "--password", "demo"}, args...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// description is the OpenAPI description of everything.
func description(t *testing.T, desk *rig.Child) (document map[string]any) {
	require.NoError(t, json.Unmarshal(desk.Call("GET", "/openapi.json?api_key="+rig.FullKey, "", "").Body, &document))
	return document
}

// member follows names into a document.
func member(t *testing.T, v any, names ...string) any {
	for _, name := range names {
		require.Contains(t, v, name)
		v = v.(map[string]any)[name]
	}
	return v
}

package description

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestForeignKitsPython runs docs/kits/python.
func TestForeignKitsPython(t *testing.T) {
	python := sqltest.Tool(t, "python3", "python3")
	keepsCopy(t, "", python, rig.Repository(t, "docs", "kits", "python", "copy.py"))
}

// TestForeignKitsPHP runs docs/kits/php.
func TestForeignKitsPHP(t *testing.T) {
	php := sqltest.Tool(t, "php", "php")
	if modules, err := exec.Command(php, "-m").Output(); err != nil || !strings.Contains(string(modules), "pdo_sqlite") {
		sqltest.Missing(t, "php", "it has no pdo_sqlite")
	}
	keepsCopy(t, "", php, rig.Repository(t, "docs", "kits", "php", "copy.php"))
}

// TestForeignKitsCSharp compiles docs/kits/csharp and runs it.
func TestForeignKitsCSharp(t *testing.T) {
	mcs, mono := sqltest.Tool(t, "mono", "mcs"), sqltest.Tool(t, "mono", "mono")
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	program := filepath.Join(t.TempDir(), "Orders.exe")
	said, err := exec.Command(mcs, "-warnaserror", "-r:System.Net.Http", "-out:"+program, rig.Repository(t, "docs", "kits", "csharp", "Orders.cs")).CombinedOutput()
	require.NoError(t, err, "%s", said)
	run := exec.Command(mono, program)
	run.Env = append(os.Environ(), "BASE="+d.Base, "API_KEY="+rig.FullKey)
	said, err = run.CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.Regexp(t, `^open orders: \d+
created (/webservice_v2/order/\d+), replayed: False
created (/webservice_v2/order/\d+), replayed: True
refused with status 403
- Field: `, string(said))
	require.Contains(t, string(said), "(timestamp_invalid)\n")
	require.Contains(t, string(said), "(field_required)\n")
}

// copied are the resources that the programs of docs/kits copy.
var copied = []string{"contact", "order"}

// keeping is a program of docs/kits that keeps a copy, and the desk that it asks.
type keeping struct {
	*rig.Child
	dir     string
	program []string
	file    string
}

// keepsCopy has a program follow writers, and the desk die and forget its sessions meanwhile;
// kills the program, and lets its cursor be gone. It compares the copy with the source each time.
func keepsCopy(t *testing.T, dir string, program ...string) {
	t.Helper()
	o := rig.Options{DSN: rig.Engines[0].DSN(t), Edit: strings.NewReplacer("127.0.0.1:0", rig.FreeAddress(t))}
	k := &keeping{Child: rig.StartChild(t, o), dir: dir, program: program, file: filepath.Join(t.TempDir(), "copy")}
	follow, log := k.command("--follow", "0.05"), new(rig.LockedBuffer)
	follow.Stdout, follow.Stderr = log, log
	require.NoError(t, follow.Start())
	for round := range 2 {
		token := k.Login(rig.FullKey, "demo")
		var writing sync.WaitGroup
		for n := range 4 {
			writing.Go(func() { k.write(token, 10*round+n, 6) })
		}
		writing.Wait()
		await.True(t, func() bool { return k.whole(token) }, "%s", log)
		if round == 0 {
			k.Kill()
			k.Child = rig.StartChild(t, o)
		}
	}
	_ = follow.Process.Kill()
	_ = follow.Wait()

	token := k.Login(rig.FullKey, "demo")
	k.write(token, 4, 3)
	for _, gone := range []bool{false, true} {
		if gone {
			k.forget()
		}
		out, err := k.command().CombinedOutput()
		require.NoError(t, err, "%s", out)
		source := k.source(token)
		require.Equal(t, fmt.Sprintf("contact %d\norder %d\n", len(source["contact"]), len(source["order"])), string(out))
		require.Equal(t, source, k.copy())
	}
}

func (k *keeping) command(args ...string) *exec.Cmd {
	all := append(append(k.program[1:len(k.program):len(k.program)], k.file), args...)
	c := exec.Command(k.program[0], all...)
	c.Dir = k.dir
	c.Env = append(os.Environ(), "BASE="+k.Base, "API_KEY="+rig.FullKey)
	return c
}

// write creates, changes and deletes contacts and orders.
func (k *keeping) write(token string, writer, times int) {
	ask := func(method, path, body string) int {
		a, err := k.Try(method, path, token, body)
		if err != nil || a.Status >= 400 {
			k.T.Errorf("%s %s: %v %d %s", method, path, err, a.Status, a.Body)
		}
		var made struct{ Data struct{ ID int } }
		_ = json.Unmarshal(a.Body, &made)
		return made.Data.ID
	}
	for n := range times {
		contact := ask("POST", "/contact", fmt.Sprintf(`{"kind":"person","name":"É %d-%d"}`, writer, n))
		order := ask("POST", "/order", fmt.Sprintf(rig.NewOrder, contact, ""))
		ask("PUT", fmt.Sprint("/order/", order), fmt.Sprintf(`{"reference":"%d"}`, n))
		ask("PUT", fmt.Sprint("/contact/", contact), `{"name":"Changed"}`)
		if n%3 > 0 {
			ask("DELETE", fmt.Sprint("/order/", order), "")
		}
		if n%3 > 1 {
			ask("DELETE", fmt.Sprint("/contact/", contact), "")
		}
	}
}

// recordsByID are records by resource and id.
type recordsByID map[string]map[string]map[string]any

func (k *keeping) source(token string) recordsByID {
	all := recordsByID{}
	for _, resource := range copied {
		all[resource] = map[string]map[string]any{}
		for _, one := range k.List(token, "/"+resource+"?page_size=1000") {
			all[resource][fmt.Sprint(one["id"])] = one
		}
	}
	return all
}

// copy is what the program keeps: a JSON file, or an SQLite database.
func (k *keeping) copy() recordsByID {
	text := must.Have(os.ReadFile(k.file))(k.T)
	var kept struct{ Records recordsByID }
	if json.Unmarshal(text, &kept) == nil {
		return kept.Records
	}
	if len(k.sql("SELECT name FROM sqlite_master WHERE name = 'state'")) == 0 { // which is made last
		return nil
	}
	kept.Records = recordsByID{}
	for _, resource := range copied {
		kept.Records[resource] = map[string]map[string]any{}
		for _, record := range k.sql("SELECT data FROM record WHERE resource = '" + resource + "'") {
			one := must.JSON[map[string]any](k.T, record)
			kept.Records[resource][fmt.Sprint(one["id"])] = one
		}
	}
	return kept.Records
}

// whole reports whether the copy equals its source.
func (k *keeping) whole(token string) bool {
	if _, err := os.Stat(k.file); err != nil {
		return false
	}
	want := must.Have(json.Marshal(k.source(token)))(k.T)
	return string(want) == string(must.Have(json.Marshal(k.copy()))(k.T))
}

// forget replaces the cursor by one that is gone.
func (k *keeping) forget() {
	text := must.Have(os.ReadFile(k.file))(k.T)
	var kept map[string]any
	if json.Unmarshal(text, &kept) != nil {
		k.sql("UPDATE state SET position = 'c1_gone'")
		return
	}
	kept["cursor"] = "c1_gone"
	text = must.Have(json.Marshal(kept))(k.T)
	require.NoError(k.T, os.WriteFile(k.file, text, 0o600))
}

func (k *keeping) sql(text string) []string { return rig.AskSQLite(k.T, k.file, text) }

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/adopt/check"
	sqlforeign "frontdesk/backend/legacy/foreigntest"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// mutant is a sheet with one mistake.
type mutant struct {
	kind, at string
	make     func(sheet map[string]any)
}

// mutated are the mutants that were asked for, and how many there may be of each sheet.
const (
	mutated      = 390
	mutantsShort = 12 // in the short form of the test, which does not count
)

// mistakes are what is written at a key of a sheet in place of what it has; dropped leaves it out, and
// renamed has one letter more.
var mistakes = map[string][]string{
	"where": {dropped}, "select": {dropped}, "client": {dropped}, "empty": {dropped}, "zero": {dropped}, "unknown": {dropped}, "type": {dropped}, "write": {dropped},
	"session": {dropped}, "headers": {dropped}, "refused": {dropped}, "through": {dropped}, "hash": {dropped}, "id": {dropped}, "log_on": {dropped}, "verify": {dropped},
	"result": {renamed}, "next": {renamed}, "total": {renamed}, "path": {renamed}, "column": {renamed}, "table": {renamed}, "version": {renamed},
	"time_zone": {"America/New_York"}, "style": {"page", "offset"},
}

const dropped, renamed = "", "x"

// drafting makes the mutants of a sheet.
type drafting struct {
	sheet map[string]any
	model *mapping.Model
	all   []mutant
}

// mutantsOf are all sheets with one mistake, in a fixed order.
func mutantsOf(sheet map[string]any, model *mapping.Model) []mutant {
	d := &drafting{sheet: sheet, model: model}
	d.walk(nil, sheet)
	for name, r := range sheet["resources"].(map[string]any) {
		d.places(name, r.(map[string]any))
	}
	slices.SortFunc(d.all, func(a, b mutant) int { return strings.Compare(a.kind+a.at, b.kind+b.at) })
	return d.all
}

// add notes a change of a key of what is at a path.
func (d *drafting) add(kind string, at []string, key string, change func(of map[string]any)) {
	d.all = append(d.all, mutant{kind, strings.Join(append(slices.Clone(at), key), "."), func(sheet map[string]any) { change(found(sheet, at)) }})
}

// walk makes the mutants of what is at a path.
func (d *drafting) walk(at []string, of map[string]any) {
	last := ""
	if len(at) > 0 {
		last = at[len(at)-1]
	}
	inCodes := last == "codes" || len(at) == 2 && at[0] == "codes"
	for _, key := range slices.Sorted(maps.Keys(of)) {
		below, isMap := of[key].(map[string]any)
		switch {
		case isMap:
			d.walk(append(slices.Clone(at), key), below)
		case inCodes:
			d.add("code missing", at, key, func(of map[string]any) { delete(of, key) })
			d.add("code wrong", at, key, func(of map[string]any) { of[key+"Q"] = of[key]; delete(of, key) })
			continue
		case key == "size" && of["style"] == "page": // others count no records by it
			d.add("page size", at, key, func(of map[string]any) { of[key] = 3 * of[key].(uint64) })
		}
		if last == "fields" || last == "columns" { // keys are names here
			continue
		}
		text, isText := of[key].(string)
		for _, wrong := range mistakes[key] {
			switch {
			case wrong == dropped && key == "client" && of[key] == "": // which shared says as well
			case wrong == dropped:
				d.add(key+" missing", at, key, func(of map[string]any) { delete(of, key) })
			case isText && wrong == renamed:
				d.add(key+" wrong", at, key, func(of map[string]any) { of[key] = text + renamed })
			case isText && text != wrong:
				d.add(key+" wrong", at, key, func(of map[string]any) { of[key] = wrong })
			}
		}
		if factor := amounts.FindStringIndex(text); factor != nil {
			d.add("decimals", at, key, func(of map[string]any) { of[key] = text[:factor[1]-1] + text[factor[1]:] })
		}
	}
}

// amounts are factors of a conversion.
var amounts = regexp.MustCompile(`[*/] 10+`)

// places makes those mutants of a resource in which places stand for each other. Two texts are not
// swapped, nor two of another type: which of them is the city nobody can see.
func (d *drafting) places(name string, r map[string]any) {
	fields, at := r["fields"].(map[string]any), []string{"resources", name}
	names := slices.Sorted(maps.Keys(fields))
	for i, one := range names {
		place := placeOf(fields[one])
		if place == "" {
			continue
		}
		d.add("client column", at, "client by "+one, func(of map[string]any) { of["client"] = place })
		if key, is := r["key"].(map[string]any); is && key["columns"] != place && key["path"] != place {
			d.add("key column", at, "key by "+one, func(of map[string]any) {
				key := of["key"].(map[string]any)
				for _, where := range []string{"columns", "path"} {
					if key[where] != nil {
						key[where] = place
					}
				}
			})
		}
		for _, other := range names[i+1:] {
			f, g := d.model.Resource(name).Field(one), d.model.Resource(name).Field(other)
			alike := f.IsText() == g.IsText() && (f.IsText() || f.Type == g.Type) && f.Reference == g.Reference && fmt.Sprint(f.OneOf) == fmt.Sprint(g.OneOf)
			if instead := placeOf(fields[other]); instead != "" && instead != place && !alike {
				d.add("columns swapped", append(slices.Clone(at), "fields"), one+"/"+other, func(fields map[string]any) {
					fields[one], fields[other] = placed(fields[one], instead), placed(fields[other], place)
				})
			}
		}
	}
}

func found(sheet map[string]any, at []string) map[string]any {
	for _, key := range at {
		sheet = sheet[key].(map[string]any)
	}
	return sheet
}

// placeOf is the column, or path, of a field; "" where it has none.
func placeOf(field any) string {
	switch f := field.(type) {
	case string:
		return f
	case map[string]any:
		for _, key := range []string{"column", "path"} {
			if place, is := f[key].(string); is {
				return place
			}
		}
	}
	return ""
}

// placed is a field at another place.
func placed(field any, place string) any {
	f, is := field.(map[string]any)
	if !is {
		return place
	}
	f = maps.Clone(f)
	for _, key := range []string{"column", "path"} {
		if f[key] != nil {
			f[key] = place
		}
	}
	return f
}

// suspect is a system whose sheet is mutated.
type suspect struct {
	sheet string
	start func(*testing.T) // and sets the environment; a system that was written to is another one each time
	args  []string
}

// suspects are systems by name.
func suspects(t *testing.T) map[string]suspect {
	files := must.Have(legacytest.Files())(t)
	set := func(t *testing.T, pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			t.Setenv(pairs[i], pairs[i+1])
		}
	}
	all := map[string]suspect{
		"dealerpak": {filepath.Join(files, "sqlite.yaml"), func(t *testing.T) {
			set(t, "DEALERPAK_DSN", legacytest.SQLite(t), "FRONTDESK_PASSWORD", "Sleutelbos-1998")
		}, []string{"--username", "piet.dekker", "--client", "1", "--write"}},
		"garagecloud": {rig.RemoteSheets(t, "garagecloud.yaml"), func(t *testing.T) {
			server := httptest.NewServer(remotetest.NewJSON(remotetest.Options{}))
			t.Cleanup(server.Close)
			set(t, "GARAGE_URL", server.URL, "GARAGE_SECRET", remotetest.ClientSecret, "FRONTDESK_PASSWORD", "demo")
		}, []string{"--client", "1:garage-noord", "--other", "2:garage-zuid", "--username", "demo", "--write"}},
	}
	if !sqltest.Soak() {
		return all
	}
	northwind := sqlforeign.Northwind(t)
	all["northwind"] = suspect{northwind.Sheet, func(t *testing.T) { set(t, "DATABASE_DSN", northwind.DSN, "FRONTDESK_PASSWORD", "not-a-secret-1") }, []string{"--username", "nancy"}}
	for name, start := range map[string]func(testing.TB) *foreigntest.System{"feathers": foreigntest.Feathers, "odata": foreigntest.OData, "couchdb": foreigntest.CouchDB} {
		all[name] = suspect{rig.RemoteSheets(t, name+".yaml"), func(t *testing.T) {
			url := start(t).URL
			set(t, "SERVICE_URL", url, strings.ToUpper(name)+"_URL", url, "FOREIGN_PASSWORD_HASH", foreigntest.PasswordHash, "FRONTDESK_PASSWORD", foreigntest.Password)
		}, []string{"--client", "1:noord", "--other", "2:zuid", "--username", "noord", "--write"}}
	}
	return all
}

// told are the errors and warnings of map check for a mutant, and values of the interface that it leaves out; refused tells that the sheet does not
// even load.
func (s suspect) told(t *testing.T, change func(map[string]any)) (refused bool, all []string) {
	s.start(t)
	sheet := s.read(t)
	change(sheet)
	text := must.Have(yaml.Marshal(sheet))(t)
	file := filepath.Join(t.TempDir(), "sheet.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	code, out, stderr := cli("", append([]string{"map", "check", "--json", "--sheet", file}, s.args...)...)
	if code == 2 {
		return true, nil
	}
	var report check.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report), stderr)
	for _, f := range report.Findings {
		if f.Severity != check.Note {
			all = append(all, fmt.Sprint(f.Rule, " ", f.Path, " ", f.Seen))
		}
	}
	for at, values := range report.Left.Values {
		all = append(all, fmt.Sprint("left out ", at, " ", values))
	}
	return false, all
}

func (s suspect) read(t *testing.T) map[string]any {
	text := must.Have(os.ReadFile(s.sheet))(t)
	sheet := map[string]any{}
	require.NoError(t, yaml.Unmarshal(text, &sheet))
	return sheet
}

// TestForeignMutants makes mistakes in sheets that are right, and counts how many map check tells of: at
// least 95 in 100. Those that it does not tell of are listed.
func TestForeignMutants(t *testing.T) {
	model := must.Have(mapping.LoadModel(""))(t)
	seed := sqltest.Seed(t)
	random := rand.New(rand.NewPCG(seed, seed))
	tried, survived := 0, 0
	for name, system := range suspects(t) {
		t.Run(name, func(t *testing.T) {
			var before []string
			t.Run("right", func(t *testing.T) {
				refused, told := system.told(t, func(map[string]any) {})
				require.False(t, refused)
				before = told
			})
			all := mutantsOf(system.read(t), model)
			require.Greater(t, len(all), mutantsShort)
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			most := mutantsShort
			if sqltest.Soak() {
				most = mutated
			}
			for _, m := range all[:min(most, len(all))] {
				t.Run(m.kind+" "+m.at, func(t *testing.T) {
					refused, told := system.told(t, m.make)
					tried++
					if !refused && !slices.ContainsFunc(told, func(f string) bool { return !slices.Contains(before, f) }) {
						survived++
						t.Log("nothing is told of it")
					}
				})
			}
		})
	}
	t.Logf("%d of %d mutants survive", survived, tried)
	if sqltest.Soak() {
		require.LessOrEqual(t, 20*survived, tried)
	} else {
		require.Less(t, 3*survived, tried)
	}
}

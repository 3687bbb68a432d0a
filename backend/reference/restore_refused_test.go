package reference

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/backupzip"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// forged is a backup that was taken apart, to be put together in another way.
type forged struct {
	t        testing.TB
	files    map[string]string
	manifest backend.Manifest
	names    []string // files to put in beside, by name; "" for none
}

func takeApart(t testing.TB, file []byte) *forged {
	f := &forged{t: t}
	f.files, f.manifest = contents(t, file)
	return f
}

// edit replaces old by new in a file, where it must be, and puts the manifest
// right: only a look at the records can tell.
func (f *forged) edit(resource, old, new string) *forged {
	f.t.Helper()
	name := resource + backupzip.PartSuffix
	require.Contains(f.t, f.files[name], old)
	f.files[name] = strings.Replace(f.files[name], old, new, 1)
	return f.weigh(resource)
}

func (f *forged) weigh(resource string) *forged {
	text := f.files[resource+backupzip.PartSuffix]
	sum := sha256.Sum256([]byte(text))
	f.manifest.Parts[partOf(f.manifest, resource)] = backend.Part{
		Resource: resource, Count: int64(strings.Count(text, "\n")), Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:]),
	}
	return f
}

func (f *forged) zip() []byte {
	f.t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	put := func(name, text string) {
		entry := must.Have(w.Create(name))(f.t)
		must.Have(entry.Write([]byte(text)))(f.t)
	}
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		put(name, f.files[name])
	}
	put(backupzip.ManifestName, string(must.Have(json.Marshal(f.manifest))(f.t)))
	for _, name := range f.names {
		put(name, "")
	}
	require.NoError(f.t, w.Close())
	return out.Bytes()
}

// state is everything that a refused restore must leave as it is.
func (x *fixture) state(clients ...auth.Client) string {
	x.t.Helper()
	state := x.sum(x.Store, clients...)
	for _, name := range []string{"A", DemoClient} {
		_, err := x.FindClient(bg(), name)
		state += fmt.Sprint(" ", err)
	}
	return state
}

// small is a client with a few records of everything that refers.
func (x *fixture) small() auth.Client {
	s := newShop(x, "A")
	x.create(x.mine, x.record("vehicle", "license_plate", "GT-123-B", "brand", "Fiat", "model", "500", "country_id", "528", "sales_price", "1500.5"))
	o := s.order(s.line("high", "2", "10"), s.line("low", "1", "5"))
	d := x.record("document", "name", "a.txt", "resource", "order", "resource_id", fmt.Sprint(o.ID()))
	d.Set("content", mapping.BytesValue([]byte("hello")))
	x.create(x.mine, d)
	return x.mine
}

// damages are what can be wrong with a file, and what is said of it.
var damages = []struct {
	name string
	do   func(f *forged)
	want string
}{
	{"no manifest", nil, "it is no backup of frontdesk: it has no manifest.json"},
	{"other format", func(f *forged) { f.manifest.Format = "tarball" }, `manifest.json says format "tarball"`},
	{"newer format", func(f *forged) { f.manifest.FormatVersion = 2 }, "format_version 2, this program reads 1"},
	{"other client", func(f *forged) { f.manifest.Client = "B" }, `it was made of client "B", not of "A"`},
	{"missing part", func(f *forged) { delete(f.files, "vehicle.ndjson") }, "vehicle.ndjson: it is missing"},
	{"extra part", func(f *forged) { f.files["notes.txt"] = "hello" }, `a file "notes.txt" that manifest.json does not tell of`},
	{"extra part of a resource", func(f *forged) { f.files["article.ndjson"] = "{}\n" }, `a file "article.ndjson"`},
	{"part twice", func(f *forged) { f.names = []string{"order.ndjson"} }, `two files "order.ndjson"`},
	{"listed twice", func(f *forged) { f.manifest.Parts = append(f.manifest.Parts, f.manifest.Parts[0]) }, "missing, although"},
	{"unknown resource", func(f *forged) { f.manifest.Parts[0].Resource = "boat" }, "the model has no resource boat"},
	{"unknown ID", func(f *forged) { f.manifest.LastIDs["boat"] = 3 }, "the model has no resource boat"},
	{"negative counter", func(f *forged) { f.manifest.Counters["invoice"] = -1 }, `counter "invoice" is -1`},
	{"wrong sum", func(f *forged) { f.manifest.Parts[0].SHA256 = strings.Repeat("0", 64) }, "contact.ndjson: its content is not what manifest.json has the sha256 of"},
	{"wrong count", func(f *forged) { f.manifest.Parts[0].Count++ }, "contact.ndjson: 1 records, manifest.json says 2"},
	{"wrong size", func(f *forged) { f.manifest.Parts[0].Bytes++ }, "contact.ndjson: it says to have"},
	{"no JSON", func(f *forged) { f.edit("order", `{"id"`, `["id"`) }, "order.ndjson, line 1: it is no JSON object"},
	{"no row version", func(f *forged) { f.edit("order", `row_version`, `rowversion`) }, "order.ndjson, line 1: it is no record of a backup"},
	{"row version", func(f *forged) { f.edit("order", `"row_version":1`, `"row_version":0`) }, "order.ndjson, line 1: row_version"},
	{"last line cut", func(f *forged) {
		f.files["order.ndjson"] = strings.TrimSuffix(f.files["order.ndjson"], "\n")
		f.weigh("order")
		f.manifest.Parts[partOf(f.manifest, "order")].Count = 1
	}, "order.ndjson, line 1: the part is damaged: the last line has no end"},
	{"unknown field", func(f *forged) { f.edit("vehicle", `"brand"`, `"wings"`) }, "vehicle.ndjson, line 1: Field: wings not found in model"},
	{"missing field", func(f *forged) { f.edit("vehicle", `"brand":"Fiat",`, ``) }, "vehicle.ndjson, line 1: field brand is missing"},
	{"missing field later", func(f *forged) { f.edit("turnovergroup", `"description":"low",`, ``) }, "turnovergroup.ndjson, line 2: it is not written as"},
	{"twice the field", func(f *forged) { f.edit("vehicle", `"brand":"Fiat",`, `"brand":"Fiat","brand":"Fiat",`) }, "vehicle.ndjson, line 1: it is no JSON object"},
	{"ill-typed", func(f *forged) { f.edit("vehicle", `"brand":"Fiat"`, `"brand":1`) }, "vehicle.ndjson, line 1: Field: brand has an invalid value: 1 for datatype: varchar"},
	{"too many decimals", func(f *forged) { f.edit("vehicle", `1500.5`, `1500.50005`) }, "vehicle.ndjson, line 1: it is not written as"},
	{"too long", func(f *forged) { f.edit("vehicle", `Fiat`, strings.Repeat("F", 51)) }, "vehicle.ndjson, line 1: brand is longer than 50 characters"},
	{"not allowed", func(f *forged) { f.edit("order", `"workshop"`, `"wedding"`) }, "order.ndjson, line 1: the model does not allow it: Field: kind has an invalid value: wedding for validation: workshop|"},
	{"required", func(f *forged) { f.edit("vehicle", `"Fiat"`, `null`) }, "vehicle.ndjson, line 1: the model does not allow it: "},
	{"flag", func(f *forged) { f.edit("vehicle", `"is_blocked":0`, `"is_blocked":2`) }, "vehicle.ndjson, line 1: is_blocked and is_archived"},
	{"system record", func(f *forged) { f.edit("vehicle", `"is_system":0`, `"is_system":1`) }, "vehicle.ndjson, line 1: it is a system record"},
	{"no moment", func(f *forged) {
		f.edit("vehicle", createdAt.FindString(f.files["vehicle"+backupzip.PartSuffix]), `"created_at":null`)
	}, "vehicle.ndjson, line 1: it lacks created_at"},
	{"id", func(f *forged) { f.edit("vehicle", `{"id":1,`, `{"id":0,`) }, "vehicle.ndjson, line 1: its id is 0"},
	{"same id", func(f *forged) { f.edit("turnovergroup", `{"id":2,`, `{"id":1,`) }, "turnovergroup.ndjson, line 2: its id 1 does not come after"},
	{"unresolved", func(f *forged) { f.edit("order", `"contact_id":1`, `"contact_id":7`) }, "order.ndjson, line 1: contact_id refers to contact 7, which is neither"},
	{"unresolved system record", func(f *forged) { f.edit("vehicle", `"country_id":528`, `"country_id":1`) }, "vehicle.ndjson, line 1: country_id refers to country 1"},
	{"unresolved line", func(f *forged) { f.edit("orderline", `"order_id":1`, `"order_id":2`) }, "orderline.ndjson, line 1: order_id refers to order 2"},
	{"unresolved by name", func(f *forged) { f.edit("document", `"resource_id":1`, `"resource_id":2`) }, "document.ndjson, line 1: resource_id refers to order 2"},
	{"not unique", func(f *forged) { f.edit("turnovergroup", `"code":"low"`, `"code":"high"`) }, "turnovergroup.ndjson, lines 1 to 5: the database does not take them"},
}

var createdAt = regexp.MustCompile(`"created_at":"[^"]*"`)

func TestDamagedBackupsAreRefused(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		file := x.backUp(x.small())
		y := x.emptied()
		before := y.state()
		for _, d := range damages {
			broken := zipOf(t, "readme.txt", "hello")
			if d.do != nil {
				f := takeApart(t, file)
				d.do(f)
				broken = f.zip()
			}
			err := y.restore(broken, RestoreOptions{Client: "A"})
			require.ErrorIs(t, err, ErrBackupRefused, d.name)
			require.Contains(t, err.Error(), d.want, d.name)
			_, isAnswer := mapping.AsViolations(err)
			require.False(t, isAnswer, d.name)
			require.Equal(t, before, y.state(), d.name)
		}
		require.NoError(t, y.restore(takeApart(t, file).zip(), RestoreOptions{Client: "A"}))
		requireSameBackup(t, file, y.backUp(y.client("A")))
	})
}

func zipOf(t testing.TB, name, text string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	must.Have(must.Have(w.Create(name))(t).Write([]byte(text)))(t)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// TestEveryByteCounts flips bytes all over a file, and cuts it short. Whatever is
// not refused must read as the same records.
func TestEveryByteCounts(t *testing.T) {
	x := open(t, sqliteDSN(t))
	file := x.backUp(x.small())
	wantFiles, wantManifest := contents(t, file)
	y := open(t, sqliteDSN(t))
	accepted := func(file []byte) bool {
		o := RestoreOptions{Client: "A", MaxLine: defaultMaxLine, Progress: func(int64, int64) {}}
		b, err := openBackup(bytes.NewReader(file), int64(len(file)), y.model, o)
		if err == nil {
			j := newJudge(b, y.Store, o)
			require.NoError(t, j.readSystemIDs(bg(), y.Store))
			err = j.run(bg())
		}
		if err != nil {
			require.ErrorIs(t, err, ErrBackupRefused)
			return false
		}
		return true
	}
	require.True(t, accepted(file))
	same, flips := 0, 0
	for i := 0; i < len(file); i += 3 {
		flips++
		broken := bytes.Clone(file)
		broken[i] ^= 1 << (i % 8)
		if accepted(broken) {
			same++
			gotFiles, gotManifest := contents(t, broken)
			require.Equal(t, wantFiles, gotFiles, "byte %d", i)
			require.Equal(t, wantManifest, gotManifest, "byte %d", i)
		}
	}
	t.Logf("%d of %d flipped bytes mean nothing (dates and versions of the ZIP format)", same, flips)
	require.Less(t, same, flips/2)
	for n := 0; n < len(file); n += 7 {
		require.False(t, accepted(file[:n]), "cut after %d bytes", n)
	}
	// In each part the flip is found, and told where.
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	for _, entry := range archive.File {
		at := must.Have(entry.DataOffset())(t)
		broken := bytes.Clone(file)
		broken[at+int64(entry.CompressedSize64)/2] ^= 0x10
		err = y.restore(broken, RestoreOptions{Client: "A"})
		require.ErrorIs(t, err, ErrBackupRefused)
		require.Contains(t, err.Error(), entry.Name)
	}
}

// TestBombsAreRefused judges sizes before anything is unpacked, and bounds lines.
func TestBombsAreRefused(t *testing.T) {
	x := open(t, sqliteDSN(t))
	f := takeApart(t, x.backUp(x.small()))
	pack := func(declared uint64) []byte {
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		entry := must.Have(w.CreateRaw(&zip.FileHeader{Name: "order.ndjson", Method: zip.Deflate, CompressedSize64: 3, UncompressedSize64: declared}))(t)
		must.Have(entry.Write([]byte{3, 0, 0}))(t)
		entry = must.Have(w.Create(backupzip.ManifestName))(t)
		f.manifest.Parts = []backend.Part{{Resource: "order", Count: 1, Bytes: int64(declared), SHA256: strings.Repeat("0", 64)}}
		must.Have(entry.Write(must.Have(json.Marshal(f.manifest))(t)))(t)
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	y := open(t, sqliteDSN(t))
	for declared, want := range map[uint64]string{
		1 << 40: "order.ndjson: 1099511627776 bytes cannot come out of 3",
		3000:    "order.ndjson, line 1: the part is damaged",
	} {
		err := y.restore(pack(declared), RestoreOptions{Client: "A"})
		require.ErrorIs(t, err, ErrBackupRefused)
		require.Contains(t, err.Error(), want)
	}
	f = takeApart(t, x.backUp(x.mine))
	f.edit("order", `"reference":null`, `"reference":"`+strings.Repeat(" ", 1<<20)+`"`)
	err := y.restore(f.zip(), RestoreOptions{Client: "A", MaxLine: 1 << 19})
	require.ErrorIs(t, err, ErrBackupRefused)
	require.Contains(t, err.Error(), "order.ndjson, line 1: more than 524288 bytes; server.body_limit")
	f.manifest.Client = strings.Repeat("A", maxManifest)
	require.ErrorContains(t, y.restore(f.zip(), RestoreOptions{Client: "A"}), "expected at most 1048576")
}

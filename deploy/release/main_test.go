package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil { // as make release runs it
		panic(err)
	}
	os.Exit(m.Run())
}

var (
	aTree = tree{version: "v1.2.0", commit: "426e58c6d1f0", time: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)}
	host  = platform{runtime.GOOS, runtime.GOARCH}
)

func readAll(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return data
}

// TestEverythingLinkedHasALicence asks Go for what is linked on every platform, and wants
// the licence of each module in the notices and a true SBOM. Some modules are linked on one
// system alone: whether they are here, the part packages tells.
func TestEverythingLinkedHasALicence(t *testing.T) {
	valid := bomSchema(t)
	for _, p := range platforms {
		l, err := readLinked(t.Context(), p)
		if err != nil && p != host && !slices.Contains(strings.Split(os.Getenv("FRONTDESK_REQUIRE"), ","), "packages") {
			t.Skipf("FRONTDESK_REQUIRE does not name packages: %v", err)
		}
		require.NoError(t, err, p)
		require.Greater(t, len(l.modules), 50)
		told := string(notices(aTree, p, l))
		for _, licence := range []string{"std " + strings.TrimPrefix(runtime.Version(), "go") + ": BSD-3-Clause\n", "modernc.org/sqlite v"} {
			require.Contains(t, told, licence)
		}
		bom, err := sbom(aTree, p, l)
		require.NoError(t, err)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(bom))
		require.NoError(t, err)
		require.NoError(t, valid.Validate(doc), p)
		var read cdx.BOM
		require.NoError(t, cdx.NewBOMDecoder(bytes.NewReader(bom), cdx.BOMFileFormatJSON).Decode(&read))
		refs := map[string]bool{read.Metadata.Component.BOMRef: true}
		for _, c := range *read.Components {
			refs[c.BOMRef] = true
			require.Contains(t, told, c.Name+" ", "the notices leave it out")
		}
		require.Len(t, refs, len(l.modules)+2)
		reached := map[string]bool{}
		for _, d := range *read.Dependencies {
			for _, on := range *d.Dependencies {
				require.True(t, refs[on], on)
				reached[on] = true
			}
		}
		require.Len(t, reached, len(l.modules)+1, "what nothing needs is not linked")
		for _, m := range l.modules {
			require.NotEmpty(t, m.texts, m.Path)
			require.Contains(t, told, strings.TrimSpace(m.texts[0].words), m.Path)
		}
	}
}

// bomSchema is CycloneDX' own.
func bomSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{"bom-1.6": "bom-1.6.schema.json", "spdx": "spdx.schema.json", "jsf-0.82": "jsf-0.82.schemax.json"} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(readAll(t, filepath.Join(strings.TrimSpace(string(folder)), "schema", file))))
		require.NoError(t, err)
		require.NoError(t, compiler.AddResource("http://cyclonedx.org/schema/"+name+".schema.json", doc))
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	require.NoError(t, err)
	return schema
}

func TestLicencesThatNobodyRead(t *testing.T) {
	mit := text{"LICENSE", "Permission is hereby granted,\n  free of charge, to any person"}
	bsd := text{"smtp/LICENSE", "Redistribution and use in source and binary forms\nmay not be used to endorse or promote"}
	for want, texts := range map[string][]text{
		"MIT":                  {mit, {"NOTICE", "whatever"}},
		"BSD-3-Clause AND MIT": {mit, bsd},
		"BSD-2-Clause":         {{"COPYING.txt", "Redistribution and use in source and binary forms"}},
	} {
		got, err := expression(texts)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, texts := range [][]text{nil, {{"NOTICE", mit.words}}, {mit, {"inner/LICENSE", "GNU AFFERO GENERAL PUBLIC LICENSE"}}} {
		_, err := expression(texts)
		require.Error(t, err)
	}
}

// TestArchives: the same files are the same bytes, whatever their order, and come out as
// they went in.
func TestArchives(t *testing.T) {
	files := []file{{"frontdesk", 0o755, []byte("program")}, {"docs/a.md", 0o644, []byte("a page")}}
	turned := slices.Clone(files)
	slices.Reverse(turned)
	for _, p := range []platform{{"linux", "amd64"}, {"windows", "amd64"}} {
		data, ending, err := p.archive("frontdesk_1", files, aTree.time)
		require.NoError(t, err)
		again, _, err := p.archive("frontdesk_1", turned, aTree.time.In(time.FixedZone("", 3600)))
		require.NoError(t, err)
		require.Equal(t, data, again)
		want := []file{{"frontdesk_1/docs/a.md", 0o644, files[1].data}, {"frontdesk_1/frontdesk", 0o755, files[0].data}}
		require.Equal(t, want, unpacked(t, data, ending))
	}
}

// unpacked are the files of an archive.
func unpacked(t *testing.T, data []byte, ending string) (files []file) {
	t.Helper()
	take := func(name string, mode os.FileMode, r io.Reader) {
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		files = append(files, file{name, mode.Perm(), content})
	}
	if ending == ".zip" {
		r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		for _, f := range r.File {
			part, err := f.Open()
			require.NoError(t, err)
			take(f.Name, f.Mode(), part)
		}
		return files
	}
	decompressed, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	for r := tar.NewReader(decompressed); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		require.NoError(t, err)
		take(header.Name, header.FileInfo().Mode(), r)
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)

// TestPagesLeadSomewhere: what a page links to is in the archive with it.
func TestPagesLeadSomewhere(t *testing.T) {
	names, err := pageFiles(t.Context())
	require.NoError(t, err)
	there, links := map[string]bool{}, 0
	for _, name := range names {
		for ; name != "."; name = path.Dir(name) {
			there[name] = true
		}
	}
	for _, name := range names {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, found := range link.FindAllStringSubmatch(string(readAll(t, name)), -1) {
			links++
			require.True(t, there[path.Join(path.Dir(name), found[1])], "%s links to %s, which is not shipped", name, found[1])
		}
	}
	require.Greater(t, links, 100)
}

// TestRelease makes a release of this tree for this machine, in the soak for all platforms,
// and reads it as its users do: the sums, the archive, the program, the manual page.
func TestRelease(t *testing.T) {
	at, err := readTree(t.Context())
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "dist")
	require.NoError(t, os.MkdirAll(out, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(out, "frontdesk_0.9.0_plan9_amd64.tar.gz"), nil, 0o644)) // of the one before
	wanted := []platform{host}
	if os.Getenv("FRONTDESK_SOAK") != "" {
		wanted = platforms
	}
	require.NoError(t, release(t.Context(), io.Discard, out, wanted))

	var names, summed []string
	for _, p := range wanted {
		name := fmt.Sprintf("frontdesk_%s_%s_%s", strings.TrimPrefix(at.version, "v"), p.os, p.arch)
		ending := ".tar.gz"
		if p.os == "windows" {
			ending = ".zip"
		}
		names = append(names, name+".cdx.json", name+ending)
		files := map[string]file{}
		for _, f := range unpacked(t, readAll(t, filepath.Join(out, name+ending)), ending) {
			files[strings.TrimPrefix(f.name, name+"/")] = f
		}
		for _, needed := range []string{"README.md", "CHANGELOG.md", "NOTICES.txt", "docs/operators.md", "docs/config.schema.json", "deploy/systemd/frontdesk.service"} {
			require.Contains(t, files, needed)
		}
		program := files[p.program()]
		require.Equal(t, os.FileMode(0o755), program.mode)
		for _, part := range []string{".TH FRONTDESK 1 ", ".SS frontdesk key new\n", ".SS frontdesk version\n", `\-\-config=FILE`} {
			require.Contains(t, string(files["frontdesk.1"].data), part)
		}
		if p == host {
			requireVersion(t, program, at)
			t.Run("elsewhere", func(t *testing.T) { sameElsewhere(t, at, program.data) })
		}
	}
	for line := range strings.Lines(string(readAll(t, filepath.Join(out, "SHA256SUMS")))) {
		sum, file, found := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, found, line)
		is := sha256.Sum256(readAll(t, filepath.Join(out, file)))
		require.Equal(t, hex.EncodeToString(is[:]), sum, file)
		summed = append(summed, file)
	}
	require.ElementsMatch(t, names, summed)
	made, err := os.ReadDir(out)
	require.NoError(t, err)
	require.Len(t, made, len(names)+1)
}

// requireVersion runs a program, which says what it was built from.
func requireVersion(t *testing.T, program file, at tree) {
	t.Helper()
	name := filepath.Join(t.TempDir(), filepath.Base(program.name))
	require.NoError(t, os.WriteFile(name, program.data, program.mode))
	said, err := exec.Command(name, "version", "--json").Output()
	require.NoError(t, err)
	var facts struct{ Version, Commit, Time string }
	require.NoError(t, json.Unmarshal(said, &facts))
	require.Equal(t, at.version, facts.Version)
	require.Equal(t, at.commit, facts.Commit)
	if at.commit != "" {
		require.Equal(t, at.time.Format(time.RFC3339), facts.Time)
	}
}

// sameElsewhere builds a copy of the tree, without git, in another folder: the same bytes.
// In the soak everything is compiled anew there, which takes minutes.
func sameElsewhere(t *testing.T, at tree, want []byte) {
	elsewhere := t.TempDir()
	listed, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("there is no git: this tree cannot be told from what lies about in it")
	}
	for name := range strings.SplitSeq(strings.Trim(string(listed), "\x00"), "\x00") {
		info, err := os.Stat(name)
		if os.IsNotExist(err) {
			continue // deleted and not yet committed
		}
		require.NoError(t, err)
		to := filepath.Join(elsewhere, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, readAll(t, name), info.Mode().Perm()))
	}
	t.Setenv("FRONTDESK_VERSION", fmt.Sprintf("%s %s %s", at.version, at.commit, at.time.Format(time.RFC3339)))
	if os.Getenv("FRONTDESK_SOAK") != "" {
		t.Setenv("GOCACHE", t.TempDir())
	}
	t.Chdir(elsewhere)
	program, err := build(t.Context(), host, "bin")
	require.NoError(t, err)
	if !bytes.Equal(want, readAll(t, program)) {
		t.Fatal("the same sources in another folder are another program")
	}
}

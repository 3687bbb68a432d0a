package mapping_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

var loadOnce = sync.OnceValues(func() (*mapping.Model, error) { return mapping.LoadModel("") })

// embeddedModel is the built-in model, which all tests share.
func embeddedModel(t testing.TB) *mapping.Model {
	t.Helper()
	m, err := loadOnce()
	require.NoError(t, err)
	return m
}

// resource is a resource that the model is known to have.
func resource(t testing.TB, name string) *mapping.Resource {
	t.Helper()
	r := embeddedModel(t).Resource(name)
	require.NotNil(t, r, name)
	return r
}

// amsterdam is the default time zone of a server.
func amsterdam(t testing.TB) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(t, err)
	return loc
}

// TestEmbeddedModel holds what the resource files declare to testdata/model.txt.
func TestEmbeddedModel(t *testing.T) {
	m := embeddedModel(t)
	var b strings.Builder
	for _, r := range m.Resources {
		assert.Same(t, r, m.Resource(r.Name))
		assert.NotEmpty(t, r.Module)
		fmt.Fprintf(&b, "%s: %d fields\n", r.Name, len(r.Fields))
		tell := func(what string, is bool, names ...string) {
			if is && len(names) > 0 {
				fmt.Fprintf(&b, "  %s: %s\n", what, strings.Join(names, " "))
			}
		}
		tell("has", r.SystemRecords, "system records")
		tell("lists require", true, r.ListRequires...)
		tell("rules", true, r.Rules...)
		for i := range r.Fields {
			f := &r.Fields[i]
			tell("unique", f.Unique, f.Name)
			tell("    per", f.Unique && f.UniquePer != "", f.UniquePer)
			tell("    when", f.Unique, f.UniqueWhen...)
			tell("    without", f.IgnoreDashes, "dashes")
			tell("immutable", f.Immutable, f.Name)
			tell("numbered", f.Numbering != "", f.Name, f.Numbering)
			tell("one of", f.Validation() != "", f.Name, f.Validation())
			tell("not in lists", !slices.Contains(r.ListFields(), i), f.Name)
			tell("not in records", !slices.Contains(r.RecordFields(), i), f.Name)
			tell("no filter", !f.Filterable(), f.Name)
			if f.Type == mapping.Array {
				tell("array", true, f.Name, "of", f.Target().Name, "by", f.ArrayKey)
			}
		}
		for _, f := range r.Referrers() {
			if f.By == nil {
				tell("referred to by", true, f.Resource.Name+"."+f.Field.Name)
			} else { // a document may belong to a record of any resource
				assert.Equal(t, "document.resource_id by resource", f.Resource.Name+"."+f.Field.Name+" by "+f.By.Name)
			}
		}
	}
	want, err := os.ReadFile("testdata/model.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
	assert.Nil(t, m.Resource("order").Field("colour"))
}

func TestEmbeddedModelFields(t *testing.T) {
	loc := amsterdam(t)
	require.True(t, resource(t, "contact").Field("name").FilterableBy(mapping.Contains))
	require.True(t, resource(t, "contact").Field("note").FilterableBy(mapping.Contains))
	for _, r := range embeddedModel(t).Resources {
		assert.Truef(t, strings.HasSuffix(r.Description, "."), "%s: the description is no sentence", r.Name)
		last := len(r.Fields) - 1
		assert.Equal(t, []int{0, last - 4, last - 3, last - 2, last - 1, last},
			[]int{r.ID, r.IsSystem, r.IsBlocked, r.IsArchived, r.CreatedAt, r.ModifiedAt}, r.Name)
		for i := range r.Fields {
			f := &r.Fields[i]
			name := r.Name + "." + f.Name
			assert.Equal(t, i, f.Index, name)
			assert.Truef(t, strings.HasSuffix(f.Description, "."), "%s: the description is no sentence", name)
			assert.Equalf(t, f.Reference != "" || f.Type == mapping.Array, f.Target() != nil, "%s: target", name)
			assert.Equalf(t, f.Type == mapping.Array, f.ArrayKey != "", "%s: array key", name)
			if f.Type == mapping.Float8 {
				assert.Containsf(t, []int{2, 4}, f.Scale, "%s: money and quantities are exact", name)
			}
			if f.FilterableBy(mapping.Contains) { // in every text, and in none whose length nothing bounds
				assert.LessOrEqual(t, f.Length, mapping.MaxSearched, name)
			}
			if strings.HasPrefix(f.Name, "is_") {
				assert.Truef(t, f.Type == mapping.Int4 && (f.Readonly || cmp.Equal(f.OneOf, []string{"0", "1"})), "%s: a flag is 0 or 1", name)
			}
			if f.Example == "" || f.Type == mapping.Array {
				continue
			}
			v, e := f.Parse(f.Example, loc)
			if assert.Nilf(t, e, "%s: example %q", name, f.Example) && v.Kind() == mapping.KindText {
				assert.LessOrEqualf(t, len([]rune(f.Example)), f.Length, "%s: example %q", name, f.Example)
			}
		}
	}
}

// TestExamplesAreValid creates a record of every resource from the examples in
// its file: an integrator who copies them gets no refusal.
func TestExamplesAreValid(t *testing.T) {
	for _, r := range embeddedModel(t).Resources {
		var body []byte
		for i := range r.Fields {
			f := &r.Fields[i]
			if f.Example == "" || f.Readonly || f.Primary || f.Type == mapping.Array {
				continue
			}
			body = mapping.AppendJSONString(append(body, ','), f.Name)
			body = append(body, ':')
			if f.Type == mapping.Int4 || f.Type == mapping.Float8 {
				body = append(body, f.Example...)
			} else {
				body = mapping.AppendJSONString(body, f.Example)
			}
		}
		body[0] = '{'
		body = append(body, '}')
		b, err := mapping.DecodeBody(r, body, amsterdam(t))
		require.NoErrorf(t, err, "%s: %s", r.Name, body)
		assert.Emptyf(t, b.CheckCreate(), "%s: %s", r.Name, body)
	}
}

func TestLoadModelRefuses(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			want, err := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".txt")
			require.NoError(t, err)
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/vendor")))
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), src, 0o600))

			_, err = mapping.LoadModel(dir)
			var problems strictyaml.Problems
			require.ErrorAs(t, err, &problems)
			for _, p := range problems {
				require.Equal(t, filepath.Join(dir, filepath.Base(file)), p.File, "what an editor can open")
			}
			assert.Empty(t, cmp.Diff(string(want), strings.ReplaceAll(err.Error(), dir+"/", "")+"\n"), "problems (-want +got)")
		})
	}
}

func TestLoadModelFromFolder(t *testing.T) {
	plain := embeddedModel(t)
	m, err := mapping.LoadModel("testdata/vendor")
	require.NoError(t, err)
	assert.Len(t, m.Resources, len(plain.Resources)+1)
	assert.NotEqual(t, plain.Version, m.Version)
	again, err := mapping.LoadModel("")
	require.NoError(t, err)
	assert.Equal(t, plain.Version, again.Version)

	country := m.Resource("country")
	assert.NotNil(t, country.Field("continent"), "a file of the folder replaces the embedded one")
	assert.Nil(t, country.Field("phone_prefix"))
	measurement := m.Resource("measurement")
	require.NotNil(t, measurement, "a new file adds a resource")
	assert.Equal(t, -1, measurement.Field("value").Scale)
	assert.Same(t, m.Resource("vehicle"), measurement.Field("vehicle_id").Target())
	assert.Contains(t, m.Resource("vehicle").Referrers(), mapping.Referrer{Resource: measurement, Field: measurement.Field("vehicle_id")})
	assert.Equal(t, 2, measurement.Since)
	assert.Equal(t, 3, measurement.Field("unit").Since)
	assert.Equal(t, 2, measurement.Field("value").Since)

	_, err = mapping.LoadModel("testdata/nowhere")
	assert.EqualError(t, err, "model folder testdata/nowhere: not a folder")
	_, err = mapping.LoadModel("model_test.go")
	assert.EqualError(t, err, "model folder model_test.go: not a folder")
}

// fieldOf is a field that the embedded model is known to have.
func fieldOf(t testing.TB, resourceName, name string) *mapping.Field {
	t.Helper()
	f := resource(t, resourceName).Field(name)
	require.NotNil(t, f, name)
	return f
}

package mapping_test

import (
	"os"
	"path/filepath"
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

// ownFields are the fields that every resource has besides its own: the id
// first, the flags and times last.
const ownFields = 6

func TestEmbeddedModel(t *testing.T) {
	// What each resource file declares, as the reference model lists it.
	want := []struct {
		name         string
		fields       int
		listRequires string
		rules        string
		referrers    string
	}{
		{"advertisementsite", 3, "", "", "vehicleadvertisementsite.advertisementsite_id"},
		{"article", 10, "", "", "flatrateline.article_id orderline.article_id"},
		{"contact", 14, "", "", "article.supplier_id contactaddress.contact_id contactcommunication.contact_id order.contact_id vehicleroleline.contact_id"},
		{"contactaddress", 8, "contact_id", "postcode", ""},
		{"contactcommunication", 5, "contact_id", "prefered_email email_value", ""},
		{"country", 5, "", "", "contactaddress.country_id vehicle.country_id"},
		{"document", 9, "resource resource_id", "", ""},
		{"employee", 8, "", "", "order.employee_id orderline.employee_id"},
		{"flatrate", 5, "", "", "flatrateline.flatrate_id"},
		{"flatrateline", 11, "flatrate_id", "flatrate_line", ""},
		{"order", 15, "", "order_status", "orderline.order_id"},
		{"orderline", 12, "order_id", "order_status", ""},
		{"turnovergroup", 6, "", "", "article.turnover_group_id flatrateline.turnover_group_id orderline.turnover_group_id"},
		{"vehicle", 21, "", "license_plate published", "order.vehicle_id vehicleadvertisementsite.vehicle_id vehicleroleline.vehicle_id"},
		{"vehicleadvertisementsite", 9, "vehicle_id", "", ""},
		{"vehicleroleline", 5, "vehicle_id", "one_owner", ""},
	}
	m := embeddedModel(t)
	require.Len(t, m.Resources, len(want))
	for i, w := range want {
		r := m.Resources[i]
		t.Run(w.name, func(t *testing.T) {
			require.Equal(t, w.name, r.Name)
			assert.Same(t, r, m.Resource(w.name))
			assert.Len(t, r.Fields, w.fields+ownFields)
			assert.Equal(t, w.listRequires, strings.Join(r.ListRequires, " "))
			assert.Equal(t, w.rules, strings.Join(r.Rules, " "))
			var referrers []string
			for _, f := range r.Referrers() {
				if f.By != nil { // a document may belong to a record of any resource
					assert.Equal(t, "document.resource_id by resource", f.Resource.Name+"."+f.Field.Name+" by "+f.By.Name)
					continue
				}
				referrers = append(referrers, f.Resource.Name+"."+f.Field.Name)
			}
			assert.Equal(t, w.referrers, strings.Join(referrers, " "))
			assert.NotEmpty(t, r.Module)
			assert.Equal(t, w.name == "country" || w.name == "advertisementsite", r.SystemRecords)
		})
	}
}

func TestEmbeddedModelFields(t *testing.T) {
	loc := amsterdam(t)
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

func TestFieldMarks(t *testing.T) {
	m := embeddedModel(t)
	var unique, immutable, numbered, arrays []string
	for _, r := range m.Resources {
		for i := range r.Fields {
			f := &r.Fields[i]
			name := r.Name + "." + f.Name
			switch {
			case len(f.UniqueWhen) > 0:
				unique = append(unique, name+" per "+f.UniquePer+" when "+strings.Join(f.UniqueWhen, " "))
			case f.UniquePer != "":
				unique = append(unique, name+" per "+f.UniquePer)
			case f.IgnoreDashes:
				unique = append(unique, name+" without dashes")
			case f.Unique:
				unique = append(unique, name)
			}
			if f.Immutable {
				immutable = append(immutable, name)
			}
			if f.Numbering != "" {
				numbered = append(numbered, name+" "+f.Numbering)
			}
			if f.Type == mapping.Array {
				arrays = append(arrays, name+" of "+f.Target().Name+" by "+f.ArrayKey)
			}
		}
	}
	assert.Equal(t, []string{
		"advertisementsite.code", "article.number", "contact.number", "contactcommunication.is_prefered_email per contact_id when 1",
		"country.code", "employee.number", "employee.username", "flatrate.number",
		"flatrateline.sort_order per flatrate_id", "order.number", "turnovergroup.code",
		"vehicle.license_plate without dashes", "vehicle.vin", "vehicleadvertisementsite.advertisementsite_id per vehicle_id",
		"vehicleroleline.role per vehicle_id when owner",
	}, unique)
	assert.Equal(t, []string{
		"contactaddress.contact_id", "contactcommunication.contact_id", "flatrateline.flatrate_id", "orderline.order_id",
		"vehicleadvertisementsite.vehicle_id", "vehicleroleline.vehicle_id",
	}, immutable)
	assert.Equal(t, []string{"contact.number C%06d", "order.number O%06d"}, numbered)
	assert.Equal(t, []string{"flatrate.flatratelines of flatrateline by flatrate_id", "order.orderlines of orderline by order_id"}, arrays)
}

func TestFieldSelections(t *testing.T) {
	order, document := resource(t, "order"), resource(t, "document")
	lines, content := order.Field("orderlines").Index, document.Field("content").Index
	assert.NotContains(t, order.ListFields(), lines)
	assert.NotContains(t, order.RecordFields(), lines)
	assert.NotContains(t, document.ListFields(), content)
	assert.Contains(t, document.RecordFields(), content)
	assert.False(t, order.Field("orderlines").Filterable())
	assert.Nil(t, order.Field("colour"))
	assert.Equal(t, []string{"order_status"}, order.Rules)
	assert.Equal(t, "workshop|sales|parts|lease", order.Field("kind").Validation())
	assert.Equal(t, "percentage", resource(t, "orderline").Field("discount_percentage").Validation())
	assert.Empty(t, order.Field("reference").Validation())
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

// TestSearchedFields: a part of a text is looked for in every text of the model, and in none
// whose length nothing bounds.
func TestSearchedFields(t *testing.T) {
	require.True(t, resource(t, "contact").Field("name").FilterableBy(mapping.Contains))
	require.True(t, resource(t, "contact").Field("note").FilterableBy(mapping.Contains))
	for _, r := range embeddedModel(t).Resources {
		for i := range r.Fields {
			if f := &r.Fields[i]; f.FilterableBy(mapping.Contains) {
				require.LessOrEqual(t, f.Length, mapping.MaxSearched, "%s.%s", r.Name, f.Name)
			}
		}
	}
}

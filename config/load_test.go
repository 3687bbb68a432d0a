package config_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

var update = flag.Bool("update", false, "write the golden files in testdata anew")

var known = config.Known{
	Endpoints: func(*config.Config) ([]config.Endpoint, error) { return endpoints, nil },
	Env: func(name string) (string, bool) {
		value, ok := map[string]string{"SECRET": "hush-hush", "EMPTY": "", "CALLS": "32"}[name]
		return value, ok
	},
	Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
}

var endpoints = []config.Endpoint{
	{"GET", "/"}, {"GET", "/authenticate"},
	{"GET", "/order"}, {"POST", "/order"}, {"PUT", "/order"}, {"DELETE", "/order"},
	{"GET", "/vehicle"}, {"POST", "/vehicle"}, {"PUT", "/vehicle"}, {"DELETE", "/vehicle"},
	{"PUT", "/vehicle/publishstart"}, {"GET", "/vehicle/publishstart"},
	{"GET", "/model/*"}, {"GET", "/util/environment"}, {"POST", "/backup/owner"},
}

// TestBad holds every rule to the exact messages it gives.
func TestBad(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bad.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".bad.yaml"), func(t *testing.T) {
			c, err := config.Load(file, known)
			problems, ok := errors.AsType[strictyaml.Problems](err)
			require.True(t, ok && c == nil, "got %v, %v, want no config and problems", c, err)
			got, golden := strings.ReplaceAll(problems.Error(), "testdata/", "")+"\n", strings.TrimSuffix(file, ".yaml")+".txt"
			assert.NotContains(t, got, "hush", "a secret")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(string(want), got), "problems (-want +got)")
		})
	}
}

func TestParseOfNothingIsTheDefault(t *testing.T) {
	c, err := config.Parse("empty.yaml", []byte("api_keys: []\n"), known)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(config.Default(), c, comparable), "config (-default +got)")
	assert.Equal(t, "http://127.0.0.1:8080/webservice_v2", c.Server.BaseURL())
}

// comparable makes zones equal by name and secrets comparable.
var comparable = cmp.Options{
	cmp.Comparer(func(a, b config.Zone) bool { return a.String() == b.String() }),
	cmp.Comparer(func(a, b config.Secret) bool { return a == b }),
	cmpopts.IgnoreUnexported(config.Config{}, config.Key{}, config.Expiry{}),
}

func TestLoadContract(t *testing.T) {
	got, err := config.Load("testdata/contract.yaml", known)
	require.NoError(t, err)
	want := config.Default()
	want.Server.PublicURL, want.Server.Vendor = "https://api.example.nl/webservice_v2", "Example"
	want.Webhooks.AllowHosts, want.Callbacks = []string{}, []config.Rule{}
	want.APIKeys = []config.Key{{
		Name:          "webshop",
		Hashes:        []config.KeyHash{{Hash: config.Digest{31: 1}}},
		Expires:       config.Expiry{Time: time.Date(2027, 1, 1, 23, 0, 0, 0, time.UTC)},
		Allow:         []config.Rule{{"GET", "/order"}, {"*", "/vehicle"}, {"GET", "/model/*"}},
		Rate:          &config.Rate{PerSecond: 50, Burst: 100},
		WebhookSecret: []config.Secret{"hush-hush"},
	}}
	assert.Empty(t, cmp.Diff(want, got, comparable), "config (-want +got)")
}

func TestLoadFull(t *testing.T) {
	got, err := config.Load("testdata/full.yaml", known)
	require.NoError(t, err)
	london := config.Zone{}
	require.NoError(t, london.UnmarshalText([]byte("Europe/London")))
	reading := []config.Rule{{"GET", "/order"}, {"*", "/vehicle"}, {"GET", "/*"}}
	want := &config.Config{
		Server: config.Server{
			Listen: "0.0.0.0:443", BasePath: "/api/v2", Vendor: "Example", Environment: "acceptance", BodyLimit: 512 * config.KiB, TimeZone: london,
			TLS:         config.TLS{CertFile: "cert.pem", KeyFile: "key.pem"},
			ReadTimeout: time.Second, DrainDelay: 4 * time.Second, ShutdownTimeout: 90 * time.Second,
		},
		Log: config.Log{Level: "debug"},
		Backend: config.Backend{
			Driver: "reference", DSN: "postgres://frontdesk:hush-hush@db/frontdesk", Timeout: 5 * time.Second,
			MaxConcurrent: 32,
		},
		Model:     config.Model{Dir: "resources"},
		Sessions:  config.Sessions{Store: "memory", TTL: 5 * time.Minute},
		Mail:      config.Mail{SMTP: "smtp://user:hush-hush@mail.example.nl:587", From: "Example <noreply@example.nl>"},
		Changes:   config.KeptChanges{Keep: 720 * time.Hour},
		Webhooks:  config.Webhooks{AllowHosts: []string{"intranet", "10.0.0.1", "::1"}, Ports: []uint16{443, 8443}, CAFile: "ca.pem"},
		Callbacks: []config.Rule{},
		Tracing:   config.Tracing{Ratio: 0.01},
		APIKeys: []config.Key{
			{
				Name: "webshop",
				Hashes: []config.KeyHash{
					{config.Digest{31: 1}, config.Expiry{Time: time.Date(2026, 12, 1, 11, 0, 0, 0, time.UTC)}},
					{config.Digest{31: 2}, config.Expiry{Time: time.Date(2027, 7, 1, 23, 0, 0, 0, time.UTC)}},
					{Hash: config.Digest{31: 3}},
				},
				Expires:       config.Expiry{Time: time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)},
				Allow:         reading,
				Rate:          &config.Rate{PerSecond: 0.5, Burst: 1},
				WebhookSecret: []config.Secret{"hush-hush", "${plain} $5"},
			},
			{Name: "reports-2", Hashes: []config.KeyHash{{Hash: config.Digest{31: 4}}}, Allow: reading},
		},
	}
	assert.Empty(t, cmp.Diff(want, got, comparable), "config (-want +got)")
}

func TestLoadWithoutFile(t *testing.T) {
	_, err := config.Load("testdata/none.yaml", known)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestParseLooksInTheEnvironment(t *testing.T) {
	t.Setenv("FRONTDESK_TEST_VENDOR", "Example")
	c, err := config.Parse("a.yaml", []byte("server: {vendor: \"${FRONTDESK_TEST_VENDOR}\"}"), config.Known{Endpoints: known.Endpoints})
	require.NoError(t, err)
	assert.Equal(t, "Example", c.Server.Vendor)
}

package config_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"frontdesk/config"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBaseURL(t *testing.T) {
	tests := []struct {
		server config.Server
		want   string
	}{
		{config.Server{Listen: "127.0.0.1:8080", BasePath: "/v2"}, "http://127.0.0.1:8080/v2"},
		{config.Server{Listen: ":8080", BasePath: "/v2"}, "http://localhost:8080/v2"},
		{config.Server{Listen: "0.0.0.0:8080", BasePath: "/v2"}, "http://localhost:8080/v2"},
		{config.Server{Listen: "[::]:8080", BasePath: "/v2"}, "http://localhost:8080/v2"},
		{config.Server{Listen: "[::1]:8080", BasePath: "/v2"}, "http://[::1]:8080/v2"},
		{config.Server{Listen: "desk:443", BasePath: "/v2", TLS: config.TLS{CertFile: "c", KeyFile: "k"}}, "https://desk:443/v2"},
		{config.Server{Listen: "desk:443", BasePath: "/v2", PublicURL: "https://api.example.nl/x/"}, "https://api.example.nl/x"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, tt.server.BaseURL())
	}
}

func TestSecretIsNotSeen(t *testing.T) {
	backend := config.Backend{DSN: "hush"}
	encoded, err := json.Marshal(backend)
	require.NoError(t, err)
	seen := string(encoded) + fmt.Sprint(backend.DSN) + backend.DSN.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		seen += fmt.Sprintf(verb, backend) + fmt.Sprintf(verb, []config.Secret{"hush"})
	}
	assert.NotRegexp(t, "hush|68757368", seen)
}

func TestSize(t *testing.T) {
	for text, want := range map[string]config.Size{
		"0": 0, "1": 1, "512B": 512, "1KiB": 1024, "16MiB": 16 << 20, "2GiB": 2 << 30, "9223372036854775807": 1<<63 - 1,
	} {
		var got config.Size
		require.NoError(t, got.UnmarshalText([]byte(text)), text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-1", "01", "1.5MiB", "1 MiB", "1mib", "1MB", "9223372036854775808", "8589934592GiB"} {
		var got config.Size
		assert.Error(t, got.UnmarshalText([]byte(text)), text)
	}
}

func TestExpiryPassed(t *testing.T) {
	noon := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	e := config.Expiry{Time: noon}
	assert.False(t, e.Passed(noon.Add(-time.Nanosecond)) || !e.Passed(noon) || (config.Expiry{}).Passed(noon), "it passes at its moment, and the zero one never")
}

func TestDefaultIsNotShared(t *testing.T) {
	config.Default().Webhooks.Ports[0] = 80
	assert.EqualValues(t, 443, config.Default().Webhooks.Ports[0], "two defaults share nothing")
}

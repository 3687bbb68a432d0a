package config_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/config"

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
		if got := tt.server.BaseURL(); got != tt.want {
			t.Errorf("BaseURL of %s = %s, want %s", tt.server.Listen, got, tt.want)
		}
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
	if strings.Contains(seen, "hush") || strings.Contains(seen, "68757368") {
		t.Errorf("seen: %s", seen)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]config.Size{
		"0": 0, "1": 1, "512B": 512, "1KiB": 1024, "16MiB": 16 << 20, "2GiB": 2 << 30, "9223372036854775807": 1<<63 - 1,
	} {
		var got config.Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "01", "1.5MiB", "1 MiB", "1mib", "1MB", "9223372036854775808", "8589934592GiB"} {
		var got config.Size
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q = %d, want an error", text, got)
		}
	}
}

func TestExpiryPassed(t *testing.T) {
	noon := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	e := config.Expiry{Time: noon}
	if e.Passed(noon.Add(-time.Nanosecond)) || !e.Passed(noon) || (config.Expiry{}).Passed(noon) {
		t.Error("an expiry passes at its moment, and the zero one never")
	}
}

func TestDefaultIsNotShared(t *testing.T) {
	config.Default().Webhooks.Ports[0] = 80
	if config.Default().Webhooks.Ports[0] != 443 {
		t.Error("two defaults share their ports")
	}
}

package webhook_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway/webhook"
)

func TestParseSecret(t *testing.T) {
	for secret, want := range map[string]string{
		"whsec_" + base64.StdEncoding.EncodeToString([]byte("a key of thirty-two bytes, almost")): "a key of thirty-two bytes, almost",
		"hush-hush":    "hush-hush",
		"aHVzaA==":     "aHVzaA==",
		"WHSEC_aHVzaA": "WHSEC_aHVzaA",
	} {
		key, err := webhook.ParseSecret(secret)
		require.NoError(t, err)
		require.Equal(t, want, string(key))
	}
	for _, secret := range []string{"", "whsec_", "whsec_no-base64!", "whsec_aHVzaA"} {
		_, err := webhook.ParseSecret(secret)
		require.Error(t, err, secret)
		require.NotContains(t, err.Error(), "aHVzaA")
	}
}

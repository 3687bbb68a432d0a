package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/config"
	"frontdesk/config/schema/schematest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSchemaFileIsUpToDate(t *testing.T) {
	schematest.UpToDate(t, "../docs/config.schema.json", config.Schema(), *update)
}

func TestConfigurationsFitTheSchema(t *testing.T) {
	s := schematest.Compile(t, config.SchemaID, config.Schema())
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	fit := 0
	for _, file := range files {
		if strings.HasSuffix(file, ".bad.yaml") {
			continue
		}
		fit++
		assert.NoError(t, s.Validate(schematest.Instance(t, file)), file)
	}
	assert.NotZero(t, fit)
}

func TestBadConfigurationsDoNotFitTheSchema(t *testing.T) {
	s := schematest.Compile(t, config.SchemaID, config.Schema())
	for _, name := range []string{
		"allow_method", "allow_list", "backend_bounds", "key_certificates", "key_hash_missing", "key_limits", "key_name_missing", "log_level", "mistyped", "ops_hosts", "rate", "rate_missing",
		"server_base_path", "server_base_path_dots", "server_base_path_end", "server_base_path_root", "server_vendor", "tracing", "webhooks_allow_hosts", "webhooks_ports",
	} {
		assert.Error(t, s.Validate(schematest.Instance(t, "testdata/"+name+".bad.yaml")), name)
	}
}

package desk

import (
	"crypto/sha256"
	"path/filepath"

	"frontdesk/config"
)

// The api_keys of the demo, known to everybody and good for nothing else.
const (
	DemoFull      = "demo-full"
	DemoOrders    = "demo-orders"
	DemoFullKey   = "11111111-1111-4111-8111-111111111111"
	DemoOrdersKey = "22222222-2222-4222-8222-222222222222"
)

// DatabaseFile is the name of the administration in a data folder.
const DatabaseFile = "frontdesk.db"

// DemoConfig is the configuration of the demo: everything embedded, in one folder.
func DemoConfig(listen, ops, folder string) (*config.Config, error) {
	c := config.Default()
	c.Server.Listen, c.Ops.Listen = listen, ops
	c.Server.Vendor = "Demo"
	c.Backend.DSN = config.Secret("sqlite:" + filepath.Join(folder, DatabaseFile))
	c.Mail.Folder = filepath.Join(folder, "mail")
	for _, key := range []struct {
		name, key string
		allow     []string
	}{
		{DemoFull, DemoFullKey, []string{"* /*"}},
		{DemoOrders, DemoOrdersKey, []string{"GET /order", "GET /orderline", "GET /model/*"}},
	} {
		k := config.Key{Name: key.name, Hashes: []config.KeyHash{{Hash: sha256.Sum256([]byte(key.key))}}}
		for _, text := range key.allow {
			rule, err := config.ParseRule(text)
			if err != nil {
				return nil, err
			}
			k.Allow = append(k.Allow, rule)
		}
		c.APIKeys = append(c.APIKeys, k)
	}
	return c, nil
}

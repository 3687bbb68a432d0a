package bounds

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/cmd/frontdesk/rig"
)

// TestModelTellsCollations: before, nothing told a client that a filter finds texts in other
// capitals, too.
func TestModelTellsCollations(t *testing.T) {
	for name, c := range map[string]struct {
		options            func(t *testing.T) rig.Options
		username, password string
		article, vehicle   string // the collations of a description, and of a brand that SQL may make
		found              int    // articles, by the description of one in capitals
	}{
		"built in": {func(t *testing.T) rig.Options { return rig.Options{DSN: rig.Engines[0].DSN(t)} }, "demo", "demo", "", "", 0},
		"sqlite":   {func(t *testing.T) rig.Options { return rig.DealerPak(t, "sqlite", legacytest.SQLite(t)) }, "sanne.bos", "Welkom01", "", "unknown", 0},
		"mariadb":  {func(t *testing.T) rig.Options { return rig.DealerPak(t, "mariadb", legacytest.MariaDB(t)) }, "sanne.bos", "Welkom01", "latin1_swedish_ci", "latin1_swedish_ci", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := rig.Start(t, c.options(t))
			token := d.LoginAs(rig.FullKey, c.username, c.password)
			collation := func(resource, field string) string {
				var model struct {
					Data struct {
						Fields []struct{ Name, Collation string }
					}
				}
				a := d.Call("GET", "/model/"+resource, token, "")
				require.NoError(t, json.Unmarshal(a.Body, &model), "%s", a.Body)
				for _, f := range model.Data.Fields {
					if f.Name == field {
						return f.Collation
					}
				}
				t.Fatalf("there is no %s", field)
				return ""
			}
			require.Equal(t, c.article, collation("article", "description"))
			require.Equal(t, c.vehicle, collation("vehicle", "brand"))
			var list struct {
				Data []struct{ Description string }
			}
			require.NoError(t, json.Unmarshal(d.Call("GET", "/article?page_size=1", token, "").Body, &list))
			capitals := strings.ToUpper(list.Data[0].Description)
			require.NotEqual(t, capitals, list.Data[0].Description)
			require.NoError(t, json.Unmarshal(d.Call("GET", "/article?page_size=1&description="+url.QueryEscape(capitals), token, "").Body, &list))
			require.Len(t, list.Data, c.found)
		})
	}
}

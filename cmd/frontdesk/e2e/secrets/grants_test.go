package secrets

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// The narrow api_keys may use what is granted. One of them may have any resource described,
// so that it may know that there is one.
var (
	granted    = []string{"contact", "contactcommunication", "order", "vehicle", "article", "country"}
	narrow     = rig.ArrayKey(1)
	narrower   = rig.ArrayKey(2)
	narrowKeys = grants("narrow", narrow, `"GET /webhook"`, `"GET /model/*"`) + grants("narrower", narrower, `"GET /webhook"`)
)

func grants(name, key string, rules ...string) string {
	for _, name := range granted {
		rules = append(rules, fmt.Sprintf("%q, %q", "* /"+name, "* /"+name+"/bulk"))
	}
	rules = append(rules, `"GET /changes"`, `"POST /changes"`, `"GET /changes/digest"`)
	return fmt.Sprintf("  - {name: %s, key_sha256: [\"%x\"], allow: [%s]}\n", name, sha256.Sum256([]byte(key)), strings.Join(rules, ", "))
}

// modelRequests are fewer than elsewhere: what differs is always there.
const modelRequests = 1_500

// secretModel is a resource that orders have an array of. In it no value is secret: that
// there is one is.
const secretModel = `name: secret
description: What only some may know of.
module: secrets
since: 1000
fields:
  - {name: order_id, type: int4, required: true, immutable: true, reference: order, description: The order that it is about.}
  - {name: word, type: varchar(20), required: true, description: The word itself.}
`

// TestNobodyCanTellOfAModel is TestNobodyCanTell of administrations of which one has a
// resource, and an array, that the api_key is not granted.
func TestNobodyCanTellOfAModel(t *testing.T) {
	t.Parallel()
	t.Run("described", func(t *testing.T) { ofAModel(t, narrow) })
	t.Run("not described", func(t *testing.T) { ofAModel(t, narrower) })
}

func ofAModel(t *testing.T, key string) {
	t.Parallel()
	withoutAGrant(t, key, true, modelRequests, func(side int) *rig.Desk {
		o := rig.Options{DSN: rig.Engines[0].DSN(t), Keys: narrowKeys}
		if side == 1 {
			dir := t.TempDir()
			order := rig.Read(t, rig.Repository(t, "mapping", "resources", "order.yaml"))
			order += "  - {name: secrets, type: array(secret), array_key: order_id, description: What is not told.}\n"
			for name, text := range map[string]string{"order.yaml": order, "secret.yaml": secretModel} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			o.Extra = fmt.Sprintf("model: {dir: %q}\n", dir)
		}
		return rig.Start(t, o)
	})
}

// drawSecret is a request for what only one of the administrations of that test has.
func (a *actor) drawSecret() ask {
	r := a.model.Resource("order")
	body := a.body(r, false)
	with := strings.TrimSuffix(body, "}") + map[bool]string{true: "", false: ","}[body == "{}"] + `"secrets":[{"word":"x"}]}`
	asks := []ask{
		{method: "GET", path: "/secret"}, {method: "GET", path: "/secret/1"}, {method: "DELETE", path: "/secret/1"},
		{method: "POST", path: "/secret", body: `{"order_id":1,"word":"x"}`}, {method: "PUT", path: "/secret/1", body: `{"word":"x"}`},
		{method: "GET", path: "/order/" + a.id("order") + "?fields=id,secrets"}, {method: "GET", path: "/order?fields=secrets"},
		{method: "GET", path: "/order?secrets=1"}, {method: "GET", path: "/order?secrets[null]=1"}, {method: "GET", path: "/order?sort=secrets"}, {method: "GET", path: "/secret?word[contains]=xyz"},
		{method: "POST", path: "/order", body: with}, {method: "PUT", path: "/order/" + a.id("order"), body: `{"secrets":[]}`},
		{method: "GET", path: "/model/order"}, {method: "GET", path: "/authenticate/modules"}, {method: "GET", path: "/authenticate/acces"},
		{method: "GET", path: "/testpage/requests"},
	}
	if a.key == narrower { // the other one may know which resources there are
		for _, path := range descriptions {
			asks = append(asks, ask{method: "GET", path: path + a.key})
		}
	}
	a.secrets++
	return asks[a.secrets%len(asks)] // each of them, by turns
}

// withoutAGrant has somebody of the same client work on what the viewer's api_key is not
// granted.
func withoutAGrant(t *testing.T, key string, follows bool, requests int, start func(side int) *rig.Desk) {
	var desks [2]*rig.Desk
	user := login{"demo", "demo"}
	w := &walk{viewer: newActor(2, granted)}
	w.viewer.key, w.viewer.follows, w.tells = key, follows, true
	w.logIn = func(side int) (viewer, other string) {
		return user.at(desks[side], key), user.at(desks[side], rig.FullKey)
	}
	for side := range desks {
		desks[side] = start(side)
		var other string
		w.tokens[side], other = w.logIn(side)
		w.beside(side, newActor(uint64(20+side), slices.Sorted(maps.Keys(apart))), other, (*actor).drawApart)
	}
	w.twins = newTwins(t, desks)
	w.begin()
	w.run(requests)
}

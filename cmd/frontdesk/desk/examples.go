package desk

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"frontdesk/gateway"
)

// The environments that GET /util/environment names.
const (
	ProductionEnvironment = gateway.LiveEnvironment
	DemoEnvironment       = "demo"
)

// demoExamples are requests by operationId that work with the sample data of the demo, for operations
// where the model's examples do not: they change records that are open, create records whose unique
// values are new, and delete the record that the example of its create makes in a new demo.
//
//go:embed demo_examples.json
var demoExamples []byte

// newGateway makes a gateway whose description has the examples of its
// environment.
func newGateway(o gateway.Options) (*gateway.Gateway, error) {
	if o.Environment == DemoEnvironment {
		examples := map[string]gateway.Example{}
		if err := json.Unmarshal(demoExamples, &examples); err != nil {
			return nil, fmt.Errorf("demo_examples.json: %w", err)
		}
		o.Examples = func(key string) map[string]gateway.Example { return withLogin(examples, key) }
	}
	g := gateway.New(o)
	if unknown := g.UnknownExamples(); len(unknown) > 0 {
		return nil, fmt.Errorf("demo_examples.json: no operation is called %s", strings.Join(unknown, ", "))
	}
	return g, nil
}

// withLogin adds the login of the demo with the api_key itself.
func withLogin(examples map[string]gateway.Example, key string) map[string]gateway.Example {
	text := DemoFullKey
	if key == DemoOrders {
		text = DemoOrdersKey
	}
	all := maps.Clone(examples)
	all["authenticate"] = gateway.Example{Parameters: map[string]any{"api_key": text, "username": "demo", "password": "demo"}}
	return all
}

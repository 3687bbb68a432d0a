// Command validate prints a compose file as JSON, as the specification's own loader reads it,
// with what .env.example says but for what the environment says. It is a module of its own so
// that frontdesk does not depend on that loader.
package main

import (
	"context"
	"log"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions([]string{"../compose.yaml"}, cli.WithOsEnv, cli.WithEnvFiles("../.env.example"), cli.WithDotEnv)
	if err != nil {
		log.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	text, err := project.MarshalJSON()
	if err != nil {
		log.Fatal(err)
	}
	os.Stdout.Write(text)
}

package main

import (
	"fmt"

	"frontdesk/cmd/frontdesk/allowlist"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/gateway/openapi"
)

type openapiCommand struct {
	Config  string `placeholder:"FILE" env:"FRONTDESK_CONFIG" help:"Configuration (YAML)."`
	Demo    bool   `help:"Describe the demo."`
	Key     string `required:"" placeholder:"NAME" help:"Name of the api_key whose interface is described."`
	Version string `default:"3.1" enum:"3.1,3.0" help:"Of OpenAPI: 3.1, or 3.0 for what does not read that yet."`
}

// Run prints the description of what a key may call. Nothing is started, and no
// backend is asked: what it lacks is known of its mapping sheet.
func (o openapiCommand) Run(p desk.Program) error {
	lists, err := o.lists()
	if err != nil {
		return err
	}
	key, err := lists.Find(o.Key)
	if err != nil {
		return err
	}
	version := openapi.Version31
	if o.Version == "3.0" {
		version = openapi.Version30
	}
	text, err := lists.Describe(key, version)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\n", text)
	return err
}

func (o openapiCommand) lists() (*allowlist.Lists, error) {
	switch {
	case o.Demo:
	case o.Config == "":
		return nil, desk.Misused("expected --config FILE, or --demo")
	default:
		return configFlag{o.Config}.lists()
	}
	c, err := desk.DemoConfig(demoListen, "", "")
	if err != nil {
		return nil, err
	}
	return allowlist.Of(c, desk.DemoEnvironment)
}

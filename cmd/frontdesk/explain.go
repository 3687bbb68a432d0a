package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type explainCommand struct {
	configFlag
	Key       string   `required:"" placeholder:"NAME" help:"Name of the api_key that asks."`
	Request   []string `arg:"" help:"A method and a path, as in 'DELETE /order/5?x=1', below the base path or with it; an absolute URL will do."`
	Body      string   `placeholder:"FILE" help:"What the request sends; - for standard input. Without it the body is not judged."`
	NoSession bool     `help:"As if the request came without a token."`
}

func (explainCommand) Help() string {
	return "It takes the request through the very stages of serving, up to the backend, which is not asked. Nothing is counted against the api_key's limits."
}

// Run explains what becomes of a request.
func (c explainCommand) Run(p desk.Program) error {
	lists, key, err := c.key(c.Key)
	if err != nil {
		return err
	}
	asked, err := lists.Request(strings.Join(c.Request, " "))
	if err != nil {
		return err
	}
	if asked.Body, err = c.body(p, lists.BodyLimit()); err != nil {
		return desk.Misused("--body: %w", err)
	}
	asked.At, asked.NoToken = time.Now(), c.NoSession
	_, err = io.WriteString(p.Stdout, lists.Explain(key, asked))
	return err
}

// body is what the request sends; nil where nothing is said of it. More than the gateway
// would read is an error.
func (c explainCommand) body(p desk.Program, limit int64) ([]byte, error) {
	if c.Body == "" {
		return nil, nil
	}
	from := p.Stdin
	if c.Body != "-" {
		file, err := os.Open(c.Body)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	body, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(body)) > limit {
		return nil, fmt.Errorf("more than %s, which the gateway answers with 413 before it judges anything (server.body_limit)", terminal.Several(limit, "byte"))
	}
	return append([]byte{}, body...), err
}

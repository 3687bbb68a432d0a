package config

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"frontdesk/config/strictyaml"
)

// Known is what a configuration refers to without this package knowing it.
type Known struct {
	// Endpoints lists the interface's endpoints for a model and a backend; its
	// error is that of reading the model, or the mapping sheet.
	Endpoints func(Model, Backend) ([]Endpoint, error)
	Drivers   []string // names of the backends that are built in

	// Env looks up a variable of the environment; nil means that of the process.
	Env func(name string) (value string, ok bool)
}

// Load reads, checks and returns the configuration in the file at path. The
// error is [strictyaml.Problems] where file and model can be read, and else
// wraps the error of reading them. With an error there is no configuration.
func Load(path string, known Known) (*Config, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return Parse(path, src, known)
}

// Parse is Load for a source that was read already; file is its name in problems.
func Parse(file string, src []byte, known Known) (*Config, error) {
	env := known.Env
	if env == nil {
		env = os.LookupEnv
	}
	c := Default()
	doc, problems := strictyaml.Decode(file, src, c, strictyaml.Expand(expander(env)))
	endpoints, err := known.Endpoints(c.Model, c.Backend)
	var inModel strictyaml.Problems
	switch {
	case errors.As(err, &inModel):
		problems = append(problems, inModel...)
	case err != nil:
		return nil, fmt.Errorf("model: %w", err)
	}
	v := validator{Config: c, doc: doc, drivers: known.Drivers, endpoints: endpoints, problems: problems}
	v.validate()
	v.problems.Sort()
	if err := v.problems.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

// expander replaces each ${NAME} by the variable of that name. What a variable
// holds is not looked at again. Any other dollar sign stands for itself.
func expander(env func(string) (string, bool)) func(string) (string, error) {
	return func(text string) (string, error) {
		var out strings.Builder
		for {
			before, after, found := strings.Cut(text, "${")
			out.WriteString(before)
			if !found {
				return out.String(), nil
			}
			if strings.HasSuffix(before, "$") {
				out.WriteString("{")
				text = after
				continue
			}
			name, rest, closed := strings.Cut(after, "}")
			if !closed || !isVariable(name) {
				return "", errors.New("found ${ without a variable's name and }, expected ${NAME}, or $${ for ${ itself")
			}
			value, ok := env(name)
			if !ok {
				return "", fmt.Errorf("environment variable %s is not set", name)
			}
			out.WriteString(value)
			text = rest
		}
	}
}

func isVariable(name string) bool {
	for i := range len(name) {
		c := name[i] | 0x20
		if letter := c >= 'a' && c <= 'z' || name[i] == '_'; !letter && (i == 0 || name[i] < '0' || name[i] > '9') {
			return false
		}
	}
	return name != ""
}

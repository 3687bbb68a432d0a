package desk

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/gateway"
	"frontdesk/mapping"
)

// newLoader returns a loader of the configuration in a file, which judges it by the endpoints of
// its model.
func newLoader(file string) *config.Loader {
	return config.NewLoader(file, config.Known{Endpoints: Endpoints})
}

// LoadConfig reads a configuration once.
func LoadConfig(file string) (*config.Config, error) { return loadFully(newLoader(file)) }

// LoadWith is LoadConfig with some of its files, by path, as they are to be written.
func LoadWith(file string, written map[string][]byte) (*config.Config, error) {
	return loadFully(config.NewLoader(file, config.Known{Endpoints: Endpoints, Written: written}))
}

// DraftForKeys reads a configuration for a command that ends api_keys, with some files as they are
// to be written. It does not judge allowlists: a mapping sheet or model that is broken, or has changed,
// must not keep a key from being ended. It returns the draft of a configuration that has problems, too.
func DraftForKeys(file string, written map[string][]byte) (*config.Config, strictyaml.Problems, error) {
	known := anyEndpoint
	known.Written = written
	return draftBy(config.NewLoader(file, known))
}

func draftBy(loader *config.Loader) (*config.Config, strictyaml.Problems, error) {
	c, err := loadBy(loader)
	problems, ok := errors.AsType[strictyaml.Problems](err)
	if !ok {
		return c, nil, err
	}
	return loader.Draft(), problems, nil
}

// LoadPartly is LoadConfig for a command that needs only some of the settings. It prints problems for
// which others returns true, and goes on.
func LoadPartly(p Program, file string, others func(strictyaml.Problem) bool) (*config.Config, error) {
	c, problems, err := draftBy(newLoader(file))
	if len(problems) == 0 {
		return c, err
	}
	if slices.ContainsFunc(problems, func(p strictyaml.Problem) bool { return !others(p) }) {
		return nil, problems
	}
	fmt.Fprintf(p.Stderr, "%s is used although there is something wrong with it:\n%s\n", file, problems)
	return c, nil
}

// loadBy reads a configuration for a command. A file that cannot be read is a Misuse.
func loadBy(loader *config.Loader) (*config.Config, error) {
	c, err := loader.Load()
	if _, ok := errors.AsType[strictyaml.Problems](err); err != nil && !ok {
		err = Misused("%w", err)
	}
	return c, err
}

// loadFully is loadBy for a command that depends on what api_keys may do.
func loadFully(loader *config.Loader) (*config.Config, error) {
	c, err := loadBy(loader)
	if err == nil {
		err = judgeRightsOf(c).Err()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// anyEndpoint makes a loader accept any allowlist.
var anyEndpoint = config.Known{Endpoints: func(*config.Config) ([]config.Endpoint, error) { return nil, nil }}

// Endpoints returns what the allowlists of a configuration can name.
func Endpoints(c *config.Config) ([]config.Endpoint, error) {
	offer, err := OfferOf(c)
	if err != nil {
		return nil, err
	}
	return endpointsOf(gateway.Endpoints(offer), offer.Model), nil
}

// EndpointsOf returns the endpoints of a gateway, by the numbers of their grants.
func EndpointsOf(g *gateway.Gateway) []config.Endpoint { return endpointsOf(g.Grants(), g.Model()) }

// endpointsOf returns grants with the fields that an entry may withhold: those of the resource, except
// for DELETE, which has none.
func endpointsOf(grants []gateway.Grant, model *mapping.Model) []config.Endpoint {
	names := func(fields []mapping.Field) config.Names {
		var all []string
		for _, f := range mapping.Each(fields) {
			all = append(all, f.Name)
		}
		return config.NamesOf(slices.Sorted(slices.Values(all)))
	}
	endpoints := make([]config.Endpoint, len(grants))
	for i, grant := range grants {
		endpoints[i] = config.Endpoint{Method: grant.Method, Path: grant.Path}
		if r := model.Resource(strings.TrimPrefix(grant.Path, "/")); r != nil && grant.Method != "DELETE" {
			endpoints[i].Fields, endpoints[i].Common = names(r.Fields), names(r.Fields[r.IsSystem:])
		}
	}
	return endpoints
}

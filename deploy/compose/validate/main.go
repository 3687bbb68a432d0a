// Command validate loads a compose file as Compose itself does, by the loader of the
// specification, checks what would start and then not work, or reach further than it should,
// and prints what was loaded as JSON. It is a module of its own so that frontdesk does not
// depend on that loader.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "Usage: go run . FOLDER, with the passwords of .env in the environment")
		os.Exit(2)
	}
	project, err := load(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	faults := check(project)
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
	text, err := project.MarshalJSON()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}

// load reads compose.yaml with what .env.example says, but for what the environment says.
func load(folder string) (*types.Project, error) {
	options, err := cli.NewProjectOptions([]string{filepath.Join(folder, "compose.yaml")},
		cli.WithOsEnv, cli.WithEnvFiles(filepath.Join(folder, ".env.example")), cli.WithDotEnv, cli.WithInterpolation(true), cli.WithConsistency(true))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background())
}

func check(p *types.Project) (faults []string) {
	for name, s := range p.Services {
		fault := func(format string, args ...any) { faults = append(faults, name+": "+fmt.Sprintf(format, args...)) }
		if s.HealthCheck == nil || len(s.HealthCheck.Test) < 2 {
			fault("there is no health check")
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || len(s.CapAdd) > 0 || s.Privileged || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			fault("it may do more than it has to")
		}
		if s.Restart != "unless-stopped" || s.StopGracePeriod == nil {
			fault("nothing says when it is started again, or how long it may take to stop")
		}
		if s.Deploy == nil || s.Deploy.Resources.Limits == nil || s.Deploy.Resources.Limits.MemoryBytes == 0 {
			fault("its memory has no limit")
		}
		for on := range s.DependsOn {
			if _, there := p.Services[on]; !there {
				fault("it depends on %s, which there is not", on)
			}
		}
		checkMounts(s, fault)
		checkNetworks(p, s, fault)
	}
	slices.Sort(faults)
	return faults
}

// checkMounts wants what is mounted from this folder to be there, and not to be written.
func checkMounts(s types.ServiceConfig, fault func(string, ...any)) {
	for _, v := range s.Volumes {
		if v.Type != types.VolumeTypeBind {
			continue
		}
		if info, err := os.Stat(v.Source); err != nil || !info.IsDir() {
			fault("%s is not a folder here: changes of a single file that is mounted are not seen", v.Source)
		}
		if !v.ReadOnly {
			fault("it may write %s", v.Source)
		}
	}
}

// checkNetworks wants what is published to be HAProxy's only, its operators' page on loopback,
// and what holds data to be in a network that leads nowhere else.
func checkNetworks(p *types.Project, s types.ServiceConfig, fault func(string, ...any)) {
	for _, port := range s.Ports {
		if public := port.Target == 8443; s.Name != "haproxy" || !public && port.HostIP != "127.0.0.1" {
			fault("port %d is published to everybody", port.Target)
		}
	}
	holds := s.Name == "postgres" || s.Name == "redis"
	for network := range s.Networks {
		if holds && !p.Networks[network].Internal {
			fault("it can be reached over the network %s", network)
		}
		if s.Name == "haproxy" && p.Networks[network].Internal {
			fault("it can reach what holds data")
		}
	}
	if len(s.Networks) == 0 || s.NetworkMode != "" && s.NetworkMode != "bridge" {
		fault("it is in no network of this file")
	}
}

package desk

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// BuildFacts are what is known of the build. Commit, Time and Modified stay empty if
// it was not made from a checkout.
type BuildFacts struct {
	Version  string            `json:"version"`
	Commit   string            `json:"commit,omitempty"`
	Time     string            `json:"time,omitempty"` // when the commit was made
	Modified bool              `json:"modified"`       // the checkout held changes that were not committed
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	Modules  map[string]string `json:"modules"`
}

// ShownModules are the modules whose versions are shown, because they decide what an installation
// does: they speak HTTP, or store the records.
var ShownModules = []string{
	"github.com/gofiber/fiber/v2", "github.com/valyala/fasthttp", "modernc.org/sqlite", "zombiezen.com/go/sqlite",
	"github.com/jackc/pgx/v5", "github.com/go-sql-driver/mysql",
}

// built is what deploy/version printed: version, commit, and the time of the commit. The
// linker sets it. It is empty in a program that deploy/build did not make; record then has
// all there is to know.
var built string

// ReadBuildFacts returns what the program was built from.
func ReadBuildFacts() BuildFacts {
	facts := BuildFacts{Version: "dev", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Modules: map[string]string{}}
	if info, ok := debug.ReadBuildInfo(); ok {
		facts.record(info)
	}
	facts.stamp(built)
	return facts
}

// record takes what the Go toolchain recorded.
func (f *BuildFacts) record(info *debug.BuildInfo) {
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		f.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			f.Commit = setting.Value
		case "vcs.time":
			f.Time = setting.Value
		case "vcs.modified":
			f.Modified = setting.Value == "true"
		}
	}
	for _, dependency := range info.Deps {
		for _, module := range ShownModules {
			if dependency.Path == module {
				f.Modules[module] = dependency.Version
			}
		}
	}
}

// stamp takes what deploy/version printed; parts may be missing.
func (f *BuildFacts) stamp(built string) {
	words := strings.Fields(built)
	if len(words) > 0 {
		f.Version, f.Modified = words[0], strings.HasSuffix(words[0], "-dirty")
	}
	if len(words) == 3 {
		f.Commit, f.Time = words[1], words[2]
	}
}

// Version returns the version of the program.
func Version() string { return ReadBuildFacts().Version }

package desk

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// BuildFacts are what is known of the build. Commit, Time and Modified stay empty where
// it was not made from a checkout.
type BuildFacts struct {
	Version  string            `json:"version"`
	Commit   string            `json:"commit,omitempty"`
	Time     string            `json:"time,omitempty"` // of the commit
	Modified bool              `json:"modified"`       // the checkout held changes that were not committed
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	Modules  map[string]string `json:"modules"`
}

// ToldModules are the modules whose version decides what an installation does:
// what speaks HTTP, and what keeps the records.
var ToldModules = []string{
	"github.com/gofiber/fiber/v2", "github.com/valyala/fasthttp", "modernc.org/sqlite", "zombiezen.com/go/sqlite",
	"github.com/jackc/pgx/v5", "github.com/go-sql-driver/mysql",
}

// built is what deploy/version printed: version, commit, and when that was made. The
// linker writes it. It is empty in a program that deploy/build did not make, of which
// Go's own record tells what there is to know.
var built string

// ReadBuildFacts tells what the program was built from.
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
		for _, module := range ToldModules {
			if dependency.Path == module {
				f.Modules[module] = dependency.Version
			}
		}
	}
}

// stamp takes what deploy/version printed, as far as it goes.
func (f *BuildFacts) stamp(built string) {
	words := strings.Fields(built)
	if len(words) > 0 {
		f.Version, f.Modified = words[0], strings.HasSuffix(words[0], "-dirty")
	}
	if len(words) == 3 {
		f.Commit, f.Time = words[1], words[2]
	}
}

// Version is how the program is told from others of its kind.
func Version() string { return ReadBuildFacts().Version }

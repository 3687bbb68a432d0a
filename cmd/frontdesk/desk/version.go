package desk

import (
	"runtime"
	"runtime/debug"
)

// BuildFacts are what the Go toolchain recorded of the build. Commit, Time and
// Modified stay empty where it was told not to look (-buildvcs=false), or built
// from something else than a checkout.
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
	"github.com/jackc/pgx/v5", "github.com/go-sql-driver/mysql", "github.com/microsoft/go-mssqldb",
}

// ReadBuildFacts tells what the program was built from.
func ReadBuildFacts() BuildFacts {
	facts := BuildFacts{Version: "dev", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Modules: map[string]string{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return facts
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		facts.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			facts.Commit = setting.Value
		case "vcs.time":
			facts.Time = setting.Value
		case "vcs.modified":
			facts.Modified = setting.Value == "true"
		}
	}
	for _, dependency := range info.Deps {
		for _, module := range ToldModules {
			if dependency.Path == module {
				facts.Modules[module] = dependency.Version
			}
		}
	}
	return facts
}

// Version is that of the module, as the Go toolchain recorded it.
func Version() string { return ReadBuildFacts().Version }

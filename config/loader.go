package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"frontdesk/config/strictyaml"
)

// Loader reads one configuration repeatedly; it does not parse unchanged files again. It
// may be used by several goroutines.
type Loader struct {
	path  string
	known Known

	mu     sync.Mutex
	main   *source            // nil if it cannot be read
	parts  map[string]*source // the included files, by path
	judged judging            // what main and parts were judged by
	draft  *Config            // see Draft

	looked looks // stamps of all files that the last Load read, or tried to read

	serving bool
	held    []Endpoint // the endpoints of the serving gateway
	offered []Endpoint // the endpoints of the model and sheet on disk, when these were last valid
}

// NewLoader returns a loader of the configuration in the file at path.
func NewLoader(path string, known Known) *Loader {
	if known.Env == nil {
		known.Env = os.LookupEnv
	}
	if known.Now == nil {
		known.Now = time.Now
	}
	return &Loader{path: path, known: known}
}

// attempts is how often a configuration is read if its files change meanwhile.
const attempts = 5

// errRestless says that the files kept changing while they were read.
var errRestless = errors.New("configuration: its files change while they are read, expected them to stay as they are for a moment")

// Load reads, checks and returns the configuration, with the files that it includes, all
// as of one moment. The error is [strictyaml.Problems] if file and model can be read;
// otherwise it wraps the error of reading them. With an error there is no configuration.
// The caller may change the Config, but not the content of its slices and pointers:
// configurations share what is equal in both.
func (l *Loader) Load() (*Config, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range attempts {
		l.looked.at = nil
		c, err := l.load()
		// If no file has changed by the time that the last one was read, all were read as of one moment.
		if !l.changed(false) {
			return c, err
		}
	}
	l.looked.at = nil // Changed reports true, so that the caller tries again
	return nil, errRestless
}

func (l *Loader) load() (*Config, error) {
	now := l.known.Now()
	main, err := l.read(l.path, true, l.main, now)
	if err != nil {
		l.main = nil
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return l.finish(main, now)
}

// Changed reports whether the files have changed since the last Load, even if that failed. It
// compares file attributes, and reads only files whose last change is too recent for their
// times to be reliable.
func (l *Loader) Changed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed(true)
}

// changed is Changed for a caller that holds the lock.
func (l *Loader) changed(reread bool) bool {
	now, files := l.known.Now(), []include{{path: l.path}}
	if l.main != nil {
		included, _ := l.included(l.main)
		files = append(files, included...)
	}
	return len(files) != len(l.looked.at) || slices.ContainsFunc(files, func(f include) bool { return l.looked.changed(f.path, reread, now) })
}

// Draft returns the invalid configuration of the last Load, for callers that look for further
// problems in it. No gateway may serve it. Settings that could not be decoded have their
// default.
func (l *Loader) Draft() *Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.draft
}

// Serving tells the loader that a gateway now serves the loaded configuration. From then on
// allowlists may name the endpoints that the gateway was built with, and those that it
// would be built with now. Load then accepts a model or a mapping sheet on disk that cannot
// be used: these wait for a restart, and must not keep a key from being revoked.
func (l *Loader) Serving() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serving, l.held = true, l.judged.endpoints
}

// endpoints returns the endpoints that allowlists are judged by; nil if none are known.
func (l *Loader) endpoints(c *Config) ([]Endpoint, error) {
	all, err := l.known.Endpoints(c)
	if err == nil {
		l.offered = all
	}
	switch {
	case !l.serving:
		return all, err
	case slices.Equal(l.held, l.offered):
		return l.held, nil
	default:
		return slices.Concat(l.held, l.offered), nil
	}
}

// finish judges a configuration whose main file was read, and reads and judges the included files.
func (l *Loader) finish(main *source, now time.Time) (*Config, error) {
	endpoints, wrong := l.endpoints(main.base)
	l.draft = nil
	judged := newJudging(main.base, endpoints)
	if !judged.equal(l.judged) {
		l.parts = nil
		if main.doc == nil { // main was judged by an older judging, and has to be decoded again
			var err error
			if main, err = l.read(l.path, true, nil, now); err != nil {
				l.main = nil
				return nil, fmt.Errorf("configuration: %w", err)
			}
		}
	}
	l.main, l.judged = main, judged
	if main.doc != nil {
		main.judge(judged)
	}
	paths, problems := l.included(main)
	parts, unreadable := l.readParts(paths, judged, now)
	c, err := combine(main, parts, wrong, slices.Concat(problems, unreadable))
	if err != nil {
		l.draft, c = c, nil
	}
	return c, err
}

// combine makes one configuration of its files. wrong is the error of the model or the mapping sheet, and
// others are further problems. If there is any problem, the error is [strictyaml.Problems] with all of
// them, and the configuration is a draft.
func combine(main *source, parts []*source, wrong error, others strictyaml.Problems) (*Config, error) {
	files := append([]*source{main}, parts...)
	m := merge(files)
	c, hide := m.Config, &Redactor{}
	c.hide = hide
	problems := slices.Concat(ofModel(c, wrong), others, m.problems)
	for _, s := range files {
		problems = append(problems, s.problems...)
		for name, value := range s.variables {
			hide.Add(name, value)
		}
	}
	if len(problems) == 0 {
		c.hash = hashOf(files)
		return c, nil
	}
	for i := range problems {
		problems[i].Message = hide.Hide(problems[i].Message)
	}
	problems.Sort()
	return c, problems
}

// ofModel returns the problems of the model and the mapping sheet.
func ofModel(c *Config, err error) strictyaml.Problems {
	if err == nil {
		return nil
	}
	problems, located := errors.AsType[strictyaml.Problems](err)
	if !located {
		setting := ""
		if unreadable, ok := errors.AsType[*Unreadable](err); ok {
			setting = unreadable.Setting
		}
		return strictyaml.Problems{c.Problem(setting, RuleFileUnreadable, "%s", err)}
	}
	problems = slices.Clone(problems)
	for i := range problems {
		problems[i].Rule = cmp.Or(problems[i].Rule, RuleModelOrSheet)
	}
	return problems
}

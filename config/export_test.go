package config

// Load reads a configuration once.
func Load(path string, known Known) (*Config, error) { return NewLoader(path, known).Load() }

// Parse is Load for a main file that was read already; path is its name in
// problems, and what it includes is looked for beside it.
func Parse(path string, src []byte, known Known) (*Config, error) {
	l := NewLoader(path, known)
	return l.finish(decodeSource(path, src, true, l.known.Env), l.known.Now())
}

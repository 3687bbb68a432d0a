package config

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"frontdesk/config/strictyaml"
)

// Config is the whole configuration of a gateway.
type Config struct {
	Server   Server      `yaml:"server"`
	Ops      Ops         `yaml:"ops"`
	Log      Log         `yaml:"log"`
	Backend  Backend     `yaml:"backend"`
	Model    Model       `yaml:"model"`
	Sessions Sessions    `yaml:"sessions"`
	Mail     Mail        `yaml:"mail"`
	Webhooks Webhooks    `yaml:"webhooks"`
	Changes  KeptChanges `yaml:"changes"`
	Tracing  Tracing     `yaml:"tracing"`
	// Callbacks are the endpoints that answer by callback although they need not.
	Callbacks []Rule `yaml:"callbacks"`
	APIKeys   []Key  `yaml:"api_keys"`
	// Include names further files, relative to this one, with api_keys of their own: a path,
	// or a pattern as in keys.d/*.yaml.
	Include []string `yaml:"include"`

	files   []string
	keyless []string // the files that have api_keys: []
	hash    string
	hide    *Redactor            // hides the values of variables
	outline *strictyaml.Document // positions in the main file, without its api_keys
}

// At returns the position of a setting, for problems that are found after loading. It is that of
// the section if the file does not have the setting, and the first line of the file if it
// does not have the section either.
func (c *Config) At(path string) Place {
	if c.outline == nil {
		return Place{}
	}
	p := c.outline.At(path)
	return Place{p.File, p.Line}
}

// Problem returns a problem with the file or address that a setting names, for example a missing file.
// It removes values of variables from the message.
func (c *Config) Problem(path, rule, format string, args ...any) strictyaml.Problem {
	p := c.outline.At(path)
	p.Message, p.Rule = c.hide.Hide(fmt.Sprintf(format, args...)), rule
	return p
}

// Files returns the files that the configuration was read from: the main file, then those that
// it includes, in the order of their keys.
func (c *Config) Files() []string { return c.files }

// Hash returns 12 hexadecimal digits that identify the text of the files and the
// values of the environment variables that they refer to. It changes with any of
// these, and no secret can be read from it.
func (c *Config) Hash() string { return c.hash }

// Server is the public listener.
type Server struct {
	Listen string `yaml:"listen" schema:"format=address [address]"` // host:port; without a host every address
	// BasePath begins with a slash, and does not end with one.
	BasePath string `yaml:"base_path" schema:"pattern=^(/(\\.{0,2}[A-Za-z0-9_~-]|\\.{3})[A-Za-z0-9._~-]*)+$ [base-path]: a path that begins with / and does not end with it, such as /webservice_v2"`

	PublicURL string `yaml:"public_url" schema:"format=public-url [public-url]"`       // how clients reach the base path; empty: see BaseURL
	Vendor    string `yaml:"vendor" schema:"pattern=[^ ] [vendor]: the vendor's name"` // the name clients are told to contact
	// Environment is what GET /util/environment and the pages call this installation:
	// production, or any other name for one to try things on.
	Environment string `yaml:"environment" schema:"format=environment [environment]"`

	BodyLimit Size `yaml:"body_limit" schema:"range=1B..1GiB [body-limit]"` // of a request
	TimeZone  Zone `yaml:"time_zone"`                                       // of dates without a time
	TLS       TLS  `yaml:"tls"`
	// TrustedProxies are the load balancers whose X-Forwarded-For is believed.
	TrustedProxies []Network `yaml:"trusted_proxies" schema:"unique [repeated]"`

	ReadTimeout     time.Duration `yaml:"read_timeout" schema:"above=0s [range]"`     // for a whole request to arrive
	DrainDelay      time.Duration `yaml:"drain_delay" schema:"min=0s [range]"`        // from /readyz saying "draining" to the listener's end, for load balancers to notice
	ShutdownTimeout time.Duration `yaml:"shutdown_timeout" schema:"above=0s [range]"` // for running requests and callback jobs to end
}

// TLS names the PEM files of the server's certificate; both or neither.
type TLS struct {
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
	// ClientCAFile is a PEM file of the authorities whose certificates clients may
	// show; empty: none are asked for.
	ClientCAFile string `yaml:"client_ca_file"`
}

// Enabled reports whether the server speaks TLS itself.
func (t TLS) Enabled() bool { return t.CertFile != "" }

// BaseURL returns the address of the base path for clients, without a slash at the end:
// public_url, or else an address made of listen and base_path, with localhost for a server that
// listens on every address. With port 0 it only makes sense after Listen was set to the bound
// address.
func (s Server) BaseURL() string {
	if s.PublicURL != "" {
		return strings.TrimRight(s.PublicURL, "/")
	}
	scheme := "http://"
	if s.TLS.Enabled() {
		scheme = "https://"
	}
	host, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return scheme + s.Listen + s.BasePath
	}
	if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
		host = "localhost"
	}
	return scheme + net.JoinHostPort(host, port) + s.BasePath
}

// Ops is the listener for health, readiness and metrics.
type Ops struct {
	Listen  string   `yaml:"listen" schema:"format=address-or-none [address]"`         // host:port; empty turns it off
	Hosts   []string `yaml:"hosts" schema:"format=host [ops-host]; unique [repeated]"` // names that it may be asked by, beside that of listen, localhost and addresses
	Socket  string   `yaml:"socket"`                                                   // file of the socket by which frontdesk sessions asks the running gateway, for its own user alone; empty: beside the gateway's own SQLite file, on PostgreSQL none
	Backups []string `yaml:"backups"`                                                  // patterns of the files that your backup writes, such as /var/backups/frontdesk/*: the age of the newest is told
	Token   Secret   `yaml:"token"`                                                    // who has it sees from elsewhere what this machine sees: refusals one by one, keys and clients; empty: nobody
}

// Log says what is logged, and how.
type Log struct {
	Level  string `yaml:"level" schema:"enum=debug|info|warn|error"` // debug, info, warn or error
	Access bool   `yaml:"access"`                                    // a line per request
}

// Tracing says where spans are sent.
type Tracing struct {
	Endpoint Secret  `yaml:"endpoint" schema:"format=otlp [tracing-endpoint]"`            // OTLP over HTTP: http://127.0.0.1:4318; empty: no traces
	Ratio    float64 `yaml:"ratio" schema:"range=0..1 [range]: from 0 (none) to 1 (all)"` // of the requests that begin a trace here; one that came with a trace follows it
}

// Backend is the system behind the gateway.
type Backend struct {
	Driver  string        `yaml:"driver" schema:"enum=reference|legacy|remote"` // reference, legacy or remote
	DSN     Secret        `yaml:"dsn"`                                          // reference: sqlite:FILE, postgres://… or postgresql://…
	Sheet   string        `yaml:"sheet"`                                        // legacy and remote: file of the mapping sheet
	Timeout time.Duration `yaml:"timeout" schema:"above=0s [range]"`            // of one call, its wait for room included, which takes half of it at most

	MaxConcurrent int `yaml:"max_concurrent" schema:"min=1 [range]"` // calls under way at once, as far as there are connections for them; clients and resources share them
}

// BySheet reports whether the driver finds the records by a mapping sheet, and not by dsn.
func (b Backend) BySheet() bool { return b.Driver == "legacy" || b.Driver == "remote" }

// Model is the resource model.
type Model struct {
	Dir string `yaml:"dir"` // of resource files over the embedded ones; empty for none
}

// Sessions says where sessions are kept, and for how long.
type Sessions struct {
	Store  Secret        `yaml:"store" schema:"format=redis [redis-address]"`                                                // memory, or for several gateways redis://user:password@host:6379
	CAFile string        `yaml:"ca_file"`                                                                                    // PEM file of further authorities to trust with rediss://
	TTL    time.Duration `yaml:"ttl" schema:"above=0s [range]; max=30m [session-ttl]: at most 30m, as the interface has it"` // at most MaxSessionTTL
}

// MemoryStore is the Store of a gateway that shares its sessions with no other.
const MemoryStore = "memory"

// MaxSessionTTL is how long the interface lets a session live.
const MaxSessionTTL = 30 * time.Minute

// Mail says how the mail for a forgotten password leaves.
type Mail struct {
	SMTP   Secret `yaml:"smtp" schema:"format=smtp [mail-smtp]"`   // smtp://user:password@host:587, or smtps://; empty writes files
	From   string `yaml:"from" schema:"format=sender [mail-from]"` // the sender, as in a From header
	Folder string `yaml:"folder"`                                  // of .eml files, where SMTP is empty
}

// Webhooks says where callbacks may go.
type Webhooks struct {
	AllowHosts []string `yaml:"allow_hosts" schema:"format=host [webhook-host]; unique [repeated]"` // names or addresses that need not be public
	Ports      []uint16 `yaml:"ports" schema:"range=1..65535 [range]: a port from 1 to 65535; unique [repeated]"`
	CAFile     string   `yaml:"ca_file"` // PEM file of further authorities to trust; empty for none
}

// KeptChanges says how long the built-in administration tells what has changed.
type KeptChanges struct {
	Keep time.Duration `yaml:"keep" schema:"min=1h [range]: at least 1h"` // a cursor is good for so long, at least an hour: 2160h is 90 days
}

// Default is the configuration of an empty file. Each call returns its own.
func Default() *Config {
	return &Config{
		Server: Server{
			Listen:          "127.0.0.1:8080",
			BasePath:        "/webservice_v2",
			Vendor:          "frontdesk",
			Environment:     "production",
			BodyLimit:       16 * MiB,
			TimeZone:        amsterdam(),
			ReadTimeout:     10 * time.Second,
			ShutdownTimeout: 15 * time.Second,
		},
		Ops: Ops{Listen: "127.0.0.1:9090"},
		Log: Log{Level: "info", Access: true},
		Backend: Backend{
			Driver: "reference", DSN: "sqlite:frontdesk.db", Timeout: 10 * time.Second,
			MaxConcurrent: 256,
		},
		Changes:  KeptChanges{Keep: 90 * 24 * time.Hour},
		Tracing:  Tracing{Ratio: 0.01},
		Sessions: Sessions{Store: MemoryStore, TTL: MaxSessionTTL},
		Mail:     Mail{From: defaultSender, Folder: "mail"},
		Webhooks: Webhooks{Ports: []uint16{443}},
	}
}

// defaultSender is for mail files only: a mail server would not deliver its mail.
const defaultSender = "frontdesk@localhost"

package config

import "frontdesk/config/strictyaml"

// The rules that a configuration can break. Their names never change.
const (
	RuleFileUnreadable    = "file-unreadable"
	ruleBlank             = "blank"
	RuleModelOrSheet      = "model-or-sheet"
	RuleAddress           = "address"
	ruleListenTwice       = "listen-twice"
	ruleBasePath          = "base-path"
	RulePublicURL         = "public-url"
	ruleVendor            = "vendor"
	ruleEnvironment       = "environment"
	ruleBodyLimit         = "body-limit"
	ruleBodyMemory        = "body-memory"
	RuleTLSFiles          = "tls-files"
	RuleCAFile            = "ca-file"
	RuleFolder            = "folder"
	ruleOpsHost           = "ops-host"
	ruleTLSPair           = "tls-pair"
	ruleClientCA          = "client-ca-without-tls"
	ruleRange             = "range"
	ruleRepeated          = "repeated"
	RuleDSN               = "dsn"
	RuleReplica           = "replica"
	ruleSheetMissing      = "sheet-missing"
	ruleSheetUnused       = "sheet-unused"
	ruleSheetInstead      = "sheet-instead"
	ruleSessionTTL        = "session-ttl"
	RuleSMTP              = "mail-smtp"
	RuleMailFrom          = "mail-from"
	ruleMailFolder        = "mail-folder"
	ruleWebhookHost       = "webhook-host"
	ruleCallbackEndpoint  = "callback-endpoint"
	ruleTracing           = "tracing-endpoint"
	RuleRedis             = "redis-address"
	ruleIncludeMissing    = "include-missing"
	ruleIncludePattern    = "include-pattern"
	ruleIncludeTwice      = "include-twice"
	ruleIncludeUnreadable = "include-unreadable"
	ruleName              = "key-name"
	ruleNameTwice         = "key-name-twice"
	ruleHashMissing       = "key-hash-missing"
	ruleHashTwice         = "key-hash-twice"
	ruleAllowUnknown      = "allow-unknown-endpoint"
	ruleAllowTwice        = "allow-twice"
	ruleShadow            = "shadow-until"
	ruleShadowFar         = "shadow-far"
	ruleRate              = "rate"
	ruleLimit             = "limit"
	RuleWebhookSecret     = "webhook-secret"
	ruleAddressDenied     = "address-denied"
	ruleCertificate       = "certificate-without-ca"
	ruleExpectKey         = "expect-key"
	ruleExpectRequest     = "expect-request"
	ruleExpectTwice       = "expect-twice"
	ruleExpectUnmet       = "expect-unmet"
)

// Rules are all those that a configuration is held to, with those of any file.
func Rules() []strictyaml.Rule {
	return append(strictyaml.Rules(), []strictyaml.Rule{
		{ID: RuleFileUnreadable, About: "The configuration, and the model and the mapping sheet that it names, can be read."},
		{ID: ruleBlank, About: "Something is written in the configuration: an empty file was cut short."},
		{ID: RuleModelOrSheet, About: "The resource model and the mapping sheet are right."},
		{ID: RuleAddress, About: "A listener's address is host:port, such as 127.0.0.1:8080."},
		{ID: ruleListenTwice, About: "The ops listener has an address of its own."},
		{ID: ruleBasePath, About: "server.base_path is a plain path that begins with / and does not end with it."},
		{ID: RulePublicURL, About: "server.public_url is an absolute http or https URL without user, query and fragment."},
		{ID: ruleVendor, About: "server.vendor is the name that clients are told."},
		{ID: ruleEnvironment, About: "server.environment is production, or the name of an installation to try things on; demo is that of frontdesk demo."},
		{ID: ruleBodyLimit, About: "server.body_limit is from 1B to 1GiB."},
		{ID: ruleBodyMemory, About: "server.body_memory has room for two bodies of server.body_limit."},
		{ID: RuleTLSFiles, About: "server.tls names a certificate, the key that belongs to it, and authorities in PEM form."},
		{ID: RuleCAFile, About: "A ca_file can be read, and holds certificates in PEM form."},
		{ID: RuleFolder, About: "What is written to is there and can be written, or can be made."},
		{ID: ruleOpsHost, About: "ops.hosts holds names or addresses, without scheme and port."},
		{ID: ruleTLSPair, About: "server.tls has cert_file and key_file, or neither."},
		{ID: ruleClientCA, About: "server.tls.client_ca_file needs cert_file and key_file."},
		{ID: ruleRange, About: "A number or a duration lies within its bounds."},
		{ID: ruleRepeated, About: "A list holds an item once."},
		{ID: RuleDSN, About: "backend.dsn names a SQLite file or a PostgreSQL database."},
		{ID: RuleReplica, About: "backend.replica is a PostgreSQL database, beside another one in backend.dsn."},
		{ID: ruleSheetMissing, About: "The drivers legacy and remote have a mapping sheet."},
		{ID: ruleSheetUnused, About: "The driver reference has no mapping sheet."},
		{ID: ruleSheetInstead, About: "What the mapping sheet says is not said in backend as well."},
		{ID: ruleSessionTTL, About: "sessions.ttl is at most 30m."},
		{ID: RuleSMTP, About: "mail.smtp is an smtp or smtps URL."},
		{ID: RuleMailFrom, About: "mail.from is an e-mail address, a real one where mail.smtp is given."},
		{ID: ruleMailFolder, About: "There is mail.smtp or mail.folder."},
		{ID: ruleWebhookHost, About: "webhooks.allow_hosts holds names or addresses, without scheme and port."},
		{ID: ruleCallbackEndpoint, About: "callbacks holds single endpoints whose answer can wait."},
		{ID: RuleRedis, About: "sessions.store is memory or the address of a Redis server, and sessions.ca_file goes with rediss://."},
		{ID: ruleTracing, About: "tracing.endpoint is an http or https URL without user and password."},
		{ID: ruleIncludeMissing, About: "An included file that is named outright is there."},
		{ID: ruleIncludePattern, About: "A pattern of files is well-formed, has no **, and matches no name with characters that cannot be seen."},
		{ID: ruleIncludeTwice, About: "A file is included once, and not by itself."},
		{ID: ruleIncludeUnreadable, About: "An included file can be read, and so can the folders of a pattern."},
		{ID: ruleName, About: "An api_key has a name of lower-case letters, digits, - and _."},
		{ID: ruleNameTwice, About: "An api_key's name is its own, over all files."},
		{ID: ruleHashMissing, About: "An api_key has at least one SHA-256."},
		{ID: ruleHashTwice, About: "A SHA-256 belongs to one api_key, over all files."},
		{ID: ruleAllowUnknown, About: "An entry of an allowlist matches an endpoint that there is."},
		{ID: ruleAllowTwice, About: "An allowlist holds an entry once."},
		{ID: ruleShadow, About: "mode: shadow has an end, until, and until is there only for it."},
		{ID: ruleShadowFar, About: "A shadow's end is at most 90 days ahead."},
		{ID: ruleRate, About: "A rate has per_second above 0 and burst of 1 or more."},
		{ID: ruleLimit, About: "concurrent and per_day are 0, for no limit, or more."},
		{ID: RuleWebhookSecret, About: "webhook_secret holds secrets, each once."},
		{ID: ruleAddressDenied, About: "An address that is allowed is not denied as well."},
		{ID: ruleCertificate, About: "client_certificates needs server.tls.client_ca_file."},
		{ID: ruleExpectKey, About: "An expectation names an api_key that there is."},
		{ID: ruleExpectRequest, About: "An expectation has a request: a method and a path below the base path."},
		{ID: ruleExpectTwice, About: "A request with a key is expected to end one way."},
		{ID: ruleExpectUnmet, About: "The allowlists do what expect says of them."},
	}...)
}

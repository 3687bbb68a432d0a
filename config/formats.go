package config

import (
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"frontdesk/config/strictyaml"
)

// formats are the formats of text that the tags of settings name.
var formats = map[string]strictyaml.Format{
	"address":         {Is: isAddress, Expected: "host:port such as 127.0.0.1:8080"},
	"address-or-none": {Is: orNone(isAddress), Expected: "host:port such as 127.0.0.1:8080"},
	"environment":     {Is: isEnvironment, Expected: "production, or a name such as test or acceptance"},
	"host":            {Is: isHost, Expected: "a host's name or address, without scheme and port"},
	"key-name":        {Is: IsKeyName, Expected: "lower-case letters, digits, - and _, with a letter or digit first"},
	"otlp":            {Is: orNone(isWeb), Expected: "an http or https URL without user and password, such as http://127.0.0.1:4318", Hidden: true},
	"public-url":      {Is: orNone(isPublic), Expected: "an absolute http or https URL without user, query and fragment, such as https://api.example.nl/webservice_v2", Hidden: true},
	"redis":           {Is: isStore, Expected: "memory, or redis://user:password@host:6379, or rediss:// for TLS; further nodes as ?addr=host:port, sentinels with ?master_set=name", Hidden: true},
	"secret":          {Is: isSecret, Expected: "a secret", Hidden: true},
	"sender":          {Is: isSender, Expected: "an e-mail address such as Example <noreply@example.nl>"},
	"smtp":            {Is: orNone(isSMTP), Expected: "smtp://user:password@host:587 or smtps://user:password@host:465, or nothing to write files", Hidden: true},
}

// orNone makes a format accept empty text.
func orNone(is func(string) bool) func(string) bool {
	return func(text string) bool { return text == "" || is(text) }
}

var keyName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// IsKeyName reports whether an api_key may have that name.
func IsKeyName(name string) bool { return keyName.MatchString(name) }

func isEnvironment(text string) bool { return strings.TrimSpace(text) != "" && text != "demo" }

func isSecret(text string) bool { return text != "" }

func isSender(text string) bool {
	_, err := mail.ParseAddress(text)
	return err == nil
}

func isAddress(text string) bool {
	host, _, err := splitAddress(text)
	return err == nil && (host == "" || isHost(host))
}

func splitAddress(text string) (host string, port uint64, err error) {
	host, text, err = net.SplitHostPort(text)
	if err == nil {
		port, err = strconv.ParseUint(text, 10, 16)
	}
	return host, port, err
}

var hostForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?)*$`)

// isHost reports whether text is an IP address or could be a host's name.
func isHost(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	return len(text) <= 253 && hostForm.MatchString(text) && strings.Trim(text, "0123456789.") != ""
}

// isWeb reports whether text is an absolute URL of http or https, without a user.
func isWeb(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

func isPublic(text string) bool { return isWeb(text) && !strings.ContainsAny(text, "?#") }

// isWord reports whether text is certainly not an address, so that it holds no password.
func isWord(text string) bool { return !strings.ContainsAny(text, ":/@") }

// isStore judges the form of a server's address. It accepts words, which validate judges. It refuses
// parameters that weaken TLS, or that change what the gateway relies on.
func isStore(text string) bool {
	u, err := url.Parse(text)
	if isWord(text) || err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Host == "" || u.Fragment != "" {
		return isWord(text)
	}
	for name, values := range u.Query() {
		if name != "addr" && (name != "master_set" && name != "db" || len(values) > 1) || slices.Contains(values, "") {
			return false
		}
	}
	return true
}

func isSMTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "smtp" || u.Scheme == "smtps") && isHost(u.Hostname()) &&
		strings.Trim(u.Path, "/") == "" && !strings.ContainsAny(text, "?#")
}

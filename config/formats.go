package config

import (
	"errors"
	"fmt"
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

// formats are those of text that the tags of settings name. What may hold a secret is not repeated.
var formats = map[string]func(text string) error{
	"address":         address,
	"address-or-none": orNone(address),
	"environment": func(text string) error {
		return fits(strings.TrimSpace(text) != "" && text != "demo", "production, or a name such as test or acceptance")
	},
	"host": func(text string) error {
		return fits(isHost(text), "a host's name or address, without scheme and port")
	},
	"key-name": func(text string) error {
		return fits(IsKeyName(text), "lower-case letters, digits, - and _, with a letter or digit first")
	},
	"otlp": orNone(func(text string) error {
		u, err := web(text)
		return silent(err == nil && u.User == nil, "an http or https URL without user and password, such as http://127.0.0.1:4318")
	}),
	"public-url": orNone(func(text string) error {
		u, err := web(text)
		return silent(err == nil && u.User == nil && !strings.ContainsAny(text, "?#"), "an absolute http or https URL without user, query and fragment, such as https://api.example.nl/webservice_v2")
	}),
	"redis": func(text string) error {
		return silent(isWord(text) || isRedis(text), "memory, or redis://user:password@host:6379, or rediss:// for TLS; further nodes as ?addr=host:port, sentinels with ?master_set=name")
	},
	"secret": func(text string) error {
		if text == "" {
			return errors.New("found nothing, expected a secret")
		}
		return nil
	},
	"sender": func(text string) error {
		_, err := mail.ParseAddress(text)
		return fits(err == nil, "an e-mail address such as Example <noreply@example.nl>")
	},
	"smtp": orNone(func(text string) error {
		return silent(isSMTP(text), "smtp://user:password@host:587 or smtps://user:password@host:465, or nothing to write files")
	}),
	"token": orNone(func(text string) error {
		if len(text) < leastToken {
			return fmt.Errorf("found one of %d characters, expected at least %d: it is guessed from anywhere that reaches ops.listen", len(text), leastToken)
		}
		return nil
	}),
}

// leastToken is how long ops.token is, as 128 bits in base64.
const leastToken = 22

// fits is nil, or the error of a text that is shown.
func fits(is bool, expected string) error {
	if is {
		return nil
	}
	return strictyaml.Expected(expected)
}

// silent is fits of a text that is not shown.
func silent(is bool, expected string) error {
	if is {
		return nil
	}
	return errors.New("expected " + expected)
}

// orNone is a format that no text has, too.
func orNone(format func(string) error) func(string) error {
	return func(text string) error {
		if text == "" {
			return nil
		}
		return format(text)
	}
}

var keyName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// IsKeyName tells whether an api_key may have that name.
func IsKeyName(name string) bool { return keyName.MatchString(name) }

func address(text string) error {
	host, _, err := splitAddress(text)
	return fits(err == nil && (host == "" || isHost(host)), "host:port such as 127.0.0.1:8080")
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

// web parses an absolute URL of http or https.
func web(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil && (u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "") {
		err = errors.New("not of the web")
	}
	return u, err
}

// isWord tells whether text can be no address, which may hold a password.
func isWord(text string) bool { return !strings.ContainsAny(text, ":/@") }

// isRedis judges the form of a server's address. It refuses parameters that weaken TLS,
// or that change what the gateway relies on.
func isRedis(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Host == "" || u.Fragment != "" {
		return false
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

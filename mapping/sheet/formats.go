package sheet

import (
	"errors"
	"net/url"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// formats are those of text that the tags of a sheet's keys name. What may hold a secret is not
// repeated.
var formats = map[string]func(text string) error{
	"argon2id": func(text string) error {
		if !strings.HasPrefix(text, "$argon2id$") {
			return errors.New("expected argon2id, as frontdesk user hash prints it")
		}
		return nil
	},
	"https": func(text string) error {
		if u, err := url.Parse(text); text != "" && (err != nil || u.Scheme != "https" || u.Hostname() == "") {
			return strictyaml.Expected("an https address")
		}
		return nil
	},
	"plain": func(text string) error {
		if !mapping.IsPlain(text) {
			return strictyaml.Expected("characters that can be seen")
		}
		return nil
	},
	"service": func(text string) error {
		if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.ContainsAny(text, "?#") {
			return errors.New("expected an http or https address without user, query and fragment, such as https://dms.example.nl/api")
		}
		return nil
	},
}

package sheet

import (
	"net/url"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// formats are the formats of text that the tags of a sheet's keys name.
var formats = map[string]strictyaml.Format{
	"argon2id": {Is: func(text string) bool { return strings.HasPrefix(text, "$argon2id$") }, Expected: "argon2id, as frontdesk user hash prints it", Hidden: true},
	"https":    {Is: func(text string) bool { return text == "" || isURL(text, "https") }, Expected: "an https address"},
	"plain":    {Is: mapping.IsPlain, Expected: "characters that can be seen"},
	"service": {
		Is: func(text string) bool {
			u, _ := url.Parse(text)
			return isURL(text, "http", "https") && u.User == nil && !strings.ContainsAny(text, "?#")
		},
		Expected: "an http or https address without user, query and fragment, such as https://dms.example.nl/api", Hidden: true,
	},
}

// isURL reports whether text is an absolute URL of one of the schemes.
func isURL(text string, schemes ...string) bool {
	u, err := url.Parse(text)
	return err == nil && slices.Contains(schemes, u.Scheme) && u.Hostname() != ""
}

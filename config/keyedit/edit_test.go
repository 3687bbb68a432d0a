package keyedit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/config/keyedit"
)

const (
	day   = "2026-12-05"
	fresh = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
)

// hash and key are what a file means; the layout is drawn apart.
type hash struct{ sum, expires string }

type key struct {
	name, expires string
	hashes        []hash
}

// meaning is keys as a YAML reader sees them.
func meaning(keys []key) map[string]any {
	list := []any{}
	for _, k := range keys {
		hashes := []any{}
		for _, h := range k.hashes {
			if h.expires == "" {
				hashes = append(hashes, h.sum)
			} else {
				hashes = append(hashes, map[string]any{"hash": h.sum, "expires": h.expires})
			}
		}
		item := map[string]any{"name": k.name, "key_sha256": hashes, "allow": []any{"GET /order"}}
		if k.expires != "" {
			item["expires"] = k.expires
		}
		list = append(list, item)
	}
	return map[string]any{"server": map[string]any{"vendor": "Äquator # no comment"}, "api_keys": list}
}

func read(t require.TestingT, text []byte) map[string]any {
	var got map[string]any
	require.NoError(t, yaml.Unmarshal(text, &got), "%s", text)
	return got
}

// writer draws the layout of a file.
type writer struct {
	*rapid.T
	out      strings.Builder
	comments int
}

func (w *writer) flip(what string) bool { return rapid.Bool().Draw(w.T, what) }

func (w *writer) comment() string {
	if !w.flip("comment") {
		return ""
	}
	w.comments++
	return fmt.Sprintf("  # note %d: é, \"quotes\" and [brackets]", w.comments)
}

// line writes one, sometimes with comments and blank lines in front.
func (w *writer) line(format string, args ...any) {
	if w.flip("blank line") {
		w.out.WriteString("\n")
	}
	if w.flip("comment line") {
		w.out.WriteString(strings.TrimLeft(w.comment(), " ") + "\n")
	}
	fmt.Fprintf(&w.out, format, args...)
	w.out.WriteString(w.comment() + "\n")
}

func (w *writer) quoted(text string) string {
	return fmt.Sprintf(rapid.SampledFrom([]string{"%s", "'%s'", `"%s"`}).Draw(w.T, "quotes"), text)
}

func (w *writer) inline(h hash) string {
	if h.expires == "" {
		return w.quoted(h.sum)
	}
	members := []string{"hash: " + w.quoted(h.sum), "expires: " + w.quoted(h.expires)}
	if w.flip("expires first") {
		members[0], members[1] = members[1], members[0]
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func (w *writer) hashes(indent string, list []hash) {
	switch rapid.IntRange(0, 2).Draw(w.T, "layout of hashes") {
	case 0:
		var items []string
		for _, h := range list {
			items = append(items, w.inline(h))
		}
		w.line("%skey_sha256: [ %s ]", indent, strings.Join(items, ","))
	case 1:
		w.line("%skey_sha256: [", indent)
		for i, h := range list {
			comma := ","
			if i == len(list)-1 && w.flip("no last comma") {
				comma = ""
			}
			w.line("%s   %s%s", indent, w.inline(h), comma)
		}
		w.line("%s]", indent)
	default:
		w.line("%skey_sha256:", indent)
		deeper := indent + rapid.SampledFrom([]string{"", "  ", "   "}).Draw(w.T, "indent of hashes")
		for _, h := range list {
			if h.expires != "" && w.flip("on lines") {
				w.line("%s- hash: %s", deeper, w.quoted(h.sum))
				w.line("%s  expires: %s", deeper, w.quoted(h.expires))
				continue
			}
			w.line("%s- %s", deeper, w.inline(h))
		}
	}
}

func (w *writer) key(indent string, k key) {
	if w.flip("in braces") {
		var items []string
		for _, h := range k.hashes {
			items = append(items, w.inline(h))
		}
		expires := ""
		if k.expires != "" {
			expires = "expires: " + k.expires + ", "
		}
		w.line("%s- {name: %s, %sallow: [\"GET /order\"], key_sha256: [%s]}", indent, w.quoted(k.name), expires, strings.Join(items, ", "))
		return
	}
	w.line("%s- name: %s", indent, w.quoted(k.name))
	deeper := indent + "  "
	if w.flip("hashes first") {
		w.hashes(deeper, k.hashes)
		w.line("%sallow: [\"GET /order\"]", deeper)
	} else {
		w.line("%sallow:", deeper)
		w.line("%s  - GET /order", deeper)
		w.hashes(deeper, k.hashes)
	}
	if k.expires != "" {
		w.line("%sexpires: %s", deeper, w.quoted(k.expires))
	}
}

func (w *writer) file(keys []key) string {
	vendor := "server: {vendor: \"Äquator # no comment\"}"
	first := w.flip("server first")
	if first {
		w.line("%s", vendor)
	}
	w.line("api_keys:")
	indent := rapid.SampledFrom([]string{"", "  ", "    "}).Draw(w.T, "indent of keys")
	for _, k := range keys {
		w.key(indent, k)
	}
	if !first {
		w.line("%s", vendor)
	}
	text := w.out.String()
	if w.flip("no line end at the end") {
		text = strings.TrimRight(text, "\n")
	}
	if w.flip("CRLF") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func drawKeys(t *rapid.T) []key {
	var keys []key
	next := 0
	for i := range rapid.IntRange(1, 4).Draw(t, "keys") {
		k := key{name: fmt.Sprintf("key-%d", i), expires: rapid.SampledFrom([]string{"", "2027-06-30"}).Draw(t, "expires")}
		for range rapid.IntRange(1, 3).Draw(t, "hashes") {
			next++
			k.hashes = append(k.hashes, hash{fmt.Sprintf("%060xab%02x", next, next), rapid.SampledFrom([]string{"", "2027-01-01"}).Draw(t, "hash expires")})
		}
		keys = append(keys, k)
	}
	return keys
}

// TestLayouts changes files in many layouts: what they then mean is what was
// meant, no comment is lost, and every line that had nothing to do with it is
// there as it was.
func TestLayouts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := drawKeys(t)
		w := &writer{T: t}
		before := w.file(keys)
		require.Empty(t, cmp.Diff(meaning(keys), read(t, []byte(before))), "the test's own writer:\n%s", before)
		f, err := keyedit.Parse([]byte(before))
		require.NoError(t, err)
		n := rapid.IntRange(0, len(keys)-1).Draw(t, "which")
		changed := &keys[n]
		switch rapid.SampledFrom([]string{"add", "rotate", "end"}).Draw(t, "change") {
		case "add":
			require.NoError(t, f.AddKey(keyedit.NewKey{Name: "added", Hash: fresh, Expires: day, Allow: []string{"GET /order"}}), "%s", before)
			keys = append(keys, key{"added", day, []hash{{fresh, ""}}})
		case "rotate":
			for i := range changed.hashes {
				require.NoError(t, f.EndHash(changed.name, changed.hashes[i].sum, day), "%s", before)
				changed.hashes[i].expires = day
			}
			require.NoError(t, f.AddHash(changed.name, fresh), "%s", before)
			changed.hashes = append(changed.hashes, hash{fresh, ""})
		case "end":
			require.NoError(t, f.EndKey(changed.name, day), "%s", before)
			changed.expires = day
		}
		after := string(f.Text())
		require.Empty(t, cmp.Diff(meaning(keys), read(t, []byte(after))), "before:\n%s\nafter:\n%s", before, after)
		for i := range w.comments {
			require.Equal(t, 1, strings.Count(after, fmt.Sprintf("# note %d: é, \"quotes\" and [brackets]", i+1)), "%s", after)
		}
		assert.Equal(t, strings.Contains(before, "\r\n"), strings.Contains(after, "\r\n"))
		if strings.Contains(before, "\r\n") {
			assert.Equal(t, strings.Count(after, "\n"), strings.Count(after, "\r\n"), "line ends are mixed:\n%q", after)
		}
	})
}

// TestRefused names layouts that are left to a person.
func TestRefused(t *testing.T) {
	const sum = "0000000000000000000000000000000000000000000000000000000000000001"
	for name, text := range map[string]string{
		"an anchor on a hash":       "api_keys:\n  - name: a\n    key_sha256: [&h \"" + sum + "\"]\n",
		"an anchor on the list":     "api_keys:\n  - name: a\n    key_sha256: &h [\"" + sum + "\"]\n",
		"an alias for a key":        "x: &k {name: a, key_sha256: [\"" + sum + "\"]}\napi_keys: [*k]\n",
		"a hash over two lines":     "api_keys:\n  - name: a\n    key_sha256:\n      - >-\n        " + sum + "\n",
		"more than one document":    "api_keys: []\n---\napi_keys: []\n",
		"a list at the top":         "- api_keys\n",
		"a key that is not there":   "api_keys:\n  - name: b\n    key_sha256: [\"" + sum + "\"]\n",
		"a name from elsewhere":     "api_keys:\n  - name: &n a\n    key_sha256: [\"" + sum + "\"]\n",
		"an escape in a hash":       "api_keys:\n  - name: a\n    key_sha256: [\"\\x30" + sum[1:] + "\"]\n",
		"keys that are no list":     "api_keys: {name: a}\n",
		"a key that is only a name": "api_keys: [a]\n",
	} {
		t.Run(name, func(t *testing.T) {
			f, err := keyedit.Parse([]byte(text))
			if err == nil {
				err = errors.Join(f.EndHash("a", sum, day))
			}
			require.ErrorIs(t, err, keyedit.ErrLayout)
			if f != nil {
				assert.Equal(t, text, string(f.Text()))
			}
		})
	}
}

// TestFirstKey adds the first key to files without any.
func TestFirstKey(t *testing.T) {
	added := keyedit.NewKey{Name: "a", Hash: fresh}
	for before, after := range map[string]string{
		"":                                     added.String(),
		"# nothing yet\n":                      "# nothing yet\n" + added.String(),
		"server: {vendor: X}":                  "server: {vendor: X}\n" + added.String(),
		"api_keys: []   # none\nlog: {}\n":     strings.Replace(added.String(), "api_keys:", "api_keys:    # none", 1) + "log: {}\n",
		"api_keys:   # none\nlog: {}\n":        strings.Replace(added.String(), "api_keys:", "api_keys:   # none", 1) + "log: {}\n",
		"server: {vendor: X}\r\n\r\n# bye\r\n": "server: {vendor: X}\r\n\r\n# bye\r\n" + strings.ReplaceAll(added.String(), "\n", "\r\n"),
	} {
		f, err := keyedit.Parse([]byte(before))
		require.NoError(t, err, before)
		require.NoError(t, f.AddKey(added), before)
		assert.Equal(t, after, string(f.Text()))
		assert.Contains(t, read(t, f.Text()), "api_keys")
	}
}

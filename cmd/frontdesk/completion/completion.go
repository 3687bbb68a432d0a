// Package completion tells shells what a word on a command line may become: commands, flags, and
// the api_keys and allowlists of the configuration that the line names.
package completion

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
)

// Command prints a script that asks this program, by Word, what a word on a
// command line may become; so the script knows nothing of the commands.
type Command struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Word is the first argument that such a script gives; behind it are the words of the
// command line, the last of them up to the cursor.
const Word = "__complete"

func (Command) Help() string {
	return "The Debian package brings the scripts along. Elsewhere: bash: source <(frontdesk completion bash) in ~/.bashrc; zsh: frontdesk completion zsh into a file _frontdesk of a folder of $fpath; fish: frontdesk completion fish > ~/.config/fish/completions/frontdesk.fish. Besides commands and flags they complete the names of api_keys and the entries of allowlists, from --config, FRONTDESK_CONFIG, or frontdesk.yaml of this folder."
}

//go:embed frontdesk.bash
var completionBash string

//go:embed _frontdesk
var completionZsh string

//go:embed frontdesk.fish
var completionFish string

// Run prints the script.
func (c Command) Run(p desk.Program) error {
	_, err := io.WriteString(p.Stdout, map[string]string{"bash": completionBash, "zsh": completionZsh, "fish": completionFish}[c.Shell])
	return err
}

// completer finds what the last word of a command line may become.
type completer struct {
	node    *kong.Node
	flags   []*kong.Flag
	given   map[string]string // values of flags, by name
	args    []string          // of the command
	pending *kong.Flag        // that the next word is the value of
	noFlags bool              // behind --
}

// candidate is what a word may become, and what that is.
type candidate struct{ word, help string }

// Write writes the candidates, each with its help behind a tab. Where there is none,
// the shell offers files.
func Write(out io.Writer, root *kong.Node, words []string) {
	if len(words) == 0 {
		return
	}
	c := &completer{given: map[string]string{}}
	c.enter(root)
	for _, word := range words[:len(words)-1] {
		if !c.take(unquoted(word)) {
			return
		}
	}
	last := unquoted(words[len(words)-1])
	if c.pending != nil && last == "=" {
		last = ""
	}
	for _, found := range c.candidates(last) {
		if strings.HasPrefix(found.word, last) {
			help, _, _ := strings.Cut(found.help, "\n")
			fmt.Fprintf(out, "%s\t%s\n", found.word, help)
		}
	}
}

// unquoted is a word as a shell understands it that has no variables in it.
func unquoted(word string) string {
	if len(word) > 0 && (word[0] == '"' || word[0] == '\'') {
		return strings.TrimSuffix(word[1:], word[:1])
	}
	return strings.ReplaceAll(word, `\`, "")
}

func (c *completer) enter(n *kong.Node) {
	c.node, c.flags = n, slices.Concat(n.AllFlags(true)...)
}

// take reads a word that is complete; false where nobody can say what it is.
func (c *completer) take(word string) bool {
	name, value, valued := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	switch {
	case c.pending != nil && word == "=": // bash without bash-completion separates words at it
	case c.pending != nil:
		c.given[c.pending.Name], c.pending = word, nil
	case !c.noFlags && word == "--":
		c.noFlags = true
	case !c.noFlags && strings.HasPrefix(word, "--"):
		flag := c.flag(name)
		if flag == nil {
			return false
		}
		if c.given[name] = value; !valued && !flag.IsBool() {
			c.pending = flag
		}
	case !c.noFlags && strings.HasPrefix(word, "-") && word != "-":
	case len(c.node.Children) > 0:
		i := slices.IndexFunc(c.node.Children, func(n *kong.Node) bool { return n.Name == word })
		if i < 0 {
			return false
		}
		c.enter(c.node.Children[i])
	default:
		c.args = append(c.args, word)
	}
	return true
}

func (c *completer) flag(name string) *kong.Flag {
	i := slices.IndexFunc(c.flags, func(f *kong.Flag) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return c.flags[i]
}

// candidates are all that may stand where the last word is.
func (c *completer) candidates(last string) (all []candidate) {
	name, _, valued := strings.Cut(strings.TrimPrefix(last, "--"), "=")
	switch {
	case c.pending != nil:
		return c.values(c.pending.Value)
	case !c.noFlags && strings.HasPrefix(last, "--") && valued:
		if flag := c.flag(name); flag != nil {
			for _, value := range c.values(flag.Value) {
				all = append(all, candidate{"--" + name + "=" + value.word, value.help})
			}
		}
		return all
	case !c.noFlags && strings.HasPrefix(last, "-"):
		for _, flag := range c.flags {
			all = append(all, candidate{"--" + flag.Name, flag.Help})
		}
		return all
	case len(c.node.Children) > 0:
		for _, child := range c.node.Children {
			if !child.Hidden {
				all = append(all, candidate{child.Name, child.Help})
			}
		}
		return all
	case len(c.node.Positional) > 0:
		return c.values(c.node.Positional[min(len(c.args), len(c.node.Positional)-1)])
	}
	return nil
}

// values are those of a flag or an argument: its words, or what its tag "complete" names.
func (c *completer) values(v *kong.Value) (all []candidate) {
	if v.Enum != "" {
		for _, word := range v.EnumSlice() {
			all = append(all, candidate{word: word})
		}
		return all
	}
	find := map[string]func(*config.Config) []candidate{"key": keyNames, "entry": endpointEntries, "granted": c.grantedEntries}[v.Tag.Get("complete")]
	if find == nil {
		return nil
	}
	read, err := desk.LoadForKeys(cmp.Or(c.given["config"], os.Getenv("FRONTDESK_CONFIG"), desk.UsualConfig))
	if err != nil {
		return nil
	}
	return find(read)
}

func keyNames(c *config.Config) (all []candidate) {
	for i := range c.APIKeys {
		all = append(all, candidate{c.APIKeys[i].Name, c.APIKeys[i].At().String()})
	}
	return all
}

// endpointEntries are all entries of allowlists that name one endpoint.
func endpointEntries(c *config.Config) (all []candidate) {
	endpoints, err := desk.Endpoints(c)
	if err != nil {
		return nil
	}
	entries := map[string]bool{}
	for _, e := range endpoints {
		entries[e.Method+" "+e.Path], entries["* "+e.Path] = true, true
	}
	for _, entry := range slices.Sorted(maps.Keys(entries)) {
		all = append(all, candidate{word: entry})
	}
	return all
}

// grantedEntries are those of the key that the command line has named.
func (c *completer) grantedEntries(of *config.Config) (all []candidate) {
	for i := range of.APIKeys {
		if key := &of.APIKeys[i]; len(c.args) > 0 && key.Name == c.args[0] {
			for j, rule := range key.Allow {
				all = append(all, candidate{rule.String(), key.AllowAt(j).String()})
			}
		}
	}
	return all
}

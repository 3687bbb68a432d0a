package draft

import (
	"cmp"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// code is an entry of a code list.
type code struct{ from, to string }

// yesNo is the list of a column that says yes and no in its own way; nil for
// any other. Where only no was seen, yes is what the database says elsewhere.
func (d *drafter) yesNo(c *column) []code { return yesNo(c, d.yes) }

func yesNo(c *column, habit string) []code {
	if c.few == nil {
		return nil
	}
	yes, no := "", ""
	for _, v := range c.few {
		switch strings.ToLower(v) {
		case "j", "y", "t", "o", "s", "1", "-1", "ja", "yes", "true", "oui", "si", "sí", "sì", "x":
			if yes != "" {
				return nil
			}
			yes = v
		case "n", "0", "f", "nee", "no", "nein", "non", "false", "":
			if no != "" {
				return nil
			}
			no = v
		default:
			return nil
		}
	}
	pairs := map[string]string{"j": "N", "y": "N", "t": "F", "1": "0", "-1": "0", "ja": "nee", "yes": "no", "oui": "non", "si": "no", "true": "false", "x": ""}
	if yes == "" {
		back := map[string]string{"n": "J", "0": "1", "f": "T", "nee": "ja", "no": "yes", "nein": "ja", "non": "oui", "false": "true"}
		if yes = back[strings.ToLower(no)]; yes == "" {
			return nil
		}
		if habit != "" && strings.EqualFold(no, "n") {
			yes = habit
		}
	}
	if no == "" && !slices.Contains(c.few, "") {
		known := false
		if no, known = pairs[strings.ToLower(yes)]; !known {
			return nil // O or S alone may be anything
		}
	}
	return []code{{yes, "1"}, {no, "0"}}
}

// languages are those of the words for values, in their order.
var languages = []string{"english", "dutch", "german", "french", "spanish", "italian"}

// codesFor finds the value that each code of a column stands for. Codes of one
// list are of one language: that which fits most of them, of several the
// database's own.
func (d *drafter) codesFor(c *column, candidates []string) (list []code, unknown []string) {
	list, unknown = codesIn(c, candidates, d.language)
	for l := range languages {
		if other, rest := codesIn(c, candidates, l); len(other) > len(list) {
			list, unknown = other, rest
		}
	}
	if len(unknown) == 1 && len(candidates) == len(list)+1 { // the one that is left
		for _, v := range candidates {
			if !slices.ContainsFunc(list, func(k code) bool { return k.to == v }) {
				return append(list, code{unknown[0], v}), nil
			}
		}
	}
	return list, unknown
}

// findYes looks for a column with both answers.
func (d *drafter) findYes() {
	for _, t := range d.tables {
		for _, c := range t.columns {
			if len(c.few) == 2 && slices.Contains(c.few, "N") && yesNo(c, "") != nil {
				d.yes = yesNo(c, "")[0].from
				return
			}
		}
	}
}

// doubtful are the codes that shorten a value which none was found for as well
// as that which was taken.
func (d *drafter) doubtful(list []code, candidates []string) (all []string) {
	for _, k := range list {
		for _, other := range candidates {
			taken := slices.ContainsFunc(list, func(k code) bool { return k.to == other })
			if s := abbreviates(k.from, other, d.language); !taken && s > 0 && s >= 0.9*abbreviates(k.from, k.to, d.language) {
				all = append(all, k.from+" is "+k.to+", or "+other+"?")
			}
		}
	}
	return all
}

// unseen are the codes of values that no row has, where those that there are are
// all the first letters of their words.
func (d *drafter) unseen(list []code, candidates []string) (all []code) {
	first := func(value string) string {
		own := strings.Split(values[value], "|")
		if words := strings.Fields(own[min(d.language, len(own)-1)]); len(words) > 0 {
			return strings.ToUpper(words[0][:1])
		}
		return ""
	}
	taken := map[string]bool{}
	for _, k := range list {
		taken[k.from] = true
		if k.from != first(k.to) {
			return nil
		}
	}
	if len(list) < 2 {
		return nil
	}
	for _, value := range candidates {
		letter := first(value)
		if letter != "" && !taken[letter] && !slices.ContainsFunc(list, func(k code) bool { return k.to == value }) {
			taken[letter] = true
			all = append(all, code{letter, value})
		}
	}
	return all
}

// findLanguage counts whose words the codes of the database shorten, and where that leaves
// several, whose words its names are.
func (d *drafter) findLanguage() {
	fit := make([]int, len(languages))
	for _, m := range d.matches {
		for _, x := range m.fields {
			if wanted := candidates(m.Resource, x.Field); len(wanted) > 1 && wanted[0] != "0" && x.column.few != nil {
				for l := range languages {
					list, _ := codesIn(x.column, wanted, l)
					fit[l] += 1000 * len(list)
				}
			}
		}
	}
	for l, n := range d.named() {
		fit[l] += n
	}
	for l, n := range fit {
		if n > fit[d.language] {
			d.language = l
		}
	}
}

// named counts the names that are words of each language.
func (d *drafter) named() []int {
	count := make([]int, len(languages))
	for _, t := range d.tables {
		for _, c := range t.columns {
			for _, piece := range pieces(plain.Replace(c.Name)) {
				for l, language := range languages {
					if slices.Contains(strings.Fields(languageWords[language]), piece) {
						count[l]++
					}
				}
			}
		}
	}
	return count
}

// codesIn is codesFor in one language, best matches first.
func codesIn(c *column, candidates []string, language int) (list []code, unknown []string) {
	type pair struct {
		code, value string
		score       float64
	}
	var pairs []pair
	for _, v := range c.few {
		for _, value := range candidates {
			if s := abbreviates(v, value, language); s > 0 {
				pairs = append(pairs, pair{v, value, s})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.score, a.score) })
	to, taken := map[string]string{}, map[string]bool{}
	for _, p := range pairs {
		if to[p.code] == "" && !taken[p.value] {
			to[p.code], taken[p.value] = p.value, true
		}
	}
	for _, v := range c.few {
		switch {
		case v == "":
		case to[v] != "":
			list = append(list, code{v, to[v]})
		default:
			unknown = append(unknown, v)
		}
	}
	return list, unknown
}

// abbreviates tells how well a code shortens a value in a language, from 0 to 1.
func abbreviates(short, value string, language int) float64 {
	short = strings.ToLower(short)
	if short == "" {
		return 0
	}
	if short == value {
		return 1
	}
	best := 0.0
	own := strings.Split(values[value], "|")
	for i, word := range strings.Fields(own[min(language, len(own)-1)]) {
		first := 1 - 0.02*float64(i)
		switch {
		case word == short:
			best = max(best, first)
		case strings.HasPrefix(word, short):
			best = max(best, 0.6*first+0.1*float64(min(3, len(short)-1)))
		case len(short) >= 2 && word[0] == short[0] && skips(short, word):
			best = max(best, 0.4*first)
		}
	}
	return best
}

// candidates are the values that a field may have.
func candidates(r *mapping.Resource, f *mapping.Field) []string {
	if words := listedValues[r.Name+"."+f.Name]; words != "" {
		return strings.Fields(words)
	}
	return f.OneOf
}

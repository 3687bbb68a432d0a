package draft

import (
	"cmp"
	"embed"
	"slices"
	"strings"
)

//go:embed words
var lists embed.FS

// The lists of words, whose files say what each is.
var (
	dictionary    = wordList("ideas")
	resourceNames = wordList("resources")
	fieldNames    = wordList("fields")
	values        = wordList("values")
	listedValues  = wordList("listed")
	messages      = wordList("messages")
	languageWords = wordList("languages")
)

// wordList reads a file of lines that say a name, a colon and words.
func wordList(name string) map[string]string {
	text, err := lists.ReadFile("words/" + name + ".txt")
	if err != nil {
		panic(err) // it is a part of this program
	}
	list := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if key, words, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			list[key] = strings.TrimSpace(words)
		}
	}
	return list
}

// weights are the ideas that say little by themselves; any other weighs 1.
var weights = map[string]float64{
	"number": 0.5, "code": 0.5, "id": 0.45, "date": 0.5, "time": 0.5, "timestamp": 0.5, "kind": 0.6, "name": 0.7, "description": 0.8,
	"amount": 0.4, "value": 0.6, "days": 0.4, "one": 0.6, "head": 0.2, "account": 0.6, "last": 0.4, "status": 0.8, "price": 0.9, "rate": 0.9, "line": 0.6,
	"percentage": 0.3, "address": 0.8, "quantity": 0.9, "european": 0.9, "group": 0.6,
}

func weight(idea string) float64 { return cmp.Or(weights[idea], 1) }

// words is the dictionary the other way about: the ideas of every word.
type words map[string][]string

func newWords() words {
	w := words{}
	for idea, list := range dictionary {
		for _, word := range strings.Fields(list) {
			if !slices.Contains(w[word], idea) {
				w[word] = append(w[word], idea)
			}
		}
	}
	for _, ideas := range w {
		slices.Sort(ideas)
	}
	return w
}

// part is a piece of a name with the ideas that it may stand for.
type part struct {
	text  string
	ideas []string
}

// plain are the letters that names are compared by, without accents.
var plain = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue", "à", "a", "á", "a", "â", "a", "ã", "a", "ç", "c", "è", "e", "é", "e", "ê", "e", "ë", "e",
	"ì", "i", "í", "i", "î", "i", "ï", "i", "ñ", "n", "ò", "o", "ó", "o", "ô", "o", "õ", "o", "œ", "oe", "ù", "u", "ú", "u", "û", "u", "À", "A", "Á", "A", "Â", "A", "Ç", "C", "È", "E", "É", "E", "Ê", "E",
	"Ì", "I", "Í", "I", "Î", "I", "Ï", "I", "Ñ", "N", "Ò", "O", "Ó", "O", "Ô", "O", "Ù", "U", "Ú", "U", "Û", "U")

// split takes a name apart: at marks and capitals that begin words, and then
// into words of the dictionary.
func (w words) split(name string) []part {
	var parts []part
	for _, piece := range pieces(plain.Replace(name)) {
		parts = append(parts, w.segment(piece)...)
	}
	return parts
}

// pieces divides license_plate, LicensePlate and LICENSE-PLATE alike.
func pieces(name string) []string {
	var all []string
	var piece []rune
	end := func() {
		if len(piece) > 0 {
			all = append(all, strings.ToLower(string(piece)))
		}
		piece = nil
	}
	previous := ' '
	for _, r := range name {
		switch {
		case !isLetter(r) && !isDigit(r):
			end()
		case isUpper(r) && previous >= 'a' && previous <= 'z', isDigit(r) != isDigit(previous) && previous != ' ':
			end()
			piece = append(piece, r)
		default:
			piece = append(piece, r)
		}
		previous = r
	}
	end()
	return slices.DeleteFunc(all, func(s string) bool {
		return slices.Contains([]string{"tbl", "tab", "t", "is", "v", "vw", "fld"}, s) && len(all) > 1
	})
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127 }
func isUpper(r rune) bool  { return r >= 'A' && r <= 'Z' }
func isDigit(r rune) bool  { return r >= '0' && r <= '9' }

// segment finds the words that one piece is made of, so that as few letters as
// possible are left over, and then as few words as possible. A piece of which
// most is no word may be a longer word with letters left out.
func (w words) segment(piece string) []part {
	if ideas := w[piece]; ideas != nil {
		return []part{{piece, ideas}}
	}
	type best struct {
		cost float64
		from int
		word bool
	}
	at := make([]best, len(piece)+1)
	for i := 1; i <= len(piece); i++ {
		at[i] = best{at[i-1].cost + 1, i - 1, false}
		for from := 0; from <= i-2; from++ {
			cost := at[from].cost + 0.2
			if i-from == 2 {
				cost += 0.3 // two letters are found in many words
			}
			ideas := w[piece[from:i]]
			if ideas == nil && i-from >= 4 && from == 0 {
				if ideas = w.abbreviated(piece[from:i], true); ideas != nil {
					cost += 0.3
				}
			}
			if ideas != nil && cost < at[i].cost {
				at[i] = best{cost, from, true}
			}
		}
	}
	if long := w.abbreviated(piece, false); long != nil && at[len(piece)].cost > 0.75 {
		return []part{{piece, long}}
	}
	var parts []part
	for i := len(piece); i > 0; i = at[i].from {
		text := piece[at[i].from:i]
		p := part{text: text}
		if at[i].word {
			if p.ideas = w[text]; p.ideas == nil {
				p.ideas = w.abbreviated(text, true)
			}
		}
		parts = append(parts, p)
	}
	slices.Reverse(parts)
	return joinUnknown(parts)
}

// joinUnknown makes neighbouring letters that are no word one part.
func joinUnknown(parts []part) []part {
	var out []part
	for _, p := range parts {
		if n := len(out); n > 0 && p.ideas == nil && out[n-1].ideas == nil {
			out[n-1].text += p.text
			continue
		}
		out = append(out, p)
	}
	return out
}

// abbreviated returns the ideas of the words that a text shortens: by their
// first letters, at least four of them, or else with letters left out of the
// middle, the first kept.
func (w words) abbreviated(text string, prefixOnly bool) []string {
	if len(text) < 3 {
		return nil
	}
	var found []string
	add := func(ideas []string) {
		for _, idea := range ideas {
			if !slices.Contains(found, idea) {
				found = append(found, idea)
			}
		}
	}
	for word, ideas := range w {
		if len(word) > len(text) && len(text) >= 4 && strings.HasPrefix(word, text) {
			add(ideas)
		}
	}
	if len(found) == 0 && !prefixOnly {
		for word, ideas := range w {
			if len(word) > len(text) && len(word) <= 3*len(text) && len(word) >= 6 && word[0] == text[0] && shortens(text, word) {
				add(ideas)
			}
		}
	}
	slices.Sort(found)
	if len(found) > 3 {
		return nil // anything might be meant
	}
	return found
}

// shortens tells whether text is word with letters left out, vowels above all: what lacks
// most consonants, as region does of registration, is another word.
func shortens(text, word string) bool {
	return 5*consonants(text) >= 3*consonants(word) && skips(text, word)
}

// skips tells whether text is word with letters left out.
func skips(text, word string) bool {
	i := 0
	for k := 0; k < len(word) && i < len(text); k++ {
		if word[k] == text[i] {
			i++
		}
	}
	return i == len(text)
}

func consonants(word string) (n int) {
	for _, r := range word {
		if !strings.ContainsRune("aeiou", r) {
			n++
		}
	}
	return n
}

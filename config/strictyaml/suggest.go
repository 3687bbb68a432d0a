package strictyaml

import (
	"strings"
	"unicode/utf8"
)

// longestSuggested bounds the words Suggest compares: nobody mistypes more.
const longestSuggested = 100

// Suggest returns ", did you mean x?" for the known word nearest to the one
// that was seen, and "" when none is near. It disregards case.
func Suggest(seen string, known []string) string {
	if word := Nearest(seen, known); word != "" {
		return ", did you mean " + word + "?"
	}
	return ""
}

// Nearest finds the known word within a third of its length in edits, or the
// one that the seen word is the beginning of; "" when there is none. It
// disregards case.
func Nearest(seen string, known []string) (word string) {
	if seen == "" || len(seen) > longestSuggested {
		return ""
	}
	best := longestSuggested
	for _, candidate := range known {
		d, near := edits(seen, candidate)
		if near = near || len(seen) > 2 && strings.HasPrefix(candidate, seen); near && d < best {
			word, best = candidate, d
		}
	}
	return word
}

// Closest finds the known word within that many edits and a third of its length; "" if
// there is none, or if another word is as close, because the intended word is then
// unclear. It disregards case.
func Closest(seen string, known []string, most int) (word string) {
	if len(seen) > longestSuggested {
		return ""
	}
	best, length := most+1, utf8.RuneCountInString(seen)
	for _, candidate := range known {
		if longer := utf8.RuneCountInString(candidate) - length; longer > most || -longer > most {
			continue // the candidate takes more than most edits
		}
		switch d, near := edits(seen, candidate); {
		case near && d < best:
			word, best = candidate, d
		case near && d == best && candidate != word:
			word = ""
		}
	}
	return word
}

// edits counts the edits from one word to another, disregarding case, and reports whether
// they are few for words of that length.
func edits(seen, known string) (n int, few bool) {
	longer := max(len(seen), len(known))
	n = distance(strings.ToLower(seen), strings.ToLower(known))
	return n, n <= (longer+2)/3 && n < longer
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}

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
		d, near := edits(seen, candidate, longestSuggested)
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
		switch d, near := edits(seen, candidate, most); {
		case near && d < best:
			word, best = candidate, d
		case near && d == best && candidate != word:
			word = ""
		}
	}
	return word
}

// edits counts the edits from one word to another, disregarding case, and reports whether
// they are at most so many, and few for words of that length.
func edits(seen, known string, most int) (n int, few bool) {
	longer := max(len(seen), len(known))
	most = min(most, (longer+2)/3, longer-1)
	n = distance(strings.ToLower(seen), strings.ToLower(known), most)
	return n, n <= most
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment). If that takes more than most
// edits it returns some number above most.
func distance(a, b string, most int) int {
	s, t := []rune(a), []rune(b)
	if len(t) > longestSuggested {
		return most + 1
	}
	var room [3][longestSuggested + 1]int16 // int16 since room is cleared at each call
	before, last, row := room[0][:len(t)+1], room[1][:len(t)+1], room[2][:len(t)+1]
	for j := range last {
		last[j] = int16(j) // #nosec G115 -- at most longestSuggested
	}
	for i := 1; i <= len(s); i++ {
		row[0] = int16(i) // #nosec G115 -- as j
		least := row[0]
		for j := 1; j <= len(t); j++ {
			cost := int16(1)
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if int(least) > most { // no later row has less
			return most + 1
		}
		before, last, row = last, row, before
	}
	return int(last[len(t)])
}

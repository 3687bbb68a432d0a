package draft

import (
	"strings"

	"frontdesk/mapping"
)

// branchNames is the idea of the tables of administrations, which are no resource.
const branchNames = "branch"

// forms are the ideas that a field, or a resource, may be named by.
func forms(w words, own string, listed string) [][]string {
	var all [][]string
	if plain := ideasOf(w.split(own)); plain != nil {
		all = append(all, plain)
	}
	for form := range strings.SplitSeq(listed, ",") {
		if ideas := strings.Fields(form); len(ideas) > 0 {
			all = append(all, ideas)
		}
	}
	return all
}

// ideasOf takes the first idea of each part; nil where a part is no word.
func ideasOf(parts []part) []string {
	var ideas []string
	for _, p := range parts {
		if len(p.ideas) == 0 {
			return nil
		}
		ideas = append(ideas, p.ideas[0])
	}
	return ideas
}

func (d *drafter) fieldForms(r *mapping.Resource, f *mapping.Field) [][]string {
	listed := fieldNames[r.Name+"."+f.Name]
	if listed == "" {
		listed = fieldNames[f.Name]
	}
	own := strings.TrimSuffix(strings.TrimPrefix(f.Name, "is_"), "_id")
	if f.Name == "company_number" {
		own = "" // of a contact, and not of the administration
	}
	return forms(d.words, own, listed)
}

// likeness is how much of a name and of a form are the same, from 0 to 1. What
// the table is about says nothing of its columns: of context there is little.
func likeness(name []part, form []string, context []string) float64 {
	light := func(idea string) float64 {
		for _, c := range context {
			if c == idea {
				return 0.15
			}
		}
		return weight(idea)
	}
	used := make([]bool, len(form))
	var same, all float64
	for _, p := range name {
		if isNumeral(p.text) && len(p.ideas) == 0 {
			continue
		}
		matched, heaviest := -1, 0.0
		if len(p.ideas) == 0 {
			heaviest = min(1, 0.3*float64(len(p.text)))
		}
		for _, idea := range p.ideas {
			heaviest = max(heaviest, light(idea))
		}
		for i, idea := range form {
			if used[i] || matched >= 0 {
				continue
			}
			for _, own := range p.ideas {
				if own == idea {
					matched = i
				}
			}
		}
		if matched >= 0 {
			used[matched] = true
			same += 2 * light(form[matched])
			all += light(form[matched])
		} else {
			all += heaviest
		}
	}
	for _, idea := range form {
		all += light(idea)
	}
	if all == 0 {
		return 0
	}
	return same / all
}

func isNumeral(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

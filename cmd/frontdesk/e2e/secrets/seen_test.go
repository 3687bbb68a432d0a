package secrets

import (
	"encoding/json"
	"slices"

	"frontdesk/mapping"
)

// readAll reads all that there is for somebody.
func (w *walk) readAll(a *actor, side int, token string) map[string][]string {
	all := map[string][]string{}
	read := func(r *mapping.Resource, query string) {
		said := w.send(side, token, ask{method: "GET", path: "/" + r.Name + "?page_size=1000" + query})
		all[r.Name] = append(all[r.Name], ids(said.body)...)
		a.learn(said.body)
	}
	for _, r := range a.model.Resources {
		if len(r.ListRequires) == 0 {
			read(r, "")
		}
	}
	for _, r := range a.model.Resources {
		switch {
		case len(r.ListRequires) == 2: // the documents of a record
			for _, id := range all["contact"] {
				read(r, "&resource=contact&resource_id="+id)
			}
		case len(r.ListRequires) == 1:
			for _, id := range all[r.Field(r.ListRequires[0]).Reference] {
				read(r, "&"+r.ListRequires[0]+"="+id)
			}
		}
	}
	return all
}

func (w *walk) owned(side int, resource, id string) {
	if w.ownIDs[side][resource] == nil {
		w.ownIDs[side][resource] = map[string]bool{}
	}
	w.ownIDs[side][resource][id] = true
}

// largeAnswer is how many bytes take long to learn from.
const largeAnswer = 4 << 10

// learn keeps values of records, to ask for them.
func (a *actor) learn(body []byte) {
	var answered struct{ Data json.RawMessage }
	if json.Unmarshal(body, &answered) != nil {
		return
	}
	var records []map[string]any
	if json.Unmarshal(answered.Data, &records) != nil {
		records = make([]map[string]any, 1)
		_ = json.Unmarshal(answered.Data, &records[0])
	}
	for _, rec := range records {
		for name, value := range rec {
			if text, ok := value.(string); ok && name != "created_at" && name != "modified_at" && len(a.values[name]) < 200 && !slices.Contains(a.values[name], text) {
				a.values[name] = append(a.values[name], text)
			}
		}
	}
}

// hear tells the viewer what others have in their records, to ask for it.
func (w *walk) hear(s *stranger) {
	for name, all := range s.values {
		for _, value := range all[max(0, len(all)-2):] {
			if len(w.viewer.values[name]) < 400 && !slices.Contains(w.viewer.values[name], value) {
				w.viewer.values[name] = append(w.viewer.values[name], value)
			}
		}
	}
}

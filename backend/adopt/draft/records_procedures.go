package draft

import (
	"slices"
	"strings"

	"frontdesk/backend/legacy"
)

// creator is a procedure that makes records, or nil.
type creator struct {
	name      string
	arguments []string
	out       []string
}

// creates are the words that names of such procedures have.
var creates = []string{"nieuw", "nieuwe", "new", "create", "add", "insert", "ins", "maak", "aanmaken", "toevoegen", "neu", "neue", "anlegen",
	"nouveau", "nouvelle", "creer", "ajouter", "nuevo", "nueva", "crear", "alta", "insertar", "nuovo", "nuova", "crea", "creare", "inserisci"}

// creatorOf finds a procedure that is called after the resource and making one,
// whose parameters are columns of its table and which tells the key.
func (d *drafter) creatorOf(m *match, k key) *creator {
	for i := range d.schema.Routines {
		r := &d.schema.Routines[i]
		made := slices.ContainsFunc(pieces(r.Name), func(s string) bool { return slices.Contains(creates, s) })
		if !made || len(r.Parameters) == 0 {
			continue
		}
		var name []part
		for _, piece := range pieces(r.Name) {
			if piece != "sp" && piece != "usp" && piece != "p" && piece != "fn" && !slices.Contains(creates, piece) {
				name = append(name, d.words.segment(piece)...)
			}
		}
		if bestForm(name, forms(d.words, m.Name, resourceNames[m.Name]), nil) < 0.9 {
			continue
		}
		if c := d.parameters(m, k, r); c != nil {
			return c
		}
	}
	return nil
}

// numbererOf finds a procedure that gives out the next number of a kind, beside a
// table of last numbers whose kinds are called as the tables are.
func (d *drafter) numbererOf(m *match, k key) *creator {
	if len(k.columns) != 1 || k.generated != "max+1" {
		return nil
	}
	for _, t := range d.tables {
		if !t.counts() {
			continue
		}
		for i := range d.schema.Routines {
			if c := d.numberer(m, k, t, &d.schema.Routines[i]); c != nil {
				return c
			}
		}
	}
	return nil
}

func (d *drafter) numberer(m *match, k key, counters *table, r *legacy.Routine) *creator {
	c := &creator{name: r.Name}
	for _, p := range r.Parameters {
		if p.Out {
			c.out = append(c.out, k.columns[0])
			continue
		}
		column := parameterColumn(counters, p.Name)
		switch {
		case column == nil:
			return nil
		case column.Name == d.client:
			c.arguments = append(c.arguments, ":client")
		default:
			at := slices.IndexFunc(column.few, func(kind string) bool { return strings.EqualFold(kind, m.table.Name) })
			if at < 0 {
				return nil
			}
			c.arguments = append(c.arguments, "'"+column.few[at]+"'")
		}
	}
	if len(c.out) != 1 || len(c.arguments) != 2 {
		return nil
	}
	return c
}

func (d *drafter) parameters(m *match, k key, r *legacy.Routine) *creator {
	c := &creator{name: r.Name}
	for _, p := range r.Parameters {
		column := parameterColumn(m.table, p.Name)
		switch {
		case column == nil:
			return nil
		case p.Out:
			c.out = append(c.out, column.Name)
		case column.Name == d.client:
			c.arguments = append(c.arguments, ":client")
		default:
			c.arguments = append(c.arguments, column.Name)
		}
	}
	if !slices.Equal(c.out, k.columns) && !slices.Equal(c.out, k.columns[len(k.columns)-1:]) {
		return nil
	}
	return c
}

func parameterColumn(t *table, name string) *column {
	name = strings.TrimPrefix(name, "@")
	for _, prefix := range []string{"", "P_", "PI_", "PO_", "IN_", "OUT_", "I_", "O_", "V_", "_", "p"} {
		if rest, ok := strings.CutPrefix(strings.ToUpper(name), strings.ToUpper(prefix)); ok {
			for _, c := range t.columns {
				if strings.EqualFold(c.Name, rest) {
					return c
				}
			}
		}
	}
	return nil
}

package sqlrecord

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// epochTable counts, per resource and client, what invalidates bookmarks of a
// list: deleted records, and records inserted with a given ID.
const epochTable = "record_epoch"

// schema writes the DDL of a model's tables, one version of the model at a time.
type schema struct {
	d      *Dialect
	model  *mapping.Model
	copied bool // see MigrateCopy
}

// versions are the model versions that bring anything, in order.
func (s schema) versions() []int {
	var all []int
	for _, r := range s.model.Resources {
		for i := range r.Fields {
			all = append(all, r.Fields[i].Since)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// statements returns the migration from the version before, in one
// transaction.
func (s schema) statements(version int) []string {
	all := s.newTables(version, s.broughtBy(version))
	for _, r := range s.model.Resources {
		if r.Since == version {
			continue
		}
		fields := s.fieldsOf(r, version)
		for _, f := range fields {
			all = append(all, "ALTER TABLE "+s.d.Quote(r.Name)+" ADD COLUMN "+s.column(f)+s.references(f, s.d.sqlite))
		}
		for _, i := range s.indexesOf(r, fields) {
			all = append(all, i.create(""))
		}
	}
	return all
}

// broughtBy returns the resources that a version brings.
func (s schema) broughtBy(version int) (all []*mapping.Resource) {
	for _, r := range s.model.Resources {
		if r.Since == version {
			all = append(all, r)
		}
	}
	return all
}

// newTables returns the statements that make the tables of resources, and all that belongs to
// them. Those of the first version also make the tables that all share.
func (s schema) newTables(version int, resources []*mapping.Resource) []string {
	var tables, keys, indexes, triggers []string
	if len(resources) > 0 && version == s.versions()[0] {
		tables = slices.Concat([]string{s.epochs()}, s.untilTables(), s.changeTables())
	}
	for _, r := range resources {
		fields := s.fieldsOf(r, version)
		tables = append(tables, s.createTable(r, fields))
		for _, i := range append(s.listIndexes(r), s.indexesOf(r, fields)...) {
			indexes = append(indexes, i.create(""))
		}
		if s.d.sqlite {
			triggers = append(triggers, s.deleteTrigger(r))
		}
		triggers = append(triggers, s.changeTriggers(r)...)
		for _, f := range fields {
			if !s.d.sqlite && s.refers(f) {
				keys = append(keys, s.addKey(r, f))
			}
		}
	}
	return slices.Concat(tables, keys, indexes, triggers)
}

// indexesOf returns the indexes that fields bring.
func (s schema) indexesOf(r *mapping.Resource, fields []*mapping.Field) (all []index) {
	for _, f := range fields {
		all = append(all, s.fieldIndexes(r, f)...)
	}
	return all
}

// addKey adds the foreign key of a field.
func (s schema) addKey(r *mapping.Resource, f *mapping.Field) string {
	return fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY (%s)%s",
		s.d.Quote(r.Name), s.keyName(r, f), s.d.Quote(f.Name), s.references(f, true))
}

func (s schema) keyName(r *mapping.Resource, f *mapping.Field) string {
	return s.name(r.Name, f.Name, "fkey")
}

// fieldsOf returns the fields that a version brings to a resource.
func (s schema) fieldsOf(r *mapping.Resource, version int) []*mapping.Field {
	var fields []*mapping.Field
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Type != mapping.Array && f.Since == version {
			fields = append(fields, f)
		}
	}
	// Long values come last: columns after them in a row are slow to reach.
	slices.SortStableFunc(fields, func(a, b *mapping.Field) int { return cmp.Compare(bulk(a), bulk(b)) })
	return fields
}

func bulk(f *mapping.Field) int {
	switch f.Type {
	case mapping.Text:
		return 1
	case mapping.Bytea:
		return 2
	default:
		return 0
	}
}

func (s schema) createTable(r *mapping.Resource, fields []*mapping.Field) string {
	var lines []string
	for _, f := range fields {
		if !f.Primary {
			lines = append(lines, s.column(f)+s.references(f, s.d.sqlite))
			continue
		}
		lines = append(lines,
			s.d.Quote(f.Name)+" "+s.d.IDColumn,
			s.d.Quote(clientColumn)+" "+s.d.BigInt+" NOT NULL",
			s.d.Quote(versionColumn)+" "+s.d.BigInt+" NOT NULL")
	}
	return "CREATE TABLE " + s.d.Quote(r.Name) + " (\n  " + strings.Join(lines, ",\n  ") + "\n)" + s.d.TableOptions
}

// column defines a field's column. A required field may still be null: older records may
// lack it, and the rules check new ones.
func (s schema) column(f *mapping.Field) string {
	return s.d.Quote(f.Name) + " " + s.d.columnType(f)
}

// refers reports whether a field has a foreign key.
func (s schema) refers(f *mapping.Field) bool { return f.Reference != "" && !s.copied }

func (s schema) references(f *mapping.Field, wanted bool) string {
	if !s.refers(f) || !wanted {
		return ""
	}
	return " REFERENCES " + s.d.Quote(f.Reference) + " (" + s.d.Quote("id") + ")"
}

// listIndexes are the indexes for the most common lists: all records, and
// those modified since a time.
func (s schema) listIndexes(r *mapping.Resource) []index {
	return []index{
		s.index(r, false, "list", s.withID(clientColumn), ""),
		s.index(r, false, "modified", s.withID(clientColumn, "modified_at"), ""),
	}
}

// withID ends an index in the primary ID where the engine does not do so.
func (s schema) withID(columns ...string) string {
	if !s.d.sqlite {
		columns = append(columns, "id")
	}
	return s.d.quoteAll(columns)
}

// fieldIndexes are the indexes that keep a field unique, and find records by it.
func (s schema) fieldIndexes(r *mapping.Resource, f *mapping.Field) []index {
	var all []index
	column := s.d.Quote(f.Name)
	if f.Unique {
		scope, where := cmp.Or(f.UniquePer, clientColumn), ""
		if len(f.UniqueWhen) > 0 {
			where = column + " IN (" + s.literals(f) + ")"
		}
		all = append(all, s.index(r, !s.copied, f.Name, s.d.Quote(scope)+", "+s.d.Compared(f, column), where))
	}
	switch {
	case f.ReferenceBy != "":
		all = append(all, s.index(r, false, f.Name, s.d.quoteAll([]string{f.Name, f.ReferenceBy}), ""))
	case f.Reference != "" && !s.leadsUnique(r, f):
		where := ""
		if !f.Required { // records that do not refer need no entry in the index
			where = column + " IS NOT NULL"
		}
		all = append(all, s.index(r, false, f.Name+"_ref", column, where))
	}
	return all
}

// leadsUnique reports whether the index of a field that is unique per f serves to
// find all records by f.
func (s schema) leadsUnique(r *mapping.Resource, f *mapping.Field) bool {
	return slices.ContainsFunc(r.Fields, func(other mapping.Field) bool {
		return other.UniquePer == f.Name && len(other.UniqueWhen) == 0 && other.Since == f.Since
	})
}

// literals writes the values of UniqueWhen.
func (s schema) literals(f *mapping.Field) string {
	var all []string
	for _, v := range f.UniqueWhen {
		if f.Type != mapping.Int4 {
			v = "'" + strings.ReplaceAll(v, "'", "''") + "'"
		}
		all = append(all, v)
	}
	return strings.Join(all, ", ")
}

// index is an index to be made. All but unique is SQL.
type index struct {
	table, name, columns, where string
	unique                      bool
}

func (s schema) index(r *mapping.Resource, unique bool, name, columns, where string) index {
	return index{table: s.d.Quote(r.Name), name: s.name(r.Name, name, "idx"), columns: columns, where: where, unique: unique}
}

// create returns the statement that makes the index; how is the SQL before its name.
func (i index) create(how string) string {
	text := "CREATE INDEX "
	if i.unique {
		text = "CREATE UNIQUE INDEX "
	}
	text += how + i.name + " ON " + i.table + " (" + i.columns + ")"
	if i.where != "" {
		text += " WHERE " + i.where
	}
	return text
}

// name makes the name of a constraint or an index, which PostgreSQL would cut
// off silently after 63 bytes.
func (s schema) name(parts ...string) string {
	name := strings.Join(parts, "_")
	if len(name) > 63 {
		sum := sha256.Sum256([]byte(name))
		name = name[:50] + "_" + hex.EncodeToString(sum[:6])
	}
	return s.d.Quote(name)
}

func (s schema) epochs() string {
	return "CREATE TABLE IF NOT EXISTS " + epochTable + " (resource " + s.textKey() + " NOT NULL, " + clientColumn + " " + s.d.BigInt + " NOT NULL, epoch " +
		s.d.BigInt + " NOT NULL, PRIMARY KEY (resource, " + clientColumn + "))" + s.d.TableOptions
}

func (s schema) textKey() string { return s.d.columnType(&mapping.Field{Type: mapping.Text}) }

func (s schema) deleteTrigger(r *mapping.Resource) string {
	return "CREATE TRIGGER " + s.name(r.Name, "deleted") + " AFTER DELETE ON " + s.d.Quote(r.Name) + " BEGIN " +
		bumpEpoch("'"+r.Name+"'", "OLD."+s.d.Quote(clientColumn)) + "; END"
}

// bumpEpoch invalidates the bookmarks of a list.
func bumpEpoch(resource, client string) string {
	return "INSERT INTO " + epochTable + " (resource, " + clientColumn + ", epoch) VALUES (" + resource + ", " + client + ", 1)" +
		" ON CONFLICT (resource, " + clientColumn + ") DO UPDATE SET epoch = " + epochTable + ".epoch + 1"
}

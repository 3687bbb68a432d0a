package legacy

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// inspector reads the schema of a database.
type inspector struct {
	*Store
	conn  sqlrecord.Conn
	known *schema
	in    string // the schema that is being read
}

// inspect reads the source's schema, the tables in other schemas that the sheet names, and the types
// of the sheet's SQL.
func (s *Store) inspect(ctx context.Context) (*schema, error) {
	return s.examine(ctx, (*inspector).all)
}

// Inspect reads the source's schema, for drafting a sheet.
func Inspect(ctx context.Context, db sqlrecord.DB, source *sheet.SQL) (Schema, error) {
	known, err := (&Store{source: source, d: db.Dialect(), db: db, sheet: &sheet.Sheet{}}).examine(ctx, (*inspector).tables)
	if err != nil {
		return Schema{}, err
	}
	return known.Schema, nil
}

// examine runs a function that reads the schema, on one connection.
func (s *Store) examine(ctx context.Context, far func(*inspector, context.Context) error) (*schema, error) {
	var i *inspector
	err := s.db.Read(ctx, func(c sqlrecord.Conn) error {
		i = &inspector{Store: s, conn: c, known: &schema{results: map[[2]string]Known{}, reads: map[string]*Table{}, refused: map[string][]*Problem{}}}
		return far(i, ctx)
	})
	if err != nil {
		return nil, err
	}
	return i.known, nil
}

func (i *inspector) all(ctx context.Context) error {
	if err := i.tables(ctx); err != nil {
		return err
	}
	if err := i.judgeZones(ctx); err != nil {
		return err
	}
	return i.expressions(ctx)
}

// tables reads the tables of all schemas.
func (i *inspector) tables(ctx context.Context) error {
	own := func(row []mapping.Value) { i.known.Own = row[0].Text() }
	version := func(row []mapping.Value) { i.known.version = row[0].Text() }
	if err := i.rows(ctx, i.d.Catalogue.Version, 1, version); err != nil {
		return err
	}
	if i.known.Own = i.source.Schema; i.known.Own == "" {
		if err := i.rows(ctx, i.d.Catalogue.Own, 1, own); err != nil {
			return err
		}
	}
	for _, i.in = range i.schemas() {
		if err := i.look(ctx); err != nil {
			return err
		}
	}
	if i.d.Catalogue.Compares != "" {
		return i.collations(ctx)
	}
	return nil
}

// schemas are the source's, and those of the tables that the sheet names with theirs.
func (i *inspector) schemas() []string {
	names := []string{i.sheet.Accounts.Table}
	for _, r := range i.sheet.Resources {
		if names = append(names, r.Table); !isSelect(r.Read) {
			names = append(names, r.Read)
		}
		if r.Changes.IsReported() {
			names = append(names, r.Changes.Table)
		}
	}
	all := []string{i.known.Own}
	for _, name := range names {
		if at := strings.LastIndexByte(name, '.'); at >= 0 && !slices.Contains(all, name[:at]) {
			all = append(all, name[:at])
		}
	}
	return all
}

// look reads one schema.
func (i *inspector) look(ctx context.Context) error {
	steps := []struct {
		what, query string
		columns     int
		row         func([]mapping.Value)
	}{
		{"tables", i.d.Catalogue.Columns, 14, i.column},
		{"indexes", i.d.Catalogue.Indexes, 5, i.index},
		{"foreign keys", i.d.Catalogue.Foreign, 7, i.foreign},
		{"conditions", i.d.Catalogue.Checks, 3, i.check},
		{"triggers", i.d.Catalogue.Triggers, 3, i.trigger},
		{"engines", i.d.Catalogue.Lasting, 2, i.lasting},
	}
	for _, step := range steps {
		if step.query == "" {
			continue
		}
		if err := i.rows(ctx, step.query, step.columns, step.row); err != nil {
			return fmt.Errorf("inspect %s: %w", step.what, err)
		}
	}
	return nil
}

// rows runs a query about the schema, and gives each row, whose values are texts.
func (i *inspector) rows(ctx context.Context, sql string, columns int, each func([]mapping.Value)) error {
	text, args := sqlrecord.NewWriter(i.d, func(w *sqlrecord.Writer, _ string) {
		v := mapping.TextValue(i.in)
		if i.in == "" {
			v = mapping.NullValue()
		}
		w.Add(w.Arg(v))
	}).Expr(Parse(sql)).Statement()
	as := slices.Repeat([]sqlrecord.Column{{Type: mapping.Text, Foreign: true}}, columns)
	return i.conn.Query(ctx, text, as, args, func(row []mapping.Value) error {
		each(row)
		return nil
	})
}

func (i *inspector) column(row []mapping.Value) {
	t := i.table(row[0].Text())
	if t == nil {
		i.known.Tables = append(i.known.Tables, Table{Schema: i.in, Name: row[0].Text(), View: truth(row[1].Text())})
		t = &i.known.Tables[len(i.known.Tables)-1]
	}
	c := Column{
		Name: row[2].Text(), Type: strings.ToLower(row[3].Text()), Length: count(row[4].Text()), Precision: count(row[5].Text()), Scale: count(row[6].Text()),
		Nullable: truth(row[7].Text()), Generated: truth(row[9].Text()), IgnoresCase: truth(row[10].Text()), CountsBlanks: truth(row[11].Text()),
		Rights: strings.Split(row[12].Text(), ","), Collation: row[13].Text(),
	}
	if c.Collation == "C" || c.Collation == "POSIX" {
		c.Collation = ""
	}
	if c.Default = row[8].Text(); row[8].IsSet() && c.Default == "" { // MySQL writes an empty text so, and that is a default, too
		c.Default = "''"
	}
	if !row[6].IsSet() { // a float: how many of its digits are decimals is unknown
		c.Precision = 0
	}
	if sizes := sizesOf.FindStringSubmatch(c.Type); sizes != nil { // SQLite has the sizes in the type's name
		c.Type = sizes[1]
		if sizes[3] != "" || strings.HasPrefix(c.Type, "dec") || strings.HasPrefix(c.Type, "num") {
			c.Precision, c.Scale = count(sizes[2]), count(sizes[3])
		} else {
			c.Length = count(sizes[2])
		}
	}
	c.sorted(i.d)
	t.Columns = append(t.Columns, c)
}

var sizesOf = regexp.MustCompile(`^([^(]*?) *\(([0-9]+)(?:, *([0-9]+))?\)$`)

// table returns the table of exactly that name; rows of one table come together.
func (i *inspector) table(name string) *Table {
	at := slices.IndexFunc(i.known.Tables, func(t Table) bool { return t.Name == name && t.Schema == i.in })
	if at < 0 {
		return nil
	}
	return &i.known.Tables[at]
}

func (i *inspector) index(row []mapping.Value) {
	t := i.table(row[0].Text())
	if t == nil {
		return
	}
	if n := len(t.Indexes); n == 0 || t.Indexes[n-1].Name != row[1].Text() {
		t.Indexes = append(t.Indexes, Index{Name: row[1].Text(), Unique: truth(row[3].Text())})
	}
	last := &t.Indexes[len(t.Indexes)-1]
	last.Columns = append(last.Columns, row[2].Text())
	if truth(row[4].Text()) {
		t.Primary = append(t.Primary, row[2].Text())
	}
}

func (i *inspector) foreign(row []mapping.Value) {
	t := i.table(row[0].Text())
	if t == nil {
		return
	}
	if n := len(t.Foreign); n == 0 || t.Foreign[n-1].Name != row[1].Text() {
		to := row[3].Text()
		if !strings.EqualFold(row[6].Text(), i.known.Own) {
			to = row[6].Text() + "." + to
		}
		t.Foreign = append(t.Foreign, ForeignKey{Name: row[1].Text(), Table: to, Refuses: truth(row[5].Text())})
	}
	last := &t.Foreign[len(t.Foreign)-1]
	last.Columns, last.References = append(last.Columns, row[2].Text()), append(last.References, row[4].Text())
}

// check adds a condition. SQLite shows them only in the statement that made the table.
func (i *inspector) check(row []mapping.Value) {
	t := i.table(row[0].Text())
	switch {
	case t == nil:
	case row[1].IsSet():
		t.Checks = append(t.Checks, Check{Name: row[1].Text(), Columns: columnsIn(t, row[2].Text())})
	default:
		for name, text := range checksIn(row[2].Text()) {
			t.Checks = append(t.Checks, Check{Name: name, Columns: columnsIn(t, text)})
		}
	}
}

func (i *inspector) trigger(row []mapping.Value) {
	if t := i.table(row[0].Text()); t != nil {
		t.Triggers = append(t.Triggers, Trigger{Name: row[1].Text(), Text: row[2].Text()})
	}
}

func (i *inspector) lasting(row []mapping.Value) {
	if t := i.table(row[0].Text()); t != nil {
		t.Lasting = row[1].Text()
	}
}

// truth reads 1, true, YES and the like.
func truth(text string) bool {
	return slices.Contains([]string{"1", "TRUE", "YES", "T", "Y"}, strings.ToUpper(text))
}

func count(text string) int {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0 // none, or too large to matter, as of a LONGTEXT
	}
	return int(max(0, n))
}

// collations finds how SQLite compares the texts of each column. SQLite reports collations only of
// indexes, which not every column has, and which may compare otherwise than the column. So
// collations has SQLite compare texts.
func (i *inspector) collations(ctx context.Context) error {
	for k := range i.known.Tables {
		t := &i.known.Tables[k]
		for n := range t.Columns {
			c := &t.Columns[n]
			if c.Sort.IsNumber() {
				continue
			}
			text := fmt.Sprintf(i.d.Catalogue.Compares, i.d.Quote(c.Name), Qualified(i.d, t.Schema, t.Name))
			err := i.rows(ctx, text, 2, func(row []mapping.Value) {
				switch c.IgnoresCase, c.CountsBlanks = truth(row[0].Text()), !truth(row[1].Text()); {
				case c.IgnoresCase:
					c.Collation = "NOCASE"
				case !c.CountsBlanks:
					c.Collation = "RTRIM"
				}
			})
			// The collation may be one that only its own program defines, or the view may be broken. Then it
			// counts as one that compares byte by byte.
			if f, _ := sqlrecord.FaultOf(err); ctx.Err() != nil || f.Class == sqlrecord.FaultCollision || f.Class == sqlrecord.FaultDown {
				return err
			}
		}
	}
	return nil
}

// isSelect reports whether what is read is a SELECT in parentheses.
func isSelect(read string) bool { return strings.HasPrefix(strings.TrimSpace(read), "(") }

// readFrom is the SQL after FROM in reads of a resource.
func readFrom(d *sqlrecord.Dialect, prefix string, r *sheet.Resource) string {
	if isSelect(r.Read) {
		return r.Read + " AS " + d.Quote(r.Name)
	}
	return Qualified(d, prefix, r.Read)
}

package legacy

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// expression is SQL of the sheet over the table that a resource is read from.
type expression struct{ where, sql string }

// expressions asks the database for the types of the sheet's SQL. So SQL that the database refuses is
// found at the start, and values are compared by their type.
func (i *inspector) expressions(ctx context.Context) error {
	for _, r := range i.sheet.Model.Resources {
		err := i.expressionsOf(ctx, i.sheet.Resources[r])
		if i.known.refused[r.Name] = Problems(err); err != nil && i.known.refused[r.Name] == nil {
			return err
		}
	}
	return nil
}

func (i *inspector) expressionsOf(ctx context.Context, r *sheet.Resource) error {
	i.known.reads[r.Name] = i.known.Table(r.Read)
	if isSelect(r.Read) {
		columns, err := i.typesOf(ctx, r, "*", "")
		if err != nil {
			return i.found(ctx, r, expression{"read", ""}, err)
		}
		t := &Table{Name: r.Read, View: true}
		for _, c := range columns {
			t.Columns = append(t.Columns, Column{Name: c.Name, Type: c.Type, Sort: i.d.SortOf(c.Type), Precision: c.Precision, Scale: c.Scale, Nullable: true})
		}
		i.known.reads[r.Name] = t
	}
	var all []expression
	for n, f := range mapping.Each(r.Fields) {
		all = append(all, expression{"field " + f.Name + ": read", r.SQL.Fields[n].Read})
	}
	all = append(all, expression{"client: read", r.SQL.Client.SQL}, expression{"version: read", r.SQL.Version.SQL})
	var texts []string
	for _, e := range all {
		if e.sql != "" {
			texts = append(texts, "("+e.sql+") AS e"+strconv.Itoa(len(texts)))
		}
	}
	if len(texts) == 0 && r.Where == "" {
		return nil
	}
	types, err := i.typesOf(ctx, r, strings.Join(append(texts, "1 AS one"), ", "), r.Where)
	if err != nil {
		return i.blame(ctx, r, all, err)
	}
	for _, e := range all {
		if e.sql != "" {
			of := Known{Sort: i.d.SortOf(types[0].Type), scale: -1, nullable: true}
			if types[0].Precision > 0 {
				of.scale = types[0].Scale
			}
			i.known.results[[2]string{r.Name, e.sql}] = of
			types = types[1:]
		}
	}
	return nil
}

// blame finds which expressions the database refuses.
func (i *inspector) blame(ctx context.Context, r *sheet.Resource, all []expression, err error) error {
	var problems []error
	for _, e := range append(all, expression{"where", r.Where}) {
		switch {
		case e.sql == "":
		case e.where == "where":
			_, err := i.typesOf(ctx, r, "1 AS one", e.sql)
			problems = append(problems, i.found(ctx, r, e, err))
		default:
			_, err := i.typesOf(ctx, r, "("+e.sql+") AS e", "")
			problems = append(problems, i.found(ctx, r, e, err))
		}
	}
	if found := errors.Join(problems...); found != nil {
		return found
	}
	return i.found(ctx, r, expression{"read", ""}, err)
}

// found returns the Problem that the database refuses an expression. If the engine does not work, found
// returns the error, which is no fault of the sheet.
func (i *inspector) found(ctx context.Context, r *sheet.Resource, e expression, err error) error {
	if err == nil {
		return nil
	}
	if f, known := sqlrecord.FaultOf(err); !known || ctx.Err() != nil || f.Class == sqlrecord.FaultDown {
		return err
	}
	at := strings.NewReplacer("field ", "fields.", ": ", ".").Replace(e.where)
	return &Problem{sheet.PathOf(r) + "." + at, fmt.Errorf("resource %s: %s: %w", r.Name, e.where, err), ""}
}

// typesOf asks for the types of what is selected of a resource, on no rows.
func (i *inspector) typesOf(ctx context.Context, r *sheet.Resource, selected, where string) ([]sqlrecord.ResultColumn, error) {
	w := sqlrecord.NewWriter(i.d, func(w *sqlrecord.Writer, _ string) {
		switch {
		case !i.d.StrictTypes:
			w.Add("NULL")
		case i.sheet.ClientsKept:
			w.Add("CAST(NULL AS ", i.d.TypeOf(sqlrecord.Texts, 0), ")")
		default:
			w.Add("CAST(NULL AS ", i.d.TypeOf(sqlrecord.Integers, 0), ")")
		}
	})
	w.Add("SELECT ").Expr(Parse(selected)).Add(" FROM ", readFrom(i.d, i.source.Schema, r), " WHERE 1 = 0")
	if where != "" {
		w.Add(" AND (").Expr(Parse(where)).Add(")")
	}
	text, _ := w.Statement()
	return sqlrecord.TypesOf(ctx, i.conn, text)
}

// Problem is something in the sheet that the database contradicts, so that the driver does not
// open: SQL that it refuses, or times that shift.
type Problem struct {
	Path string // where the sheet says it
	Err  error
	Cure string // what to write instead; "" if Err says enough
}

func (p *Problem) Error() string {
	if p.Cure == "" {
		return p.Err.Error()
	}
	return p.Err.Error() + ": expected " + p.Cure
}
func (p *Problem) Unwrap() error { return p.Err }

// Problems are those in an error of Open; none if Open failed for another cause.
func Problems(err error) (all []*Problem) {
	if p := (*Problem)(nil); !errors.As(err, &p) {
		return nil
	}
	switch of := err.(type) {
	case *Problem:
		return []*Problem{of}
	case interface{ Unwrap() []error }:
		for _, e := range of.Unwrap() {
			all = append(all, Problems(e)...)
		}
		return all
	default:
		return Problems(errors.Unwrap(err))
	}
}

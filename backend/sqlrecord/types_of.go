package sqlrecord

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
)

// ResultColumn is a column of a result.
type ResultColumn struct {
	Name string
	// Type is the engine's name of it, in small letters and without its size: "numeric", "bigint
	// unsigned", "timestamp with time zone"; "" of SQLite.
	Type string
	// Precision and Scale of a decimal; 0 if they are not known.
	Precision, Scale int
}

// TypesOf returns the columns of the result of a SELECT, without fetching rows. Each needs a name
// of its own.
func TypesOf(ctx context.Context, c Conn, sql string) ([]ResultColumn, error) {
	all, err := c.(interface {
		typesOf(ctx context.Context, sql string) ([]ResultColumn, error)
	}).typesOf(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("describe a result: %w", err)
	}
	return all, nil
}

func (c *postgresConn) typesOf(ctx context.Context, sql string) ([]ResultColumn, error) {
	described, err := c.conn.Prepare(ctx, "", sql)
	if err != nil {
		return nil, c.fail(err)
	}
	all, oids := make([]ResultColumn, len(described.Fields)), make([]string, len(described.Fields))
	for i, f := range described.Fields {
		all[i].Name, oids[i] = f.Name, strconv.FormatUint(uint64(f.DataTypeOID), 10)
		if size := f.TypeModifier - 4; size >= 0 { // used below for decimals only
			all[i].Precision, all[i].Scale = int(size>>16), int(size&0x7ff)
		}
	}
	rows, err := c.conn.Query(ctx, "SELECT format_type(oid, NULL) FROM unnest(CAST($1 AS oid[])) WITH ORDINALITY of (oid, n) ORDER BY n", "{"+strings.Join(oids, ",")+"}")
	if err != nil {
		return nil, c.fail(err)
	}
	defer rows.Close()
	for i := 0; rows.Next(); i++ {
		if err := rows.Scan(&all[i].Type); err != nil {
			return nil, err
		}
		if all[i].Type != "numeric" {
			all[i].Precision, all[i].Scale = 0, 0
		}
	}
	if err := rows.Err(); err != nil {
		return nil, c.fail(err)
	}
	return all, nil
}

func (c *mysqlConn) typesOf(ctx context.Context, sql string) ([]ResultColumn, error) {
	rows, err := c.QueryContext(ctx, "SELECT * FROM ("+sql+") frontdesk_result LIMIT 0", nil)
	if err != nil {
		return nil, c.fail(err)
	}
	typed := rows.(interface {
		driver.RowsColumnTypeDatabaseTypeName
		driver.RowsColumnTypePrecisionScale
	})
	names := rows.Columns()
	all := make([]ResultColumn, len(names))
	for i, name := range names {
		kind := strings.ToLower(typed.ColumnTypeDatabaseTypeName(i))
		if bare, ok := strings.CutPrefix(kind, "unsigned "); ok {
			kind = bare + " unsigned"
		}
		all[i] = ResultColumn{Name: name, Type: kind}
		if precision, scale, ok := typed.ColumnTypePrecisionScale(i); ok && kind == "decimal" {
			all[i].Precision, all[i].Scale = int(precision), int(scale)
		}
	}
	return all, rows.Close()
}

// typesOf returns only names: a column of SQLite can hold anything, whatever its declared type.
func (c *sqliteConn) typesOf(ctx context.Context, text string) (all []ResultColumn, err error) {
	st, err := c.stmts.get(c.conn, "SELECT * FROM ("+text+") LIMIT 0")
	if err != nil {
		return nil, c.fail(ctx, err)
	}
	for i := range st.ColumnCount() {
		all = append(all, ResultColumn{Name: st.ColumnName(i)})
	}
	return all, nil
}

package legacy

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping/sheet"
)

// mysqlDialect is MySQL 5.7 and MariaDB 10.3 and later, with InnoDB.
type mysqlDialect struct {
	common
	name string
}

func (d mysqlDialect) engine() string { return d.name }

func (mysqlDialect) connector(dsn string, session []string) (driver.Connector, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, errors.New("the DSN of the database is not one of MySQL")
	}
	config.ParseTime = false // 0000-00-00 is a value here
	config.ClientFoundRows = true
	config.InterpolateParams = false
	config.MultiStatements = false
	config.Logger = &mysql.NopLogger{} // what it would log, it returns as well
	c, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("connect to MySQL: %w", err)
	}
	return sessionConnector{c, session}, nil
}

func (mysqlDialect) session(lockWait time.Duration) []string {
	return []string{
		"SET SESSION innodb_lock_wait_timeout = " + strconv.Itoa(max(1, int(lockWait.Seconds()))),
		// A value that does not fit is an error, not cut off. Programs in the
		// database keep the mode that they were made in.
		"SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')",
	}
}

func (mysqlDialect) quote(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

func (mysqlDialect) lockRange() string { return " FOR UPDATE" }

func (mysqlDialect) raw(kind string, v any) sheet.Raw {
	b, ok := v.([]byte)
	if !ok {
		return plainRaw(v)
	}
	switch kind {
	case "DECIMAL":
		return decimalRaw(string(b))
	case "DATE", "DATETIME", "TIMESTAMP":
		return textTimeRaw(string(b))
	case "BIT":
		return bitsRaw(b)
	case "BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "GEOMETRY", "VECTOR":
		return bytesRaw(b)
	default:
		return textRaw(string(b))
	}
}

func (mysqlDialect) shown(b *statement, at sheet.Raw) bool {
	b.add("FROM_UNIXTIME(").arg(at).add(")")
	return true
}

func (mysqlDialect) insert(b *statement, table string, columns []string, values []sheet.Raw, _ []string) bool {
	b.add("INSERT INTO ", table, " (", strings.Join(columns, ", "), ") VALUES (").list(values).add(")")
	return false
}

// call passes out parameters as variables of the session, which are read afterwards.
func (d mysqlDialect) call(ctx context.Context, c conn, p call) (result, error) {
	for i, at := range p.from {
		if at < 0 {
			continue
		}
		set := newStatement(d).add("SET ", outVariable(i), " = ").arg(p.args[at])
		if _, err := c.ExecContext(ctx, set.ask(ctx), set.args...); err != nil {
			return result{}, err
		}
	}
	answer, err := queryAll(ctx, c, p.arguments(newStatement(d).add("CALL ", p.name, "("), outVariable).add(")"))
	if err != nil || len(p.out) == 0 {
		return answer, err
	}
	read := newStatement(d).add("SELECT ")
	for i, name := range p.out {
		read.add(comma(i), outVariable(i), " AS ", d.quote(name))
	}
	return queryAll(ctx, c, read)
}

// tries declares a variable of the column's type, which accepts a value as the column would.
func (d mysqlDialect) tries(ctx context.Context, c conn, table, column string, v sheet.Raw) error {
	if d.name != "mariadb" {
		return nil
	}
	set := newStatement(d).add("SET @frontdesk_value = ").arg(v)
	if _, err := c.ExecContext(ctx, set.ask(ctx), set.args...); err != nil {
		return err
	}
	_, err := c.ExecContext(ctx, "BEGIN NOT ATOMIC DECLARE held TYPE OF "+table+"."+column+" DEFAULT @frontdesk_value; END")
	return err
}

func outVariable(i int) string { return "@frontdesk_" + strconv.Itoa(i) }

// tryLock takes a lock of the session, since MySQL has none of a transaction.
func (d mysqlDialect) tryLock(ctx context.Context, c conn, name string) (bool, func(context.Context, conn) error, error) {
	// Locks are the server's, names of at most 64 letters: other databases have their own.
	lock := func(b *statement) *statement {
		return b.add("CONCAT('frontdesk:', LEFT(SHA2(CONCAT_WS(' ', DATABASE(), ").arg(textRaw(name)).add("), 256), 32))")
	}
	row, err := queryOne(ctx, c, lock(newStatement(d).add("SELECT GET_LOCK(")).add(", 0)"))
	release := func(ctx context.Context, c conn) error {
		_, err := queryOne(ctx, c, lock(newStatement(d).add("SELECT RELEASE_LOCK(")).add(")"))
		return err
	}
	return len(row) == 1 && row[0].Int == 1, release, err
}

func (mysqlDialect) fault(err error) (f fault, ok bool) {
	var my *mysql.MySQLError
	if !errors.As(err, &my) {
		return f, false
	}
	f.SQLState, f.Code, f.Message = string(my.SQLState[:]), strconv.Itoa(int(my.Number)), my.Message
	switch my.Number {
	case 1213, 1205: // deadlock, waited too long for a lock
		f.class = faultCollision
	case 1062, 1586: // duplicate entry
		f.class = faultUnique
	case 1216, 1217, 1451, 1452: // no parent row, child rows
		f.class = faultForeign
	case 1267, 1270, 1271, 3854: // collations that do not mix, no conversion
		f.class = faultCharset
	case 1264, 1265, 1292, 1366, 1406: // out of range, truncated, incorrect, too long
		f.class = faultValue
		f.table, f.column = columnInWords(f.Message)
		return f, true
	case 1048, 1364: // null, no default
		f.class = faultNull
		f.Constraint = constraintInWords(f.Message)
		f.column = f.Constraint
		return f, true
	case 3819, 4025: // check, of MySQL and of MariaDB
		f.class, f.table = faultCheck, tableInWords(f.Message)
	case 1021, 1037, 1040, 1041, 1053, 1077, 1152, 1184, 1203, 1226, 1290, 1317, 1836, 1927, 3024: // full, shutting down, killed, …
		f.class = faultDown
		return f, true
	default:
		return f, true
	}
	f.Constraint = constraintInWords(f.Message)
	return f, true
}

// Away tells whether Open failed because a server could not be reached, or let nobody in as it is
// now: see sqlrecord.Away.
func Away(err error) bool {
	f, _ := mysqlDialect{}.fault(err)
	switch f.Code {
	case "1044", "1045", "1049", "1129", "1130", "1698": // no right, user, password or database; host not allowed in
		return true
	}
	return f.class == faultDown || errors.Is(err, mysql.ErrInvalidConn) || sqlrecord.Away(err)
}

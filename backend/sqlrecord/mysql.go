package sqlrecord

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"frontdesk/backend"
)

// mysqlDB is a MySQL 5.7 or MariaDB 10.3 database, or a later one, with InnoDB. It
// belongs to another program.
type mysqlDB struct {
	connector driver.Connector
	pool      *sql.DB
	reserved  *mysqlDB // see Reserved; nil in the reserved pool itself
	dialect   *Dialect
	longWork
}

var _ shared = (*mysqlDB)(nil)

var errNoMySQL = errors.New("the DSN is not one of MySQL: user:password@tcp(host:port)/database")

func mysqlConfig(dsn string) (*mysql.Config, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, errNoMySQL
	}
	config.Timeout = cmp.Or(config.Timeout, connectTimeout)
	config.ParseTime = false // 0000-00-00 is a value here
	config.ClientFoundRows = true
	config.InterpolateParams = false
	config.MultiStatements = false
	config.Logger = &mysql.NopLogger{} // the driver also returns what it logs
	return config, nil
}

func openForeignMySQL(ctx context.Context, dialect *Dialect, o ForeignOptions) (DB, error) {
	config, err := mysqlConfig(o.DSN)
	if err != nil {
		return nil, err
	}
	c, err := mysql.NewConnector(config)
	if err != nil {
		return nil, errNoMySQL
	}
	wait := strconv.Itoa(max(1, int(o.LockWait.Seconds())))
	session := append([]string{
		"SET SESSION innodb_lock_wait_timeout = " + wait + ", lock_wait_timeout = " + wait, // of rows, and of tables that are altered
		// A value that does not fit is an error, not cut off. Programs in the
		// database keep the mode that they were made in.
		"SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')",
	}, o.Session...)
	connector := mysqlConnector{c, append(session, "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE")}
	most := cmp.Or(o.Connections, max(8, 2*runtime.NumCPU()))
	reserved := min(max(1, most/4), 4)
	d := newMySQL(connector, dialect, max(1, most-reserved))
	d.reserved = newMySQL(connector, dialect, reserved)
	if err := d.Ping(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func newMySQL(c driver.Connector, dialect *Dialect, connections int) *mysqlDB {
	pool := sql.OpenDB(c)
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return &mysqlDB{connector: c, pool: pool, dialect: dialect}
}

func (d *mysqlDB) Dialect() *Dialect { return d.dialect }

func (d *mysqlDB) Read(ctx context.Context, f func(Conn) error) error {
	return d.on(ctx, func(c *mysqlConn) error { return f(c) })
}

// Snapshot sees one state of the database from its first statement on.
func (d *mysqlDB) Snapshot(ctx context.Context, f func(Conn) error) error {
	begin := []string{"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION READ ONLY"}
	return d.tx(ctx, begin, func(c *mysqlConn) error { return f(c) })
}

func (d *mysqlDB) Write(ctx context.Context, f func(Conn) error) error {
	err := backend.RunAgain(ctx, func() error {
		return d.tx(ctx, []string{"START TRANSACTION"}, func(c *mysqlConn) error {
			c.inWrite = true
			if err := guard(f, c); err != nil {
				return err
			}
			return c.aborted()
		})
	}, collided)
	return asCollision(err)
}

// on runs f on a connection of the pool. One that died there is noticed and replaced.
func (d *mysqlDB) on(ctx context.Context, f func(*mysqlConn) error) error {
	if err := d.longWork.hold(); err != nil {
		return err
	}
	defer d.longWork.work.Done()
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		if stats := d.pool.Stats(); ctx.Err() != nil && stats.InUse >= stats.MaxOpenConnections {
			err = fmt.Errorf("%w: %w", backend.ErrBusy, err)
		}
		return fmt.Errorf("wait for a connection: %w", err)
	}
	defer func() { _ = conn.Close() }() // gives it back, unless it is broken
	return conn.Raw(func(link any) error { return f(&mysqlConn{mysqlLink: link.(*mysqlLink)}) })
}

// tx runs f in a transaction. An error undoes it. A connection that dies before it has begun is
// replaced, as often as the pool has others.
func (d *mysqlDB) tx(ctx context.Context, begin []string, f func(*mysqlConn) error) error {
	for left := d.pool.Stats().MaxOpenConnections; ; left-- {
		begun := false
		err := d.on(ctx, func(c *mysqlConn) error {
			for _, text := range begin {
				if _, err := c.ExecContext(ctx, text, nil); err != nil {
					return fmt.Errorf("begin: %w", err)
				}
			}
			begun = true
			return c.transaction(ctx, f)
		})
		died := errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn)
		if begun || !died || left == 0 || ctx.Err() != nil {
			return err
		}
	}
}

// Ping asks a reserved connection.
func (d *mysqlDB) Ping(ctx context.Context) error {
	if d.reserved != nil {
		return d.reserved.Ping(ctx)
	}
	return d.pool.PingContext(ctx)
}

// Pool implements backend.Pooler. It includes the connections of Reserved.
func (d *mysqlDB) Pool() (all backend.Pool) {
	all.Calls = d.pool.Stats().MaxOpenConnections
	for _, p := range d.parts() {
		stats := p.pool.Stats()
		all.InUse, all.Most = all.InUse+stats.InUse, all.Most+stats.MaxOpenConnections
	}
	return all
}

func (d *mysqlDB) dedicated(context.Context) (snapshotter, error) {
	return newMySQL(d.connector, d.dialect, 1), nil
}

func (d *mysqlDB) parts() []*mysqlDB {
	if d.reserved == nil {
		return []*mysqlDB{d}
	}
	return []*mysqlDB{d, d.reserved}
}

// Close waits for the connections that are at work.
func (d *mysqlDB) Close() (err error) {
	for _, p := range d.parts() {
		p.longWork.end()
		err = errors.Join(err, p.pool.Close())
	}
	return err
}

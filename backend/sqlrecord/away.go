package sqlrecord

import (
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// awayClasses are the error classes of a PostgreSQL server that accepts nobody for now:
// connections, resources, shutting down or starting up.
var awayClasses = []string{"08", "53", "57"}

// awayNumbers are the errors of a MySQL server that accepts nobody for now, in addition to those
// of FaultDown: no right, user, password or database; a host that is not allowed in.
var awayNumbers = []uint16{1044, 1045, 1049, 1129, 1130, 1698}

// Away reports whether an error means that a server could not be reached, or does not accept us
// now: even a missing database or user may be about to be made. The same call may work later.
func Away(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains(awayClasses, pg.Code[:min(2, len(pg.Code))]) || pg.Code == "25006" // a standby, which may be promoted
	}
	if my, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return mysqlFault(my).Class == FaultDown || slices.Contains(awayNumbers, my.Number)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Op != "listen"
	}
	if timed, ok := errors.AsType[net.Error](err); ok && timed.Timeout() {
		return true
	}
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, driver.ErrBadConn, mysql.ErrInvalidConn}, func(of error) bool { return errors.Is(err, of) })
}

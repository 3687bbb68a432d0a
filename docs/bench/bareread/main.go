// Command bareread is the yardstick for what frontdesk costs by key on SQLite: a fasthttp server
// that reads a row with a prepared statement and writes its columns as JSON, and nothing else. It
// knows no session and no client, so it is no gateway that anybody could run.
package main

import (
	"flag"
	"log"
	"runtime"
	"strconv"

	"github.com/valyala/fasthttp"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "where requests are taken")
	database := flag.String("database", "frontdesk.db", "a SQLite database that frontdesk seed has made")
	flag.Parse()
	pool, err := sqlitex.NewPool(*database, sqlitex.PoolOptions{Flags: sqlite.OpenReadOnly, PoolSize: runtime.GOMAXPROCS(0)})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(fasthttp.ListenAndServe(*listen, func(c *fasthttp.RequestCtx) {
		if err := answer(c, pool); err != nil {
			c.Error(err.Error(), fasthttp.StatusInternalServerError)
		}
	}))
}

// answer writes the order whose id is asked for.
func answer(c *fasthttp.RequestCtx, pool *sqlitex.Pool) error {
	conn, err := pool.Take(c)
	if err != nil {
		return err
	}
	defer pool.Put(conn)
	row, err := conn.Prepare(`SELECT * FROM "order" WHERE id = ?`)
	if err != nil {
		return err
	}
	row.BindInt64(1, int64(c.QueryArgs().GetUintOrZero("id")))
	found, err := row.Step()
	if err != nil {
		return err
	}
	if !found {
		c.SetStatusCode(fasthttp.StatusNotFound)
		return nil
	}
	c.SetContentType("application/json")
	c.Response.SetBodyRaw(appendRow(nil, row))
	return row.Reset()
}

func appendRow(to []byte, row *sqlite.Stmt) []byte {
	to = append(to, '{')
	for i := range row.ColumnCount() {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(strconv.AppendQuote(to, row.ColumnName(i)), ':')
		switch row.ColumnType(i) {
		case sqlite.TypeNull:
			to = append(to, "null"...)
		case sqlite.TypeInteger:
			to = strconv.AppendInt(to, row.ColumnInt64(i), 10)
		case sqlite.TypeFloat:
			to = strconv.AppendFloat(to, row.ColumnFloat(i), 'g', -1, 64)
		default:
			to = strconv.AppendQuote(to, row.ColumnText(i))
		}
	}
	return append(to, '}')
}

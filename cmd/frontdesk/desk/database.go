package desk

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"frontdesk/backend/sqlrecord"
	"frontdesk/config"
	"frontdesk/mapping/sheet"
)

// Database is the gateway's own database: that of the built-in administration, or the
// one that a gateway in front of a mapped system keeps.
type Database struct {
	dsn     string
	setting string // the setting that names the database
}

// DatabaseOf returns the database of a configuration, without opening it.
func DatabaseOf(c *config.Config) (Database, error) {
	if !c.Backend.BySheet() {
		return Database{string(c.Backend.DSN), "backend.dsn"}, nil
	}
	sh, err := sheetOf(c)
	if err != nil {
		return Database{}, err
	}
	return sheetDatabase(sh), nil
}

// sheetDatabase returns the database for a mapped system: the sheet's keep, by default a SQLite
// file beside the sheet.
func sheetDatabase(sh *sheet.Sheet) Database {
	return Database{cmp.Or(sh.Keep, "sqlite:"+sidecar(sh, "-keep.db")), "keep of " + sh.File}
}

// file returns the SQLite file; "" for PostgreSQL.
func (d Database) file() string {
	if config.IsPostgres(d.dsn) {
		return ""
	}
	return strings.TrimPrefix(d.dsn, "sqlite:")
}

// String names the database to people in any folder: its absolute path, or server and name.
func (d Database) String() string {
	if file := d.file(); file != "" {
		if path, err := filepath.Abs(file); err == nil {
			return path
		}
		return file
	}
	c, err := pgx.ParseConfig(d.dsn)
	if err != nil { // the error repeats the DSN, maybe with a password
		return "the database of " + d.setting
	}
	return fmt.Sprintf("%s:%d/%s", c.Host, c.Port, c.Database)
}

// There returns an error if the file does not exist yet. A command that works on existing records
// must not create an empty database.
func (d Database) There() error {
	file := d.file()
	if file == "" {
		return nil
	}
	switch info, err := os.Stat(file); {
	case err == nil && info.Size() > 0:
		return nil
	case err != nil && !os.IsNotExist(err):
		return err
	}
	if filepath.IsAbs(file) {
		return fmt.Errorf("there is no database %s (%s): frontdesk migrate makes a new one", d, d.setting)
	}
	return fmt.Errorf("there is no database %s (%s is %s, from this folder): run this in the folder that frontdesk serves in; frontdesk migrate makes a new one in this one", d, d.setting, file)
}

// Open opens the database and nothing else, while a server may be running on it.
func (d Database) Open(p Program, c *config.Config) (sqlrecord.DB, error) {
	if err := d.There(); err != nil {
		return nil, err
	}
	o := sqlrecord.Options{Readers: 1, LockWait: lockWait(c), Log: zap.NewNop()}
	if file := d.file(); file != "" {
		return openFile(file, o)
	}
	return sqlrecord.OpenPostgres(p.Ctx, d.dsn, o)
}

package mirror

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Options say what is copied where.
type Options struct {
	Base                       string // without a slash at the end
	UsualPath                  string // of the interface, where nobody says otherwise
	APIKey, Username, Password string
	File                       string        // the SQLite database
	Resources                  []string      // none for all that can be copied
	Follow                     time.Duration // how often to ask for changes; 0 to end when there are no more
	Verify                     bool

	HTTP  *http.Client // which must not follow redirects: they would take the token along
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
	// Say tells what has happened, in one line.
	Say func(format string, args ...any)
	// Show tells how far a read has come; total is 0 where that is not known.
	Show func(what string, done, total int64)
}

// Wrong is an error in what was asked for, rather than of doing it.
type Wrong struct{ error }

// Unwrap returns the error itself.
func (w Wrong) Unwrap() error { return w.error }

// Differed says that a copy was not whole, and is now.
type Differed struct{ Records int64 }

func (d Differed) Error() string {
	return fmt.Sprintf("the copy differed in %d record(s), which were mended", d.Records)
}

type mirror struct {
	o      Options
	client *client
	copy   *store
	models map[string]*resource // of all that the api_key may GET
	begun  int                  // how often a cursor was gone since there was last nothing new
	asked  int64                // records that were read
	told   []*resource          // which are copied
	single map[*table]bool      // whose records can be read one by one only
	partly map[string]bool      // the paths whose list is of one parent only; nil before that was asked for
}

type changesPage struct {
	Data []struct {
		Resource string
		ID       int64
		Record   record
	}
	Cursor string
	More   bool
}

// Run brings the copy up to date, or follows, or compares. It returns the error of ctx if that ends it, also
// while it follows, unless the copy cannot be closed then.
func Run(ctx context.Context, o Options) (err error) {
	m := &mirror{o: o, single: map[*table]bool{}, client: &client{
		base: o.Base, usual: o.UsualPath, http: o.HTTP, after: o.After, say: o.Say, patience: patience,
		login: url.Values{"api_key": {o.APIKey}, "organization_name": {""}, "username": {o.Username}, "password": {o.Password}},
	}}
	if o.Follow > 0 {
		m.client.patience = 0
	}
	whose, told, err := m.discover(ctx)
	if err != nil {
		return err
	}
	var now changesPage // asked for in any case: without a right to it no file is made
	if err := m.changes(ctx, told, "", &now); err != nil {
		return err
	}
	owns := func(cursor string) (bool, error) {
		err := m.changes(ctx, told, cursor, new(changesPage))
		if is(err, cursorGone) {
			return false, nil
		}
		return err == nil, err
	}
	if m.copy, err = openStore(ctx, o.File, whose, owns); err != nil {
		return err
	}
	defer func() { err = withClose(ctx, err, m.copy.close()) }()
	if err := m.copy.prepare(told, o.Say); err != nil {
		return err
	}
	if m.told = told; m.copy.cursor == "" {
		if err := m.copy.begin(now.Cursor); err != nil {
			return err
		}
	}
	for first := true; ; first = false {
		before := m.asked
		if err := m.catchUp(ctx, nil); err != nil {
			return err
		}
		if o.Follow == 0 {
			break
		}
		if first {
			if err := m.tellWhole(); err != nil {
				return err
			}
		} else if m.asked > before {
			o.Show("up to date; "+strconv.FormatInt(m.asked, 10)+" records read", 0, 0)
		}
		select {
		case <-o.After(o.Follow):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if o.Verify {
		return m.verify(ctx)
	}
	return m.tellWhole()
}

func (m *mirror) tellWhole() error {
	var records int64
	for _, t := range m.copy.tables {
		n, err := m.copy.count(t)
		if err != nil {
			return err
		}
		records += n
	}
	m.o.Say("up to date: %d records of %d resources", records, len(m.copy.tables))
	return nil
}

// catchUp brings the copy up to date: reads what was not read yet, and applies all changes
// that there are. told is called for each, if it is not nil.
func (m *mirror) catchUp(ctx context.Context, told func(resource string, id int64)) error {
	for {
		err := m.step(ctx, told)
		if !is(err, cursorGone) {
			if err == nil {
				m.begun = 0
			}
			return err
		}
		if m.begun++; m.begun > 3 {
			return err
		}
		m.o.Say("the cursor is gone: everything is read again; what is in the copy stays meanwhile")
		m.copy.cursor = ""
	}
}

func (m *mirror) step(ctx context.Context, told func(resource string, id int64)) error {
	if m.copy.cursor == "" {
		var page changesPage
		if err := m.changes(ctx, m.told, "", &page); err != nil {
			return err
		}
		if err := m.copy.begin(page.Cursor); err != nil {
			return err
		}
	}
	for _, t := range m.copy.tables {
		if !t.complete {
			if err := m.read(ctx, t); err != nil {
				return err
			}
		}
	}
	for {
		var page changesPage
		if err := m.changes(ctx, m.told, m.copy.cursor, &page); err != nil {
			return err
		}
		if err := m.copy.apply(&page, m.o.Now()); err != nil {
			return err
		}
		for _, c := range page.Data {
			if c.Record != nil {
				m.asked++
			}
			if told != nil {
				told(c.Resource, c.ID)
			}
		}
		if !page.More {
			return nil
		}
		m.o.Show("changes", m.asked, 0)
	}
}

// changes asks for the changes of these resources after a cursor; for the cursor of now if
// that is "".
func (m *mirror) changes(ctx context.Context, of []*resource, cursor string, page *changesPage) error {
	var names []string
	for _, r := range of {
		names = append(names, r.Name)
	}
	query := url.Values{"resource": {strings.Join(names, ",")}, "page_size": {strconv.Itoa(pageSize)}}
	if cursor != "" {
		query.Set("after", cursor)
		query.Set("records", "1")
	}
	err := m.client.get(ctx, "/changes", query, page)
	if is(err, endpointUnknown) {
		return errors.New("this api_key may not GET /changes, or the system behind cannot tell any: ask the operator")
	}
	return err
}

const (
	pageSize = 1000
	// arraysPage is how many parents are read at once with their children.
	arraysPage = 100
	lastID     = math.MaxInt32
)

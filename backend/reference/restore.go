package reference

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

var (
	// ErrBackupRefused says that a file cannot be restored here: it is damaged,
	// no backup, of another client, or does not fit this administration. Nothing
	// was changed.
	ErrBackupRefused = errors.New("the backup is refused, nothing was changed")
	// ErrOtherClient is an ErrBackupRefused unless RestoreOptions.Rename is set.
	ErrOtherClient = errors.New("the backup is of another client")
	// ErrLegacyRecord is an ErrBackupRefused unless RestoreOptions.Legacy is set.
	ErrLegacyRecord = errors.New("the model does not allow a record")
	// ErrClientNotEmpty says that the client already has records.
	ErrClientNotEmpty = errors.New("the client has records already, nothing was changed")
)

// refusal is an ErrBackupRefused with its reason. Causes are in its text and not
// wrapped: none of them is an answer to a client of the interface.
type refusal struct {
	reason string
	kind   error // nil, ErrOtherClient or ErrLegacyRecord
}

func (r *refusal) Error() string { return ErrBackupRefused.Error() + ": " + r.reason }

func (r *refusal) Is(target error) bool {
	return target == ErrBackupRefused || r.kind != nil && target == r.kind
}

func refuse(format string, args ...any) *refusal {
	return &refusal{reason: fmt.Sprintf(format, args...)}
}

func (r *refusal) as(kind error) *refusal {
	r.kind = kind
	return r
}

// RestoreOptions say how a backup is restored.
type RestoreOptions struct {
	// Client is the name of the client who gets the records; a new client is added.
	// It must be the client of the backup.
	Client string
	// Rename allows another client than that of the backup.
	Rename bool
	// Legacy accepts records that the model would refuse today: without a field
	// that is required now, or with a value that is no longer allowed. An
	// administration whose model has changed has such records.
	Legacy bool
	// MaxLine is how many bytes of JSON one record may have; 0 for 64 MiB.
	MaxLine int64
	// Progress, if not nil, is called with the progress. Every record counts twice:
	// when it is checked, and when it is stored.
	Progress func(done, total int64)
}

// defaultMaxLine bounds a record. The fields of one arrive in request bodies,
// which are bounded as well, by default to 16 MiB.
const defaultMaxLine = 64 << 20

// progressEvery is how many records lie between two reports.
const progressEvery = 1000

// Restore reads a backup into a client without records: the same records with
// their IDs, numbers, moments, versions, states and totals.
//
// The whole file is judged before anything is changed, and everything is stored in
// one transaction, whatever its size: afterwards all of it is there, or nothing. On
// SQLite the log needs room on disk for about the same data once more, and other
// writes wait as long; a server on the same file is best stopped.
//
// IDs are kept, since others (documents, invoices, shops) know records by them. If
// another client's record in the same database has one of the IDs, the backup is
// refused: it needs a database of its own. No ID or number that the backup's
// administration had issued is issued again, not even those of records deleted
// before the backup.
//
// The IDs of the records are held in memory, four bytes each.
func Restore(ctx context.Context, s *Store, file io.ReaderAt, size int64, o RestoreOptions) (backend.Manifest, error) {
	o.MaxLine = cmp.Or(o.MaxLine, defaultMaxLine)
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	b, err := openBackup(file, size, s.model, o)
	if err != nil {
		return backend.Manifest{}, err
	}
	// The check before the long work; the transaction checks again.
	if err := s.mustHaveNoRecords(ctx, o.Client); err != nil {
		return backend.Manifest{}, err
	}
	j := newJudge(b, s, o)
	if err := j.readSystemIDs(ctx, s); err != nil {
		return backend.Manifest{}, err
	}
	if err := j.run(ctx); err != nil {
		return backend.Manifest{}, err
	}
	err = s.datedBy(s.now).inTx(ctx, func(t *txn) error {
		r := restorer{txn: t, judge: j}
		return r.run(ctx)
	})
	if err != nil {
		return backend.Manifest{}, fmt.Errorf("restore client %q: %w", o.Client, err)
	}
	return b.manifest, s.analyze(ctx)
}

// analyze updates the statistics of PostgreSQL after many records have come at once: until it does
// so by itself, about a minute later, its plans are for empty tables.
func (s *Store) analyze(ctx context.Context) error {
	if s.db.Dialect().Name != sqlrecord.Postgres().Name {
		return nil
	}
	return s.datedBy(s.now).inTx(ctx, func(t *txn) error {
		for _, r := range s.model.Resources {
			if _, err := t.conn.Exec(ctx, "ANALYZE "+t.dialect.Quote(r.Name)); err != nil {
				return fmt.Errorf("all records are stored, but PostgreSQL did not look at them: analyze %s: %w", r.Name, err)
			}
		}
		return nil
	})
}

func (s *Store) mustHaveNoRecords(ctx context.Context, name string) error {
	client, err := s.FindClient(ctx, name)
	if errors.Is(err, ErrUnknownClient) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.db.Read(ctx, func(conn sqlrecord.Conn) error { return s.internalTables(conn).mustHaveNoRecords(ctx, s.model, client) })
}

func (h internalTables) mustHaveNoRecords(ctx context.Context, model *mapping.Model, client auth.Client) error {
	for _, r := range model.Resources {
		_, found, err := h.one(ctx, `SELECT 1 FROM `+h.dialect.Quote(r.Name)+` WHERE client_id = ?1 LIMIT 1`, mapping.IntValue(client.ID))
		if err != nil {
			return fmt.Errorf("look for records of client %q: %w", client.Name, err)
		}
		if found {
			return fmt.Errorf("%w: %s (there is at least one %s)", ErrClientNotEmpty, client.Name, r.Name)
		}
	}
	return nil
}

// restorer stores a judged backup inside a transaction.
type restorer struct {
	*txn
	*judge
	client  auth.Client
	batch   []mapping.Record
	bytes   int
	first   int64 // line of the batch's first record
	forward []forward
}

// forward is a reference to a record that is stored later.
type forward struct {
	field  *mapping.Field
	holder *mapping.Resource
	id     int32
	to     mapping.Value
}

func (r *restorer) run(ctx context.Context) error {
	var err error
	if r.client, err = r.addClient(ctx, r.options.Client); err != nil {
		return err
	}
	// The second of two restores waits here, and then finds records.
	if _, _, err := r.one(ctx, `SELECT id FROM client WHERE id = ?1`+r.dialect.ForUpdate, mapping.IntValue(r.client.ID)); err != nil {
		return err
	}
	if err := r.mustHaveNoRecords(ctx, r.model, r.client); err != nil {
		return err
	}
	if err := r.takeIDs(ctx); err != nil {
		return err
	}
	r.done = r.backup.manifest.Records()
	for _, p := range r.ordered {
		if err := r.part(ctx, p); err != nil {
			return err
		}
	}
	for _, f := range r.forward {
		_, err := r.conn.Exec(ctx, `UPDATE `+r.dialect.Quote(f.holder.Name)+` SET `+r.dialect.Quote(f.field.Name)+` = ?2 WHERE id = ?1`,
			mapping.IntValue(int64(f.id)), f.to)
		if err != nil {
			return fmt.Errorf("set %s of %s %d: %w", f.field.Name, f.holder.Name, f.id, err)
		}
	}
	return r.setCounters(ctx)
}

// takeIDs checks that the backup's IDs are free, and keeps all IDs that its
// administration had issued from being issued again.
func (r *restorer) takeIDs(ctx context.Context) error {
	for _, resource := range r.model.Resources {
		last := r.backup.manifest.LastIDs[resource.Name]
		if p := r.backup.parts[resource]; p != nil {
			last = max(last, p.ids[len(p.ids)-1])
			if err := r.mustBeFree(ctx, p); err != nil {
				return err
			}
		}
		if last == 0 {
			continue
		}
		if err := r.ReserveIDs(ctx, r.client, resource, last); err != nil {
			return err
		}
	}
	return nil
}

// mustBeFree compares the IDs that are taken with those of the part, both in order.
func (r *restorer) mustBeFree(ctx context.Context, p *backupPart) error {
	n := 0
	return r.EachID(ctx, p.resource, 0, func(id int32) error {
		for n < len(p.ids) && p.ids[n] < id {
			n++
		}
		if n < len(p.ids) && p.ids[n] == id {
			return p.refuse(int64(n+1), "the id %d is taken here by a record of another client; ids are kept, so this backup needs a database where they are free", id)
		}
		return nil
	})
}

func (r *restorer) part(ctx context.Context, p *backupPart) error {
	err := p.lines(ctx, r.options.MaxLine, func(n int64, line []byte) error {
		rec, err := r.decode(p, n, line)
		if err != nil {
			return err
		}
		r.withhold(p, rec)
		if len(r.batch) == 0 {
			r.first = n
		}
		r.batch = append(r.batch, rec)
		r.bytes += len(line)
		r.progress(1)
		if len(r.batch) == restoreBatch || r.bytes > largeLine {
			return r.flush(ctx, p)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.flush(ctx, p)
}

// restoreBatch is how many records are stored by one statement.
const restoreBatch = 100

func (r *restorer) flush(ctx context.Context, p *backupPart) error {
	err := r.Put(ctx, r.client, r.batch)
	if errors.Is(err, backend.ErrStale) || errors.Is(err, backend.ErrUnexpected) {
		return refuse("%s, lines %d to %d: the database does not take them: %v", p.name(), r.first, r.first+int64(len(r.batch))-1, err)
	}
	clear(r.batch)
	r.batch, r.bytes = r.batch[:0], 0
	return err
}

// withhold removes references to records that are not stored yet.
func (r *restorer) withhold(p *backupPart, rec mapping.Record) {
	for i := range p.resource.Fields {
		f := &p.resource.Fields[i]
		v := rec.Values[i]
		if f.Reference == "" || !v.IsSet() || r.stored(p, rec.ID(), f.Target(), int32(v.Int())) {
			continue
		}
		r.forward = append(r.forward, forward{f, p.resource, rec.ID(), v})
		rec.Values[i] = mapping.NullValue()
	}
}

// stored reports whether the record to is stored before the record id of p.
func (r *restorer) stored(p *backupPart, id int32, target *mapping.Resource, to int32) bool {
	if target == p.resource {
		return to <= id || r.isSystem(target, to)
	}
	return r.rank[target] < r.rank[p.resource] || r.isSystem(target, to)
}

// setCounters lets numbers continue after the highest.
func (r *restorer) setCounters(ctx context.Context) error {
	for _, counters := range []map[string]int64{r.backup.manifest.Counters, r.highest} {
		for name, value := range counters {
			_, err := r.conn.Exec(ctx, `INSERT INTO counter (client_id, name, value) VALUES (?1, ?2, ?3) ON CONFLICT (client_id, name)
				DO UPDATE SET value = CASE WHEN excluded.value > counter.value THEN excluded.value ELSE counter.value END`,
				mapping.IntValue(r.client.ID), mapping.TextValue(name), mapping.IntValue(value))
			if err != nil {
				return fmt.Errorf("set the counter %s: %w", name, err)
			}
		}
	}
	return nil
}

// numberIn is the number from which a format such as O%06d made a text; 0 for any
// other text.
func numberIn(format, text string) int64 {
	before, rest, _ := strings.Cut(format, "%")
	_, after, _ := strings.Cut(rest, "d")
	digits, ok := strings.CutPrefix(text, before)
	if !ok {
		return 0
	}
	if digits, ok = strings.CutSuffix(digits, after); !ok {
		return 0
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || fmt.Sprintf(format, n) != text {
		return 0
	}
	return n
}

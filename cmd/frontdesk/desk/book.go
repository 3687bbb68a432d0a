package desk

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/cmd/frontdesk/revisions"
	"frontdesk/config"
)

// book has the last configurations of the gateway: in memory, where the page reads them, and in a
// folder. The reload does not wait for the disk.
type book struct {
	*basis
	store  revisions.Store
	ledger *ledger.Ledger

	mu      sync.Mutex
	all     []revisions.Revision // oldest first
	waiting chan bookEntry
}

// bookEntry is a revision that is not in the folder yet.
type bookEntry struct {
	n     int
	texts []config.Text
}

// configsFolder is where configurations are kept: beside the gateway's own database or, if that is
// no file, beside the folder of results; "" where there is neither.
func configsFolder(database, results string) string {
	switch {
	case database != "":
		return database + "-configs"
	case results != "":
		return filepath.Clean(results) + "-configs"
	default:
		return ""
	}
}

// ConfigsFolderOf is the folder of a configuration; "" where a gateway has none.
func ConfigsFolderOf(c *config.Config) (string, error) {
	database, err := DatabaseOf(c)
	if err != nil {
		return "", err
	}
	return configsFolder(database.file(), c.Webhooks.Folder), nil
}

func openBook(b *basis, folder string, acts *ledger.Ledger) *book {
	k := &book{basis: b, store: revisions.Store(folder), ledger: acts, waiting: make(chan bookEntry, revisions.Most)}
	var err error
	if k.all, err = k.store.List(); err != nil {
		b.log.Warn("some configurations of the past cannot be read", zap.Error(err))
	}
	return k
}

// revisions are all, newest first.
func (k *book) revisions() []revisions.Revision {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := slices.Clone(k.all)
	slices.Reverse(all)
	return all
}

// inForce is the last one that was taken.
func (k *book) inForce() (r revisions.Revision, ok bool) {
	all := k.revisions()
	if i := slices.IndexFunc(all, func(r revisions.Revision) bool { return !r.Refused }); i >= 0 {
		return all[i], true
	}
	return r, false
}

// note keeps a configuration, and returns its number. One that is refused again for the same
// is no new one.
func (k *book) note(r revisions.Revision, texts []config.Text) (n int, again bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	last := len(k.all) - 1
	if again = last >= 0 && r.Refused && k.all[last].Refused && slices.Equal(k.all[last].Problems, r.Problems); again {
		k.all[last].Again++
		k.all[last].Last = r.At
		n = k.all[last].N
	} else {
		n = 1
		if last >= 0 {
			n = k.all[last].N + 1
		}
		r.N, r.Texts = n, len(texts) > 0 && k.store != ""
		k.all = revisions.Prune(append(k.all, r))
	}
	select {
	case k.waiting <- bookEntry{n, texts}:
	default:
		k.log.Warn("a configuration is not stored: too many wait for the disk", zap.Int("n", n))
	}
	return n, again
}

// watch stores what was noted until ctx ends, and then what is still waiting.
func (k *book) watch(ctx context.Context) {
	for {
		select {
		case e := <-k.waiting:
			k.keep(e)
			continue
		default:
		}
		select {
		case e := <-k.waiting:
			k.keep(e)
		case <-ctx.Done():
			return
		}
	}
}

// actPatience is how long to wait for the list of acts, and actsBefore how long before a
// configuration took effect the act that brought it may have begun.
const (
	actPatience = 3 * time.Second
	actsBefore  = 10 * time.Minute
)

func (k *book) keep(e bookEntry) {
	who := k.who(e.n)
	k.mu.Lock()
	i := slices.IndexFunc(k.all, func(r revisions.Revision) bool { return r.N == e.n })
	if i < 0 { // newer ones have displaced it
		k.mu.Unlock()
		return
	}
	if who != "" {
		k.all[i].Who = who
	}
	r, all := k.all[i], slices.Clone(k.all)
	k.mu.Unlock()
	err := k.store.Put(r, e.texts)
	dropped, failed := k.store.Keep(all)
	if err = errors.Join(err, failed); err != nil {
		k.log.Warn("the configurations of the past cannot be stored", zap.String("folder", string(k.store)), zap.Error(AdviseFull(err)))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.all {
		if slices.Contains(dropped, k.all[i].N) || err != nil && k.all[i].N == e.n {
			k.all[i].Texts = false
		}
	}
}

// who is who brought a configuration by a command, as the list of acts knows; "" where nobody did.
func (k *book) who(n int) string {
	k.mu.Lock()
	i := slices.IndexFunc(k.all, func(r revisions.Revision) bool { return r.N == n })
	if i < 0 || k.all[i].Refused {
		k.mu.Unlock()
		return ""
	}
	r := k.all[i]
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), actPatience)
	defer cancel()
	acts, err := k.ledger.Acts(ctx, ledger.ActFilter{Since: r.At.Add(-actsBefore)}, time.Now())
	if err != nil {
		return ""
	}
	for _, act := range acts {
		if strings.Contains(act.Whom, r.Digest) {
			return act.Who + ", " + act.Origin + ", by frontdesk " + act.What
		}
	}
	return ""
}

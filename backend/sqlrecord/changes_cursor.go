package sqlrecord

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// spot is a position in the table of changes: after the change seq of transaction tx. On
// SQLite, where transactions follow one another, tx is always 0.
type spot struct{ tx, seq int64 }

// cursor is the content of a client's cursor: a position, and when the cursor was issued.
type cursor struct {
	at     spot
	issued int64 // milliseconds since 1970, by the clock of the database
}

// seal encrypts cursors with a secret from the database, so that gateways can read each
// other's. Its holder learns nothing from a cursor: neither whose it is, nor how much others write.
type seal struct{ aead cipher.AEAD }

const (
	cursorBytes  = 4 * 8
	secretBytes  = 32
	cursorPrefix = "c1_" // of its form
)

func newSeal(secret []byte) (seal, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return seal{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return seal{aead}, err
}

func (s seal) text(client auth.Client, c cursor) string {
	plain := make([]byte, 0, cursorBytes)
	for _, n := range []int64{client.ID, c.at.tx, c.at.seq, c.issued} {
		plain = binary.BigEndian.AppendUint64(plain, uint64(n))
	}
	return cursorPrefix + base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil))
}

// cursor reads a text; false if it is not a cursor of this client.
func (s seal) cursor(client auth.Client, text string) (c cursor, ok bool) {
	body, ok := strings.CutPrefix(text, cursorPrefix)
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if !ok || err != nil {
		return c, false
	}
	plain, err := s.aead.Open(nil, nil, sealed, nil)
	if err != nil || len(plain) != cursorBytes {
		return c, false
	}
	n := func(i int) int64 { return int64(binary.BigEndian.Uint64(plain[8*i:])) }
	return cursor{at: spot{n(1), n(2)}, issued: n(3)}, n(0) == client.ID
}

// keptSeal is the secret in the database, the cluster of PostgreSQL for which it was made, and the
// cluster that this is.
type keptSeal struct {
	secret       []byte
	place, found string
}

func (k keptSeal) good() bool { return len(k.secret) == secretBytes && k.place == k.found }

func readSeal(ctx context.Context, db DB, c Conn, forUpdate string) (k keptSeal, err error) {
	here := "''"
	if _, ok := db.(*postgresDB); ok {
		here = "(SELECT system_identifier::text FROM pg_control_system())"
	}
	text := "SELECT secret, place, " + here + " FROM " + changeLogTable + forUpdate
	err = c.Query(ctx, text, []Column{{Type: mapping.Bytea}, {Type: mapping.Text}, {Type: mapping.Text}}, nil, func(row []mapping.Value) error {
		k = keptSeal{secret: []byte(row[0].Text()), place: strings.Clone(row[1].Text()), found: strings.Clone(row[2].Text())}
		return nil
	})
	return k, err
}

// openSeal reads the secret, and makes one if there is none or if the tables have come into
// another cluster of PostgreSQL: its transactions count from elsewhere, so the changes and
// cursors from before mean nothing there.
func openSeal(ctx context.Context, db DB) (seal, error) {
	var kept keptSeal
	err := db.Read(ctx, func(c Conn) (err error) {
		kept, err = readSeal(ctx, db, c, "")
		return err
	})
	if err == nil && !kept.good() {
		err = db.Write(ctx, func(c Conn) (err error) {
			if kept, err = readSeal(ctx, db, c, db.Dialect().ForUpdate); err != nil || kept.good() {
				return err
			}
			kept.secret = make([]byte, secretBytes)
			_, _ = rand.Read(kept.secret) // rand.Read never fails
			return renewSeal(ctx, db.Dialect(), c, kept.secret, kept.found)
		})
	}
	if err != nil {
		return seal{}, fmt.Errorf("changes: read the secret of cursors: %w", err)
	}
	return newSeal(kept.secret)
}

// renewSeal updates the row, so that whoever waits for it finds the new secret.
func renewSeal(ctx context.Context, d *Dialect, c Conn, secret []byte, place string) error {
	if _, err := c.Exec(ctx, "DELETE FROM "+changeTable); err != nil {
		return err
	}
	args := []mapping.Value{mapping.BytesValue(secret), mapping.TextValue(place)}
	values := d.Placeholder(1) + ", place = " + d.Placeholder(2)
	n, err := c.Exec(ctx, "UPDATE "+changeLogTable+" SET quiet = 0, secret = "+values, args...)
	if err == nil && n == 0 {
		err = fmt.Errorf("table %s has no row", changeLogTable)
	}
	return err
}

// age is how old a cursor is.
func (c cursor) age(now int64) time.Duration { return time.Duration(now-c.issued) * time.Millisecond }

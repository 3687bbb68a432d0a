package check

import (
	"context"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend/legacy"
	"frontdesk/mapping/sheet"
)

// accounts looks at the table of users, and at who of them can log in.
func (c *sqlCheck) accounts(ctx context.Context) error {
	a := c.Sheet.Accounts
	if a.Table == "" || a.Facts == nil {
		return nil
	}
	t := c.find("accounts.table", a.Table)
	if t == nil {
		return nil
	}
	rc := &resourceCheck{sqlCheck: c, table: t, read: t}
	of := make([]legacy.Expression, len(a.Facts.Places))
	complete := true
	for i, p := range a.Facts.Places {
		of[i] = legacy.Expression{Column: p.Name}
		complete = rc.column(t, "accounts.columns", p.Name) != nil && complete
	}
	if !complete {
		return nil
	}
	rows, err := c.reader.Rows(ctx, a.Table, of, "", 0, c.Rows)
	if err != nil {
		return err
	}
	c.Looked = append(c.Looked, fmt.Sprintf("accounts: %d user(s) of %s", len(rows), t.Name))
	if len(rows) == 0 {
		c.add(Warning, "accounts.none", "accounts.table", t.Name+" has no rows: nobody can log in", "name the table that has the users")
		return nil
	}
	if err := c.users(rows); err != nil {
		return err
	}
	twice, _, err := c.reader.Repeated(ctx, a.Table, []string{a.Facts.UsernamePlace()}, "", 0, 100)
	if twice > 0 {
		c.add(Warning, "accounts.twice", "accounts.columns.username", fmt.Sprintf("%d login name(s) are those of several users, of whom none can log in", twice),
			"find users by accounts.query with a condition that leaves one, or mend the rows")
	}
	return err
}

// users counts those who cannot log in, or not use the interface.
func (c *sqlCheck) users(rows [][]sheet.Raw) error {
	a := c.Sheet.Accounts
	hashes, err := auth.NewForeignHashes(auth.NewHasher(), a.Hash)
	if err != nil {
		return err
	}
	unusable, mailless, unknown, why := 0, 0, 0, error(nil)
	for _, row := range rows {
		switch u, err := a.Facts.User(row, ""); {
		case err != nil:
			unusable, why = unusable+1, err
		case u.Blocked || u.External:
		case !hashes.Knows(u.Password, u.Salts):
			unknown++
		case u.Email == "":
			mailless++
		}
	}
	tell := func(n int, rule, key, seen, cure string) {
		if n == 0 {
			return
		}
		severity := Warning
		if n == len(rows) {
			severity = Error
		}
		c.add(severity, rule, "accounts.columns"+key, fmt.Sprintf("%d of %d user(s) %s", n, len(rows), seen), cure)
	}
	if why != nil {
		tell(unusable, "accounts.unusable", "", "cannot be read: "+hidden(why), "name the column that has it, or mend the rows: they cannot log in")
	}
	tell(unknown, "accounts.hash", ".password", "have no password of a form that hash lists", "name the column of the hashes, or list their form under hash: they cannot log in")
	tell(mailless, "accounts.email", ".email", "have no e-mail address, without which the interface lets nobody log in", "name the column, or mend the rows")
	return nil
}

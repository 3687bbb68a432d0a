package check

import (
	"context"
	"fmt"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend/adopt/survey"
	"frontdesk/mapping/sheet"
)

// verdict is what is said of rows for which a claim does not hold. {field} stands for the name of
// the field, {column} for its column, {table} for what is read, {n} for how many there are.
type verdict struct {
	severity         Severity
	rule, seen, cure string
}

var verdicts = map[survey.Claim]verdict{
	survey.Unshown: {Error, "data.unfit", "have a {field} that the interface cannot show, and are left out of lists", "mend the rows, have read convert the value, or list under zero what stands for none"},
	survey.Unlisted: {Error, "data.unknown-code", "have a {column} that the codes of {field} do not list, and are left out of lists",
		"list them under codes, or say unknown: \"null\"; SELECT {column}, COUNT(*) FROM {table} GROUP BY {column} shows them"},
	survey.Empty:     {Warning, "data.null", "have no {field}, which the interface requires: clients see none", "mend the rows, or have read say what is shown in its place"},
	survey.Undated:   {Warning, "data.undated", "have no {field}, and lists by modified_since never have them", "name a column that every row has, or read another in its place: COALESCE(…)"},
	survey.TooLong:   {Note, "data.long", "have a longer {field} than the interface takes", "clients read it whole, but cannot write it back"},
	survey.Rounded:   {Warning, "data.scale", "have a {field} with more decimals than are shown", "clients read it rounded; where that is not meant, name another column"},
	survey.Altered:   {Warning, "data.altered", "would not be stored as they are if the {field} that clients read were written back", "have write be the reverse of read for these rows too, or say under zero what stands for none"},
	survey.Missed:    {Error, "data.missed", "are not found by a filter by the {field} that they show", "have write give what the column has, to the type, or say a find that holds for them"},
	survey.Unordered: {Error, "data.unordered", "stand elsewhere by their column than by {field}: ranges and orders by it are wrong", "take ordered: true out"},
	survey.Nowhere:   {Warning, "data.reference", "have a {field} that leads to no record which their client sees", "clients are told of records that are not there: mend the rows, or list what stands for none under zero"},
	survey.Twice:     {Warning, "data.duplicate", "{n} value(s) of {field} stand in more than one row of a client", "the interface promises one: mend the rows"},
	survey.Keyless:   {Error, "data.keyless", "have no key, and are left out of lists", "name another key, or leave them out by where"},
	survey.Nobodys:   {Warning, "data.nobody", "belong to no client that a user works for", "nobody sees them: mend the rows, or name another place"},
}

// prove has the database proved what the sheet says of all rows of a resource.
func (c *sqlCheck) prove(ctx context.Context, db Database, r *sheet.Resource, clients []auth.Client) error {
	rc := &resourceCheck{sqlCheck: c, Resource: r, path: "resources." + r.Name}
	isOfWhere := r.SQL.Client == (sheet.Expr{}) && r.Through == nil && !r.IsShared()
	if isOfWhere && len(clients) == 0 {
		c.add(Note, "sql.no-client", rc.path, "no client is known whose rows could be looked at", "check again when there are users, or rows")
	}
	rows, found, err := survey.Prove(ctx, db, r.Resource, clients)
	if err != nil {
		return fmt.Errorf("resource %s: %w", r.Name, err)
	}
	c.Looked = append(c.Looked, fmt.Sprintf("%s: all %d row(s) of %s", r.Name, rows, r.Read))
	for _, f := range found {
		rc.tell(f)
	}
	return nil
}

func (c *resourceCheck) tell(f survey.Finding) {
	v, path, name, column := verdicts[f.What], c.at("client"), "", ""
	if f.Field != nil {
		path, name = c.ofField(f.Field), f.Field.Name
		column = strings.Join(c.SQL.Fields[f.Field.Index].Names, ", ")
		if f.Field.Primary {
			path, column = c.at("key"), strings.Join(c.Key.Places, ", ")
		}
	}
	if f.What == survey.Unproved {
		c.add(Error, "data.unproved", path, "the database fails where its rows are asked for: "+c.words(f.Err), "mend the SQL, or the rows that it fails by")
		return
	}
	switch {
	case f.What == survey.Unlisted && c.SQL.Fields[f.Field.Index].UnknownIsNull:
		v.severity, v.seen = Note, "have a {column} that the codes of {field} do not list, and show null"
	case f.What == survey.Unshown && f.Field.Primary:
		v.cure = "say id: kept"
	case f.What == survey.Twice && f.Field.Primary:
		v.severity, v.cure = Error, "name the columns that tell the rows apart"
	case f.What == survey.Nowhere && f.Rows == f.Of:
		v.severity, v.cure = Error, "name the column of the "+strings.TrimSuffix(f.Field.Reference+" ", " ")+", or leave the field out"
	}
	words := strings.NewReplacer("{field}", name, "{column}", column, "{table}", c.Read, "{n}", fmt.Sprint(f.Rows))
	seen := words.Replace(v.seen)
	if f.What != survey.Twice {
		seen = fmt.Sprintf("%d of %d row(s) %s", f.Rows, f.Of, seen)
	}
	c.add(v.severity, v.rule, path, seen, words.Replace(v.cure))
}

// users looks for the columns of the users.
func (c *sqlCheck) users(a sheet.Accounts) {
	t := c.find("accounts.table", a.Table)
	if t == nil || a.Facts == nil {
		return
	}
	for _, of := range a.Facts {
		for _, name := range of.Names {
			c.column(t, "accounts.columns", name)
		}
	}
	for _, h := range a.Hash {
		c.column(t, "accounts.hash", h.Salt)
	}
}

// proveUsers looks at who of the table of users can log in.
func (c *sqlCheck) proveUsers(ctx context.Context, db Database) error {
	table := c.Sheet.Accounts.Table
	if table == "" {
		return nil
	}
	n, err := survey.ProveUsers(ctx, db)
	if err != nil {
		c.add(Error, "data.unproved", "accounts.table", "the database fails where users are asked for: "+c.words(err), "mend accounts.columns")
		return ctx.Err()
	}
	if c.Looked = append(c.Looked, fmt.Sprintf("accounts: all %d user(s) of %s", n.All, table)); n.All == 0 {
		c.add(Warning, "accounts.none", "accounts.table", table+" has no rows: nobody can log in", "name the table that has the users")
	}
	tell := func(users int64, rule, key, seen, cure string) {
		severity := Warning
		if users == n.All {
			severity = Error
		}
		if users > 0 {
			c.add(severity, rule, "accounts.columns"+key, fmt.Sprintf("%d of %d user(s) %s", users, n.All, seen), cure)
		}
	}
	tell(n.Unusable, "accounts.unusable", "", "lack a name or a client, or have one that cannot be read", "name the column that has it, or mend the rows: they cannot log in")
	tell(n.Hashless, "accounts.hash", ".password", "have no password of a form that hash lists", "name the column of the hashes, or list their form under hash: they cannot log in")
	tell(n.Addressless, "accounts.email", ".email", "have no e-mail address, without which the interface lets nobody log in", "name the column, or mend the rows")
	if n.Shared > 0 {
		c.add(Warning, "accounts.twice", "accounts.columns.username", fmt.Sprintf("%d login name(s) are those of several users, of whom none can log in", n.Shared),
			"find users by accounts.query with a condition that leaves one, or mend the rows")
	}
	return nil
}

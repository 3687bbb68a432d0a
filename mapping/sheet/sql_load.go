package sheet

import (
	"slices"
	"strconv"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// Places of what is read by SQL in place of a column.
const (
	clientRead  = "client.read"
	versionRead = "version.read"
)

// OwnStatement stands, among statements, for what frontdesk does itself: an INSERT in create. Where
// another statement there has made the row, OwnUpdate writes the columns of all fields.
const (
	OwnStatement = "default"
	OwnUpdate    = "update"
)

// isOwn tells whether a statement stands for what frontdesk does itself.
func isOwn(op mapping.Scope, statement string) bool {
	return statement == OwnStatement || statement == OwnUpdate && op == mapping.OpCreate
}

// decode decodes a sheet: one of a database is in format 2, and is brought into the form of
// format 1 as far as both say the same.
func decode(path string, src []byte, options ...strictyaml.Option) (*file, *strictyaml.Document, strictyaml.Problems) {
	var peek struct {
		Format int `yaml:"format"`
		Source struct {
			SQL  *struct{} `yaml:"sql"`
			HTTP *struct{} `yaml:"http"`
		} `yaml:"source"`
	}
	strictyaml.Decode(path, src, &peek) // what is wrong is told below
	if peek.Source.HTTP == nil && (peek.Format == 2 || peek.Source.SQL != nil) {
		var f sqlSheetFile
		doc, problems := strictyaml.Decode(path, src, &f, options...)
		return f.common(), doc, problems
	}
	var f file
	doc, problems := strictyaml.Decode(path, src, &f, options...)
	return &f, doc, problems
}

// common is the sheet in the form of format 1.
func (f *sqlSheetFile) common() *file {
	out := &file{Format: f.Format, Source: sourceFile{sql: f.Source.SQL}, headFile: f.headFile, Client: f.Client.place(clientRead), asSQL: f}
	out.Accounts = f.Accounts.common()
	out.Resources = make(map[string]resourceFile, len(f.Resources))
	for name, r := range f.Resources {
		out.Resources[name] = r.common()
	}
	return out
}

// place is the column, or the name under which what SQL reads is placed.
func (e exprFile) place(name string) string {
	if e.SQL != "" {
		return name
	}
	return e.Column
}

func (f *sqlAccountsFile) common() accountsFile {
	out := accountsFile{forgottenFile: f.forgottenFile, found: f.foundFile}
	for _, u := range f.Users {
		of := clientFile{Name: u.Client.Name}
		if f.Clients == "kept" {
			of.key = u.Client.ID
		} else {
			of.ID, _ = strconv.ParseInt(u.Client.ID, 10, 64) // 0 is reported
		}
		out.Users = append(out.Users, userFile{loginFile: u.loginFile, Client: of})
	}
	c := &f.Columns
	out.columns = accountColumnsFile{
		ID: c.ID.common(), Username: c.Username.common(), password: c.Password.common(), Email: c.Email.common(),
		ClientID: c.ClientID.common(), ClientName: c.ClientName.common(), External: c.External.common(), Blocked: c.Blocked.common(),
	}
	return out
}

func (f sqlFactFile) common() fieldFile {
	return fieldFile{given: f.given, fieldSettings: fieldSettings{From: f.Column, sql: f.Read, Codes: f.Codes, promiseFile: promiseFile{Constant: f.Constant}}}
}

func (f sqlResourceFile) common() resourceFile {
	out := resourceFile{
		tableFile: f.tableFile, rows: f.rowsFile, Version: f.Version.place(versionRead), Client: f.Client.whoseFile,
		Key:        keyFile{Columns: f.Key.Columns, ID: f.Key.ID, Case: f.Key.Case, Generated: f.Key.Generated.how},
		Operations: operationsFile{Only: f.Operations.Only},
		Fields:     make(map[string]fieldFile, len(f.Fields)), asSQL: &f,
	}
	if f.Client.Read != "" {
		out.Client.place = clientRead
	}
	named := map[string]bool{}
	for _, statement := range slices.Concat(f.Create, f.Update) {
		for _, p := range Params(statement) {
			named[p.of()] = true
		}
	}
	for name, field := range f.Fields {
		out.Fields[name] = field.common(named[name])
	}
	return out
}

// common are the settings in the form of format 1.
func (f sqlFieldSettings) common(named bool) fieldFile {
	f.named = named
	out := fieldSettings{
		From: f.Column, sql: f.Read, Codes: f.Codes, Unknown: unknownFile{how: f.Unknown}, TimeZone: f.TimeZone,
		Zero: f.Zero, Empty: f.Empty, promiseFile: f.promiseFile, asSQL: &f,
	}
	switch Kind(f.Type) {
	case KindEpoch:
		out.Format = "epoch_seconds"
	case KindEpochMillis:
		out.Format = "epoch_millis"
	default:
		out.Type = f.Type
	}
	return fieldFile{fieldSettings: out, given: true}
}

// word is what a message says: of the sheet's format 1, or of 2.
func (l *loader) word(one, two string) string {
	if l.asSQL != nil {
		return two
	}
	return one
}

// item is the path of an item of a list, or that of the only one, which needs no list.
func (l *loader) item(path string, i int) string {
	if one := path + "[" + itoa(i) + "]"; l.doc.Has(one) {
		return one
	}
	return path
}

// statementParams are those of all SQL that is run for a client's request.
var statementParams = []string{"client", "client_name", "user", "username"}

// judgeSQL reports SQL that says nothing, and parameters that are not known there or stand in
// quotes. It returns the parameters.
func (l *loader) judgeSQL(path, text string, known ...string) []string {
	if strings.TrimSpace(text) == "" {
		l.fail(path, "found an empty text, expected SQL")
	}
	params, quoted := scanParams(text)
	for _, p := range quoted {
		if slices.Contains(known, p.Name) {
			l.fail(path, "found :%s in quotes, where it is a text: expected it without, it is a parameter", p.Name)
		}
	}
	var names, all []string
	for _, name := range known {
		all = append(all, ":"+name)
	}
	for _, p := range params {
		if names = append(names, p.Name); slices.Contains(known, p.Name) {
			continue
		}
		if len(known) == 0 {
			l.fail(path, "found %s, expected no parameter here", l.found(path, ":"+p.Name))
			continue
		}
		l.unknown(path, "parameter", ":"+p.Name, all)
	}
	return names
}

// loadClient compiles how the sheet says whose a record is.
func (l *loader) loadClient() {
	if l.asSQL == nil {
		return
	}
	l.judgeRead("client.read", l.asSQL.Client.SQL)
	if l.sheet.ClientsKept = l.asSQL.Accounts.Clients == "kept"; l.sheet.ClientsKept && l.Keep == "" {
		l.fail("accounts.clients", "the numbers of clients are given out and must be kept, expected keep: FILE at the top of the sheet")
	}
}

// expressions compiles what a resource says in SQL beside its fields. It comes before key,
// which finds the places that it adds.
func (d *draft) expressions() {
	f := d.file.asSQL
	if f == nil {
		return
	}
	out := &ResourceSQL{Statements: map[mapping.Scope][]string{}, NewKey: f.Key.Generated.SQL, Version: f.Version.Expr, Client: d.asSQL.Client.Expr}
	if f.Client.given || f.Shared {
		out.Client = Expr{f.Client.place, f.Client.Read}
		d.judgeRead(d.at("client", "read"), f.Client.Read)
	}
	d.resource.SQL = out
	d.judgeRead(d.at("version", "read"), f.Version.SQL, "client")
	for name, text := range map[string]string{clientRead: out.Client.SQL, versionRead: f.Version.SQL} {
		if text != "" {
			d.placeOf(Place{Name: name, SQL: text})
		}
	}
	d.judgeRead(d.at("where"), f.Where, "client")
	d.judgeRead(d.at("read"), f.Read)
	d.judgeRead(d.at("changes", "where"), f.Changes.Where)
	for i, statement := range f.Key.Generated.SQL {
		d.judgeSQL(d.item(d.at("key", "generated", "sql"), i), statement, statementParams...)
	}
}

// judgeRead is judgeSQL where the sheet need not say anything.
func (l *loader) judgeRead(path, text string, known ...string) {
	if text != "" {
		l.judgeSQL(path, text, known...)
	}
}

// assignConstants compiles what every create sets by format 2.
func (d *draft) assignConstants() {
	if d.file.asSQL == nil {
		return
	}
	for _, c := range d.file.asSQL.Constants {
		path := d.at("constants", c.Key)
		if !d.isPlace(path, c.Key) {
			continue
		}
		d.judgeSQL(path, c.Value, statementParams...)
		d.notClient(path, c.Key)
		d.writes(c.Key, "constants", path)
		d.resource.constants = append(d.resource.constants, fixed{place: c.Key})
		d.resource.SQL.Constants = append(d.resource.SQL.Constants, Assign{c.Key, c.Value})
	}
}

// notClient reports what is written to the column of the client.
func (d *draft) notClient(path, column string) {
	if column == d.resource.Client {
		d.fail(path, "found the place of client, which every create writes already: expected it there alone")
	}
}

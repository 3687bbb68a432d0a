package foreigntest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
)

// Kraft makes a Kraft: an office whose documents are its customers', of whom some have
// numbers that MariaDB takes for another's. The users "smit" and "jansen" have the password
// "not-a-secret-1".
func Kraft(t testing.TB) *System {
	t.Helper()
	home := folder(t, "kraft", "dbinit/mysql")
	s := &System{DSN: legacytest.EmptyMariaDB(t, "utf8"), Sheet: filepath.Join(files("kraft"), "kraft.yaml"), rows: kraftRows}
	// Moments are shown in UTC; the days of the office begin in its own zone, SYSTEM.
	db, err := sql.Open("mysql", s.DSN+"?multiStatements=true&interpolateParams=true&time_zone=%27%2B00%3A00%27")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(1) // the scripts set variables
	require.NoError(t, setUp(db, home, files("kraft")))
	w := kraft{db}
	require.NoError(t, w.fill())
	s.office, s.ask = w, w.ask
	weights := map[string]string{}
	s.Weigh = func(text string) string {
		weight, known := weights[text]
		if !known {
			require.NoError(t, db.QueryRow("SELECT HEX(WEIGHT_STRING(RTRIM(CONVERT(? USING utf8)) COLLATE utf8_general_ci))", text).Scan(&weight))
			weights[text] = weight
		}
		return weight
	}
	return s
}

// setUp runs the scripts that make Kraft's database, those by which each version since
// changed it, and that of the sheet's maker.
func setUp(db *sql.DB, home, own string) error {
	scripts := []string{filepath.Join(home, "dbinit/mysql/create_schema.sql"), filepath.Join(home, "dbinit/mysql/fill_schema_en.sql")}
	for n := 2; ; n++ {
		script := filepath.Join(home, fmt.Sprintf("dbmigrate/mysql/%d_dbmigrate.sql", n))
		if _, err := os.Stat(script); err != nil {
			break
		}
		scripts = append(scripts, script)
	}
	for _, script := range append(scripts, filepath.Join(own, "numbers.sql")) {
		text, err := os.ReadFile(script)
		if err != nil {
			return err
		}
		if _, err := db.Exec(string(text)); err != nil {
			return fmt.Errorf("%s: %w", script, err)
		}
	}
	return nil
}

// kraft works in Kraft, by statements like those of its program.
type kraft struct{ db *sql.DB }

// do implements worker.
func (k kraft) do(what string, of map[string]any, _ any) (err error) {
	switch what {
	case "chapter":
		_, err = k.db.Exec("INSERT INTO CatalogChapters (catalogSetID, chapter, description, sortKey, parentChapter) VALUES (?, ?, '', 1, 0)", of["set"], of["name"])
	case "material":
		_, err = k.db.Exec("INSERT INTO stockMaterial (chapterID, material, unitID, perPack, priceIn, priceOut, enterDate, modifyDate) VALUES (?, ?, ?, 1, ?, ?, ?, ?)",
			of["chapter"], of["name"], of["unit"], of["in"], of["out"], of["entered"], of["changed"])
	case "document":
		err = k.document(of)
	case "save": // Kraft makes room for the numbers of all positions, and gives them anew
		if _, err = k.db.Exec("UPDATE docposition SET ordNumber = -1 * ordNumber WHERE docID = ?", of["document"]); err == nil {
			_, err = k.db.Exec("SET @n := 0; UPDATE docposition SET ordNumber = (@n := @n + 1) WHERE docID = ? ORDER BY ordNumber DESC", of["document"])
		}
	case "throw away":
		_, err = k.db.Exec("DELETE d, p FROM document d LEFT JOIN docposition p USING (docID) WHERE d.docID = ?", of["document"])
	case "delete":
		key := map[string]string{"CatalogChapters": "chapterID", "stockMaterial": "matID", "docposition": "positionID"}[of["table"].(string)]
		_, err = k.db.Exec(fmt.Sprintf("DELETE FROM %s WHERE %s = ?", of["table"], key), of["id"])
	default:
		err = fmt.Errorf("nobody does %s in Kraft", what)
	}
	return err
}

// document makes one, under the next number, with its positions.
func (k kraft) document(of map[string]any) error {
	var number int
	_, err := k.db.Exec("LOCK TABLES numberCycles WRITE; UPDATE numberCycles SET lastIdentNumber = lastIdentNumber + 1 WHERE name = 'default'")
	if err == nil {
		err = k.db.QueryRow("SELECT lastIdentNumber FROM numberCycles WHERE name = 'default'").Scan(&number)
	}
	if _, unlocked := k.db.Exec("UNLOCK TABLES"); err == nil {
		err = unlocked
	}
	if err != nil {
		return err
	}
	made, err := k.db.Exec(`INSERT INTO document (ident, docType, docDescription, clientID, clientAddress, salut, goodbye, date, lastModified, projectLabel, predecessor)
		VALUES (?, ?, ?, ?, 'Stationsweg 1', 'Dear Mr. %NAME', 'yours faithfully,', ?, ?, ?, '')`,
		fmt.Sprintf("%d-2026", number), of["type"], of["description"], of["customer"], of["date"], of["changed"], of["project"])
	if err != nil {
		return err
	}
	id, err := made.LastInsertId()
	if err != nil {
		return err
	}
	for i, line := range of["lines"].([][]any) {
		_, err := k.db.Exec("INSERT INTO docposition (docID, ordNumber, text, postype, amount, unit, price, taxType) VALUES (?, ?, ?, 'Position', ?, ?, ?, 3)", append([]any{id, i + 1}, line...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// fill has an office with some years behind it.
func (k kraft) fill() error {
	names := []any{"O'Neil", "anna", "Anna", "ANNA", `x") || ("y`, "%", "", nil, "Ünal", "blank  ", "Ännä"}
	for i := range 22 {
		err := k.do("material", map[string]any{
			"chapter": 5 + i%6, "name": names[i%11], "unit": i % 10, "in": []any{nil, "1.25", "0.01"}[i%3], "out": []string{"10", "0.1", "99999.99", "-3.33"}[i%4],
			"entered": []any{nil, "2026-03-29 03:00:00", "2026-10-25 03:30:00"}[i%3], "changed": []any{nil, "2026-03-29 01:00:00", "2026-10-25 00:30:00", "2026-10-25 01:30:00"}[i%4],
		}, nil)
		if err != nil {
			return err
		}
	}
	for i := range 66 {
		lines := [][]any{}
		for j := range i % 5 {
			lines = append(lines, []any{names[(i+j)%11], []string{"1", "0.1", "-2.5", "3.33"}[j], []any{6, nil, 9, 2}[j], []string{"10", "0.01", "12.35", "0"}[(i+j)%4]})
		}
		err := k.do("document", map[string]any{
			"type":        []string{"Offer", "Acceptance of Order", "Angebot", "Invoice", "Lieferschein", "Of another kind"}[i%6],
			"customer":    []any{"1", "2", "1", "1x", "2", "1.0", nil, "01", "", "1", "2x"}[i%11],
			"description": []any{"", nil, "Sold", "sold"}[i%4], "project": []any{nil, "r", "R", "it's", "ř"}[i%5],
			"date": []any{"2026-03-29", "2026-10-25", nil, "2026-07-01"}[i%4], "changed": []any{nil, "2026-10-25 00:30:00", "2026-10-25 01:30:00"}[i%3],
			"lines": lines,
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// ask is the oracle's.
func (k kraft) ask(ctx context.Context, text string) (all []found, err error) {
	rows, err := k.db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var f found
		columns := make([]sql.NullString, len(names))
		into := []any{&f.key, &f.owner, &f.hidden, &f.fields}
		for i := len(into); i < len(names); i++ {
			into = append(into, &columns[i])
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for _, c := range columns {
			f.columns = fmt.Appendf(f.columns, "%t %s\x00", c.Valid, c.String)
		}
		f.parsed = func() (map[string]any, error) {
			parsed := map[string]any{}
			for i := 4; i < len(names); i++ {
				parsed[names[i]] = nil
				if columns[i].Valid {
					parsed[names[i]] = columns[i].String
				}
			}
			return parsed, nil
		}
		all = append(all, f)
	}
	return all, rows.Err()
}

const (
	moment   = `, '%Y-%m-%dT%H:%i:%sZ')`
	inOffice = `, 'SYSTEM', '+00:00')` + moment
	unitsOf  = ` WHEN 0 THEN 'metre' WHEN 4 THEN 'litre' WHEN 5 THEN 'kg' WHEN 6 THEN 'piece' WHEN 8 THEN 'set' WHEN 9 THEN 'hour' END`
	// A customer's number is the whole text.
	customer = `CASE d.clientID WHEN '1' THEN 1 WHEN '2' THEN 2 ELSE 0 END`
)

var kraftRows = map[string]query{
	"turnovergroup": {
		sql:  `SELECT c.chapterID, NULL, c.catalogSetID <> 2, JSON_OBJECT('code', CAST(c.chapterID AS CHAR), 'description', c.chapter), c.* FROM CatalogChapters c ORDER BY c.chapterID`,
		says: map[string]string{"description": "chapter"},
	},
	"article": {
		sql: `SELECT m.matID, NULL, FALSE, JSON_OBJECT('number', CAST(m.matID AS CHAR), 'description', m.material, 'unit_type', CASE m.unitID` + unitsOf + `,
			'turnover_group_id', CAST(m.chapterID AS CHAR), 'purchase_price', m.priceIn, 'price', m.priceOut, 'created_at', DATE_FORMAT(CONVERT_TZ(m.enterDate` + inOffice + `,
			'modified_at', DATE_FORMAT(m.modifyDate` + moment + `), m.* FROM stockMaterial m ORDER BY m.matID`,
		says: map[string]string{"description": "material", "unit_type": "unitID", "turnover_group_id": "chapterID", "purchase_price": "priceIn", "price": "priceOut",
			"created_at": "enterDate", "modified_at": "modifyDate"},
		refers: []string{"turnover_group_id"},
	},
	"order": {
		sql: `SELECT d.docID, ` + customer + `, FALSE, JSON_OBJECT('number', d.ident, 'order_status', CASE d.docType WHEN 'Offer' THEN 'concept' WHEN 'Angebot' THEN 'concept'
			WHEN 'Acceptance of Order' THEN 'open' WHEN 'Auftragsbestätigung' THEN 'open' WHEN 'Delivery Receipt' THEN 'ready' WHEN 'Lieferschein' THEN 'ready'
			WHEN 'Invoice' THEN 'invoiced' WHEN 'Rechnung' THEN 'invoiced' END, 'order_date', DATE_FORMAT(CONVERT_TZ(CAST(d.date AS DATETIME)` + inOffice + `,
			'reference', d.projectLabel, 'description', d.docDescription, 'modified_at', DATE_FORMAT(d.lastModified` + moment + `), d.* FROM document d ORDER BY d.docID`,
		says: map[string]string{"order_status": "docType", "order_date": "date", "reference": "projectLabel", "description": "docDescription", "modified_at": "lastModified"},
	},
	"orderline": {
		sql: `SELECT p.positionID, COALESCE((SELECT ` + customer + ` FROM document d WHERE d.docID = p.docID), 0), FALSE, JSON_OBJECT('order_id', CAST(p.docID AS CHAR),
			'sort_order', p.ordNumber, 'description', p.text, 'quantity', p.amount, 'unit_type', CASE p.unit` + unitsOf + `, 'price', p.price), p.* FROM docposition p ORDER BY p.positionID`,
		says:   map[string]string{"order_id": "docID", "sort_order": "ordNumber", "description": "text", "quantity": "amount", "unit_type": "unit", "price": "price"},
		refers: []string{"order_id"},
	},
}

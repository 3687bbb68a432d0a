package sqlrecord

// Catalogue are the queries about a schema, "" if the engine has none. Each takes :schema, null
// for the default one.
type Catalogue struct {
	Version  string
	Own      string // the schema of names that name none
	Columns  string // table, is view, column, type, length, precision, scale, nullable, default, generated, ignores case, counts blanks, what one may do with it, collation
	Indexes  string // table, index, column, is unique, is primary
	Foreign  string // table, name, column, referenced table, referenced column, whether its rows cannot be deleted, referenced schema
	Checks   string // table, name, a text that its columns stand in
	Triggers string // table, words, text or null
	Lasting  string // table without transactions, its engine
	// Compares takes a column and a table in place of %s, and returns how the column compares, if
	// Columns does not: whether it ignores case, and whether it ignores blanks at the end.
	Compares string
}

func postgresCatalogue() Catalogue {
	const ours = `n.nspname = COALESCE(CAST(:schema AS text), current_schema())`
	return Catalogue{
		Version: `SELECT current_setting('server_version')`,
		Own:     `SELECT current_schema()::text`,
		Columns: `SELECT c.relname::text, CASE WHEN c.relkind IN ('v', 'm') THEN 1 ELSE 0 END, a.attname::text, regexp_replace(format_type(t.oid, NULL), '\(.*', ''),
				CASE WHEN m.size > 4 AND t.typname IN ('bpchar', 'varchar') THEN m.size - 4 WHEN m.size > 0 AND t.typname = 'bit' THEN m.size END,
				CASE WHEN t.typname = 'numeric' AND m.size > 4 THEN ((m.size - 4) >> 16) & 65535 END,
				CASE WHEN t.typname = 'numeric' AND m.size > 4 THEN (m.size - 4) & 2047 END,
				CASE WHEN a.attnotnull OR o.typnotnull THEN 0 ELSE 1 END, pg_get_expr(d.adbin, d.adrelid),
				CASE WHEN a.attidentity <> '' OR a.attgenerated <> '' OR pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%' THEN 1 ELSE 0 END,
				CASE WHEN t.typname = 'citext' OR to_jsonb(l)->>'collisdeterministic' = 'false' THEN 1 ELSE 0 END, CASE WHEN t.typname = 'bpchar' THEN 0 ELSE 1 END,
				concat_ws(',', CASE WHEN has_column_privilege(c.oid, a.attnum, 'SELECT') THEN 'select' END, CASE WHEN has_column_privilege(c.oid, a.attnum, 'INSERT') THEN 'insert' END, CASE WHEN has_column_privilege(c.oid, a.attnum, 'UPDATE') THEN 'update' END),
				CASE l.collname WHEN 'default' THEN COALESCE(to_jsonb(b)->>'datlocale', to_jsonb(b)->>'daticulocale', b.datcollate) ELSE l.collname::text END
			FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
			JOIN pg_catalog.pg_type o ON o.oid = a.atttypid
			CROSS JOIN LATERAL (SELECT CASE o.typtype WHEN 'd' THEN o.typtypmod ELSE a.atttypmod END AS size) m
			JOIN pg_catalog.pg_type t ON t.oid = CASE o.typtype WHEN 'd' THEN o.typbasetype ELSE o.oid END
			LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
			LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
			JOIN pg_catalog.pg_database b ON b.datname = current_database()
			WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND ` + ours + ` ORDER BY c.relname, a.attnum`,
		Indexes: `SELECT c.relname::text, i.relname::text, a.attname::text, CASE WHEN x.indisunique AND x.indpred IS NULL THEN 1 ELSE 0 END, CASE WHEN x.indisprimary THEN 1 ELSE 0 END
			FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indrelid JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY AS k(attnum, place)
			JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
			WHERE ` + ours + ` ORDER BY c.relname, i.relname, k.place`,
		Foreign: `SELECT c.relname::text, f.conname::text, a.attname::text, r.relname::text, b.attname::text, CASE WHEN f.confdeltype IN ('a', 'r') THEN 1 ELSE 0 END, q.nspname::text
			FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_class c ON c.oid = f.conrelid JOIN pg_catalog.pg_class r ON r.oid = f.confrelid
			JOIN pg_catalog.pg_namespace q ON q.oid = r.relnamespace
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			CROSS JOIN LATERAL unnest(f.conkey, f.confkey) WITH ORDINALITY AS k(own, other, place)
			JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.own
			JOIN pg_catalog.pg_attribute b ON b.attrelid = r.oid AND b.attnum = k.other
			WHERE f.contype = 'f' AND ` + ours + ` ORDER BY c.relname, f.conname, k.place`,
		Checks: `SELECT c.relname::text, k.conname::text, (SELECT string_agg(quote_ident(a.attname), ' ') FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (k.conkey))
			FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE k.contype = 'c' AND ` + ours + `
			UNION ALL SELECT c.relname::text, k.conname::text, string_agg(quote_ident(a.attname), ' ') FROM pg_catalog.pg_constraint k
			JOIN pg_catalog.pg_attribute a ON a.atttypid = k.contypid JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE k.contypid <> 0 AND k.contype = 'c' AND c.relkind IN ('r', 'p') AND ` + ours + ` GROUP BY 1, 2 ORDER BY 1, 2`,
		Triggers: `SELECT event_object_table::text, trigger_name || ' ' || action_timing || ' ' || event_manipulation, NULL FROM information_schema.triggers
			WHERE event_object_schema = COALESCE(CAST(:schema AS text), current_schema()) ORDER BY 1, 2`,
	}
}

const mysqlSchema = `COALESCE(:schema, DATABASE())`

func mysqlCatalogue() Catalogue {
	return Catalogue{
		Version: `SELECT VERSION()`,
		Own:     `SELECT DATABASE()`,
		Columns: `SELECT c.TABLE_NAME, t.TABLE_TYPE LIKE '%VIEW', c.COLUMN_NAME,
				CASE WHEN c.COLUMN_TYPE LIKE '%unsigned%' THEN CONCAT(c.DATA_TYPE, ' unsigned') ELSE c.DATA_TYPE END, c.CHARACTER_MAXIMUM_LENGTH, c.NUMERIC_PRECISION, c.NUMERIC_SCALE,
				c.IS_NULLABLE, c.COLUMN_DEFAULT, c.EXTRA LIKE '%auto_increment%' OR c.EXTRA LIKE '%GENERATED%' AND c.EXTRA NOT LIKE '%DEFAULT_GENERATED%',
				RIGHT(c.COLLATION_NAME, 3) = '_ci', COALESCE(c.COLLATION_NAME LIKE '%nopad%' OR c.COLLATION_NAME LIKE '%0900%', 1), c.PRIVILEGES, c.COLLATION_NAME
			FROM information_schema.COLUMNS c JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
			WHERE c.TABLE_SCHEMA = ` + mysqlSchema + ` ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`,
		Indexes: `SELECT TABLE_NAME, INDEX_NAME, COLUMN_NAME, 1 - NON_UNIQUE, INDEX_NAME = 'PRIMARY' FROM information_schema.STATISTICS
			WHERE TABLE_SCHEMA = ` + mysqlSchema + ` ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
		Foreign: `SELECT k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, r.DELETE_RULE IN ('NO ACTION', 'RESTRICT'), k.REFERENCED_TABLE_SCHEMA
			FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r
				ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
			WHERE k.TABLE_SCHEMA = ` + mysqlSchema + ` AND k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`,
		Triggers: `SELECT EVENT_OBJECT_TABLE, CONCAT(TRIGGER_NAME, ' ', ACTION_TIMING, ' ', EVENT_MANIPULATION), ACTION_STATEMENT FROM information_schema.TRIGGERS
			WHERE EVENT_OBJECT_SCHEMA = ` + mysqlSchema + ` ORDER BY EVENT_OBJECT_TABLE, TRIGGER_NAME`,
		Lasting: `SELECT t.TABLE_NAME, t.ENGINE FROM information_schema.TABLES t JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE
			WHERE t.TABLE_SCHEMA = ` + mysqlSchema + ` AND e.TRANSACTIONS <> 'YES'`,
	}
}

// SQLite has sizes in the name of a type, and no precision.
func sqliteCatalogue() Catalogue {
	const tables = `(SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND COALESCE(:schema, 'main') = 'main') m`
	return Catalogue{
		Version: `SELECT sqlite_version()`,
		Own:     `SELECT 'main'`,
		Columns: `SELECT m.name, m.type = 'view', c.name, c.type, NULL, NULL, NULL, c."notnull" = 0 AND c.pk = 0, c.dflt_value,
				c.hidden > 1 OR c.pk = 1 AND upper(c.type) = 'INTEGER' AND (SELECT COUNT(*) FROM pragma_table_info(m.name) WHERE pk > 0) = 1,
				0, 1, 'select,insert,update', NULL -- Compares tells the first two and the last
			FROM ` + tables + ` JOIN pragma_table_xinfo(m.name) c ORDER BY m.name, c.cid`,
		Indexes: `SELECT m.name, '', c.name, 1, 1, c.pk FROM ` + tables + ` JOIN pragma_table_info(m.name) c WHERE c.pk > 0
			UNION ALL SELECT m.name, i.name, x.name, i."unique" AND NOT i.partial, 0, x.seqno FROM ` + tables + ` JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) x WHERE i.origin <> 'pk'
			ORDER BY 1, 2, 6`,
		Foreign:  `SELECT m.name, 'foreign key ' || f.id, f."from", f."table", f."to", f.on_delete IN ('NO ACTION', 'RESTRICT'), 'main' FROM ` + tables + ` JOIN pragma_foreign_key_list(m.name) f ORDER BY m.name, f.id, f.seq`,
		Checks:   `SELECT name, NULL, sql FROM sqlite_schema WHERE type = 'table' AND COALESCE(:schema, 'main') = 'main'`,
		Triggers: `SELECT tbl_name, name, NULL FROM sqlite_schema WHERE type = 'trigger' AND COALESCE(:schema, 'main') = 'main' ORDER BY 1, 2`,
		Compares: `SELECT x = 'A', x = 'a ' FROM (SELECT %s AS x FROM %s WHERE 0 UNION ALL SELECT 'a')`,
	}
}

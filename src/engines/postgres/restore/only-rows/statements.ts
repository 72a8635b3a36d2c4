import { KEYS_LISTED } from '../../../shared/rows/only-rows.ts';
import { quoteName, quoteNumber, quotePath, quoteText } from '../../connection/quote.ts';
import {
  foreignKeysQuery,
  relationsOf,
  type SetAsideRelation,
  triggersQuery,
  withAncestors,
} from '../difference/set-aside.ts';
import type { CountedRows } from '../rows/rows-by-root.ts';

/** A table whose rows are replaced. */
export interface TableToReplace {
  /** For people. */
  name: string;
  schema: string;
  table: string;
  columns: string[];
  /** The partitioned table that its rows go through. */
  root?: { schema: string; table: string } | undefined;
  rows: number;
  /** Condition on the only rows to delete. Absent: all. */
  only?: string | undefined;
}

export interface SequenceValue {
  schema: string;
  name: string;
  /** `null` where no number was drawn; digits, since numbers of JavaScript are too short. */
  last_value: string | null;
}

/** Milliseconds of waiting for the lock of a table. */
const LOCK_TIMEOUT = 10_000;

export function pathOf({ schema, table }: Pick<TableToReplace, 'schema' | 'table'>): string {
  return quotePath(schema, table);
}

export function columnList(columns: string[]): string {
  return columns.length > 0 ? ` (${columns.map(quoteName).join(', ')})` : '';
}

function relations(tables: Pick<TableToReplace, 'schema' | 'table' | 'root'>[]): SetAsideRelation[] {
  const roots = new Map(tables.flatMap(({ root }) => (root ? [[pathOf(root), root] as const] : [])));
  return [...tables, ...roots.values()].map(({ schema, table }) => ({ schema, table, whole: true }));
}

/**
 * Locks the tables against changes, and those that foreign keys connect with them. A superuser turns off triggers and
 * foreign keys for its session, so that no definition has to change; others lift FORCE ROW LEVEL SECURITY, and set
 * triggers and foreign keys aside later.
 */
export function lockScript(tables: TableToReplace[], { allowsCode }: { allowsCode: boolean }): string {
  const given = relations(tables);
  return `SET LOCAL search_path = pg_catalog;
SET LOCAL lock_timeout = ${quoteNumber(LOCK_TIMEOUT)};
LOCK TABLE ${tables.map((table) => `ONLY ${pathOf(table)}`).join(', ')} IN SHARE ROW EXCLUSIVE MODE;
DO ${quoteText(`DECLARE one record; after jsonb := '[]';
BEGIN
  FOR one IN ${changedTables(tables)} LOOP
    RAISE EXCEPTION USING MESSAGE = format('the columns of %s have changed meanwhile', one.name);
  END LOOP;
  FOR one IN WITH ${relationsOf(given)}, placed AS ${withAncestors('relations')}, connected AS (${CONNECTED})
    SELECT DISTINCT oid::regclass AS relation FROM connected WHERE oid NOT IN (SELECT oid FROM relations) ORDER BY 1 LOOP
    EXECUTE format('LOCK TABLE %s IN SHARE MODE', one.relation);
  END LOOP;
  IF ${IS_SUPERUSER} THEN
    FOR one IN ${allowsCode ? 'SELECT NULL AS name WHERE false' : codeOwnersQuery(tables)} LOOP
      RAISE EXCEPTION USING MESSAGE = format('code of %I could run with the rights of a superuser', one.name);
    END LOOP;
    PERFORM set_config('session_replication_role', 'replica', true);
  ELSE
    FOR one IN WITH ${relationsOf(given)}, placed AS ${withAncestors('relations')}, connected AS (${CONNECTED})
      SELECT c.oid::regclass AS relation FROM pg_class c
      WHERE c.relforcerowsecurity AND c.oid IN (SELECT oid FROM connected UNION SELECT oid FROM relations) LOOP
      EXECUTE format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', one.relation);
      after := after || to_jsonb(format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', one.relation));
    END LOOP;
  END IF;
  PERFORM set_config('tool.after', after::text, true);
  PERFORM set_config('tool.keys', (WITH ${relationsOf(given)}, placed AS ${withAncestors('relations')}
    SELECT coalesce(jsonb_agg(to_jsonb(q)), '[]')::text FROM (${KEYS}) q), true);
END`)};
`;
}

/** Tables that have other columns than those that are replaced. */
function changedTables(tables: TableToReplace[]): string {
  const given = tables.map(({ name, schema, table, columns }) => ({ name, schema, table, columns }));
  return `SELECT j.name
    FROM json_to_recordset(${quoteText(JSON.stringify(given))}) AS j (name text, schema text, "table" text, columns json)
      LEFT JOIN pg_namespace n ON n.nspname = j.schema LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = j."table"
    WHERE ARRAY(SELECT json_array_elements_text(j.columns) COLLATE "C" ORDER BY 1) IS DISTINCT FROM ARRAY(
      SELECT a.attname::text COLLATE "C" FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY 1)`;
}

/**
 * Roles that are no superusers and whose code rows of the tables can run: in checks, domains, generated columns and
 * indexes. No role can be set for the transaction that such code could not reset.
 */
export function codeOwnersQuery(tables: Pick<TableToReplace, 'schema' | 'table' | 'root'>[]): string {
  return `WITH ${relationsOf(relations(tables))}, placed AS ${withAncestors('relations')}
    SELECT rolname AS name FROM pg_roles WHERE NOT rolsuper AND oid IN (
      SELECT relowner FROM pg_class WHERE oid IN (SELECT oid FROM relations UNION SELECT relid FROM placed)
      UNION ALL SELECT proowner FROM pg_proc UNION ALL SELECT typowner FROM pg_type WHERE typtype = 'd') ORDER BY 1`;
}

const IS_SUPERUSER = `current_setting('is_superuser') = 'on'`;

/** Both ends of the foreign keys of the tables and of those that refer to them. */
const CONNECTED = `SELECT unnest(ARRAY[k.conrelid, k.confrelid]) AS oid FROM pg_constraint k
  WHERE k.contype = 'f' AND (k.conrelid IN (SELECT relid FROM placed) OR k.confrelid IN (SELECT relid FROM placed))`;

/** The foreign keys that the server enforces, each with the rest of a query for its dangling rows; not those of periods. */
const KEYS = `SELECT k.conname AS name, fn.nspname AS schema, f.relname AS "table", x.columns,
    tn.nspname AS other_schema, t.relname AS other_table,
    coalesce((SELECT string_agg(format('f.%I', a.attname), ', ' ORDER BY array_position(i.indkey::int2[], a.attnum))
      FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::int2[])
      WHERE i.indisprimary AND i.indrelid = f.oid), x.own) AS shown,
    format('FROM %s%s f WHERE %s AND NOT EXISTS (SELECT FROM %s%s t WHERE %s)',
      CASE f.relkind WHEN 'p' THEN '' ELSE 'ONLY ' END, f.oid::regclass, x.filled,
      CASE t.relkind WHEN 'p' THEN '' ELSE 'ONLY ' END, t.oid::regclass, x.same) AS query
  FROM pg_constraint k JOIN pg_class f ON f.oid = k.conrelid JOIN pg_namespace fn ON fn.oid = f.relnamespace
    JOIN pg_class t ON t.oid = k.confrelid JOIN pg_namespace tn ON tn.oid = t.relnamespace
    CROSS JOIN LATERAL (
      SELECT json_agg(a.attname ORDER BY p.place) AS columns,
        string_agg(format('f.%I', a.attname), ', ' ORDER BY p.place) AS own,
        string_agg(format('f.%I IS NOT NULL', a.attname), ' AND ') AS filled,
        string_agg(format('t.%I OPERATOR(%I.%s) f.%I%s', b.attname, s.nspname, o.oprname, a.attname,
          CASE WHEN a.attcollation <> b.attcollation AND a.attcollation <> 0 AND b.attcollation <> 0
            THEN ' COLLATE ' || b.attcollation::regcollation ELSE '' END), ' AND ') AS same
      FROM unnest(k.conkey, k.confkey, k.conpfeqop) WITH ORDINALITY AS p (own, other, operator, place)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.own
        JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = p.other
        JOIN pg_operator o ON o.oid = p.operator JOIN pg_namespace s ON s.oid = o.oprnamespace) AS x
  WHERE k.contype = 'f' AND k.conparentid = 0 AND k.convalidated
    AND NOT coalesce((to_jsonb(k) ->> 'conperiod')::boolean, false)
    AND (k.conrelid IN (SELECT relid FROM placed) OR k.confrelid IN (SELECT relid FROM placed))`;

/** Sets triggers, rules and, unless the session ignores them, foreign keys aside, and deletes the rows. */
export function deleteScript(tables: TableToReplace[]): string {
  const given = relations(tables);
  const collect = (query: string): string => `FOR one IN ${query} LOOP
      EXECUTE one.before;
      after := after || one.after::jsonb;
    END LOOP;`;
  return `DO ${quoteText(`DECLARE one record; after jsonb := '[]';
BEGIN
    IF NOT ${IS_SUPERUSER} THEN ${collect(foreignKeysQuery(given))} END IF;
    ${collect(triggersQuery(given))}
    ${collect(rulesQuery(given))}
  PERFORM set_config('tool.after', (after || current_setting('tool.after')::jsonb)::text, true);
END`)};
${tables.map((table) => `DELETE FROM ONLY ${pathOf(table)}${table.only ? ` WHERE ${table.only}` : ''};\n`).join('')}`;
}

/** COPY knows no rules, but DELETE does. */
function rulesQuery(given: SetAsideRelation[]): string {
  return `WITH ${relationsOf(given)}
    SELECT format('ALTER TABLE %s DISABLE RULE %I', ev_class::regclass, rulename) AS before,
      json_build_array(format('ALTER TABLE %s ENABLE %s RULE %I', ev_class::regclass,
        CASE ev_enabled WHEN 'R' THEN 'REPLICA' WHEN 'A' THEN 'ALWAYS' END, rulename)) AS after
    FROM pg_rewrite WHERE ev_type = '4' AND ev_enabled <> 'D' AND ev_class IN (SELECT oid FROM relations)`;
}

/** Sets the sequences that the tables own. RESTART gives a sequence new storage, so that a rollback undoes setval too. */
export function sequencesScript(tables: TableToReplace[], values: SequenceValue[]): string {
  return `DO ${quoteText(`DECLARE one record;
BEGIN
  FOR one IN SELECT q.oid::regclass AS sequence, j.last_value FROM (${ownedSequences(tables)}) q
    JOIN json_to_recordset(${quoteText(JSON.stringify(values))}) AS j (schema text, name text, last_value text)
      ON j.schema = q.schema AND j.name = q.name LOOP
    EXECUTE format('ALTER SEQUENCE %s RESTART', one.sequence);
    IF one.last_value IS NOT NULL THEN PERFORM setval(one.sequence, one.last_value::numeric::bigint, true); END IF;
  END LOOP;
END`)};
`;
}

/** The sequences of the tables; of a partitioned table where all of its partitions are among them. */
function ownedSequences(tables: TableToReplace[]): string {
  return `WITH ${relationsOf(relations(tables))}, placed AS ${withAncestors('relations')}
    SELECT DISTINCT s.oid, n.nspname AS schema, s.relname AS name
    FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_namespace n ON n.oid = s.relnamespace
    WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
      AND (d.refobjid IN (SELECT oid FROM relations) OR d.refobjid IN (SELECT relid FROM placed p WHERE NOT EXISTS (
        SELECT FROM pg_partition_tree(p.relid) t WHERE t.isleaf AND t.relid NOT IN (SELECT oid FROM relations))))`;
}

/** Writes the mark of the database with the previous rows, with the present values of the sequences. */
export function keepScript(tables: TableToReplace[], { database, mark }: { database: string; mark: object }): string {
  return `DO ${quoteText(`DECLARE mark jsonb := ${quoteText(JSON.stringify(mark))};
BEGIN
  mark := jsonb_set(mark, '{rows,sequences}', (SELECT coalesce(jsonb_agg(jsonb_build_object('schema', q.schema, 'name', q.name,
    'last_value', pg_sequence_last_value(q.oid)::text)), '[]') FROM (${ownedSequences(tables)}) q));
  EXECUTE format('COMMENT ON DATABASE %I IS %L', ${quoteText(database)}, mark::text);
END`)};
`;
}

/** Verifies numbers of rows and foreign keys, and puts back what was set aside. `word` begins the list of dangling rows. */
export function verifyScript(counts: Omit<CountedRows, 'words'>[], word: string): string {
  const counted = counts.map(({ name, count, rows }) => {
    const message = quoteText(`${name} has other rows than it should: ${quoteNumber(rows)} are expected`);
    return `IF (${count}) <> ${quoteNumber(rows)} THEN RAISE EXCEPTION USING MESSAGE = ${message}; END IF;`;
  });
  return `DO ${quoteText(`DECLARE one record; dangling bigint; keys jsonb; found jsonb := '[]';
BEGIN
  ${counted.join('\n  ')}
  FOR one IN SELECT e AS key FROM jsonb_array_elements(current_setting('tool.keys')::jsonb) e LOOP
    EXECUTE format('SELECT count(*) %s', one.key ->> 'query') INTO dangling;
    CONTINUE WHEN dangling = 0;
    EXECUTE format('SELECT jsonb_agg(k) FROM (SELECT concat_ws('', '', %s) AS k %s LIMIT ${quoteNumber(KEYS_LISTED)}) s',
      one.key ->> 'shown', one.key ->> 'query') INTO keys;
    found := found || (one.key - 'query' - 'shown' || jsonb_build_object('rows', dangling, 'keys', keys));
  END LOOP;
  IF found <> '[]' THEN RAISE EXCEPTION USING MESSAGE = ${quoteText(word)} || found::text; END IF;
END`)};
SET CONSTRAINTS ALL IMMEDIATE;
DO ${quoteText(`DECLARE statement text;
BEGIN
  FOR statement IN SELECT jsonb_array_elements_text(current_setting('tool.after')::jsonb) LOOP EXECUTE statement; END LOOP;
END`)};
`;
}

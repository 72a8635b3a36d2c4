import { nameOf, tableName } from '../../../text/table-names.ts';
import type { ColumnFacts, ConstraintFacts, RehearsalFacts, TableFacts } from '../../facets/rehearsal-facts.ts';
import type { PostgresSession } from '../connection/session.ts';

interface TableRow {
  schema: string;
  name: string;
  rows: number;
  columns: { name: string; type: string; nullable: boolean; views: [string, string][] }[];
  indexes: string[];
  constraints: { name: string; kind: string; definition: string; validated: boolean }[];
}

const CONSTRAINTS: Record<string, ConstraintFacts['kind']> = {
  ...{ p: 'primary', u: 'unique', f: 'foreign', c: 'check', x: 'exclusion', n: 'not null' },
};

/** Rows are the server's estimate, or one by size; those of a partitioned table are the rows of its partitions. */
const TABLES = `
  SELECT n.nspname AS schema, c.relname AS name,
    (SELECT coalesce(sum(greatest(p.reltuples, pg_relation_size(p.oid) / 200.0)), 0)::float8
     FROM pg_class p WHERE p.relkind IN ('r', 'm') AND (p.oid = c.oid OR (c.relkind = 'p' AND p.oid IN
       (SELECT relid FROM pg_partition_tree(c.oid))))) AS rows,
    (SELECT coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
       'nullable', NOT a.attnotnull, 'views',
       (SELECT coalesce(json_agg(DISTINCT jsonb_build_array(vn.nspname, v.relname)), '[]') FROM pg_depend d
        JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class v ON v.oid = r.ev_class
        JOIN pg_namespace vn ON vn.oid = v.relnamespace
        WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
          AND d.refobjid = c.oid AND d.refobjsubid = a.attnum AND v.oid <> c.oid)) ORDER BY a.attnum), '[]')
     FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    (SELECT coalesce(json_agg(i.relname), '[]') FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
     WHERE x.indrelid = c.oid) AS indexes,
    (SELECT coalesce(json_agg(json_build_object('name', k.conname, 'kind', k.contype,
       'definition', pg_get_constraintdef(k.oid), 'validated', k.convalidated)), '[]')
     FROM pg_constraint k WHERE k.conrelid = c.oid) AS constraints
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
    AND c.relpersistence <> 't'`;

/** The setting of new sessions: that of role and database wins over the server's. */
const SETTINGS = `
  SELECT (SELECT substr(c.entry, length('search_path=') + 1)
     FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) AS c(entry)
     WHERE c.entry LIKE 'search\\_path=%'
       AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
       AND s.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user))
     ORDER BY s.setrole <> 0 DESC, s.setdatabase <> 0 DESC LIMIT 1) AS path,
    current_user AS role, current_setting('lock_timeout') <> '0' AS limits`;

/** Reads the tables, and how sessions begin, before a migration. */
export async function readRehearsalFacts(session: Pick<PostgresSession, 'query'>): Promise<RehearsalFacts> {
  const rows = await session.query<TableRow>(TABLES);
  const [settings] = await session.query<{ path: string | null; role: string; limits: boolean }>(SETTINGS);
  const { path, role = '', limits = false } = settings ?? {};
  return {
    tables: new Map(rows.map((row) => [nameOf(row), tableFacts(row)])),
    searchPath: searchPathOf(path ?? '"$user", public', role),
    limitsLockWaits: limits,
  };
}

function tableFacts({ rows, columns, indexes, constraints }: TableRow): TableFacts {
  return {
    rows: Math.ceil(rows),
    columns: columns.map(columnFacts),
    indexes,
    constraints: constraints.map(constraintFacts),
  };
}

function columnFacts({ name, type, nullable, views }: TableRow['columns'][number]): ColumnFacts {
  return { name, type, isNullable: nullable, views: views.map(([schema, view]) => tableName(schema, view)) };
}

function constraintFacts({ name, kind, definition, validated }: TableRow['constraints'][number]): ConstraintFacts {
  return { name, kind: CONSTRAINTS[kind] ?? 'check', definition, isValidated: validated };
}

function searchPathOf(path: string, role: string): string[] {
  const parts = path.match(/"(?:[^"]|"")*"|[^\s,]+/g) ?? [];
  return parts.map((part) => {
    const name = part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part;
    return name === '$user' ? role : name;
  });
}

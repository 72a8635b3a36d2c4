import { UserError } from '../../../runtime/errors.ts';
import { quoteName, quoteNumber } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { type ContentsEntry, rewriteContents } from './archive-contents.ts';
import type { BrokenDependencies, BrokenObject } from './broken-dependencies.ts';

/** A part of a table's or domain's definition that cannot be restored. */
interface Cut {
  /** The entry of the table or domain. */
  class: number;
  oid: number;
  /** The part itself, which pg_dump may have written as an entry of its own. */
  part: Pick<BrokenObject, 'class' | 'oid' | 'column' | 'name' | 'needs'>;
  /** The definition without the part; `null` when it is not found there. */
  apply: (definition: string) => string | null;
  comment?: string;
}

/** Settings under which pg_dump has the server write values into expressions. */
const AS_PG_DUMP = ['DateStyle = ISO', 'IntervalStyle = postgres', 'extra_float_digits = 3'];

/** The parts that have no entry in an archive, read within the session's transaction. */
export async function readCuts(
  session: PostgresSession,
  { leftOut, detached }: BrokenDependencies,
  leftOutSchemas: number[],
): Promise<Cut[]> {
  if (leftOut.length === 0 && detached.length === 0) return [];
  for (const setting of AS_PG_DUMP) await session.execute(`SET LOCAL ${setting}`);
  return [
    ...(await readDefaults(session, leftOut)),
    ...(await readChecks(session, leftOut)),
    ...(await readColumns(session, leftOut)),
    ...(await readHeirs(session, { detached, leftOutSchemas })),
  ];
}

/** Cuts the parts out of the archive's definitions; throws when one is not found, since the snapshot could not be loaded. */
export function cutDefinitions(toc: Buffer, { cuts, excluded }: { cuts: Cut[]; excluded: string[] }): Buffer {
  if (excluded.length === 0) return toc;
  const keyOf = (entry: { class: number; oid: number }): string => `${entry.class}:${entry.oid}`;
  const entries = new Set<string>();
  const understood = rewriteContents(toc, (entry) => {
    entries.add(keyOf(entry));
    return entry.definition;
  });
  if (!understood && cuts.length > 0) throw notUnderstood();
  const open = cuts.filter(({ part, ...entry }) => keyOf(part) === keyOf(entry) || !entries.has(keyOf(part)));
  const byEntry = Map.groupBy(open, keyOf);
  const rewritten = rewriteContents(toc, (entry) =>
    isOutwardAttach(entry, excluded) ? '' : changed(entry, { cuts: byEntry.get(keyOf(entry)) ?? [], all: open }),
  );
  return rewritten ?? toc;
}

/** A partition, or its index, is not attached to what is not there; such an entry has no oid. */
function isOutwardAttach({ kind, definition }: ContentsEntry, excluded: string[]): boolean {
  if (kind !== 'TABLE ATTACH' && kind !== 'INDEX ATTACH') return false;
  return excluded
    .flatMap(writtenForms)
    .some((schema) =>
      [`ALTER TABLE ONLY ${schema}.`, `ALTER INDEX ${schema}.`].some((head) => definition.startsWith(head)),
    );
}

/** A name as a definition has it. */
function writtenForms(name: string): string[] {
  return [quoteName(name), name];
}

const DEFINITIONS = new Set(['TABLE', 'FOREIGN TABLE', 'DOMAIN']);

function changed({ kind, definition }: ContentsEntry, { cuts, all }: { cuts: Cut[]; all: Cut[] }): string {
  if (kind === 'COMMENT') return all.some(({ comment }) => comment && definition.startsWith(comment)) ? '' : definition;
  if (!DEFINITIONS.has(kind)) return definition;
  return cuts.reduce((text, { part, apply }) => {
    const cut = apply(text);
    if (cut === null) throw notFound(part);
    return cut;
  }, definition);
}

interface PartRow {
  /** Oid of the part, or of its table where the part is a column. */
  oid: number;
  number: number;
  class: number;
  entry: number;
  /** Name in SQL, quoted where necessary. */
  table: string;
  column: string;
  text: string;
  /** The definition of the table contains the part. */
  written: boolean;
}

async function readParts(session: PostgresSession, { parts, sql }: { parts: BrokenObject[]; sql: string }) {
  if (parts.length === 0) return [];
  const list = parts.map(({ oid, column }) => `(${quoteNumber(oid)}, ${quoteNumber(column)})`).join(', ');
  const rows = await session.query<PartRow>(sql.replace('PARTS', () => `(VALUES ${list}) p (oid, number)`));
  return rows.flatMap((row) => {
    const part = parts.find(({ oid, column }) => oid === row.oid && column === row.number);
    return part && row.written ? [[row, part] as [PartRow, BrokenObject]] : [];
  });
}

const TABLE_NAME = `quote_ident(n.nspname) || '.' || quote_ident(c.relname)`;

async function readDefaults(session: PostgresSession, leftOut: BrokenObject[]): Promise<Cut[]> {
  const found = await readParts(session, {
    parts: leftOut.filter(({ kind }) => kind === 'default value'),
    sql: `
    SELECT p.oid, p.number, 'pg_class'::regclass::oid::int8 AS class, c.oid::int8 AS entry, ${TABLE_NAME} AS table,
      quote_ident(a.attname) AS column, pg_get_expr(d.adbin, d.adrelid) AS text,
      a.attgenerated = '' AND c.relkind IN ('r', 'p', 'f') AND (a.attislocal OR c.relispartition) AS written
    FROM PARTS JOIN pg_attrdef d ON d.oid = p.oid::oid JOIN pg_class c ON c.oid = d.adrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.adnum`,
  });
  return found.map(([{ class: catalog, entry, column, text }, part]) => ({
    ...{ class: catalog, oid: entry, part },
    apply(definition) {
      const line = lineOf(definition, column);
      const clause = ` DEFAULT ${text}`;
      const at = line === -1 ? -1 : definition.indexOf(clause, line);
      return at === -1 ? null : definition.slice(0, at) + definition.slice(at + clause.length);
    },
  }));
}

async function readChecks(session: PostgresSession, leftOut: BrokenObject[]): Promise<Cut[]> {
  const found = await readParts(session, {
    parts: leftOut.filter(({ kind }) => kind === 'table constraint' || kind === 'domain constraint'),
    sql: `
    SELECT p.oid, p.number, CASE WHEN c.oid IS NULL THEN 'pg_type'::regclass ELSE 'pg_class'::regclass END::oid::int8 AS class,
      coalesce(c.oid, k.contypid)::int8 AS entry, CASE WHEN c.oid IS NULL THEN 'DOMAIN ' ELSE '' END
        || quote_ident(n.nspname) || '.' || quote_ident(coalesce(c.relname, t.typname)) AS table, quote_ident(k.conname) AS column,
      pg_get_constraintdef(k.oid) AS text,
      k.contype = 'c' AND (c.oid IS NULL OR k.conislocal OR c.relispartition) AS written
    FROM PARTS JOIN pg_constraint k ON k.oid = p.oid::oid LEFT JOIN pg_class c ON c.oid = k.conrelid
    LEFT JOIN pg_type t ON t.oid = k.contypid JOIN pg_namespace n ON n.oid = coalesce(c.relnamespace, t.typnamespace)`,
  });
  return found.map(([{ class: catalog, entry, table, column, text }, part]) => ({
    ...{ class: catalog, oid: entry, part },
    comment: `COMMENT ON CONSTRAINT ${column} ON ${table} IS `,
    apply: (definition) =>
      namesOf(column)
        .flatMap((name) =>
          [`,\n    `, `\n    `, `\n\t`].map((before) => [before, `CONSTRAINT ${name} ${text}`] as const),
        )
        .map(([before, clause]) => without(definition, { before, clause }))
        .find((cut) => cut !== null) ?? null,
  }));
}

/** The first in a list takes the comma that follows it along. */
function without(definition: string, { before, clause }: { before: string; clause: string }): string | null {
  const at = definition.indexOf(before + clause);
  if (at === -1) return null;
  const end = at + before.length + clause.length;
  const comma = !before.startsWith(',') && definition[end] === ',' ? 1 : 0;
  return definition.slice(0, at) + definition.slice(end + comma);
}

async function readColumns(session: PostgresSession, leftOut: BrokenObject[]): Promise<Cut[]> {
  const found = await readParts(session, {
    parts: leftOut.filter(({ column }) => column !== 0),
    sql: `
    SELECT p.oid, p.number, 'pg_class'::regclass::oid::int8 AS class, c.oid::int8 AS entry, ${TABLE_NAME} AS table,
      quote_ident(a.attname) AS column, pg_get_expr(d.adbin, d.adrelid) AS text, a.attislocal OR c.relispartition AS written
    FROM PARTS JOIN pg_class c ON c.oid = p.oid::oid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.number
    JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum`,
  });
  return found.map(([{ class: catalog, entry, table, column, text }, part]) => ({
    ...{ class: catalog, oid: entry, part },
    comment: `COMMENT ON COLUMN ${table}.${column} IS `,
    apply: (definition) => withoutColumn(definition, { column, expression: `GENERATED ALWAYS AS (${text})` }),
  }));
}

function withoutColumn(definition: string, { column, expression }: { column: string; expression: string }) {
  const line = lineOf(definition, column);
  const at = line === -1 ? -1 : definition.indexOf(expression, line);
  const rest = at === -1 ? -1 : definition.indexOf('\n', at + expression.length);
  if (rest === -1) return null;
  const isLast = definition[rest - 1] !== ',';
  const before = definition.slice(0, line);
  const kept = (isLast && before.endsWith(',') ? before.slice(0, -1) : before) + definition.slice(rest);
  // Options of the column follow as statements of their own.
  const options = namesOf(column).map((name) => ` ALTER COLUMN ${name} SET `);
  return kept
    .split('\n')
    .filter((text) => !(text.startsWith('ALTER ') && options.some((option) => text.includes(option))))
    .join('\n');
}

/** Columns and checks that come only from parents that are left out are written down with the heir. */
async function readHeirs(
  session: PostgresSession,
  { detached, leftOutSchemas }: { detached: BrokenObject[]; leftOutSchemas: number[] },
): Promise<Cut[]> {
  const parents = `pg_inherits h JOIN pg_class hp ON hp.oid = h.inhparent JOIN pg_namespace hn ON hn.oid = hp.relnamespace
    WHERE h.inhrelid = c.oid AND hp.relnamespace::int8 NOT IN (${leftOutSchemas.map(quoteNumber).join(', ')})`;
  const found = await readParts(session, {
    parts: detached,
    sql: `
    SELECT p.oid, p.number, 'pg_class'::regclass::oid::int8 AS class, c.oid::int8 AS entry,
      coalesce((SELECT string_agg(quote_ident(hn.nspname) || '.' || quote_ident(hp.relname), ', ' ORDER BY h.inhseqno)
        FROM ${parents}), '') AS table,
      (SELECT coalesce(string_agg(concat(E'\n    ', quote_ident(a.attname), ' ', format_type(a.atttypid, a.atttypmod),
          CASE WHEN a.attcollation <> t.typcollation THEN (SELECT format(' COLLATE %I.%I', ln.nspname, l.collname)
            FROM pg_collation l JOIN pg_namespace ln ON ln.oid = l.collnamespace WHERE l.oid = a.attcollation) END,
          CASE WHEN a.attnotnull THEN ' NOT NULL' END), ',' ORDER BY a.attnum), '')
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND NOT a.attislocal AND NOT EXISTS (
          SELECT FROM ${parents} AND EXISTS (SELECT FROM pg_attribute b
            WHERE b.attrelid = hp.oid AND b.attname = a.attname AND NOT b.attisdropped))) AS column,
      (SELECT coalesce(string_agg(concat(E'\n    CONSTRAINT ', quote_ident(k.conname), ' ', pg_get_constraintdef(k.oid)), ','
          ORDER BY k.conname), '')
        FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c' AND NOT k.conislocal AND NOT EXISTS (
          SELECT FROM ${parents} AND EXISTS (SELECT FROM pg_constraint b
            WHERE b.conrelid = hp.oid AND b.contype = 'c' AND b.conname = k.conname))) AS text,
      NOT c.relispartition AS written
    FROM PARTS JOIN pg_class c ON c.oid = p.oid::oid`,
  });
  return found.map(([{ class: catalog, entry, table, column, text }, part]) => ({
    ...{ class: catalog, oid: entry, part },
    apply(definition) {
      const [, head, body, rest] = HEIR.exec(definition) ?? [];
      if (head === undefined || body === undefined || rest === undefined) return null;
      const lines = [column, body.trimEnd(), text].filter((each) => each !== '');
      return `${head}${lines.join(',')}\n)${table === '' ? '' : `\nINHERITS (${table})`}${rest}`;
    },
  }));
}

/** Head, columns and checks, and what follows the list of parents. */
const HEIR = /^([^(]*\()([\s\S]*?)\n?\)\nINHERITS \((?:[^"()]|"[^"]*")*\)([\s\S]*)$/;

/** Returns the offset of the line feed before the line of a column; -1 when there is none. */
function lineOf(definition: string, column: string): number {
  return Math.max(...namesOf(column).map((name) => definition.indexOf(`\n    ${name} `)));
}

/** Returns the name as the server quotes it, and as a program quotes it that knows more keywords. */
function namesOf(name: string): string[] {
  return name.startsWith('"') ? [name] : [name, `"${name}"`];
}

function notFound({ name, needs }: Pick<BrokenObject, 'name' | 'needs'>): UserError {
  return new UserError('schema_needed', `${name} needs ${needs} and cannot be left out alone`, {
    hint: `Add the schema of ${needs} to the target's schema_config.include_schemas`,
  });
}

function notUnderstood(): UserError {
  return new UserError('dump_failed', 'pg_dump has written an archive whose format this program does not know', {
    hint: 'Include every schema (schema_config.use_default_schema: false), or update this program.',
  });
}

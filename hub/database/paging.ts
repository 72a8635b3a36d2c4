import { type SelectQueryBuilder, type Simplify, sql } from 'kysely';
import { Problem } from '../problem.ts';

export interface PageQuery {
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface Page<Row> {
  items: Row[];
  next_cursor: string | null;
}

const DEFAULT_LIMIT = 50;

export interface PageOrder<Row> {
  table: string;
  /** Columns that identify a row, in their order, with the form that a cursor has them in. */
  by: { [Column in keyof Row]?: keyof typeof READ };
  descending?: boolean;
}

/** Pages by the key of the last row, which stays right when rows are added in between. */
export async function pageOf<DB, TB extends keyof DB, Row extends object>(
  base: SelectQueryBuilder<DB, TB, Row>,
  { limit = DEFAULT_LIMIT, cursor }: PageQuery,
  { table, by, descending = false }: PageOrder<Row>,
): Promise<Page<Simplify<Row>>> {
  const keys = Object.entries<keyof typeof READ>(by as Record<string, keyof typeof READ>);
  const columns = keys.map(([column]) => sql.ref(`${table}.${column}`));
  let query = base.limit(limit + 1);
  for (const column of columns) query = query.orderBy(column, descending ? 'desc' : 'asc');
  if (cursor !== undefined) {
    const parts = readCursor(cursor);
    const key = keys.map(([, kind], index) => READ[kind](parts[index]));
    const isAfter = sql.raw(descending ? '<' : '>');
    query = query.where(sql<boolean>`(${sql.join(columns)}) ${isAfter} (${sql.join(key)})`);
  }
  const found = await query.execute();
  const items = found.slice(0, limit);
  const last = found.length > limit ? (items.at(-1) as Record<string, unknown> | undefined) : undefined;
  return { items, next_cursor: last ? writeCursor(keys.map(([column]) => last[column])) : null };
}

function writeCursor(key: unknown[]): string {
  const parts = key.map((part) => (part instanceof Date ? part.toISOString() : String(part)));
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function readCursor(cursor: string): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(parts) && parts.length > 0 && parts.every((part) => typeof part === 'string')) return parts;
  } catch {
    // Refused below, as a cursor of another form.
  }
  throw cursorRefused();
}

function cursorRefused(): Problem {
  return new Problem('cloud_refused', 'The cursor is not valid', {
    errors: [{ pointer: '/cursor', detail: 'must be a next_cursor of the same list' }],
  });
}

function timeIn(text = ''): Date {
  const time = new Date(text);
  // A next_cursor has this form; PostgreSQL may not have the times of others.
  if (Number.isNaN(time.getTime()) || time.toISOString() !== text || !/^\d{4}-/.test(text)) throw cursorRefused();
  return time;
}

function numberOf(text = ''): number {
  if (!/^\d{1,18}$/.test(text)) throw cursorRefused();
  return Number(text);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function idOf(text = ''): string {
  if (!UUID.test(text)) throw cursorRefused();
  return text;
}

const READ = { text: (text = '') => text, time: timeIn, number: numberOf, id: idOf };

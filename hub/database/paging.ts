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

/** Pages by the key of the last row, which stays right when rows are added in between. */
export async function pageOf<Row>(
  { limit = DEFAULT_LIMIT, cursor }: PageQuery,
  { keyOf, rows }: { keyOf: (row: Row) => string[]; rows: (limit: number, after: string[] | null) => Promise<Row[]> },
): Promise<Page<Row>> {
  const found = await rows(limit + 1, cursor === undefined ? null : readCursor(cursor));
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const more = found.length > limit && last !== undefined;
  return { items, next_cursor: more ? Buffer.from(JSON.stringify(keyOf(last))).toString('base64url') : null };
}

function readCursor(cursor: string): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(parts) && parts.length > 0 && parts.every((part) => typeof part === 'string')) return parts;
  } catch {
    // As one of another form.
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
  // As a next_cursor has it: other texts are times that PostgreSQL may lack.
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

export function timeAndNumber([time, number]: string[]): [Date, number] {
  return [timeIn(time), numberOf(number)];
}

export function timeAndId([time, id]: string[]): [Date, string] {
  return [timeIn(time), idOf(id)];
}

export function nameAndId([name = '', id]: string[]): [string, string] {
  return [name, idOf(id)];
}

export function numberIn([number]: string[]): number {
  return numberOf(number);
}

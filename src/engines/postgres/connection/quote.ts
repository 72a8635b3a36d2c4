import { UserError } from '../../../runtime/errors.ts';

export function quoteName(name: string): string {
  assertNoNul(name);
  return `"${name.replaceAll('"', '""')}"`;
}

export function quotePath(schema: string, name: string): string {
  return `${quoteName(schema)}.${quoteName(name)}`;
}

export function quoteText(text: string): string {
  assertNoNul(text);
  return text.includes('\\')
    ? `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
    : `'${text.replaceAll("'", "''")}'`;
}

/** Numbers of a server or a manifest are untrusted. */
export function quoteNumber(value: number | bigint): string {
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) throw refusedValue(`${value} is not a whole number`);
  return `${value}`;
}

/** NUL is invalid on every server, and ends program arguments. */
export function assertNoNul(text: string): void {
  if (text.includes('\0')) throw refusedValue(`${JSON.stringify(text)} contains a NUL character`);
}

function refusedValue(why: string): UserError {
  return new UserError('content_refused', `A value cannot be part of a statement: ${why}`, {
    hint: 'PostgreSQL has no such names or values: do not trust the snapshot or its server.',
  });
}

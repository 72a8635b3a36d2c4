import { redact } from '../../../../process/redact.ts';
import { UserError } from '../../../../runtime/errors.ts';
import type { CatalogTable } from '../../catalog/tables.ts';
import type { ClientTool } from '../../connection/tools.ts';
import { InsertRefused } from './insert-scanner.ts';
import type { ProgramTable } from './table-files.ts';

export const LINES_TOLD = 20;

export class StatementUnknown extends Error {
  override readonly name = 'StatementUnknown';
}

export function assertNothingMissing(tables: CatalogTable[], dumped: ProgramTable[]): void {
  const there = new Set(dumped.map(({ table }) => table));
  const missing = tables.filter(({ name }) => !there.has(name)).map(({ name }) => name);
  if (missing.length === 0) return;
  throw new UserError('dump_failed', 'The dump program left tables out', {
    details: missing.slice(0, LINES_TOLD),
    hint: 'Nothing was stored. Grant the user SELECT on them, then build again.',
  });
}

export function linesOf(stderr: string): string[] {
  const lines = redact(stderr)
    .split('\n')
    .map((line) => line.trim());
  return lines.filter((line) => line !== '');
}

export function programFailed({ name }: ClientTool, stderr: string): UserError {
  return new UserError('dump_failed', `${name} failed`, {
    details: linesOf(stderr).slice(0, LINES_TOLD),
    hint: 'Nothing was stored. The user probably lacks a privilege: SELECT, SHOW VIEW, TRIGGER and EVENT on the database, SHOW_ROUTINE on MySQL.',
  });
}

export function notUnderstood({ name, version }: ClientTool, cause: unknown): unknown {
  const known = cause instanceof StatementUnknown || cause instanceof InsertRefused;
  if (!known) return cause;
  return new UserError('dump_failed', `${name} ${version} wrote a statement that cannot be stored`, {
    details: [redact(cause.message)],
    hint: 'Nothing was stored. Build without program: true, or with another version of the program (docker.images.mysql).',
    cause,
  });
}

export function cutShort({ name }: ClientTool, what: string): UserError {
  return new UserError('dump_failed', `The dump of ${what} by ${name} is cut short`, {
    hint: 'Is the disk full? Nothing was stored.',
  });
}

export function limited(display: string): UserError {
  return new UserError('dump_failed', `Sessions on ${display} see only some rows, or earlier ones`, {
    hint: 'Nothing was stored. Build without program: true, or set sql_select_limit and system_versioning_asof of the server to DEFAULT.',
  });
}

export function changed(display: string): UserError {
  return new UserError('dump_failed', `Objects of ${display} were created, changed or dropped during the dump`, {
    hint: 'Nothing was stored. Build again.',
  });
}

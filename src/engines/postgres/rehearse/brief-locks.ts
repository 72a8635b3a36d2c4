import { tableName } from '../../../text/table-names.ts';
import type { ObservedLock, ObservedStatement } from '../../facets/rehearse.ts';
import { blocksOf, modeText } from './lock-record.ts';
import { SAMPLE_INTERVAL_MS } from './sample-locks.ts';

interface KnownLock {
  statement: RegExp;
  mode: string;
}

const NAME = String.raw`((?:"(?:[^"]|"")+"|[\w$]+)(?:\s*\.\s*(?:"(?:[^"]|"")+"|[\w$]+))?)`;
const of = (before: string, after = ''): RegExp =>
  new RegExp(String.raw`^${before.split(' ').join(String.raw`\s+`)}\s+(?:ONLY\s+)?${NAME}${after}`, 'i');

/** Locks by the kind of a statement, the first that applies. https://www.postgresql.org/docs/current/explicit-locking.html */
const KNOWN: KnownLock[] = [
  { statement: of('ALTER TABLE(?: IF EXISTS)?', String.raw`\s+VALIDATE\b`), mode: 'ShareUpdateExclusiveLock' },
  {
    statement: of('ALTER TABLE(?: IF EXISTS)?', String.raw`\s+ADD\s+(?:CONSTRAINT\s+\S+\s+)?FOREIGN\s+KEY\b`),
    mode: 'ShareRowExclusiveLock',
  },
  { statement: of('ALTER TABLE(?: IF EXISTS)?'), mode: 'AccessExclusiveLock' },
  { statement: of('DROP TABLE(?: IF EXISTS)?'), mode: 'AccessExclusiveLock' },
  { statement: of('TRUNCATE(?: TABLE)?'), mode: 'AccessExclusiveLock' },
  {
    statement: of(String.raw`CREATE(?: UNIQUE)? INDEX CONCURRENTLY(?:\s+(?!ON\b)[^(]*?)? ON`),
    mode: 'ShareUpdateExclusiveLock',
  },
  { statement: of(String.raw`CREATE(?: UNIQUE)? INDEX(?:\s+(?!ON\b)[^(]*?)? ON`), mode: 'ShareLock' },
];

/** The locks of statements that were shorter than the time between two samples, by their kind. */
export function briefLocks(statements: ObservedStatement[], seen: ObservedLock[], tables: string[]): ObservedLock[] {
  return statements.flatMap((statement): ObservedLock[] => {
    const { text, inTransaction, error, atMs, durationMs } = statement;
    if (inTransaction || error !== null || durationMs > MOST_MISSED_MS) return [];
    const plain = text.replace(LEADING, '');
    const known = KNOWN.map(({ statement: form, mode }) => ({ mode, name: form.exec(plain)?.[1] })).find(
      ({ name }) => name !== undefined,
    );
    const table = known?.name && findTable(known.name, tables);
    if (!known || !table || seen.some((lock) => lock.statement === text && lock.table === table)) return [];
    const lock = { table, index: null, mode: modeText(known.mode), blocks: blocksOf(known.mode) };
    return [{ ...lock, atMs, heldMs: durationMs, belowResolution: true, statement: text }];
  });
}

/** A statement without a sample may have waited for something else for some of its time. */
const MOST_MISSED_MS = 4 * SAMPLE_INTERVAL_MS;
const LEADING = /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)+/;

function findTable(written: string, tables: string[]): string | undefined {
  const parts = [...written.matchAll(/"((?:[^"]|"")+)"|([\w$]+)/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.toLowerCase() ?? '',
  );
  const [schema = 'public', name = ''] = parts.length > 1 ? parts : [undefined, parts[0]];
  const whole = tableName(schema, name);
  return (
    tables.find((table) => table === whole) ??
    (parts.length === 1 ? tables.find((table) => table.endsWith(`.${name}`)) : undefined)
  );
}

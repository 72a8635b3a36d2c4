import type { ProcessResult } from '../../../../process/runner.ts';
import { UserError } from '../../../../runtime/errors.ts';
import { boundedLines } from '../../../../text/bounded-list.ts';
import { tableName } from '../../../../text/table-names.ts';
import { danglingRows } from '../../../shared/only-rows.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { failureWords } from '../restore-errors.ts';
import type { TableToReplace } from './statements.ts';

export const NOT_REPLACED = 'The rows could not be replaced';

/** `lock_not_available` and `deadlock_detected`. */
const LOCKED = /ERROR: {2}(55P03|40P01): /;

export function failureOf(
  ended: ProcessResult,
  { word, tables }: { word: string; tables: TableToReplace[] },
): UserError {
  const [, list] = new RegExp(`${word}(\\[.*\\])$`, 'm').exec(ended.stderr) ?? [];
  if (list !== undefined) {
    const replaced = tables.map(({ name }) => name);
    return danglingRows(parseDangling(list), replaced);
  }
  const words = failureWords('psql', ended).filter((line) => !line.startsWith('LOCATION:'));
  if (!LOCKED.test(ended.stderr)) return restoreFailed(NOT_REPLACED, boundedLines(words, 20));
  return new UserError('tables_locked', 'Other sessions keep the tables locked, so their rows were not replaced', {
    details: words.slice(0, 20),
    hint: 'The destination is unchanged. End these transactions, or wait for them, and run it again.',
  });
}

interface DanglingRecord {
  name: string;
  schema: string;
  table: string;
  columns: string[];
  other_schema: string;
  other_table: string;
  rows: number;
  keys: string[];
}

/** The statements of this program write the list, after a secret word. */
function parseDangling(list: string) {
  return (JSON.parse(list) as DanglingRecord[]).map((one) => ({
    key: one.name,
    table: tableName(one.schema, one.table),
    columns: one.columns,
    references: tableName(one.other_schema, one.other_table),
    rows: one.rows,
    keys: one.keys,
  }));
}

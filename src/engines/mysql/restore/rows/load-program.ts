import { UserError } from '../../../../runtime/errors.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import type { TableDefinition } from '../../catalog/definitions/definitions.ts';
import { namesIn } from '../../catalog/definitions/table-entries.ts';
import { RIGHT_MISSING } from '../../connection/error-numbers.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { InsertRefused } from '../../dump/program/insert-scanner.ts';
import { checkedRows } from '../../dump/program/rows-file.ts';
import { type InsertOptions, sendStatements, type WarningRow } from './insert-rows.ts';

interface ProgramRows extends Pick<InsertOptions, 'table' | 'content'> {
  rows: number;
  definition: TableDefinition | undefined;
}

/** Loads the INSERT statements that the vendor's program has written. Rejects when the server changes a value. */
export async function insertStatements(session: MysqlSession, { table, content, rows, definition }: ProgramRows) {
  // Each is read: the harmless ones of a statement may be as many as its rows. MySQL 9 requires a right for it.
  await session.execute('SET max_error_count = 65535').catch((error) => {
    if (!(error instanceof SqlError) || error.errno !== RIGHT_MISSING) throw error;
  });
  const { loaded, warnings } = await sendStatements(session, checkedRows(content, { table, rows }), table).catch(
    (error) => {
      throw error instanceof InsertRefused ? rowsRefused(error) : error;
    },
  );
  const changed = new Set(warnings.filter((warning) => !isHarmless(warning, definition)).map(({ Message }) => Message));
  if (changed.size === 0) return { loaded, warnings: [] };
  throw restoreFailed('The server does not take values of the snapshot as they are', [...changed].slice(0, LINES_TOLD));
}

const LINES_TOLD = 20;

/** A NULL for a generated column; deprecation warnings. */
const HARMLESS = new Set([1906, 1287, 1681, 6414]);
/** Data truncated; also reported for an invalid ENUM value that is stored unchanged, and a generated value of more digits. */
const DATA_TRUNCATED = 1265;

function isHarmless({ Code, Message }: WarningRow, definition: TableDefinition | undefined): boolean {
  if (Code !== DATA_TRUNCATED) return HARMLESS.has(Code);
  const others =
    definition?.create.match(/^ {2}`(?:[^`]|``)*` (?=(?:enum|set)\(|[^'\n]* GENERATED ALWAYS AS \()/gm) ?? [];
  return others.flatMap(namesIn).some((name) => Message.includes(`'${name}'`));
}

function rowsRefused(cause: InsertRefused): UserError {
  return new UserError(
    'content_refused',
    `The rows of the snapshot hold a statement that is no INSERT of rows: ${cause.message}`,
    {
      hint: 'The destination is unchanged. The snapshot was forged or damaged: build it again from a source you trust.',
      cause,
    },
  );
}

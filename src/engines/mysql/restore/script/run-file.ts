import { redact } from '../../../../process/redact.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { scriptFailed, scriptLeft } from '../../../shared/script/script-errors.ts';
import { connect } from '../../connection/connect.ts';
import { quoteText } from '../../connection/quote.ts';
import { type MysqlSession, NO_TRANSACTION } from '../../connection/session.ts';
import { ConnectionLost, SqlError } from '../../connection/session-errors.ts';
import { type AcceptedScript, acceptedStatements } from './accept-statement.ts';

/** After these, without a comment before them, the session is in the same database; dumps have millions of them. */
const STAYS = /^(?:insert|replace)\b/i;

interface FileRun {
  url: DatabaseUrl;
  file: string;
  dump?: AcceptedScript;
}

/**
 * Runs a file and resolves with the number of its statements. A packet has one statement, the server cannot request a
 * file, and the session must stay in its database.
 */
export async function runFile(context: EngineContext, { url, file, dump }: FileRun): Promise<number> {
  await using session = await connect(context, url, {
    localFiles: false,
    settings: [`SET NAMES ${quoteText(url.parameters.charset ?? 'utf8mb4')}`, NO_TRANSACTION, 'SET autocommit = 1'],
  });
  const database = await currentDatabase(session);
  let statements = 0;
  for await (const part of acceptedStatements(file, database.mode, dump)) {
    if (part.kind === 'rows') continue;
    statements = part.number;
    await session.run(part.bytes).catch((cause) => {
      if (!(cause instanceof SqlError || cause instanceof ConnectionLost)) throw cause;
      const message = cause instanceof SqlError ? `error ${cause.errno}: ${cause.message}` : cause.message;
      throw scriptFailed(file, {
        statement: part,
        message: redact(message),
        hint: dump ? DUMP_HINT : FAILED_HINT,
        cause,
      });
    });
    if (STAYS.test(part.bytes.toString('latin1', 0, 8))) continue;
    const now = await currentDatabase(session);
    if (now.hex !== database.hex) throw scriptLeft(file, { statement: part, database: url.database ?? '' });
  }
  return statements;
}

const DUMP_HINT = 'Nothing was stored. A dump runs as a user with rights on its own database only.';
const FAILED_HINT =
  'In a shadow database nothing of it is kept. With --no-drop or --source what ran before the failure stays: MySQL and MariaDB cannot roll back CREATE and ALTER TABLE.';

interface CurrentDatabase {
  /** Its name, whatever the character set of the session. */
  hex: string | null;
  mode: string;
}

export async function currentDatabase(session: MysqlSession): Promise<CurrentDatabase> {
  const [row] = await session.query<CurrentDatabase>('SELECT HEX(DATABASE()) AS hex, @@sql_mode AS mode');
  return row ?? { hex: null, mode: '' };
}

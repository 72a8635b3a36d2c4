import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { maskValues } from '../../shared/mask-values.ts';
import { scriptFailed } from '../../shared/script/script-errors.ts';
import { ScriptProblem } from '../../shared/script/script-problem.ts';
import { connect } from '../connection/connect.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import { acceptedStatements, acceptStatement } from '../restore/script/accept-statement.ts';
import { readMode } from '../restore/script/script.ts';
import type { MysqlStatement } from '../restore/script/split.ts';
import { followModes } from '../restore/script/sql-mode.ts';
import { LONGEST_READ, OTHER_DATABASE_HINT, otherDatabaseIn, otherDatabaseText } from './other-database.ts';

interface SqlFile {
  url: DatabaseUrl;
  file: string;
  sqlMode: string;
  signal: AbortSignal;
}

/** Refuses a file with a statement that changes another database than the given one. */
export async function checkSqlFile(
  context: EngineContext,
  { url, file, database }: { url: DatabaseUrl; file: string; database: string },
): Promise<void> {
  const sqlMode = await readMode(context, url);
  const modes = followModes(sqlMode);
  let mode = modes.first;
  const accept = (statement: MysqlStatement): MysqlStatement => {
    const accepted = acceptStatement(statement);
    const { line, column } = statement;
    const other = otherDatabaseIn(accepted.bytes.toString('utf8', 0, LONGEST_READ), database, mode);
    mode = modes.after(accepted);
    if (other === null) return accepted;
    throw new ScriptProblem(otherDatabaseText(other), { position: { line, column }, hint: OTHER_DATABASE_HINT });
  };
  for await (const _ of acceptedStatements(file, sqlMode, { accept }));
}

/** Runs the statements of a file one by one, as the client does: each is a transaction unless the file begins one. */
export async function runSqlFile({ url, file, sqlMode, signal }: SqlFile): Promise<void> {
  await using session = await connect({ signal }, url, { localFiles: false, settings: [] });
  for await (const part of acceptedStatements(file, sqlMode)) {
    if (part.kind === 'rows') continue;
    await session.run(part.bytes).catch((cause) => {
      // A statement may end its own session.
      if (!(cause instanceof SqlError || cause instanceof ConnectionLost)) throw cause;
      const message = maskValues(cause instanceof SqlError ? `error ${cause.errno}: ${cause.message}` : cause.message);
      throw scriptFailed(file, { statement: part, message, hint: 'Fix the statement, and rehearse again.', cause });
    });
  }
}

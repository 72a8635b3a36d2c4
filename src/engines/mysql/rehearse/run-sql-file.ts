import type { DatabaseUrl } from '../../database-url.ts';
import { maskValues } from '../../shared/mask-values.ts';
import { scriptFailed } from '../../shared/script/script-errors.ts';
import { connect } from '../connection/connect.ts';
import { SqlError } from '../connection/session-errors.ts';
import { acceptedStatements } from '../restore/script/accept-statement.ts';

interface SqlFile {
  url: DatabaseUrl;
  file: string;
  sqlMode: string;
  signal: AbortSignal;
}

/** Runs the statements of a file one by one, as the client does: each is a transaction unless the file begins one. */
export async function runSqlFile({ url, file, sqlMode, signal }: SqlFile): Promise<void> {
  await using session = await connect({ signal }, url, { localFiles: false, settings: [] });
  for await (const part of acceptedStatements(file, sqlMode)) {
    if (part.kind === 'rows') continue;
    await session.run(part.bytes).catch((cause) => {
      if (!(cause instanceof SqlError)) throw cause;
      const message = maskValues(`error ${cause.errno}: ${cause.message}`);
      throw scriptFailed(file, { statement: part, message, hint: 'Fix the statement, and rehearse again.', cause });
    });
  }
}

import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { DumpFile, RestoredDump } from '../../../facets/dump-file.ts';
import { LeftOut } from '../../../shared/script/left-out.ts';
import { withFileStep } from '../../../shared/script/run-file-step.ts';
import { connectToServer } from '../../connection/connect.ts';
import { quoteName } from '../../connection/quote.ts';
import { runFile } from '../script/run-file.ts';
import { acceptOfDump } from './accept-of-dump.ts';
import { textOfDump } from './read-dump.ts';

/**
 * Restores a dump into a new database of a throw-away server, as the user of the URL, who has rights on it only: none on
 * files, settings and accounts.
 */
export async function restoreDump(context: EngineContext, url: DatabaseUrl, dump: DumpFile): Promise<RestoredDump> {
  const leftOut = new LeftOut();
  await using server = await connectToServer(context, url);
  await server.execute(`CREATE DATABASE ${quoteName(url.database ?? '')}`);
  await withFileStep(context, dump.path, () =>
    runFile(context, { url, file: dump.path, dump: { text: textOfDump(dump), accept: acceptOfDump(leftOut) } }),
  );
  return { url, leftOut: leftOut.texts() };
}

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ImageServer, ImageStart } from '../../facets/image.ts';
import { copyDirectory } from '../../shared/server/copy-directory.ts';
import { homeAt } from '../../shared/server/server-home.ts';
import { serverOf } from '../catalog/introspect.ts';
import { connect } from '../connection/connect.ts';
import { tablesIn } from '../connection/quote.ts';
import { DATA } from '../server/throw-away-server.ts';
import { onlyAccount } from './accounts.ts';
import { isNeverCopied } from './image-files.ts';
import { runServer } from './run-server.ts';

const SETTINGS = ['--local-infile=OFF'];

export async function startOnImage(context: EngineContext, request: ImageStart): Promise<ImageServer> {
  const { programs, image, directory, user, database, port, detached } = request;
  await copyDirectory(image, join(directory, DATA), { user, leaveOut: isNeverCopied, signal: context.signal });
  const { flavour } = serverOf(programs.build);
  const password = randomBytes(16).toString('hex');
  const server = await runServer(context, {
    ...{ programs: { flavour, server: programs.bin }, home: homeAt(directory, user) },
    ...{ port, detached, removes: !detached, settings: SETTINGS },
    ...{ database, password, statements: onlyAccount(flavour, { database, password }) },
  });
  await warnOfMemory(context, server.url);
  return server;
}

/** Their rows ended with the server that was loaded. */
async function warnOfMemory(context: EngineContext, url: DatabaseUrl): Promise<void> {
  await using session = await connect(context, url);
  const rows = await session.query<{ name: string }>(
    `SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE ${tablesIn(url.database ?? '')} AND ENGINE = 'MEMORY' ORDER BY 1`,
  );
  if (rows.length === 0) return;
  const list = rows.map(({ name }) => name).join(', ');
  const message = `Tables of the engine MEMORY are empty: an image does not store their rows: ${list}`;
  context.report({ event: 'warning', code: 'definitions_only', message });
}

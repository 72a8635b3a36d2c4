import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { unlessAborted } from '../../../process/unless-aborted.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ImageFacet, ImageMaker, ImageRequest, ImageServer, ImageStart } from '../../facets/image.ts';
import { copyDirectory } from '../../shared/server/copy-directory.ts';
import { homeAt, homeFor } from '../../shared/server/server-home.ts';
import { serverNotStarted } from '../../shared/server/start-server.ts';
import { serverOf } from '../catalog/introspect.ts';
import { connect } from '../connection/connect.ts';
import { tablesIn } from '../connection/quote.ts';
import { DATA, initialise } from '../server/throw-away-server.ts';
import { loadingAccount, onlyAccount } from './accounts.ts';
import { isNeverCopied } from './image-files.ts';
import { findPrograms, programsAt } from './image-programs.ts';
import { findServer, PID_FILE, runServer, stopServer } from './run-server.ts';

export const images: ImageFacet = {
  databases: ['mysql', 'sys', 'information_schema', 'performance_schema'],
  ...{ findPrograms, findServer, stopServer },
  findHome: (context, folder) => homeFor(context, { account: 'mysql', folder }),
  make: makeImage,
  start: startOnImage,
};

/**
 * A slow shutdown removes what was deleted and completes indexes: servers on copies would all do it again, and the files
 * would differ from one load to the next.
 */
const MAKE_SETTINGS = ['--innodb-fast-shutdown=0'];

async function makeImage(context: EngineContext, request: ImageRequest): Promise<ImageMaker> {
  const { directory, user, database } = request;
  const home = homeAt(directory, user);
  const programs = await programsAt(context, request.programs);
  const password = randomBytes(16).toString('hex');
  await initialise(context, programs, home);
  const statements = loadingAccount(password);
  const { pid, url, ended } = await runServer(context, {
    ...{ programs, home, port: null, detached: false, removes: false },
    ...{ settings: MAKE_SETTINGS, database, password, statements },
  });
  return {
    url,
    async finish(image) {
      process.kill(pid, 'SIGTERM');
      await unlessAborted(ended, context.signal);
      // It removes its file at the end of a clean shutdown.
      if ((await home.read(PID_FILE)) !== '')
        throw serverNotStarted(request.programs.product, 'it did not end cleanly', { stderr: '' });
      const { signal } = context;
      await copyDirectory(join(directory, DATA), image, { leaveOut: isNeverCopied, sync: true, signal });
      return { collations: '', extensions: [] };
    },
  };
}

const START_SETTINGS = ['--local-infile=OFF'];

async function startOnImage(context: EngineContext, request: ImageStart): Promise<ImageServer> {
  const { programs, image, directory, user, database, port, detached } = request;
  await copyDirectory(image, join(directory, DATA), { user, leaveOut: isNeverCopied, signal: context.signal });
  const { flavour } = serverOf(programs.build);
  const password = randomBytes(16).toString('hex');
  const server = await runServer(context, {
    ...{ programs: { flavour, server: programs.bin }, home: homeAt(directory, user) },
    ...{ port, detached, removes: !detached, settings: START_SETTINGS },
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

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { unlessAborted } from '../../../process/unless-aborted.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ImageMaker, ImageRequest } from '../../facets/image.ts';
import { copyDirectory } from '../../shared/server/copy-directory.ts';
import { homeAt } from '../../shared/server/server-home.ts';
import { serverNotStarted } from '../../shared/server/start-server.ts';
import { DATA, initialise } from '../server/throw-away-server.ts';
import { loadingAccount } from './accounts.ts';
import { isNeverCopied } from './image-files.ts';
import { programsAt } from './image-programs.ts';
import { PID_FILE, runServer } from './run-server.ts';

/**
 * A slow shutdown removes what was deleted and completes indexes: servers on copies would all do it again, and the files
 * would differ from one load to the next.
 */
const SETTINGS = ['--innodb-fast-shutdown=0'];

export async function makeImage(context: EngineContext, request: ImageRequest): Promise<ImageMaker> {
  const { directory, user, database } = request;
  const home = homeAt(directory, user);
  const programs = await programsAt(context, request.programs);
  const password = randomBytes(16).toString('hex');
  await initialise(context, programs, home);
  const statements = loadingAccount(password);
  const { pid, url, ended } = await runServer(context, {
    ...{ programs, home, port: null, detached: false, removes: false },
    ...{ settings: SETTINGS, database, password, statements },
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

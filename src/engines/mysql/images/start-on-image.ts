import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { EngineContext } from '../../engine-context.ts';
import type { ImageServer, ImageStart } from '../../facets/image.ts';
import { copyDirectory } from '../../shared/server/copy-directory.ts';
import { homeAt } from '../../shared/server/server-home.ts';
import { serverOf } from '../catalog/introspect.ts';
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
  return runServer(context, {
    ...{ programs: { flavour, server: programs.bin }, home: homeAt(directory, user) },
    ...{ port, detached, removes: !detached, settings: SETTINGS },
    ...{ database, password, statements: onlyAccount(flavour, { database, password }) },
  });
}

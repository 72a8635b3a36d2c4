import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { EngineContext } from '../../engine-context.ts';
import type { ImageServer, ImageStart } from '../../facets/image.ts';
import { copyDirectory } from '../../shared/server/copy-directory.ts';
import { homeAt, type ServerHome } from '../../shared/server/server-home.ts';
import { serverNotStarted } from '../../shared/server/start-server.ts';
import { programsFor } from '../../shared/server/unprivileged-user.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import { parsePostgresUrl } from '../connection/url.ts';
import { PLAIN_ROLE } from '../server/plain-role.ts';
import { AVAILABLE_EXTENSIONS, COLLATIONS, isNeverCopied } from './image-files.ts';
import { PRODUCT, runServer, writeSettings } from './run-server.ts';
import { DATA } from './running-server.ts';

export async function startOnImage(context: EngineContext, request: ImageStart): Promise<ImageServer | null> {
  const { programs, image, needs, directory, user, database, port, detached } = request;
  const home = homeAt(directory, user);
  await copyDirectory(image, join(directory, DATA), { user, leaveOut: isNeverCopied, signal: context.signal });
  await writeSettings(home, {});
  const bin = await programsFor(context, { bin: programs.bin, directory, user });
  const password = randomBytes(16).toString('hex');
  const { collations, extensions } = await prepare(context, { bin, home, password });
  if (collations !== needs.collations || needs.extensions.some((one) => !extensions.has(one))) return null;
  const server = await runServer(context, { ...{ bin, home, port, detached }, settings: {}, removes: !detached });
  const address = `127.0.0.1:${server.port}/${encodeURIComponent(database)}`;
  return { ...server, url: parsePostgresUrl(`postgres://${PLAIN_ROLE}:${password}@${address}`) };
}

/**
 * Replaces the passwords of the image in single-user mode, before it accepts connections. Returns the versions of the
 * collations and those of the extensions that the server has.
 */
async function prepare(
  context: EngineContext,
  { bin, home, password }: { bin: string; home: ServerHome; password: string },
): Promise<{ collations: string; extensions: ReadonlySet<string> }> {
  const { directory, user } = home;
  const statements = [
    `ALTER ROLE ${quoteName('postgres')} PASSWORD NULL`,
    `ALTER ROLE ${quoteName(PLAIN_ROLE)} PASSWORD ${quoteText(password)}`,
    COLLATIONS.replaceAll('\n', ' '),
    AVAILABLE_EXTENSIONS,
  ];
  const result = await context.runner.run(
    {
      file: join(bin, 'postgres'),
      args: ['--single', '-D', join(directory, DATA), 'postgres'],
      env: { LC_ALL: 'C' },
      ...(user && { user }),
    },
    { signal: context.signal, input: statements.map((statement) => `${statement}\n`).join('') },
  );
  const [collations, extensions] = ['collations', 'extensions'].map(
    (name) => new RegExp(`\\b${name} = "([^"]*)"`).exec(result.stdout)?.[1],
  );
  if (result.exitCode === 0 && collations !== undefined && extensions !== undefined) {
    return { collations, extensions: new Set(extensions.split(', ')) };
  }
  throw serverNotStarted(PRODUCT, 'its password could not be set', result);
}

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { EngineContext } from '../../engine-context.ts';
import type {
  ImageFacet,
  ImageMaker,
  ImageNeeds,
  ImagePrograms,
  ImageRequest,
  ImageServer,
  ImageStart,
} from '../../facets/image.ts';
import { copyDirectory } from '../../shared/server/copy-directory.ts';
import { withFreePort } from '../../shared/server/free-port.ts';
import { homeAt, homeFor, type ServerHome } from '../../shared/server/server-home.ts';
import { serverNotStarted } from '../../shared/server/start-server.ts';
import { programsFor } from '../../shared/server/unprivileged-user.ts';
import { connect, connectToServer } from '../connection/connect.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import { majorOf } from '../connection/tools.ts';
import { parsePostgresUrl } from '../connection/url.ts';
import { archiveDetails } from '../dump/archive.ts';
import { createPlainRole, PLAIN_ROLE } from '../server/plain-role.ts';
import { serverFolders, serverMissing } from '../server/server-programs.ts';
import { initialise } from '../server/throw-away-server.ts';
import { AVAILABLE_EXTENSIONS, COLLATIONS, EXTENSIONS, isNeverCopied, sharing } from './image-files.ts';
import { PRODUCT, runServer, writeSettings } from './run-server.ts';
import { DATA, findServer, isReady, stopServer } from './running-server.ts';

export const images: ImageFacet = {
  databases: ['postgres', 'template0', 'template1'],
  ...{ findPrograms, findServer, stopServer, sharing },
  findHome: (context, folder) => homeFor(context, { account: 'postgres', folder }),
  make: makeImage,
  start: startOnImage,
};

/** Finds programs of the major version of a snapshot, else the oldest newer ones, which load it as another server does. */
async function findPrograms(context: EngineContext, manifest: Manifest): Promise<ImagePrograms> {
  const wanted = majorOf(manifest.server_version);
  const found: ImagePrograms[] = [];
  for await (const bin of serverFolders(context)) {
    const programs = await readVersion(context, bin);
    if (programs) found.push({ ...programs, differs: majorOf(programs.version) !== wanted });
  }
  const [best] = found
    .filter(({ version }) => majorOf(version) >= wanted)
    .sort((a, b) => majorOf(a.version) - majorOf(b.version));
  if (best) return best;
  const others = found.length === 0 ? '' : `, but of ${found.map(({ version }) => version).join(', ')}`;
  throw serverMissing(`No server programs of PostgreSQL ${wanted}, as of the snapshot, or newer were found${others}`);
}

/** `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` */
async function readVersion({ runner, signal }: EngineContext, bin: string) {
  const { stdout } = await runner.run({ file: join(bin, 'postgres'), args: ['--version'] }, { signal });
  const [, build, version] = /^postgres \(PostgreSQL\) ((\d+(?:\.\d+)?)[^\n]{0,200})/.exec(stdout) ?? [];
  return build === undefined || version === undefined ? null : { product: PRODUCT, bin, version, build };
}

async function startOnImage(context: EngineContext, request: ImageStart): Promise<ImageServer | null> {
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

/** New tables are not logged, and nothing writes beside the load. */
const SETTINGS = {
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  wal_skip_threshold: '0',
  wal_recycle: 'off',
  min_wal_size: '32MB',
};

async function makeImage(context: EngineContext, request: ImageRequest): Promise<ImageMaker> {
  const { programs, directory, user, manifest, database } = request;
  const home = homeAt(directory, user);
  const bin = await programsFor(context, { bin: programs.bin, directory, user });
  const password = randomBytes(16).toString('hex');
  await initialise(context, { bin, home, password });
  const server = { bin, home, settings: SETTINGS, detached: false, removes: false };
  const { port } = await withFreePort((free) => runServer(context, { ...server, port: free }));
  const url = parsePostgresUrl(`postgres://postgres:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`);
  await createPlainRole(context, url);
  await createRoles(context, url, archiveDetails(manifest).roles);
  return {
    url,
    role: PLAIN_ROLE,
    async finish(image) {
      const needs = await settle(context, url);
      await stopServer(context, directory);
      if (await isReady(directory)) throw serverNotStarted(PRODUCT, 'it did not end cleanly', { stderr: '' });
      await resetLog(context, { bin, home });
      const { signal } = context;
      await copyDirectory(join(directory, DATA), image, { leaveOut: isNeverCopied, sync: true, signal });
      return needs;
    },
  };
}

/** Creates the roles that policies of the snapshot name. */
async function createRoles(context: EngineContext, url: ImageMaker['url'], roles: string[]): Promise<void> {
  await using session = await connectToServer(context, url);
  const there = await session.query<{ name: string }>('SELECT rolname AS name FROM pg_roles');
  const missing = roles.filter((role) => !there.some(({ name }) => name === role));
  if (missing.length === 0) return;
  await session.transaction(missing.map((role) => `CREATE ROLE ${quoteName(role)} NOLOGIN`));
}

/** Leaves one segment of the log, which is almost empty: no two images share it. Not every package has the program. */
async function resetLog(
  { runner, signal }: EngineContext,
  { bin, home: { directory, user } }: { bin: string; home: ServerHome },
): Promise<void> {
  const file = join(bin, 'pg_resetwal');
  if (!existsSync(file)) return;
  const command = { file, args: ['-D', join(directory, DATA)], env: { LC_ALL: 'C' }, ...(user && { user }) };
  const result = await runner.run(command, { signal });
  if (result.exitCode !== 0) throw serverNotStarted(PRODUCT, 'its log could not be reset', result);
}

/** The load has gathered statistics. */
async function settle(context: EngineContext, url: ImageMaker['url']): Promise<ImageNeeds> {
  await using session = await connect(context, url, { settings: { statement_timeout: '0' } });
  await session.execute('VACUUM (FREEZE)');
  const [row] = await session.query<{ collations: string }>(COLLATIONS);
  const extensions = await session.query<{ extension: string }>(EXTENSIONS);
  return { collations: row?.collations ?? '', extensions: extensions.map(({ extension }) => extension) };
}

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineContext } from '../../engine-context.ts';
import type { ImageMaker, ImageNeeds, ImageRequest } from '../../facets/image.ts';
import { copyDirectory } from '../../shared/server/copy-directory.ts';
import { homeAt, type ServerHome } from '../../shared/server/server-home.ts';
import { serverNotStarted } from '../../shared/server/start-server.ts';
import { programsFor } from '../../shared/server/unprivileged-user.ts';
import { connect, connectToServer } from '../connection/connect.ts';
import { quoteName } from '../connection/quote.ts';
import { parsePostgresUrl } from '../connection/url.ts';
import { archiveDetails } from '../dump/archive.ts';
import { createPlainRole, PLAIN_ROLE } from '../server/plain-role.ts';
import { initialise } from '../server/throw-away-server.ts';
import { COLLATIONS, EXTENSIONS, isNeverCopied } from './image-files.ts';
import { PRODUCT, runServer } from './run-server.ts';
import { DATA, isReady, stopServer } from './running-server.ts';

/** New tables are not logged, and nothing writes beside the load. */
const SETTINGS = {
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  wal_skip_threshold: '0',
  wal_recycle: 'off',
  min_wal_size: '32MB',
};

export async function makeImage(context: EngineContext, request: ImageRequest): Promise<ImageMaker> {
  const { programs, directory, user, manifest, database } = request;
  const home = homeAt(directory, user);
  const bin = await programsFor(context, { bin: programs.bin, directory, user });
  const password = randomBytes(16).toString('hex');
  await initialise(context, { bin, home, password });
  const server = { bin, home, port: null, settings: SETTINGS, detached: false, removes: false };
  const { port } = await runServer(context, server);
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

import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, it, vi } from 'vitest';
import { type LimitWorld, limitWorld, type SmallDisk, smallDisk } from '../contracts/limits.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { trials } from '../helpers/trials.ts';

/** Of the working directory. */
const DISK_MB = 96;
/** Enough for a server of the tests and four databases. */
const SERVER_MB = 700;

for (const kind of SERVER_KINDS) {
  const part = trials(`limits/${kind}`);
  describeWithKind(kind, 'an operation that is short of files, memory, disk or time', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let disk: SmallDisk;
    let databases: SmallDisk;
    let world: LimitWorld;

    beforeAll(async () => {
      folder = await temporaryFolder();
      // The server has another user.
      await chmod(folder.path, 0o711);
      databases = await smallDisk(join(folder.path, 'server'), SERVER_MB);
      disk = await smallDisk(join(folder.path, 'disk'), DISK_MB);
      // MySQL keeps its databases beside its other files, PostgreSQL in a tablespace of this disk.
      if (kind !== 'postgres') vi.stubEnv('TMPDIR', databases.path);
      server = await startAnyServer(kind);
      vi.unstubAllEnvs();
      world = await limitWorld(server, { folder: folder.path, databases, disk });
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await Promise.all([disk?.remove(), databases?.remove()]);
      await folder?.[Symbol.asyncDispose]();
    });

    it(
      part.title('ends with an error that names it, and nothing is lost'),
      {
        timeout: part.timeout,
      },
      () => part.each((round) => world.round(round)),
    );
  });
}

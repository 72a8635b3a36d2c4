import { afterAll, beforeAll, it } from 'vitest';
import { type LimitWorld, limitWorld } from '../contracts/limits.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../helpers/any-server.ts';
import { describeWithKind } from '../helpers/describe-with-kind.ts';
import { temporaryFolder } from '../helpers/postgres-server.ts';
import { trials } from '../helpers/trials.ts';

for (const kind of SERVER_KINDS) {
  const part = trials(`limits/${kind}`);
  describeWithKind(kind, 'an operation that is short of files, memory, disk or time', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let world: LimitWorld;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startAnyServer(kind);
      world = await limitWorld(server, folder.path);
    }, 240_000);

    afterAll(async () => {
      await world?.stop();
      await server?.stop();
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

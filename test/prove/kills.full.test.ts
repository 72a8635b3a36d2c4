import { afterAll, beforeAll, it } from 'vitest';
import { type KillWorld, killWorld } from '../contracts/kills.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { trials } from '../helpers/trials.ts';

for (const kind of SERVER_KINDS) {
  const part = trials(`kills/${kind}`);
  describeWithKind(kind, 'a killed operation', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let world: KillWorld;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startAnyServer(kind);
      world = await killWorld(server, folder.path);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it(
      part.title('leaves destination and snapshots old or new, and nothing after the next run'),
      {
        timeout: part.timeout,
      },
      () => part.each((round) => world.round(round)),
    );
  });
}

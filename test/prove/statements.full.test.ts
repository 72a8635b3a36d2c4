import { afterAll, beforeAll, it } from 'vitest';
import { type StatementWorld, statementWorld } from '../contracts/statements.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../helpers/any-server.ts';
import { describeWithKind } from '../helpers/describe-with-kind.ts';
import { temporaryFolder } from '../helpers/postgres-server.ts';
import { trials } from '../helpers/trials.ts';

for (const kind of SERVER_KINDS) {
  const part = trials(`statements/${kind}`);
  if (part.isEmpty) continue;
  describeWithKind(kind, 'an operation whose statement fails', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let world: StatementWorld;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startAnyServer(kind);
      world = await statementWorld(server, folder.path);
    }, 240_000);

    afterAll(async () => {
      await world?.[Symbol.asyncDispose]();
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it(
      part.title('leaves the destination old or new, as its message states; undo and the next run work'),
      { timeout: part.timeout },
      () => part.each((round) => world.round(round)),
    );
  });
}

import { afterAll, beforeAll, it } from 'vitest';
import { faultedDifferences } from '../contracts/faulted-differences.ts';
import { type StatementWorld, statementWorld } from '../contracts/statements.ts';
import { type AnyServer, startAnyServer } from '../helpers/databases/any-server.ts';
import { describeWithPostgres, temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { trials } from '../helpers/trials.ts';

/** Rounds of one operation between two runs without a fault. */
const BATCH = 10;

for (const { part, kills } of [
  { part: trials('statements/differences'), kills: false },
  { part: trials('kills/differences'), kills: true },
]) {
  if (part.isEmpty) continue;
  describeWithPostgres('an operation on a base copy of a load by rows', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let world: StatementWorld;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startAnyServer('postgres');
      world = await statementWorld(server, folder.path, { operations: faultedDifferences, kills });
    }, 240_000);

    afterAll(async () => {
      await world?.[Symbol.asyncDispose]();
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it(
      part.title('leaves destination and base copy old or new when a statement fails, and what follows is right'),
      { timeout: part.timeout },
      () => part.eachBatch(BATCH, (rounds) => world.rounds(rounds), { alike: (round) => world.operationOf(round) }),
    );
  });
}

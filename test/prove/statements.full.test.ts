import { afterAll, beforeAll, it } from 'vitest';
import { faultedBranches } from '../contracts/faulted-branches.ts';
import { faultedLoads } from '../contracts/faulted-loads.ts';
import type { FaultWorld, Preparation } from '../contracts/faulted-operation.ts';
import { type StatementWorld, statementWorld } from '../contracts/statements.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { trials } from '../helpers/trials.ts';

/** Rounds of one operation between two runs without a fault. */
const BATCH = 20;

async function faultedOperations(world: FaultWorld): Promise<Preparation[]> {
  return [...(await faultedLoads(world)), ...(await faultedBranches(world))];
}

for (const kind of SERVER_KINDS) {
  for (const { part, ...options } of [
    { part: trials(`statements/${kind}`), operations: faultedLoads },
    { part: trials(`statements/branches-${kind}`), operations: faultedBranches },
    { part: trials(`kills/launcher-${kind}`), operations: faultedOperations, kills: true },
  ]) {
    if (part.isEmpty) continue;
    describeWithKind(kind, 'an operation whose statement fails', () => {
      let server: AnyServer;
      let folder: Awaited<ReturnType<typeof temporaryFolder>>;
      let world: StatementWorld;

      beforeAll(async () => {
        folder = await temporaryFolder();
        server = await startAnyServer(kind);
        world = await statementWorld(server, folder.path, options);
      }, 240_000);

      afterAll(async () => {
        await world?.[Symbol.asyncDispose]();
        await server?.stop();
        await folder?.[Symbol.asyncDispose]();
      });

      it(
        part.title('leaves the destination old or new, as its message states; undo and the next run work'),
        { timeout: part.timeout },
        () =>
          part.eachBatch(BATCH, (rounds) => world.rounds(rounds), {
            alike: (round) => world.operationOf(round),
          }),
      );
    });
  }
}

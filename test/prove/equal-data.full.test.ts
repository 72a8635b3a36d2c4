import { afterAll, beforeAll, it } from 'vitest';
import { checkEqualData } from '../contracts/equal-data.ts';
import { type AnyServer, SERVER_KINDS, type ServerKind, startAnyServer } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import type { Setup } from '../helpers/mysql/mysql-server.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { type Trials, trials } from '../helpers/trials.ts';

/** Schemas in one database. */
const BATCH = 20;

interface Servers {
  kind: ServerKind;
  setup: Setup;
  part: Trials;
}

const SERVERS: Servers[] = [
  ...SERVER_KINDS.map((kind): Servers => ({ kind, setup: 'lean', part: trials(`data/${kind}`) })),
  { kind: 'mysql', setup: 'defaults', part: trials('data/mysql-defaults') },
];

for (const { kind, setup, part } of SERVERS) {
  describeWithKind(kind, `random schemas, ${setup} server`, () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startAnyServer(kind, setup);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it(part.title('are loaded as they were'), { timeout: part.timeout }, () =>
      part.eachBatch(BATCH, (rounds) =>
        checkEqualData({ server, folder: folder.path, isFresh: setup === 'defaults' }, rounds),
      ),
    );
  });
}

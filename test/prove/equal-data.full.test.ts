import { afterAll, beforeAll, it, vi } from 'vitest';
import { checkEqualData } from '../contracts/equal-data.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../helpers/any-server.ts';
import { describeWithKind } from '../helpers/describe-with-kind.ts';
import { fastFolder } from '../helpers/fast-folder.ts';
import { temporaryFolder } from '../helpers/postgres-server.ts';
import { trials } from '../helpers/trials.ts';

/** Schemas in one database. */
const BATCH = 20;

for (const kind of SERVER_KINDS) {
  const part = trials(`data/${kind}`);
  describeWithKind(kind, 'random schemas', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      vi.stubEnv('TMPDIR', fastFolder());
      folder = await temporaryFolder();
      server = await startAnyServer(kind);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
      vi.unstubAllEnvs();
    });

    it(part.title('are loaded as they were'), { timeout: part.timeout }, () =>
      part.eachBatch(BATCH, (rounds) => checkEqualData({ server, folder: folder.path }, rounds)),
    );
  });
}

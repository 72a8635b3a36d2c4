import { afterAll, beforeAll, it } from 'vitest';
import { checkPlanted } from '../contracts/planted.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { trials } from '../helpers/trials.ts';

for (const kind of SERVER_KINDS) {
  const part = trials(`personal/${kind}`);
  describeWithKind(kind, 'planted personal data', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startAnyServer(kind);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it(part.title('is in no column that the coverage reports as changed'), { timeout: part.timeout }, () =>
      part.each((round) => checkPlanted({ server, folder: folder.path }, round)),
    );
  });
}

import { afterAll, beforeAll, it } from 'vitest';
import { checkInstant, startInstant } from '../contracts/instant.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { trials } from '../helpers/trials.ts';

for (const kind of SERVER_KINDS) {
  const part = trials(`instant/${kind}`);
  describeWithKind(kind, 'a database that others write to', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startAnyServer(kind);
      await startInstant(server);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it(part.title('gives snapshots of one instant'), { timeout: part.timeout }, () =>
      part.each((round) => checkInstant({ server, folder: folder.path }, round)),
    );
  });
}

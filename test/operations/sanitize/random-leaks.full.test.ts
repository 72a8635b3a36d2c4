import { afterAll, beforeAll, it } from 'vitest';
import { checkRandomLeaks } from '../../contracts/random-leaks.ts';
import { type AnyServer, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { trials } from '../../helpers/trials.ts';

for (const kind of ['postgres', 'mariadb'] as const) {
  const part = trials(`leaks/${kind}`);
  describeWithKind(kind, 'original values that a query moves', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      if (part.isEmpty) return;
      folder = await temporaryFolder();
      server = await startAnyServer(kind);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it(part.title('are findings wherever a byte of the result holds them'), { timeout: part.timeout }, () =>
      part.each((round) => checkRandomLeaks({ server, folder: folder.path }, round)),
    );
  });
}

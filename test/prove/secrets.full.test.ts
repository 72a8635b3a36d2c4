import { afterAll, beforeAll, it } from 'vitest';
import { type SecretWorld, secretWorld } from '../contracts/secrets.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { trials } from '../helpers/trials.ts';

for (const kind of SERVER_KINDS) {
  const part = trials(`secrets/${kind}`);
  describeWithKind(kind, 'planted secrets', () => {
    describeWithS3('of a database, a bucket and a configuration', () => {
      let server: AnyServer;
      let storage: S3Server;
      let folder: Awaited<ReturnType<typeof temporaryFolder>>;
      let world: SecretWorld;

      beforeAll(async () => {
        [server, storage, folder] = await Promise.all([startAnyServer(kind), startS3(), temporaryFolder()]);
        world = await secretWorld(server, { folder: folder.path, profile: await storage.bucket() });
      }, 240_000);

      afterAll(async () => {
        await world?.stop();
        await Promise.all([server?.stop(), storage?.stop()]);
        await folder?.[Symbol.asyncDispose]();
      });

      it(
        part.title('are in no command line, output, log, file or traffic'),
        {
          timeout: part.timeout,
        },
        () => part.each((round) => world.round(round)),
      );
    });
  });
}

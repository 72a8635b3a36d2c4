import { afterAll, beforeAll, it } from 'vitest';
import { type Crowd, crowd } from '../contracts/crowd.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { trials } from '../helpers/trials.ts';

for (const kind of SERVER_KINDS) {
  const part = trials(`concurrency/${kind}`);
  describeWithKind(kind, 'eight processes', () => {
    describeWithS3('on one working directory, one bucket and one destination', () => {
      let server: AnyServer;
      let storage: S3Server;
      let folder: Awaited<ReturnType<typeof temporaryFolder>>;
      let world: Crowd;

      beforeAll(async () => {
        [server, storage, folder] = await Promise.all([startAnyServer(kind), startS3(), temporaryFolder()]);
        world = await crowd(server, { folder: folder.path, profile: await storage.bucket() });
      }, 240_000);

      afterAll(async () => {
        await Promise.all([server?.stop(), storage?.stop()]);
        await folder?.[Symbol.asyncDispose]();
      });

      it(
        part.title('leave every snapshot and the destination whole, and end by themselves'),
        {
          timeout: part.timeout,
        },
        () => part.each((round) => world.round(round)),
      );
    });
  });
}

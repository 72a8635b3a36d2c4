import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { pull } from '../../../src/operations/snapshots/transfer/pull.ts';
import { verify } from '../../../src/operations/snapshots/verify/verify.ts';
import { withDetails } from '../../helpers/databases/build-and-load.ts';
import { withPrograms } from '../../helpers/mysql/mysql-programs.ts';
import { describeWithMysql, startMysql, type TestMysql } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { type Machine, machine } from '../../helpers/storage/machine.ts';
import { describeWithS3, type S3Server, startS3 } from '../../helpers/storage/s3-server.ts';

const isFull = process.env.TEST_FULL === '1';
const FLAVOURS = isFull ? (['mariadb', 'mysql'] as const) : (['mariadb'] as const);

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: "snapshots by the vendor's own program" }, () => {
    describeWithS3('in a bucket', () => {
      let server: TestMysql;
      let storage: S3Server;
      let folder: Awaited<ReturnType<typeof temporaryFolder>>;

      beforeAll(async () => {
        [server, storage, folder] = await Promise.all([startMysql(flavour), startS3(), temporaryFolder()]);
        await server.createDatabase('source');
        await server.file('source', new URL('../../engines/mysql/fixtures/every-type.sql', import.meta.url).pathname);
      }, 240_000);

      afterAll(async () => {
        await Promise.all([server?.stop(), storage?.stop()]);
        await folder?.[Symbol.asyncDispose]();
      });

      async function machineOf(profile: Machine['profile']) {
        const targets: Settings['targets'] = {
          app: {
            storage_profile: 'team',
            program: true,
            snapshot: { src_url: server.url('source'), dst_url: server.url('copy') },
            sanitize: { override_query: "UPDATE words SET first = 'clean'" },
          },
        };
        const made = await machine({ profile, targets });
        return { made, context: await withPrograms(made.context, flavour, folder.path) };
      }

      it.each(isFull ? [false, true] : [true])(
        'are pushed, pulled and loaded as they are, and sanitized (encrypt: %s)',
        async (encrypt) => {
          const profile = { ...(await storage.bucket()), encrypt };
          const [here, there] = [await machineOf(profile), await machineOf(profile)];
          await using _here = here.made;
          await using _there = there.made;
          const row = await withDetails(build(here.context, { target: 'app' }));
          expect(row).toMatchObject({ program: expect.any(String), where: ['local', 'remote'] });
          expect((await listSnapshots(there.context, 'app')).snapshots).toMatchObject([
            { id: row.id, where: ['remote'], program: row.program },
          ]);
          // Tables alone first: only what is loaded is fetched.
          const some = await planLoad(there.context, { target: 'app', tables: ['source.words'] });
          await withDetails(applyLoad(there.context, some));
          expect(await there.made.repository.list('app')).toEqual([]);
          const pulled = await pull(there.context, { target: 'app' });
          expect(pulled.snapshot).toMatchObject({ program: row.program, where: ['local', 'remote'] });
          expect(await verify(there.context, { target: 'app' })).toMatchObject({ ok: true });
          const planned = await planLoad(there.context, { target: 'app', events: true });
          expect(planned.plan.snapshot).toMatchObject({ program: row.program });
          await withDetails(applyLoad(there.context, planned));
          expect(await server.dump('copy')).toEqual(await server.dump('source'));

          const safe = await withDetails(
            applySanitize(there.context, await planSanitize(there.context, { target: 'app', ephemeral: true })),
          );
          expect(safe.snapshot).toMatchObject({
            sanitized: true,
            program: expect.any(String),
            where: ['local', 'remote'],
          });
          await withDetails(applyLoad(here.context, await planLoad(here.context, { target: 'app' })));
          expect(await server.sql('copy', "SELECT COUNT(*) AS n FROM words WHERE first <> 'clean'")).toEqual([
            { n: 0 },
          ]);
        },
        120_000,
      );
    });
  });
}

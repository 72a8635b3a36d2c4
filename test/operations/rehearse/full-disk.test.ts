import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyRehearsal, planRehearsal } from '../../../src/operations/rehearse/rehearse.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { type SmallDisk, smallDisk } from '../../contracts/limits.ts';
import { type AnyServer, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithPostgres, temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

describeWithPostgres(
  'a rehearsal on a server whose disk is small',
  () => {
    let server: AnyServer;
    let disk: SmallDisk;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer('postgres'), temporaryFolder({ mode: 0o755 })]);
      disk = await smallDisk(join(folder.path, 'disk'), 150);
      await server.keepDatabasesIn(disk.path);
      await server.create('source');
      await server.run('source', ['CREATE TABLE note (id integer, text text)', "INSERT INTO note VALUES (1, 'one')"]);
      await build(context(), { target: 'app' });
      await server.create('copy');
      await applyLoad(context(), await planLoad(context(), { target: 'app', keepBase: true, undo: false }));
    }, 120_000);

    afterAll(async () => {
      await server?.stop();
      await disk?.remove();
      await folder?.[Symbol.asyncDispose]();
    });

    function context(): Context {
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      return testContext({
        settings: { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } },
      });
    }

    const left = async () => (await server.databases()).filter((name) => /rehearsal|tool-new/.test(name));

    it('reports the statement that finds it full, and leaves neither a branch nor a part of one', async () => {
      const file = join(folder.path, 'fill.sql');
      const fill = 'INSERT INTO note SELECT i, repeat(md5(i::text), 8) FROM generate_series(1, 400000) i';
      await writeFile(file, `${fill};`);
      const full = await applyRehearsal(context(), await planRehearsal(context(), { target: 'app', sql: file }));
      expect(full).toMatchObject({
        outcome: 'failed',
        statements: [{ text: fill, error: { code: '53100' } }],
        rows: [],
      });
      expect(await left()).toEqual([]);

      const planned = await planRehearsal(context(), { target: 'app', sql: file });
      const release = await disk.leave(500);
      const refused = expect.stringMatching(/disk|space/i);
      await expect(applyRehearsal(context(), planned)).rejects.toMatchObject({ hint: refused });
      await release();
      expect(await left()).toEqual([]);
      expect(await server.column('copy', 'SELECT text FROM note')).toEqual(['one']);
    }, 60_000);
  },
  { root: true },
);

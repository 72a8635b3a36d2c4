import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyBack, planBack } from '../../../src/operations/back/back.ts';
import { listPoints } from '../../../src/operations/back/list-points.ts';
import { applyBranchCreate, planBranchCreate } from '../../../src/operations/branch/create/create.ts';
import { openBranches } from '../../../src/operations/branch/open-branches.ts';
import { applyBranchReset, planBranchReset } from '../../../src/operations/branch/reset/reset.ts';
import { applyBranchSwitch, planBranchSwitch } from '../../../src/operations/branch/switch/switch.ts';
import { build } from '../../../src/operations/build/build.ts';
import { readChanges } from '../../../src/operations/changes/changes.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyReset, planReset } from '../../../src/operations/reset/reset.ts';
import { applySave, planSave } from '../../../src/operations/save/save.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

for (const kind of process.env.TEST_FULL ? SERVER_KINDS : (['postgres', 'mariadb'] as const)) {
  describeWithKind(kind, 'the last load', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    const built: Record<string, string> = {};

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      for (const target of ['one', 'two']) {
        await server.create(`source_${target}`);
        await server.run(`source_${target}`, [
          'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(64) NOT NULL)',
          `INSERT INTO item VALUES (1, '${target}')`,
        ]);
        built[target] = (await build(contextWith('shared'), { target })).id;
      }
    }, 60_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function contextWith(destination: string, host = '127.0.0.1'): Context {
      const dst_url = server.url(destination).replace('127.0.0.1', host);
      const targetOf = (name: string) => ({ snapshot: { src_url: server.url(`source_${name}`), dst_url } });
      const targets = { one: targetOf('one'), two: targetOf('two') };
      return testContext({ settings: { working_directory: join(folder.path, 'work'), targets, saves: NONE } });
    }
    const NONE = { keep: 20, max_duration: 10, before: [] };

    const load = async (target: string, on: Context, keepBase = true) =>
      applyLoad(on, await planLoad(on, { target, keepBase }));
    const names = (database: string) => server.column(database, 'SELECT name FROM item');
    const loadPoint = async (target: string, on: Context) =>
      (await listPoints(on, { target })).points.find(({ kind }) => kind === 'load');

    it('is none of a target whose base copy another target has replaced in the destination of both', async () => {
      const on = contextWith('shared');
      await load('one', on);
      await load('two', on);
      const refused = { code: 'base_copy_outdated', message: expect.stringContaining('"two"') };
      await expect(planReset(on, { target: 'one' })).rejects.toMatchObject(refused);
      await expect(planBranchCreate(on, { target: 'one', name: 'b1' })).rejects.toMatchObject(refused);
      await expect(planBack(on, { target: 'one', point: 'load' })).rejects.toMatchObject(refused);
      expect(await loadPoint('one', on)).toMatchObject({ unavailable: expect.stringContaining('another target') });
      await server.run('shared', ["UPDATE item SET name = 'changed'"]);
      await applyReset(on, await planReset(on, { target: 'two' }));
      expect(await names('shared')).toEqual(['two']);
      await load('one', on);
      await applyReset(on, await planReset(on, { target: 'one' }));
      expect(await names('shared')).toEqual(['one']);
    });

    it('is none of a branch that was created again under its name, which no reset replaces', async () => {
      const on = contextWith('again');
      await load('one', on);
      await applyBranchCreate(on, await planBranchCreate(on, { target: 'one', name: 'b1' }));
      const planned = await planBranchReset(on, { target: 'one', name: 'b1' });
      const { database } = await openBranches(on, { target: 'one' });
      const createdAt = new Date(Date.parse(planned.plan.branches[0]?.created_at ?? '') - 1).toISOString();
      const reset = database.branches.reset({ name: 'b1', createdAt, accept: () => {} });
      await expect(reset).rejects.toMatchObject({ code: 'plan_outdated' });
      await server.run('again_b1', ["INSERT INTO item VALUES (2, 'mine')"]);
      await expect(applyBranchReset(on, planned)).resolves.toMatchObject({ branches: [{ name: 'b1' }] });
      expect(await names('again_b1')).toEqual(['one']);
    });

    it('is found by the database, however its host is spelled', async () => {
      await load('one', contextWith('spelled'), false);
      const on = contextWith('spelled', 'localhost');
      await server.run('spelled', ["UPDATE item SET name = 'changed'"]);
      const changes = await readChanges(on, { target: 'one' });
      expect(changes).toMatchObject({ since: { kind: 'load', snapshot: { id: built.one } }, tables: [{ changed: 1 }] });
      expect(await loadPoint('one', on)).toMatchObject({
        made_by: `the load of snapshot ${built.one}`,
        way: 'restore',
      });
      await applyBack(on, await planBack(on, { target: 'one', point: 'load' }));
      expect(await names('spelled')).toEqual(['one']);
      // Another database of the server is another one.
      await expect(readChanges(contextWith('shared2', 'localhost'), { target: 'one' })).rejects.toMatchObject({
        code: 'load_unknown',
      });
    });

    it('is not a switch or reset of a branch of another destination, but one of its own', async () => {
      const [on, elsewhere] = [contextWith('switched'), contextWith('other')];
      await load('one', on);
      await applyBranchCreate(on, await planBranchCreate(on, { target: 'one', name: 'b' }));
      await server.run('source_one', ["INSERT INTO item VALUES (2, 'later')"]);
      const { id: later } = await build(on, { target: 'one' });
      await server.run('source_one', ['DELETE FROM item WHERE id = 2']);
      await load('one', elsewhere);
      await applyBranchSwitch(on, await planBranchSwitch(on, { target: 'one', name: 'b' }));
      const origin = async (context: Context) => (await readChanges(context, { target: 'one' })).since;
      expect(await origin(elsewhere)).toMatchObject({ kind: 'load', snapshot: { id: later } });
      expect(await origin(on)).toMatchObject({ kind: 'load', snapshot: { id: built.one } });
      await server.run('switched', ["UPDATE item SET name = 'saved'"]);
      await applySave(on, await planSave(on, { target: 'one', name: 's' }));
      await applyBack(on, await planBack(on, { target: 'one', point: 's' }));
      expect(await origin(on)).toMatchObject({ kind: 'load', name: 's' });
      await applyBranchReset(on, await planBranchReset(on, { target: 'one', name: 'b' }));
      expect(await names('switched')).toEqual(['one']);
      expect(await origin(on)).toMatchObject({ kind: 'load', snapshot: { id: built.one } });
    });
  });
}

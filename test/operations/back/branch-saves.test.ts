import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyBack, type BackRequest, planBack } from '../../../src/operations/back/back.ts';
import { listPoints } from '../../../src/operations/back/list-points.ts';
import { applyBranchCreate, planBranchCreate } from '../../../src/operations/branch/create/create.ts';
import { applyBranchDrop, planBranchDrop } from '../../../src/operations/branch/drop/drop.ts';
import { listBranches } from '../../../src/operations/branch/list/list.ts';
import { applyBranchSwitch, planBranchSwitch } from '../../../src/operations/branch/switch/switch.ts';
import { build } from '../../../src/operations/build/build.ts';
import { readChanges } from '../../../src/operations/changes/changes.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { planPrune } from '../../../src/operations/prune/prune.ts';
import { applySaveRemoval, planSaveRemoval } from '../../../src/operations/save/remove-save.ts';
import { applySave, planSave, type SaveRequest } from '../../../src/operations/save/save.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { asData } from '../../helpers/fakes/as-data.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const FILL = [
  'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(64) NOT NULL)',
  "INSERT INTO item VALUES (1, 'one'), (2, 'two'), (3, 'three')",
  'CREATE VIEW names AS SELECT name FROM item',
];

for (const kind of process.env.TEST_FULL ? SERVER_KINDS : (['postgres', 'mariadb'] as const)) {
  describeWithKind(kind, 'saves of branches', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let snapshot: string;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      await server.create('source');
      await server.run('source', FILL);
      ({ id: snapshot } = await build(contextWith(), { target: 'app' }));
      await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app', keepBase: true, undo: false }));
      await create('a', 'robot');
      await create('b');
    }, 60_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function contextWith(saves: Partial<Context['configuration']['settings']['saves']> = {}): Context {
      const targets = { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } };
      const settings = { working_directory: join(folder.path, 'work'), targets };
      return testContext({ settings: { ...settings, saves: { keep: 20, max_duration: 10, before: [], ...saves } } });
    }
    const agentWith = (saves = {}): Context => ({ ...contextWith(saves), agent: true });

    const create = async (name: string, owner?: string) =>
      applyBranchCreate(contextWith(), await planBranchCreate(contextWith(), { target: 'app', name, owner }));
    const save = async (request: Partial<SaveRequest>, on = contextWith()) =>
      applySave(on, asData(await planSave(on, { target: 'app', ...request })));
    const back = async (request: Partial<BackRequest>, on = contextWith()) =>
      applyBack(on, asData(await planBack(on, { target: 'app', ...request })));
    const points = async (request: { branch?: string; owner?: string } = {}) =>
      (await listPoints(contextWith(), { target: 'app', ...request })).points.map(({ name }) => name);
    const branchRow = async (name: string) =>
      (await listBranches(contextWith(), { target: 'app' })).branches.find((branch) => branch.name === name);
    /** Without the mark of a branch, which is a table in MySQL. */
    const contentOf = async (database: string) => [
      ...(await server.column(database, 'SELECT name FROM item ORDER BY id')),
      ...(await server.column(
        database,
        `SELECT table_name FROM information_schema.tables WHERE table_schema = ${kind === 'postgres' ? `'public'` : 'DATABASE()'} AND table_name <> 'tool-mark' ORDER BY 1`,
      )),
    ];
    const databases = async () => (await server.databases()).filter((name) => name.startsWith('copy_')).sort();

    it('lead the branch back, which stays a branch of its agent, of the snapshot of the save', async () => {
      await server.run('copy_a', ["UPDATE item SET name = 'saved' WHERE id = 1", 'DROP VIEW names']);
      const saved = await contentOf('copy_a');
      const other = await contentOf('copy_b');
      const stored = await save({ branch: 'a', owner: 'robot', name: 'one' }, agentWith());
      expect(stored).toMatchObject({ branch: 'a', save: { index: 0, branch: { name: 'a', owner: 'robot' } } });
      await server.run('source', ['CREATE TABLE later (id INT PRIMARY KEY)']);
      await build(contextWith(), { target: 'app' });
      await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app', keepBase: true, undo: false }));
      await server.run('source', ['DROP TABLE later']);
      // The base copy is another one by now.
      await back({ branch: 'a', owner: 'robot', point: 'load' }, agentWith());
      expect(await contentOf('copy_a')).toEqual(await contentOf('copy'));
      const { plan } = await planBack(agentWith(), { target: 'app', branch: 'a', owner: 'robot' });
      expect(plan).toMatchObject({ point: 'one', load: { branch: 'a', save: 'one', undo: false, strategy: 'swap' } });
      expect(await back({ branch: 'a', owner: 'robot' }, agentWith())).toMatchObject({ branch: 'a', point: 'one' });
      expect(await contentOf('copy_a')).toEqual(saved);
      expect(await contentOf('copy_b')).toEqual(other);
      expect(await branchRow('a')).toMatchObject({ owner: 'robot', snapshot, database: 'copy_a', current: false });
      expect(await readChanges(agentWith(), { target: 'app', branch: 'a', owner: 'robot' })).toMatchObject({
        since: { kind: 'load', snapshot: { id: snapshot } },
        tables: [{ table: expect.stringContaining('item'), changed: 1 }],
      });
      const since = await readChanges(contextWith(), { target: 'app', branch: 'a', since: 'one' });
      expect(since).toMatchObject({ since: { kind: 'save', name: 'one' }, tables: [] });
      expect(await databases()).toEqual(['copy_a', 'copy_b']);
    });

    it('are of one branch and the agent that made them: nobody else has or displaces them but a person', async () => {
      await save({ name: 'one' });
      await save({ branch: 'b', name: 'one' });
      await save({ branch: 'a', name: 'of person' });
      expect(await points()).toEqual(['previous', 'load', 'one']);
      expect(await points({ branch: 'a' })).toEqual(['load', 'of person', 'one']);
      expect(await points({ branch: 'a', owner: 'robot' })).toEqual(['load', 'one']);
      const missing = { code: 'save_missing' };
      const robot = { branch: 'a', owner: 'robot' };
      await expect(planBack(agentWith(), { target: 'app', ...robot, point: 'of person' })).rejects.toMatchObject(
        missing,
      );
      await expect(planBack(contextWith(), { target: 'app', point: 'of person' })).rejects.toMatchObject(missing);
      for (const branch of ['b', 'a']) {
        const foreign = { target: 'app', branch, owner: branch === 'a' ? 'another' : 'robot' };
        const refused = { code: 'branch_not_own' };
        await expect(planSave(agentWith(), foreign)).rejects.toMatchObject(refused);
        await expect(planBack(agentWith(), foreign)).rejects.toMatchObject(refused);
        await expect(listPoints(agentWith(), foreign)).rejects.toMatchObject(refused);
      }
      // The plan is of a save that another agent made of a branch with this name.
      const load = {
        target: 'app',
        branch: 'a',
        owner: 'robot',
        save: (await save({ branch: 'a', name: 'x' })).save.id,
      };
      await expect(planLoad(agentWith(), load)).rejects.toMatchObject(missing);
      await save({ branch: 'b', name: 'person 2' });
      const few = agentWith({ keep: 1 });
      expect(await save({ ...robot, name: 'two' }, few)).toMatchObject({ removed: ['one'], save: { index: 0 } });
      expect(await points()).toEqual(['previous', 'load', 'one']);
      expect(await points({ branch: 'a' })).toEqual(['load', 'two', 'x', 'of person']);
      const [{ saves } = {}] = (
        await planPrune(contextWith({ keep: 4 }), { target: 'app', keep: { last: 9 }, from: 'local' })
      ).plan.targets;
      expect(saves?.remove.map(({ name, branch }) => [name, branch?.name])).toEqual([['one', undefined]]);
      const removal = await planSaveRemoval(contextWith(), { target: 'app', branch: 'a', name: 'x' });
      await applySaveRemoval(contextWith(), asData(removal));
      expect(await points({ branch: 'a' })).toEqual(['load', 'two', 'of person']);
    });

    it('are made by themselves before an agent replaces its branch, and for a person before a return', async () => {
      const robot = { branch: 'a', owner: 'robot' };
      const before = ['load', 'agent'] as const;
      const automatic = async (owner?: string) =>
        (await listPoints(contextWith(), { target: 'app', branch: 'a', ...(owner && { owner }) })).points.flatMap(
          ({ automatic }) => automatic ?? [],
        );
      await server.run('copy_a', ["UPDATE item SET name = 'to lose'"]);
      const lost = await contentOf('copy_a');
      const planned = await planBack(agentWith({ before: [...before] }), { target: 'app', ...robot, point: 'load' });
      expect(planned.plan.branch_reset).toMatchObject({ automatic_saves: [{ database: 'copy_a', before: 'agent' }] });
      await applyBack(agentWith({ before: [...before] }), asData(planned));
      expect(await automatic('robot')).toEqual(['agent']);
      await back({ ...robot, point: '0' }, agentWith({ before: [...before] }));
      expect(await contentOf('copy_a')).toEqual(lost);
      expect(await automatic('robot')).toEqual(['agent', 'agent']);
      await server.run('copy_a', ["UPDATE item SET name = 'a person'"]);
      await back({ branch: 'a', point: 'two' }, contextWith({ before: [...before] }));
      expect(await automatic('robot')).toEqual(['agent', 'agent']);
      expect(await automatic()).toEqual(['load', 'agent', 'agent']);
      // None without the rule.
      await server.run('copy_a', ["UPDATE item SET name = 'unsaved'"]);
      await back({ ...robot, point: 'load' }, agentWith());
      expect(await automatic()).toEqual(['load', 'agent', 'agent']);
    });

    it('are refused of a branch that the destination is, and end with nothing beside a dropped one', async () => {
      await expect(planBack(contextWith(), { target: 'app', branch: 'b', point: 'previous' })).rejects.toMatchObject({
        code: 'nothing_to_undo',
      });
      await applyBranchSwitch(contextWith(), await planBranchSwitch(contextWith(), { target: 'app', name: 'b' }));
      const current = { code: 'branch_current' };
      await expect(planSave(contextWith(), { target: 'app', branch: 'b' })).rejects.toMatchObject(current);
      await expect(planBack(contextWith(), { target: 'app', branch: 'b' })).rejects.toMatchObject(current);
      await applyUndo(contextWith(), await planUndo(contextWith(), { target: 'app' }));
      // It went meanwhile.
      const planned = await planBack(contextWith(), { target: 'app', branch: 'b', point: 'one' });
      if (kind === 'postgres') {
        for (const [name, tool] of [
          ['copy_b.tool-new-0badcafe', 'new'],
          ['copy_b.tool-undo', 'undo'],
        ]) {
          await server.run('copy', [`CREATE DATABASE "${name}"`]);
          await server.run('copy', [`COMMENT ON DATABASE "${name}" IS '{"tool":"${tool}","of":"copy_b"}'`]);
        }
      }
      const drop = await planBranchDrop(contextWith(), { target: 'app', names: ['b'] });
      await applyBranchDrop(contextWith(), drop);
      await expect(applyBack(contextWith(), asData(planned))).rejects.toMatchObject({ code: 'branch_missing' });
      expect(await databases()).toEqual(['copy_a']);
    });
  });
}

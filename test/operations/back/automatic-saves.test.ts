import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyBack, planBack } from '../../../src/operations/back/back.ts';
import { listPoints } from '../../../src/operations/back/list-points.ts';
import { applyBranchCreate, planBranchCreate } from '../../../src/operations/branch/create/create.ts';
import { applyBranchSwitch, planBranchSwitch } from '../../../src/operations/branch/switch/switch.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { applySave, planSave } from '../../../src/operations/save/save.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { asData } from '../../helpers/fakes/as-data.ts';
import { itIf } from '../../helpers/it-if.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

/** A busy server lists a session for a moment after its end. */
const LISTED = 'sessions_open';

const FILL = [
  'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(64) NOT NULL)',
  "INSERT INTO item VALUES (1, 'one'), (2, 'two'), (3, 'three')",
  'CREATE VIEW names AS SELECT name FROM item',
];

type Saves = Context['configuration']['settings']['saves'];

for (const kind of process.env.TEST_FULL ? SERVER_KINDS : (['postgres', 'mariadb'] as const)) {
  describeWithKind(kind, 'automatic saves', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      await server.create('source');
      await server.run('source', [
        ...FILL,
        ...(kind === 'postgres' ? ['CREATE SEQUENCE counter', 'CREATE INDEX ON item (name)'] : []),
      ]);
      await build(contextWith(), { target: 'app' });
      await load();
    }, 60_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function contextWith(given: Partial<Saves> = {}): Context {
      const { before: _, ...rest } = { before: undefined, ...given };
      const saves: Saves = { keep: 20, max_duration: 10, ...rest, ...(given.before && { before: given.before }) };
      const targets = { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } };
      const { CI: _ci, ...environment } = process.env;
      return {
        ...testContext({ settings: { working_directory: join(folder.path, 'work'), targets, saves } }),
        environment,
      };
    }

    const load = async (request: Partial<LoadRequest> = {}, on = contextWith()) => {
      const planned = asData(await planLoad(on, { target: 'app', keepBase: true, ...request }));
      await applyLoad(on, planned);
      return planned.plan;
    };
    /** Loads with something done between its save and its end. */
    const loadWith = async (request: Partial<LoadRequest>, meanwhile: () => Promise<unknown>) => {
      const warnings: string[] = [];
      const context = contextWith();
      const report = (event: RunEvent): void => {
        if (event.event === 'warning' && event.code !== LISTED) warnings.push(event.code);
        if (event.event === 'step' && event.step === 'restore' && event.state === 'started') done = meanwhile();
      };
      let done: Promise<unknown> = Promise.resolve();
      const planned = await planLoad(context, { target: 'app', keepBase: true, ...request });
      const { undo_database: undo } = await applyLoad({ ...context, report }, planned);
      await done;
      return { undo, warnings };
    };
    const change = (name: string) => server.run('copy', [`UPDATE item SET name = '${name}' WHERE id = 1`]);
    const content = () => server.content('copy');
    const saves = async () =>
      (await listPoints(contextWith(), { target: 'app' })).points.filter((point) => point.kind === 'save');
    const automatic = async () => (await saves()).filter((save) => save.automatic !== undefined);

    itIf(kind === 'postgres')('keep the undo copy that a load drops, unless it is as it was loaded', async () => {
      expect((await load()).automatic_saves).toBeUndefined();
      // Neither statistics nor a vacuum are changes.
      await server.run('copy', ['VACUUM FREEZE ANALYZE']);
      const plan = await load();
      expect(plan.automatic_saves).toMatchObject([{ database: 'copy.tool-undo', before: 'load' }]);
      expect(plan.steps[0]).toContain('Save copy.tool-undo');
      await load();
      await load();
      expect(await saves()).toEqual([]);

      const states: string[] = [];
      for (const statement of ['DELETE FROM item WHERE id = 3', "SELECT nextval('counter')"]) {
        await server.run('copy', [statement]);
        states.push(await content());
        await load();
        expect(await automatic()).toHaveLength(states.length - 1);
      }
      expect((await automatic())[0]).toMatchObject({ automatic: 'load', made_by: 'automatic, before a load' });
      const oldest = `${(await automatic()).length - 1}`;
      await applyBack(contextWith(), await planBack(contextWith(), { target: 'app', point: oldest }));
      expect(await content()).toBe(states[0]);
      expect(await automatic()).toHaveLength(states.length);
    });

    it('keep the present state where no undo copy does, and equal states once', async () => {
      await change('present');
      const state = await content();
      const plan = await load({ undo: false });
      expect(plan.automatic_saves?.at(-1)).toMatchObject({ database: 'copy' });
      await applyBack(contextWith(), await planBack(contextWith(), { target: 'app' }));
      expect(await content()).toBe(state);
      const before = await automatic();
      const tables = [kind === 'postgres' ? 'public.item' : 'copy.item'];
      if (kind === 'postgres') await load({ tables, only: true, keepBase: false });
      else await load({ undo: false });
      expect(await automatic()).toHaveLength(before.length);
    });

    it('are no loss of what is written while a load without an undo copy runs: it is kept, with a warning', async () => {
      await change('before the load');
      // The engine of a server keeps the second of a write, which must be over for certain.
      if (kind !== 'postgres') await server.column('copy', 'SELECT SLEEP(4)');
      const quiet = await loadWith({ undo: false }, async () => {});
      expect(quiet).toMatchObject({ undo: null, warnings: [] });
      const written = await loadWith({ undo: false }, () => change('while it runs'));
      expect(written).toMatchObject({ undo: 'copy.tool-undo', warnings: ['undo_copy_remains'] });
      await applyUndo(contextWith(), await planUndo(contextWith(), { target: 'app' }));
      expect(await server.column('copy', 'SELECT name FROM item WHERE id = 1')).toEqual(['while it runs']);
      await change('for nobody');
      await loadWith({ undo: false, autosave: false }, () => change('nor this'));
      expect(await server.databases()).not.toContain('copy.tool-undo');
    });

    it('are left out in CI, by saves.before, with --no-autosave, and where they take too long', async () => {
      const ci = contextWith();
      const contexts: [Context, Partial<LoadRequest>][] = [
        [{ ...ci, environment: { ...ci.environment, CI: 'true' } }, {}],
        [contextWith({ before: ['branch_switch'] }), {}],
        [contextWith(), { autosave: false }],
      ];
      const before = await automatic();
      for (const [on, request] of contexts) {
        const { plan } = await planLoad(on, { target: 'app', undo: false, ...request });
        expect(plan.automatic_saves).toBeUndefined();
      }
      const plan = await load({ undo: false }, contextWith({ max_duration: 0 }));
      expect(plan.automatic_saves).toMatchObject([{ skipped: true }]);
      expect(plan.warnings.filter(({ code }) => code !== LISTED)).toMatchObject([{ code: 'save_skipped' }]);
      expect(await automatic()).toHaveLength(before.length);
    });

    it('precede a switch of branches, and stop a load when they fail', async () => {
      await load();
      await change('before a switch');
      await applyBranchCreate(
        contextWith(),
        asData(await planBranchCreate(contextWith(), { target: 'app', name: 'b' })),
      );
      const planned = asData(await planBranchSwitch(contextWith(), { target: 'app', name: 'b' }));
      expect(planned.plan.automatic_saves).toMatchObject([{ before: 'branch_switch' }]);
      const before = await automatic();
      await applyBranchSwitch(contextWith(), planned);
      if (kind !== 'postgres') expect(await automatic()).toHaveLength(before.length + 1);
      await change('in the branch');
      const state = await content();
      const folderOfSaves = join(folder.path, 'work/snapshots/save+app');
      await rename(folderOfSaves, `${folderOfSaves}.away`);
      await writeFile(folderOfSaves, '');
      await expect(load({ undo: false })).rejects.toMatchObject({
        code: 'automatic_save_failed',
        hint: expect.stringContaining('--no-autosave'),
      });
      await rm(folderOfSaves);
      await rename(`${folderOfSaves}.away`, folderOfSaves);
      expect(await content()).toBe(state);
    });

    it('are removed before named ones', async () => {
      const on = contextWith();
      await applySave(on, await planSave(on, { target: 'app', name: 'mine' }));
      await change('newest');
      await load({ undo: false });
      await change('newer');
      const keeping = contextWith({ keep: 2 });
      await applySave(keeping, await planSave(keeping, { target: 'app', name: 'newer' }));
      expect((await saves()).map(({ name }) => name)).toEqual(['newer', 'mine']);
    });
  });
}

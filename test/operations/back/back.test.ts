import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyBack, type BackRequest, planBack } from '../../../src/operations/back/back.ts';
import { listPoints } from '../../../src/operations/back/list-points.ts';
import { build } from '../../../src/operations/build/build.ts';
import { listHistory } from '../../../src/operations/history/list-history.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyPrune, planPrune } from '../../../src/operations/prune/prune.ts';
import { applyRemove, planRemove } from '../../../src/operations/remove/remove.ts';
import { applySaveRemoval, planSaveRemoval } from '../../../src/operations/save/remove-save.ts';
import { applySave, planSave, type SaveRequest } from '../../../src/operations/save/save.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { push } from '../../../src/operations/snapshots/transfer/push.ts';
import { verify } from '../../../src/operations/snapshots/verify/verify.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { asData } from '../../helpers/fakes/as-data.ts';
import { itIf } from '../../helpers/it-if.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const FILL = [
  'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(64) NOT NULL)',
  "INSERT INTO item VALUES (1, 'one'), (2, 'two'), (3, 'three')",
  'CREATE TABLE child (id INT PRIMARY KEY, item_id INT NOT NULL, FOREIGN KEY (item_id) REFERENCES item (id))',
  'INSERT INTO child VALUES (1, 1), (2, 2)',
  'CREATE VIEW names AS SELECT name FROM item',
];
type Saves = Context['configuration']['settings']['saves'];

const TWO_DAYS_MS = 2 * 24 * 60 * 60 * 1000;

for (const kind of process.env.TEST_FULL ? SERVER_KINDS : (['postgres', 'mariadb'] as const)) {
  describeWithKind(kind, 'saves', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let snapshot: string;
    let pristine: string;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      await server.create('source');
      await server.run('source', FILL);
      ({ id: snapshot } = await build(contextWith(), { target: 'app' }));
      await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app', keepBase: true }));
      pristine = await content();
    }, 60_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function contextWith(given: Partial<Saves> = {}): Context {
      const saves: Saves = { keep: 20, max_duration: 10, before: [], ...given };
      // The steps of a load do not run in a return.
      const after_load = [{ command: 'exit 3', timeout: 5 }];
      const app = { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } };
      const plain = { snapshot: { src_url: server.url('source'), dst_url: server.url('plain') } };
      const targets = { app, plain, stepped: { snapshot: { ...app.snapshot, after_load } } };
      return testContext({ settings: { working_directory: join(folder.path, 'work'), targets, saves } });
    }

    const content = () => server.content('copy');
    const save = async (request: Partial<SaveRequest> = {}, on = contextWith()) =>
      applySave(on, asData(await planSave(on, { target: 'app', ...request })));
    const back = async (request: Partial<BackRequest> = {}, on = contextWith()) =>
      applyBack(on, asData(await planBack(on, { target: 'app', ...request })));
    const points = async () => (await listPoints(contextWith(), { target: 'app' })).points.map(({ name }) => name);

    it('are not needed for a return to the last load, without a base copy: its snapshot is loaded again', async () => {
      const target = 'plain';
      const loadPoint = async () => (await listPoints(contextWith(), { target })).points[1];
      expect(await loadPoint()).toMatchObject({ name: 'load', unavailable: expect.stringContaining('No load into') });
      await expect(planBack(contextWith(), { target, point: 'load' })).rejects.toMatchObject({ code: 'no_base_copy' });
      const loaded = await build(contextWith(), { target });
      await applyLoad(contextWith(), await planLoad(contextWith(), { target }));
      const before = await server.content('plain');
      await server.run('source', ['CREATE TABLE later (id INT PRIMARY KEY)']);
      await build(contextWith(), { target });
      await server.run('source', ['DROP TABLE later']);
      await server.run('plain', ['DELETE FROM child']);
      expect(await loadPoint()).toMatchObject({ way: 'restore', made_by: `the load of snapshot ${loaded.id}` });
      await back({ target, point: 'load' });
      expect(await server.content('plain')).toBe(before);
      // Then the last load is that of another target, which may have other data.
      const other = { target: 'app', destdb: server.url('plain') };
      await applyLoad(contextWith(), await planLoad(contextWith(), other));
      await expect(planBack(contextWith(), { target, point: 'load' })).rejects.toMatchObject({ code: 'no_base_copy' });
      expect(await loadPoint()).toMatchObject({ unavailable: expect.stringContaining('of another target') });
    });

    it('lead back to their state, and to the last load and the replaced database from there', async () => {
      await expect(planBack(contextWith(), { target: 'app' })).rejects.toMatchObject({ code: 'save_missing', exit: 2 });
      await server.run('copy', [
        "UPDATE item SET name = 'saved' WHERE id = 1",
        'CREATE TABLE mine (id INT PRIMARY KEY)',
        // A load has only the schemas of schema_config.
        ...(kind === 'postgres' ? ['CREATE SCHEMA side', 'CREATE TABLE side.mine AS SELECT 1 AS id'] : []),
      ]);
      const saved = await content();
      expect(await save({ name: 'one', note: 'a note' })).toMatchObject({
        save: { name: 'one', note: 'a note', index: 0, sanitized: false, where: ['local'] },
        removed: [],
      });
      expect(await content()).toBe(saved);
      for (const name of ['one', 'load', 'previous', '7', ' x']) {
        await expect(planSave(contextWith(), { target: 'app', name })).rejects.toMatchObject({ exit: 2 });
      }
      await server.run('copy', ['DROP VIEW names', 'DELETE FROM child', 'DROP TABLE mine']);
      const changed = await content();

      const { plan } = await planBack(contextWith(), { target: 'app' });
      expect(plan).toMatchObject({
        point: 'one',
        load: { save: 'one', sanitized: null, undo: true, strategy: 'swap' },
      });
      expect(await back()).toMatchObject({ point: 'one', load: { snapshot: { note: 'a note' } } });
      expect(await content()).toBe(saved);
      await back({ point: 'load' });
      expect(await content()).toBe(pristine);
      await back({ point: 'previous' });
      expect(await content()).toBe(saved);
      await server.run('copy', ['DELETE FROM child']);
      await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app', keepBase: true }));
      await server.run('copy', ["UPDATE item SET name = 'rows'"]);
      await save({ name: 'rows' });
      const planned = await planBack(contextWith(), { target: 'app' });
      // The base copy has the same definitions.
      if (kind === 'postgres') expect(planned.plan.load?.difference).toMatchObject({ method: 'difference', tables: 1 });
      await server.run('copy', ['DROP VIEW names', 'DELETE FROM child']);
      const again = await content();
      await back({ point: '1' });
      expect(await content()).toBe(saved);
      await back({ point: 'previous' });
      expect(await content()).toBe(again);
      // The base copy is of the load before the return.
      if (kind === 'postgres') {
        expect((await planBack(contextWith(), { target: 'app', point: 'previous' })).plan.undo?.keeps_copies).toBe(
          true,
        );
        await back({ point: 'load' });
        expect(await content()).toBe(pristine);
        await back({ point: 'previous' });
        expect(await content()).toBe(again);
      }
      expect(changed).not.toBe(saved);

      const list = await listPoints(contextWith(), { target: 'app' });
      expect(list.points).toMatchObject([
        { kind: 'previous', way: 'swap' },
        { kind: 'load', made_by: `the load of snapshot ${snapshot}` },
        { kind: 'save', name: 'rows', index: 0 },
        { kind: 'save', name: 'one', index: 1, note: 'a note', way: 'restore' },
      ]);
      const { entries } = listHistory(contextWith(), { target: 'app' });
      expect(entries.filter(({ save }) => save === 'one').map(({ operation }) => operation)).toEqual([
        'back',
        'back',
        'save',
      ]);
    });

    it('have one name each, also of two at once, and the new one stays where a clock was set back', async () => {
      const saves = join(folder.path, 'work/snapshots/save+app');
      const [first = ''] = readdirSync(saves).sort();
      const twin = join(saves, first.replace(/-.{8}\.json/, '-deadbeef.json'));
      const { signature: _, ...manifest } = JSON.parse(readFileSync(join(saves, first), 'utf8'));
      const another = (): void => writeFileSync(twin, JSON.stringify({ ...manifest, id: 'deadbeef', save: 'twin' }));
      const on: Context = {
        ...contextWith(),
        report: (event) => event.event === 'step' && event.step === 'dump' && another(),
      };
      await expect(save({ name: 'twin' }, on)).rejects.toMatchObject({ code: 'save_exists' });
      const { configuration } = contextWith();
      const trusting = {
        ...contextWith(),
        configuration: { ...configuration, settings: { ...configuration.settings, trusted_keys: [] } },
      };
      await expect(planBack(trusting, { target: 'app', point: 'twin' })).rejects.toMatchObject({
        code: 'signature_untrusted',
        hint: expect.not.stringContaining('--allow-untrusted'),
      });
      await applySaveRemoval(contextWith(), await planSaveRemoval(contextWith(), { target: 'app', name: 'twin' }));
      const before = await points();
      const early = { ...contextWith({ keep: 1 }), clock: () => new Date('2020-01-01T00:00:00Z') };
      expect(await save({ name: 'early' }, early)).toMatchObject({
        save: { name: 'early', index: 1 },
        removed: ['one'],
      });
      expect(await points()).toEqual([...before.filter((name) => name !== 'one'), 'early']);
    });

    itIf(kind !== 'postgres')('run their events, but not those of a save that others have made', async () => {
      const before = await content();
      await server.run('copy', ['CREATE EVENT daily ON SCHEDULE EVERY 1 DAY DO DELETE FROM item WHERE id < 0']);
      const { save: row } = await save({ name: 'eventful' });
      const status = () =>
        server.column('copy', "SELECT STATUS FROM information_schema.EVENTS WHERE EVENT_NAME = 'daily'");
      await back({ point: 'eventful' });
      expect(await status()).toEqual(['ENABLED']);
      const saves = join(folder.path, 'work/snapshots/save+app');
      const file = join(saves, readdirSync(saves).find((name) => name.includes(row.id)) ?? '');
      const { signature: _, ...unsigned } = JSON.parse(readFileSync(file, 'utf8'));
      writeFileSync(file, JSON.stringify(unsigned));
      await back({ point: 'eventful' });
      expect(await status()).toEqual(['DISABLED']);
      await applySaveRemoval(contextWith(), await planSaveRemoval(contextWith(), { target: 'app', name: 'eventful' }));
      await server.run('copy', ['DROP EVENT daily']);
      expect(await content()).toBe(before);
    });

    it('are no snapshots, and stay when all snapshots are removed with what only they needed', async () => {
      const saved = await content();
      const { save: row } = await save({ name: 'kept' });
      expect(await verify(contextWith(), { target: 'app', save: 'kept' })).toMatchObject({ ok: true, save: 'kept' });
      const { snapshots } = await listSnapshots(contextWith(), 'app');
      expect(snapshots.map(({ id }) => id)).toEqual([snapshot]);
      await expect(push(contextWith(), { target: 'app', snapshot: row.id })).rejects.toThrow();
      await expect(planLoad(contextWith(), { target: 'app', snapshot: row.id })).rejects.toMatchObject({
        code: 'snapshot_missing',
      });

      const later = { ...contextWith(), clock: () => new Date(Date.now() + TWO_DAYS_MS) };
      await applyRemove(later, await planRemove(later, { target: 'app', snapshot }));
      expect((await listSnapshots(contextWith(), 'app')).snapshots).toEqual([]);
      await server.run('copy', ['DELETE FROM child']);
      await back({ point: 'kept' });
      expect(await content()).toBe(saved);
    });

    it('are removed by their rules and by name', async () => {
      expect(await save({ name: 'two' }, contextWith({ keep: 2 }))).toMatchObject({ removed: ['rows', 'early'] });
      expect(await points()).toEqual(['previous', 'load', 'two', 'kept']);
      // More than 1 kB that only the new save needs.
      const rows = Array.from({ length: 50 }, (_, at) => `(${at + 10}, '${randomBytes(32).toString('hex')}')`);
      await server.run('copy', [`INSERT INTO item VALUES ${rows.join(', ')}`]);
      expect(await save({ name: 'three' }, contextWith({ keep: 20, max_size: '1kB' }))).toMatchObject({
        save: { name: 'three' },
        removed: ['two', 'kept'],
      });
      await save({ name: 'four' });
      const strict = contextWith({ keep: 1 });
      const pruned = asData(await planPrune(strict, { target: 'app', keep: { last: 1 } }));
      expect(pruned.plan.targets).toMatchObject([{ saves: { keep: [{ name: 'four' }], remove: [{ name: 'three' }] } }]);
      await applyPrune(strict, pruned);
      expect(await points()).toEqual(['previous', 'load', 'four']);
      await applySaveRemoval(contextWith(), await planSaveRemoval(contextWith(), { target: 'app', name: 'four' }));
      expect(await points()).toEqual(['previous', 'load']);
    });
  });
}

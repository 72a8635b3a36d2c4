import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyBack, planBack } from '../../../src/operations/back/back.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { applyReset, planReset } from '../../../src/operations/reset/reset.ts';
import { applySave, planSave } from '../../../src/operations/save/save.ts';
import { withContents } from '../../../src/operations/targets/contents.ts';
import { listTargets } from '../../../src/operations/targets/targets.ts';
import { targetFacts } from '../../../src/operations/targets/targets-text.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { type AnyServer, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

describeWithKind('postgres', 'what a destination holds', () => {
  let server: AnyServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let first: string;
  let second: string;

  beforeAll(async () => {
    [server, folder] = await Promise.all([startAnyServer('postgres'), temporaryFolder()]);
    await server.create('source');
    await server.run('source', [
      'CREATE TABLE item (id int PRIMARY KEY, name text)',
      "INSERT INTO item SELECT n, 'one' FROM generate_series(1, 9) n",
    ]);
    first = (await build(context(), { target: 'app' })).id;
    await server.run('source', ["INSERT INTO item VALUES (10, 'ten')"]);
    second = (await build(context(), { target: 'app' })).id;
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function context(working = 'work'): Context {
    const targets = { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } };
    const saves = { keep: 20, max_duration: 10 };
    return testContext({ settings: { working_directory: join(folder.path, working), targets, saves } });
  }

  const load = async (snapshot: string, more: Partial<LoadRequest> = {}) =>
    applyLoad(context(), await planLoad(context(), { target: 'app', snapshot, ...more }));
  const undo = async (on = context()) => applyUndo(on, await planUndo(on, { target: 'app' }));
  const change = () => server.run('copy', ["UPDATE item SET name = 'two' WHERE id = 1"]);
  const contents = async () => {
    const [row] = await listTargets(context());
    return row && (await withContents(context(), row)).contents;
  };
  const holds = async (on: Context) => {
    const [row] = await listTargets(on);
    const held = row && (await withContents(on, row));
    return (
      held && targetFacts({ row: held, checkedAt: 0, checking: false }, 0).find(({ name }) => name === 'Holds')?.value
    );
  };

  it('does not exist before the first load, which is said', async () => {
    expect(await holds(context())).toBe('nothing: the database does not exist');
    await server.run('postgres', ['CREATE DATABASE copy']);
    expect(await holds(context())).toBe('unknown: no load of it is recorded');
    await server.run('postgres', ['DROP DATABASE copy']);
  });

  it('is unchanged while that is proved, and the save or the load that undo and back return to', async () => {
    await load(first);
    expect(await contents()).toMatchObject({ snapshot: first, sanitized: false, unchanged: true });
    await change();
    expect(await contents()).toMatchObject({ snapshot: first, unchanged: false });
    await load(second);
    expect(await contents()).toMatchObject({ snapshot: second, unchanged: true });
    await undo();
    expect(await contents()).toMatchObject({ snapshot: first, unchanged: false });
    await undo();
    expect(await contents()).toMatchObject({ snapshot: second, unchanged: true });
    // Only what this user has signed is believed.
    const file = join(folder.path, 'work', 'evidence', 'loads+app.json');
    const stored = await readFile(file, 'utf8');
    await writeFile(file, stored.replace(`"snapshot":"${first}"`, `"snapshot":"${second}"`));
    expect(await contents()).toMatchObject({ snapshot: second, unchanged: false });
    await writeFile(file, stored);
    expect(await contents()).toMatchObject({ snapshot: second, unchanged: true });
    await applySave(context(), await planSave(context(), { target: 'app', name: 'lunch' }));
    await change();
    await applyBack(context(), await planBack(context(), { target: 'app', point: 'lunch' }));
    expect(await contents()).toMatchObject({ save: 'lunch', unchanged: true });
  });

  it('is not unchanged where an undo that this machine does not know of returned to an earlier load', async () => {
    await load(first);
    await load(second);
    await undo(context('elsewhere'));
    expect(await server.column('copy', 'SELECT count(*) FROM item')).toEqual(['9']);
    expect(await contents()).toMatchObject({ snapshot: second, unchanged: false });
  });

  it('is not unchanged after a load of rows', async () => {
    await load(second);
    await load(first, { tables: ['public.item'], only: true, rows: ['1'] });
    expect(await contents()).toMatchObject({ snapshot: second, unchanged: false });
  });

  it('is the load whose undo copy a reset in place, or a dropped database, has left', async () => {
    await load(first);
    await load(second, { keepBase: true });
    await change();
    const reset = await planReset(context(), { target: 'app' });
    expect(reset.plan.way).toBe('in_place');
    await applyReset(context(), reset);
    expect(await contents()).toMatchObject({ snapshot: second, unchanged: false });
    await undo();
    expect(await contents()).toMatchObject({ snapshot: first, unchanged: true });
    await server.drop('copy');
    await load(first);
    await undo();
    expect(await contents()).toMatchObject({ snapshot: second });
  });
});

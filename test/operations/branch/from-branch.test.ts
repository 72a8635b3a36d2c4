import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { connect as connectMysql } from '../../../src/engines/mysql/connection/connect.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { connect as connectPostgres } from '../../../src/engines/postgres/connection/connect.ts';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import { applyBack, planBack } from '../../../src/operations/back/back.ts';
import { listPoints } from '../../../src/operations/back/list-points.ts';
import {
  applyBranchCreate,
  type BranchCreateRequest,
  planBranchCreate,
} from '../../../src/operations/branch/create/create.ts';
import { applyBranchDrop, planBranchDrop } from '../../../src/operations/branch/drop/drop.ts';
import { listBranches } from '../../../src/operations/branch/list/list.ts';
import { applyBranchReset, planBranchReset } from '../../../src/operations/branch/reset/reset.ts';
import { planBranchServe } from '../../../src/operations/branch/serve/serve.ts';
import { branchUrl } from '../../../src/operations/branch/url.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySaveRemoval, planSaveRemoval } from '../../../src/operations/save/remove-save.ts';
import { listSaves } from '../../../src/operations/save/saves.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { BRANCH_SERVERS } from '../../helpers/databases/branch-servers.ts';
import { itIf } from '../../helpers/it-if.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describe.each(BRANCH_SERVERS)('a branch from a branch on $name', ({ kind, start }) => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => start());

  beforeAll(async () => {
    await server.createDestination('copy');
    await build(context(), { target: 'app' });
    await applyLoad(context(), await planLoad(context(), { target: 'app', keepBase: true, undo: false }));
    await create('a');
    await sql('DELETE FROM person WHERE id > 50');
    await sql('CREATE TABLE mine (id integer)');
  }, 240_000);

  function context(more: Partial<Context> = {}): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } };
    return { ...testContext({ settings }), cwd: folder.path, ...more };
  }

  const sql = (text: string, database = 'copy_a') => server.sql(database, [text]);
  const openSession = (database: string): Promise<{ query(text: string): Promise<unknown[]> } & AsyncDisposable> =>
    kind === 'postgres'
      ? connectPostgres(context(), parsePostgresUrl(server.url(database)))
      : connectMysql(context(), parseMysqlUrl(server.url(database)));
  const persons = (database: string) => sql('SELECT count(*) FROM person', database);
  const find = async (name: string) => {
    const { branches } = await listBranches(context(), { target: 'app' });
    return branches.find((branch) => branch.name === name);
  };
  async function create(name: string, more: Partial<BranchCreateRequest> = {}) {
    return applyBranchCreate(context(), await planBranchCreate(context(), { target: 'app', name, ...more }));
  }
  const reset = async (name: string) =>
    applyBranchReset(context(), await planBranchReset(context(), { target: 'app', name }));

  it('has the present state of that one, which keeps its sessions, and its reset returns to this state', async () => {
    await using held = await openSession('copy_a');
    const { plan } = await planBranchCreate(context(), { target: 'app', name: 'b', from: 'a' });
    expect(plan.steps).toEqual(['Save branch a', 'Create branch b as copy_b: restore that save']);
    expect(plan).toMatchObject({ base: null, load: null, from: { name: 'a' } });
    await create('b', { from: 'a' });
    expect(await held.query('SELECT 1 AS one')).toHaveLength(1);
    expect(await server.dump('copy_b')).toBe(await server.dump('copy_a'));
    expect(await server.settings('copy_b')).toBe(await server.settings('copy_a'));
    const [save] = await listSaves(context(), { target: 'app', branch: 'a' });
    const made = await find('a');
    expect(await find('b')).toMatchObject({
      origin: { branch: 'a', save: save?.row.id },
      snapshot: made?.snapshot,
      current: false,
      reset_at: null,
    });
    await sql('DELETE FROM person WHERE id > 20');
    await sql('DELETE FROM person WHERE id > 10', 'copy_b');
    const planned = await planBranchReset(context(), { target: 'app', name: 'b' });
    expect(planned.plan).toMatchObject({ base: null, steps: [expect.stringContaining('state of branch a')] });
    expect(await reset('b')).toMatchObject({ branches: [{ way: 'restore', way_reason: null }] });
    expect(await persons('copy_b')).toBe('50');
    expect(await find('b')).toMatchObject({ origin: { branch: 'a' }, reset_at: expect.any(String) });
    await sql('DELETE FROM person', 'copy_b');
    const { points } = await listPoints(context(), { target: 'app', branch: 'b' });
    expect(points).toMatchObject([{ name: 'load', way: 'restore', made_by: 'the state of branch a' }]);
    await applyBack(context(), await planBack(context(), { target: 'app', branch: 'b', point: 'load' }));
    expect(await persons('copy_b')).toBe('50');
    await expect(planBranchServe(context(), { target: 'app', name: 'b' })).rejects.toMatchObject({
      code: 'no_base_copy',
    });
  });

  it('is one of several with --count, all of one save, and reset says where that is gone', async () => {
    const before = (await listSaves(context(), { target: 'app', branch: 'a' })).length;
    await create('test', { from: 'a', count: 2 });
    expect([await persons('copy_test_1'), await persons('copy_test_2')]).toEqual(['20', '20']);
    const saves = await listSaves(context(), { target: 'app', branch: 'a' });
    expect(saves).toHaveLength(before + 1);
    const removal = await planSaveRemoval(context(), { target: 'app', branch: 'a', name: '0' });
    await applySaveRemoval(context(), removal);
    await expect(reset('test_1')).rejects.toMatchObject({
      code: 'save_missing',
      message: 'This machine no longer has the save that branch "test_1" was made from',
    });
    await applyBranchDrop(context(), await planBranchDrop(context(), { target: 'app', names: ['test_1', 'test_2'] }));
  });

  it('is refused where its database or name exists, and leaves nothing after a failure', async () => {
    const planned = await planBranchCreate(context(), { target: 'app', name: 'late', from: 'a' });
    await server.createDestination('copy_late');
    await expect(applyBranchCreate(context(), planned)).rejects.toMatchObject({ code: 'database_name_taken' });
    expect(await find('late')).toBeUndefined();
    expect((await server.databases()).filter((name) => name.includes('tool-new'))).toEqual([]);
    await expect(create('a', { from: 'b' })).rejects.toMatchObject({ code: 'branch_exists' });
    await expect(create('c', { from: 'none' })).rejects.toMatchObject({ code: 'branch_missing' });
  });

  itIf(kind === 'postgres')(
    'drops what a killed creation for this destination has left, and nothing else',
    async () => {
      const remains = { copy_gone: 'copy', copy_other: 'other' };
      for (const [of, branch_of] of Object.entries(remains)) {
        await server.createDestination(`${of}.tool-new-0123abcd`);
        const mark = JSON.stringify({ tool: 'new', of, branch_of });
        await sql(`COMMENT ON DATABASE "${of}.tool-new-0123abcd" IS '${mark}'`);
      }
      await create('next');
      const left = (await server.databases()).filter((name) => name.includes('tool-new'));
      expect(left).toEqual(['copy_other.tool-new-0123abcd']);
      await server.drop('copy_other.tool-new-0123abcd');
    },
  );

  it('has data of the snapshot of that one: an agent gets none of an original, nor a branch of others', async () => {
    const planOfAgent = (from: string, owner: string) =>
      planBranchCreate(context({ sanitizedOnly: true }), { target: 'app', name: 'c', from, owner });
    await expect(planOfAgent('a', 'bot')).rejects.toMatchObject({ code: 'branch_not_own' });
    await create('theirs', { owner: 'bot' });
    await expect(planOfAgent('theirs', 'bot')).rejects.toMatchObject({ code: 'originals_not_allowed' });
    await create('own', { from: 'theirs', owner: 'bot' });
    expect(await find('own')).toMatchObject({ owner: 'bot', snapshot: (await find('theirs'))?.snapshot });
    const asked = branchUrl(context({ sanitizedOnly: true }), {
      ...{ target: 'app', name: 'own', owner: 'bot', password: false },
    });
    await expect(asked).rejects.toMatchObject({ code: 'originals_not_allowed' });
  });
});

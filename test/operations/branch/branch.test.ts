import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TargetSettings } from '../../../src/config/schema/settings.ts';
import { auxiliaryNames } from '../../../src/engines/mysql/server/names.ts';
import { applyBranchCheckout, planBranchCheckout } from '../../../src/operations/branch/checkout/checkout.ts';
import {
  applyBranchCreate,
  type BranchCreateRequest,
  planBranchCreate,
} from '../../../src/operations/branch/create/create.ts';
import { applyBranchDrop, planBranchDrop } from '../../../src/operations/branch/drop/drop.ts';
import { listBranches } from '../../../src/operations/branch/list/list.ts';
import { openBranches } from '../../../src/operations/branch/open-branches.ts';
import { applyBranchPrune, planBranchPrune } from '../../../src/operations/branch/prune/prune.ts';
import { applyBranchReset, planBranchReset } from '../../../src/operations/branch/reset/reset.ts';
import { applyBranchSwitch, planBranchSwitch } from '../../../src/operations/branch/switch/switch.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { planPrune } from '../../../src/operations/prune/prune.ts';
import { prunedCopyLines } from '../../../src/operations/prune/text.ts';
import { applyReset, planReset } from '../../../src/operations/reset/reset.ts';
import { withCopies } from '../../../src/operations/targets/target-copies.ts';
import { listTargets } from '../../../src/operations/targets/targets.ts';
import { destinationCopyLines } from '../../../src/operations/targets/targets-text.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { BRANCH_SERVERS } from '../../helpers/databases/branch-servers.ts';
import { itIf } from '../../helpers/it-if.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const FULL = process.env.TEST_FULL !== undefined;
const DIRTY = ['DELETE FROM person WHERE id > 50', 'CREATE TABLE mine (id integer)'];

describe.each(BRANCH_SERVERS)('branches on $name', ({ kind, start, files, cannot, nameLimit: { most, lengthOf } }) => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => start());
  let pristine: string;
  let now = new Date('2026-11-01T00:00:00Z');

  beforeAll(async () => {
    await build(contextWith(), { target: 'app' });
    await mkdir(join(folder.path, 'checkout'));
    gitIn('init', '--quiet', '--initial-branch=main');
    gitIn('remote', 'add', 'origin', 'https://me:secret@git.example.com/app.git');
    gitIn('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '--quiet', '--allow-empty', '-m', 'one');
    gitIn('branch', 'feature');
  }, 240_000);

  beforeEach(async () => {
    now = new Date('2026-11-01T00:00:00Z');
    gitIn('checkout', '--quiet', 'main');
    for (const name of await server.databases()) {
      if (name.startsWith('copy')) await server.drop(name);
    }
    await server.createDestination('copy');
  });

  function gitIn(...words: string[]): void {
    execFileSync('git', ['-C', join(folder.path, 'checkout'), ...words], { stdio: 'ignore' });
  }

  function contextWith(targets: Record<string, TargetSettings> = {}, defaults = {}): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    const settings = {
      working_directory: join(folder.path, 'work'),
      targets: { app: { snapshot }, ...targets },
      defaults: { cpus: 2, ...defaults },
    };
    return { ...testContext({ settings }), clock: () => now, cwd: join(folder.path, 'checkout') };
  }

  const sql = async (text: string | string[], database = 'copy') => server.sql(database, [text].flat());
  const ours = async () => (await server.databases()).filter((name) => name.startsWith('copy')).sort();

  async function create(name: string, more: Partial<BranchCreateRequest> = {}, context = contextWith()) {
    return applyBranchCreate(context, await planBranchCreate(context, { target: 'app', name, ...more }));
  }
  async function keepBase(): Promise<void> {
    await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app', keepBase: true, undo: false }));
    pristine = await server.dump('copy');
  }
  async function switchTo(name: string) {
    return applyBranchSwitch(contextWith(), await planBranchSwitch(contextWith(), { target: 'app', name }));
  }
  const undo = async () => applyUndo(contextWith(), await planUndo(contextWith(), { target: 'app' }));
  const list = async () => (await listBranches(contextWith(), { target: 'app' })).branches;

  it('are whole copies of the base copy with owner, settings and grants of the destination, and a URL without password', async () => {
    await keepBase();
    await sql(DIRTY);
    const { plan } = await planBranchCreate(contextWith(), { target: 'app', name: 'one' });
    expect(plan.steps).toEqual([`Create branch one as copy_one${files ? '' : ': copy all rows, build all indexes'}`]);
    const { branches, environment } = await create('Feature/Login', { env: true });
    expect(branches).toEqual([
      { name: 'Feature/Login', database: 'copy_feature_login', url: expect.any(String), created: true },
    ]);
    expect(branches[0]?.url).not.toContain('secret');
    expect(environment?.DATABASE_URL).toMatch(/^(postgres|mysql):\/\/.*\/copy_feature_login/);
    expect(await server.dump('copy_feature_login')).toBe(pristine);
    expect(await server.settings('copy_feature_login')).toBe(await server.settings('copy'));
    expect(await list()).toMatchObject([
      { name: 'Feature/Login', current: false, git_branch: 'main', repository: 'https://git.example.com/app.git' },
    ]);
  });

  it('load the newest snapshot as the base copy where there is none, and leave the destination alone', async () => {
    await sql('CREATE TABLE kept (id integer)');
    const planned = await planBranchCreate(contextWith(), { target: 'app', name: 'one' });
    expect(planned.plan).toMatchObject({ base: null, load: { index: 0 } });
    await applyBranchCreate(contextWith(), planned);
    expect(await sql('SELECT count(*) FROM person', 'copy_one')).toBe('200');
    expect(await sql('SELECT count(*) FROM kept')).toBe('0');
    expect(await ours()).toEqual(['copy', 'copy.tool-base', 'copy_one']);
    await expect(planReset(contextWith(), { target: 'app' })).rejects.toMatchObject({ code: 'base_copy_outdated' });
    await create('two');
    expect(await ours()).toEqual(['copy', 'copy.tool-base', 'copy_one', 'copy_two']);
    // The lists of targets, and the plan of a prune, count what is on the server.
    const others = contextWith({ other: { snapshot: { dst_url: server.url('elsewhere') } } });
    const rows = await withCopies(others, await listTargets(others));
    const size = expect.stringMatching(/^app: 2 branches, [\d.]+ [kM]B$/);
    const base = expect.stringMatching(/^app: base copy copy\.tool-base, .*; cannot be used: /);
    expect(destinationCopyLines(rows).slice(0, 2)).toEqual([base, size]);
    expect(destinationCopyLines(rows)[2]).toMatch(/^All copies: [\d.]+ [kM]B on their servers$/);
    const { plan } = await planPrune(others, { target: 'app', keep: { last: 1 } });
    expect(prunedCopyLines(plan).slice(0, 2)).toEqual([base, size]);
    expect(await planPrune(others, { target: 'other', keep: { last: 1 } })).not.toHaveProperty('plan.targets.0.copies');
  });

  it('are numbered with --count, reset together and on their own, and dropped', async () => {
    await keepBase();
    const { branches } = await create('test', { count: 3 });
    expect(branches.map(({ database }) => database)).toEqual(['copy_test_1', 'copy_test_2', 'copy_test_3']);
    await create('tester_1');
    for (const database of ['copy_test_1', 'copy_test_3', 'copy_tester_1']) await sql(DIRTY, database);
    const context = contextWith();
    const planned = await planBranchReset(context, { target: 'app', name: 'test', all: true });
    expect(planned.plan.branches.map(({ name }) => name)).toEqual(['test_1', 'test_2', 'test_3']);
    // Two at once, the configured number.
    const size = planned.plan.base?.size_bytes ?? Number.NaN;
    expect(planned.plan.needs_bytes).toBe(2 * size);
    const fifth = { target: 'app', name: 'test', count: 5, reuse: true };
    expect((await planBranchCreate(context, fifth)).plan.needs_bytes).toBe(2 * size);
    const { database } = await openBranches(context, { target: 'app' });
    const huge = database.branches.plan(({ length }) => length * 1e12);
    if (cannot.freeSpace) await huge;
    else await expect(huge).rejects.toMatchObject({ code: 'space_short' });
    await applyBranchReset(context, planned);
    for (const each of [1, 2, 3]) expect(await server.dump(`copy_test_${each}`)).toBe(pristine);
    expect(await sql('SELECT count(*) FROM person', 'copy_tester_1')).toBe('50');
    const request = { target: 'app', names: ['test_1', 'test_2', 'test_3'] };
    expect(await applyBranchDrop(context, await planBranchDrop(context, request))).toMatchObject({
      dropped: [{ name: 'test_1' }, { name: 'test_2' }, { name: 'test_3' }],
    });
    expect(await ours()).toEqual(['copy', 'copy.tool-base', 'copy_tester_1']);
  });

  it('are named when a later one of several fails', async () => {
    await keepBase();
    const events: RunEvent[] = [];
    const context = { ...contextWith(), report: (event: RunEvent) => void events.push(event) };
    const planned = await planBranchCreate(context, { target: 'app', name: 'part', count: 9 });
    await server.createDestination('copy_part_9');
    await expect(applyBranchCreate(context, planned)).rejects.toThrow();
    const created = (await ours()).filter((name) => /^copy_part_[1-8]$/.test(name)).map((name) => name.slice(5));
    expect(created).not.toEqual([]);
    const [warning] = events.filter((event) => event.event === 'warning' && event.code === 'branches_in_part');
    expect(warning).toHaveProperty('message', expect.stringMatching(/^Created before the failure: part_/));
    const named = String((warning as { message: string }).message)
      .split(': ')[1]
      ?.split(', ');
    expect(named?.sort()).toEqual(created.sort());
  });

  itIf(!files)('drop what killed commands have left of branches of this destination, and nothing else', async () => {
    await keepBase();
    const facts = {
      name: 'half',
      created_at: '',
      reset_at: null,
      repository: null,
      git_branch: null,
      snapshot: null,
    };
    const remains = {
      'copy_two.tool-new-0123abcd': { tool: 'new', of: 'copy_two', branch_of: 'copy' },
      copy_half: { tool: 'dropped', of: 'copy', loaded_at: '', ...facts },
      'copy_six.tool-new-89abcdef': { tool: 'new', of: 'copy_six', branch_of: 'other' },
      copy_theirs: { tool: 'dropped', of: 'other', loaded_at: '', ...facts },
      copy_plain: { tool: 'dropped', of: 'copy' },
    };
    for (const [name, mark] of Object.entries(remains)) {
      await server.createDestination(name);
      await sql(`CREATE TABLE \`tool-mark\` (id INT) COMMENT '${JSON.stringify(mark)}'`, name);
    }
    // Killed before the mark.
    const long = 'x'.repeat(60);
    const cut = `copy_${'x'.repeat(24)}-0123456789abcdef`;
    for (const each of ['copy_seven', 'copy_plain', cut]) {
      await server.createDestination(`${each}.tool-new-00000000`);
    }
    await create('one');
    const kept = [
      ...['copy_one', 'copy_plain', 'copy_plain.tool-new-00000000', 'copy_six.tool-new-89abcdef', 'copy_theirs'],
      `${cut}.tool-new-00000000`,
    ];
    expect(await ours()).toEqual(['copy', 'copy.tool-base', ...kept]);
    expect(await list()).toMatchObject([{ name: 'one' }]);
    const { database = '' } = (await create(long)).branches[0] ?? {};
    const unmarked = [auxiliaryNames('copy_one').shadow(), auxiliaryNames(database).shadow()];
    for (const name of unmarked) await server.createDestination(name);
    await create('two');
    expect((await ours()).filter((name) => unmarked.includes(name))).toEqual([]);
  });

  itIf(files || FULL)('take the name of the destination, and give it back to an undo', async () => {
    await keepBase();
    await create('one');
    await create('two');
    await sql('CREATE TABLE of_one (id integer)', 'copy_one');
    await sql('CREATE TABLE of_main (id integer)');
    await switchTo('one');
    expect(await sql('SELECT count(*) FROM of_one')).toBe('0');
    expect(await ours()).toEqual(['copy', 'copy.tool-base', 'copy.tool-undo', 'copy_two']);
    expect(await list()).toMatchObject([{ name: 'one', current: true, database: 'copy' }, { name: 'two' }]);
    await expect(planBranchDrop(contextWith(), { target: 'app', names: ['one'] })).rejects.toMatchObject({
      code: 'branch_current',
    });
    expect(await switchTo('two')).toMatchObject({ previous: 'one', undo_database: null });
    expect(await ours()).toEqual(['copy', 'copy.tool-base', 'copy.tool-undo', 'copy_one']);
    // A reset of the destination is to the same base copy.
    await sql(DIRTY);
    await applyReset(contextWith(), await planReset(contextWith(), { target: 'app', undo: false }));
    expect(await server.dump('copy')).toBe(pristine);
    await switchTo('one');
    await undo();
    expect(await list()).toMatchObject([
      { name: 'two', current: true },
      { name: 'one', database: 'copy_one' },
    ]);
  });

  it('leave the destination as it was when a switch is undone', async () => {
    await keepBase();
    await create('one');
    await sql('CREATE TABLE of_main (id integer)');
    await sql('CREATE TABLE of_branch (id integer)', 'copy_one');
    const [main, branch] = [await server.dump('copy'), await server.dump('copy_one')];
    await switchTo('one');
    expect(await server.dump('copy')).toBe(branch);
    await sql('CREATE TABLE of_one (id integer)');
    await undo();
    expect(await server.dump('copy')).toBe(main);
    expect(await sql('SELECT count(*) FROM of_one', 'copy_one')).toBe('0');
    expect(await ours()).toEqual(['copy', 'copy.tool-base', 'copy_one']);
  });

  itIf(!files)('take events and rights on routines along, and give those of the destination back', async () => {
    await keepBase();
    await create('one');
    for (const [database, user] of [
      ['copy', 'of_main'],
      ['copy_one', 'of_branch'],
    ] as const) {
      await sql(
        [
          `CREATE USER IF NOT EXISTS ${user}@'%'`,
          `GRANT EXECUTE ON FUNCTION \`${database}\`.twice TO ${user}@'%'`,
          `CREATE EVENT ${user} ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01' DO DELETE FROM person WHERE id < 0`,
        ],
        database,
      );
    }
    const main = [['of_main ENABLED'], ['of_main']];
    const branch = [['of_branch ENABLED'], ['of_branch']];
    // A destination keeps its own rights, as in a load.
    const switched = [['of_branch ENABLED'], ['of_branch,of_main']];
    const state = async (database: string) => {
      const events = `SELECT GROUP_CONCAT(EVENT_NAME, ' ', STATUS) AS a FROM information_schema.EVENTS WHERE EVENT_SCHEMA = '${database}'`;
      const grants = `SELECT GROUP_CONCAT(DISTINCT User) AS a FROM mysql.procs_priv WHERE Db = '${database}' AND User <> 'root'`;
      return [[await sql(events, '')], [await sql(grants, '')]];
    };
    expect([await state('copy'), await state('copy_one')]).toEqual([main, branch]);
    await switchTo('one');
    expect(await state('copy')).toEqual(switched);
    await undo();
    expect([await state('copy'), await state('copy_one')]).toEqual([main, switched]);
  });

  itIf(!files && FULL)(
    'are not exchanged where the user could not recreate code of the branch or the destination as it was',
    async () => {
      await keepBase();
      await create('one');
      const sees = kind === 'mysql' ? 'SHOW_ROUTINE ON *.*' : 'SELECT ON mysql.*';
      await sql(
        [
          ...['blind', 'other'].flatMap((user) => [
            `CREATE USER IF NOT EXISTS ${user}@'%' IDENTIFIED BY '${user}'`,
            `GRANT ALL ON \`copy%\`.* TO ${user}@'%'`,
          ]),
          `GRANT ${sees} TO other@'%'`,
        ],
        '',
      );
      const apply = async (user: string) => {
        const url = new URL(server.url('copy'));
        Object.assign(url, { username: user, password: user });
        const context = contextWith({ app: { snapshot: { src_url: server.url('source'), dst_url: url.href } } });
        return applyBranchSwitch(context, await planBranchSwitch(context, { target: 'app', name: 'one' }));
      };
      const refused = async (user: string, message: string) => {
        const [names, ...before] = [await ours(), await server.dump('copy'), await server.dump('copy_one')];
        const error = await apply(user).catch((failure: unknown) => failure);
        expect(error).toMatchObject({ code: 'switch_refused', message: expect.stringContaining(message) });
        expect([await server.dump('copy'), await server.dump('copy_one')]).toEqual(before);
        expect(await ours()).toEqual(names);
      };
      await refused('blind', 'of copy cannot');
      await refused('other', 'of copy has the definer root@localhost');
      await sql(['DROP FUNCTION twice', 'DROP VIEW names', 'DROP TRIGGER named']);
      await refused('blind', 'of copy_one cannot');
      await refused('other', 'of copy_one has the definer root@localhost');
      const branch = await server.dump('copy_one');
      const power = kind === 'mysql' ? 'SET_ANY_DEFINER, SYSTEM_USER' : 'SET USER';
      await sql([`GRANT ${power} ON *.* TO other@'%'`], '');
      await apply('other');
      expect(await server.dump('copy')).toBe(branch);
      await sql(["DROP USER blind@'%'", "DROP USER other@'%'"], '');
    },
  );

  itIf(files || FULL)('are restored while they are the destination, with an undo copy', async () => {
    await keepBase();
    await create('one');
    await switchTo('one');
    await sql(DIRTY);
    const context = contextWith();
    const result = await applyBranchReset(context, await planBranchReset(context, { target: 'app', name: 'one' }));
    expect(result.undo_database).toBe('copy.tool-undo');
    expect(await server.dump('copy')).toBe(pristine);
    expect(await list()).toMatchObject([{ name: 'one', current: true }]);
    await undo();
    expect(await sql('SELECT count(*) FROM person')).toBe('50');
  });

  itIf(FULL)('follow the git branch, and main is the database of before the first switch', async () => {
    await keepBase();
    await sql('CREATE TABLE of_main (id integer)');
    const follow = async (branch: string) => {
      gitIn('checkout', '--quiet', branch);
      const context = contextWith();
      return applyBranchCheckout(context, await planBranchCheckout(context, { target: 'app', main: 'main' }));
    };
    const main = await server.dump('copy');
    expect(await follow('feature')).toMatchObject({ action: 'switch', created: true });
    expect(await server.dump('copy')).toBe(pristine);
    expect(await follow('main')).toMatchObject({ action: 'restore' });
    expect(await server.dump('copy')).toBe(main);
    expect(await follow('feature')).toMatchObject({ action: 'switch', created: false });
    expect(await list()).toMatchObject([{ name: 'feature', current: true }]);
  });

  it('branches never have the name of a source, a destination, or a foreign database', async () => {
    await keepBase();
    const source = { other: { snapshot: { src_url: server.url('copy_taken'), dst_url: server.url('elsewhere') } } };
    await expect(create('taken', {}, contextWith(source))).rejects.toMatchObject({ code: 'destination_is_source' });
    const destination = { other: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy_taken') } } };
    await expect(create('taken', {}, contextWith(destination))).rejects.toMatchObject({ code: 'database_name_taken' });
    await server.createDestination('copy_taken');
    await expect(create('taken')).rejects.toMatchObject({ code: 'database_name_taken' });
    await create('one');
    await expect(create('one')).rejects.toMatchObject({ code: 'branch_exists' });
    expect((await create('one', { reuse: true })).branches).toMatchObject([{ name: 'one', created: false }]);
    await expect(create('a\u202eb')).rejects.toMatchObject({ code: 'invalid_value' });
    expect(await ours()).toEqual(['copy', 'copy.tool-base', 'copy_one', 'copy_taken']);
  });

  itIf(files || FULL)('stay apart where names would be equal or too long', async () => {
    await keepBase();
    const names = ['a/b', 'a-b', 'ü'.repeat(100)];
    for (const name of names) await create(name);
    const databases = (await list()).map(({ database }) => database);
    expect(new Set(databases).size).toBe(3);
    for (const database of databases) expect(lengthOf(database)).toBeLessThanOrEqual(most);
  });

  itIf(files || FULL)(
    'are pruned when their git branch is gone, or nobody has used them, and never while they are in use',
    async () => {
      await keepBase();
      await create('on_main');
      gitIn('checkout', '--quiet', 'feature');
      await create('on_feature');
      gitIn('checkout', '--quiet', 'main');
      gitIn('branch', '--quiet', '-D', 'feature');
      const gone = await planBranchPrune(contextWith(), {});
      expect(gone.plan.targets).toMatchObject([
        { branches: [{ name: 'on_feature' }], why: { on_feature: 'git branch feature no longer exists' } },
      ]);
      await applyBranchPrune(contextWith(), gone);
      expect((await list()).map(({ name }) => name)).toEqual(['on_main']);
      if (cannot.lastUse) {
        const { plan } = await planBranchPrune(contextWith(), { unusedMs: 1 });
        expect(plan.targets).toMatchObject([
          { branches: [], kept: [{ why: 'the server does not know when it was last used' }] },
        ]);
        gitIn('branch', 'feature');
        return;
      }
      now = new Date('2026-11-10T00:00:00Z');
      // A server counts a session a moment after it has ended.
      const sessions = async () =>
        Number(await sql(`SELECT sessions FROM pg_stat_database WHERE datname = 'copy_on_main'`, 'postgres'));
      const before = await sessions();
      await sql('SELECT 1', 'copy_on_main');
      await expect.poll(sessions).toBeGreaterThan(before);
      await list();
      now = new Date('2026-11-20T00:00:00Z');
      const unused = (days: number) => planBranchPrune(contextWith(), { unusedMs: days * 86_400_000 });
      expect((await unused(11)).plan.targets).toMatchObject([{ branches: [], kept: [{ name: 'on_main' }] }]);
      expect((await unused(10)).plan.targets).toMatchObject([{ branches: [{ name: 'on_main' }] }]);
      gitIn('branch', 'feature');
    },
  );

  it('refuse a base copy that may have been changed, and a plan that is outdated', async () => {
    await keepBase();
    await create('one');
    const drop = await planBranchDrop(contextWith(), { target: 'app', names: ['one'] });
    now = new Date('2026-11-02T00:00:00Z');
    await applyBranchReset(contextWith(), await planBranchReset(contextWith(), { target: 'app', name: 'one' }));
    await expect(applyBranchDrop(contextWith(), drop)).rejects.toMatchObject({ code: 'plan_outdated', exit: 5 });
    await server.openBase('copy.tool-base');
    await expect(planBranchReset(contextWith(), { target: 'app', name: 'one' })).rejects.toMatchObject({
      code: 'base_copy_outdated',
    });
  });
});

import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it, test } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { listHistory } from '../../src/operations/history/list-history.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { withClient } from '../../src/operations/load/script/client-program.ts';
import { applyPrune, planPrune } from '../../src/operations/prune/prune.ts';
import { applyRemove, planRemove } from '../../src/operations/remove/remove.ts';
import { applySanitize, planSanitize } from '../../src/operations/sanitize/sanitize.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { applySubset, planSubset } from '../../src/operations/subset/subset.ts';
import { applyUndo, planUndo } from '../../src/operations/undo/undo.ts';
import type { Context } from '../../src/runtime/context.ts';
import { asData } from '../helpers/fakes/as-data.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const LATER_MS = 60_000;

test('each operation that plans has one function that applies its plan', () => {
  const root = new URL('../../src/operations/', import.meta.url);
  const planned = globSync('**/*.ts', { cwd: root }).flatMap((file) => {
    const source = readFileSync(new URL(file, root), 'utf8');
    const names = source.matchAll(/export async function plan([A-Z]\w*)\(/g);
    return [...names].map(([, name]) => ({ file, name, applies: source.includes(`function apply${name}(`) }));
  });
  expect(planned.filter(({ applies }) => !applies)).toEqual([]);
  expect(planned.map(({ name }) => name).sort()).toEqual(
    [
      'Back',
      ...[
        'BranchCheckout',
        'BranchCreate',
        'BranchDrop',
        'BranchHook',
        'BranchPrune',
        'BranchReset',
        'BranchServe',
        'BranchSwitch',
      ],
      'Build',
      'CloudFile',
      'Down',
      'DropCopies',
      'ConfigurationFix',
      'Import',
      'Link',
      'Load',
      'Prune',
      'QuerySave',
      'Rehearsal',
      'Remove',
      'Reset',
      'Sanitize',
      'Save',
      'SaveRemoval',
      'Script',
      'SetUp',
      'Snapshot',
      'Subset',
      'Undo',
      'Unlink',
      'Up',
    ].sort(),
  );
});

describeWithPostgres('a plan', () => {
  let server: TestPostgres;
  const folder = suiteResource(() => temporaryFolder());
  let script: string;

  beforeAll(async () => {
    script = join(folder.path, 'three.sql');
    await writeFile(script, 'CREATE TABLE three (id integer PRIMARY KEY); INSERT INTO three VALUES (3);');
    server = await startPostgres();
    await server.createDatabase('source');
    const fill = `CREATE TABLE person (id integer PRIMARY KEY, email text);
      INSERT INTO person SELECT i, 'secret' || i FROM generate_series(1, 100) i;
      CREATE TABLE city (id integer PRIMARY KEY); INSERT INTO city VALUES (1)`;
    await server.psql('source', { sql: fill });
    await build(contextOf(), { target: 'app' });
  }, 60_000);

  beforeEach(async () => {
    for (const name of ['copy', 'copy.tool-undo', 'clean', 'small']) {
      await server.psql('postgres', { sql: `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)` });
    }
    await server.createDatabase('copy');
    await server.psql('copy', { sql: 'CREATE TABLE mine (id integer)' });
  });

  afterAll(async () => {
    await server?.stop();
  });

  interface Change {
    dst_url?: string;
    laterMs?: number;
    others?: Record<string, { snapshot: { src_url: string } }>;
  }

  function contextOf({ dst_url = server.url('copy'), laterMs = 0, others = {} }: Change = {}): Context {
    const src_url = server.url('source');
    const app = {
      snapshot: { src_url, dst_url },
      sanitize: { dst_url: server.url('clean'), override_query: "UPDATE person SET email = 'p' || id" },
      subset: { src_url, dst_url: server.url('small'), subset_tables: [{ table: 'public.person', percent: 10 }] },
    };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app, ...others } };
    return { ...testContext({ settings }), clock: () => new Date(Date.now() + laterMs) };
  }

  const tables = (database: string): Promise<string> =>
    server.psql(database, {
      sql: "SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    });

  it('a plan of any operation can be stored and applied later in a new context', async () => {
    const later = contextOf({ laterMs: LATER_MS });
    const planned = await planLoad(contextOf(), { target: 'app', tables: ['public.city'] });
    await applyLoad(later, asData(planned));
    expect(
      await server.psql('copy', { sql: 'SELECT (SELECT count(*) FROM city), (SELECT count(*) FROM person)' }),
    ).toBe('1|0\n');
    const inPlace = await planLoad(contextOf(), { target: 'app', inPlace: true, undo: false });
    expect(await applyLoad(later, asData(inPlace))).toMatchObject({ rows: 101, swap_ms: null });
    const file = await planLoad(contextOf(), { target: 'app', file: script, noDrop: true });
    await applyLoad(later, asData(file));
    expect(await tables('copy')).toBe('city,person,three\n');
    await applyUndo(later, asData(await planUndo(contextOf(), { target: 'app' })));
    expect(await tables('copy')).toBe('mine\n');

    const sanitized = await applySanitize(later, asData(await planSanitize(contextOf(), { target: 'app' })));
    expect(sanitized.snapshot).toMatchObject({ sanitized: true, rows: 101 });
    const small = await applySubset(later, asData(await planSubset(contextOf(), { target: 'app', count: true })));
    expect(small).toMatchObject({ rows: 10 });
    await applyRemove(later, asData(await planRemove(contextOf(), { target: 'app', snapshot: sanitized.snapshot.id })));
    const row = await build(contextOf(), { target: 'app' });
    await applyPrune(later, asData(await planPrune(contextOf(), { target: 'app', keep: { last: 1 } })));
    expect(await listSnapshots(contextOf(), 'app')).toMatchObject({ snapshots: [{ id: row.id }] });

    const { entries, damaged_lines } = listHistory(contextOf(), { target: 'app' });
    expect(damaged_lines).toBe(0);
    const operations = ['build', 'load', 'load', 'load', 'undo', 'sanitize', 'subset', 'remove', 'build', 'prune'];
    // Those of a later clock are newer.
    expect(entries.map(({ operation }) => operation).sort()).toEqual(operations.sort());
    expect(entries.every(({ outcome }) => outcome === 'done')).toBe(true);
    const loads = entries.filter(({ operation }) => operation === 'load');
    expect(new Set(loads.map(({ method }) => method))).toEqual(new Set(['tables', 'full', 'script']));
    expect(loads.find(({ method }) => method === 'script')).toMatchObject({ from: script, snapshot: null });
    const { password } = new URL(server.url('x'));
    expect(JSON.stringify(entries)).not.toContain(password);
  });

  it('is followed by psql on the destination, without the password in its arguments', async () => {
    const { destination } = (await planLoad(contextOf(), { target: 'app' })).plan;
    const { password } = new URL(server.url('x'));
    const { stdout } = await withClient(contextOf(), { target: 'app', url: destination.url }, ({ file, args, env }) => {
      expect(args.join(' ')).not.toContain(password);
      expect(env).toEqual({ PGPASSWORD: password });
      const ask = [...args, '-Atc', 'SELECT current_database()'];
      return promisify(execFile)(file, ask, { env: { ...process.env, ...env } });
    });
    expect(stdout).toBe('copy\n');
    const elsewhere = withClient(contextOf(), { target: 'app', url: 'postgres://h/other' }, async () => {});
    await expect(elsewhere).rejects.toMatchObject({ code: 'plan_outdated' });
  });

  it('holds no password where it is shown', async () => {
    const { password } = new URL(server.url('x'));
    const destdb = server.url('copy');
    const { plan } = await planLoad(contextOf(), { target: 'app', destdb });
    expect(JSON.stringify(plan)).not.toContain(password);
  });

  it('is refused when the configuration leads to another database by now', async () => {
    await server.createDatabase('another');
    const moved = contextOf({ dst_url: server.url('another') });
    const outdated = { code: 'plan_outdated', exit: 5 };
    const planned = await planLoad(contextOf(), { target: 'app' });
    await expect(applyLoad(moved, planned)).rejects.toMatchObject(outdated);
    const fromFile = await planLoad(contextOf(), { target: 'app', file: script });
    await expect(applyLoad(moved, fromFile)).rejects.toMatchObject(outdated);
    await applyLoad(contextOf(), planned);
    const undo = await planUndo(contextOf(), { target: 'app' });
    await expect(applyUndo(moved, undo)).rejects.toMatchObject(outdated);
    await server.psql('postgres', { sql: 'DROP DATABASE another' });
    expect(await tables('copy')).toBe('city,person\n');
  });

  it('is refused when the destination has become the source of a target', async () => {
    const others = { other: { snapshot: { src_url: server.url('copy') } } };
    const planned = await planLoad(contextOf(), { target: 'app' });
    const applying = applyLoad(contextOf({ others, laterMs: LATER_MS }), planned);
    await expect(applying).rejects.toMatchObject({ code: 'destination_is_source' });
    expect(await tables('copy')).toBe('mine\n');
  });

  it('a plan of an undo is refused when another load has replaced the database since', async () => {
    const load = async () => applyLoad(contextOf(), await planLoad(contextOf(), { target: 'app' }));
    await load();
    const planned = await planUndo(contextOf(), { target: 'app' });
    await load();
    await expect(applyUndo(contextOf(), planned)).rejects.toMatchObject({ code: 'plan_outdated' });
  });

  it('a plan of a load is refused when its snapshot has been removed', async () => {
    const { id } = await build(contextOf(), { target: 'app' });
    const planned = await planLoad(contextOf(), { target: 'app', snapshot: id });
    await applyRemove(contextOf(), await planRemove(contextOf(), { target: 'app', snapshot: id }));
    await expect(applyLoad(contextOf(), planned)).rejects.toMatchObject({ code: 'snapshot_missing' });
    expect(await tables('copy')).toBe('mine\n');
  });
});

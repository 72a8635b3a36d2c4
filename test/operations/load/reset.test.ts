import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { TargetSettings } from '../../../src/config/schema/settings.ts';
import { findBaseCopies, newFromBase } from '../../../src/engines/postgres/branches/base-copies.ts';
import { connectToServer } from '../../../src/engines/postgres/connection/connect.ts';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import { auxiliaryNames } from '../../../src/engines/postgres/server/server.ts';
import { usableBase, usableSpare } from '../../../src/engines/shared/base-copies.ts';
import { planBranchCreate } from '../../../src/operations/branch/create/create.ts';
import { listBranches } from '../../../src/operations/branch/list/list.ts';
import { planBranchSwitch } from '../../../src/operations/branch/switch/switch.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyDropCopies, planDropCopies } from '../../../src/operations/drop-copies/drop-copies.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { applyReset, planReset, type ResetRequest } from '../../../src/operations/reset/reset.ts';
import { withCopies } from '../../../src/operations/targets/target-copies.ts';
import { listTargets } from '../../../src/operations/targets/targets.ts';
import { destinationCopyLines } from '../../../src/operations/targets/targets-text.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { LoadResult, ResetResult } from '../../../src/results/load-results.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { asData } from '../../helpers/fakes/as-data.ts';
import { itIf } from '../../helpers/it-if.ts';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const FILL = `
  CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL, boss integer REFERENCES person);
  INSERT INTO person SELECT i, 'person ' || i, nullif(i / 2, 0) FROM generate_series(1, 200) i;
  CREATE SEQUENCE counter; SELECT setval('counter', 42);
  SELECT lo_from_bytea(4711, 'large')`;

/** Each needs loads of its own, which take seconds. */
const itInFull = itIf(process.env.TEST_FULL);

describeWithPostgres('a reset', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let events: RunEvent[] = [];
  let pristine: string;

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.psql('source', { sql: FILL });
    await build(contextWith(), { target: 'app' });
    await load({ keepBase: false });
    pristine = await server.dump('copy');
  }, 60_000);

  beforeEach(async () => {
    events = [];
    for (const name of await server.databases()) {
      if (name.startsWith('copy')) await sql(`DROP DATABASE "${name}" WITH (FORCE)`, 'postgres');
    }
    await server.createDatabase('copy');
  });

  /** `controller`: aborted when the creation of a spare begins. */
  function contextWith(
    snapshot: TargetSettings['snapshot'] = {},
    others: Record<string, TargetSettings> = {},
    controller?: AbortController,
  ): Context {
    const app = { snapshot: { src_url: server.url('source'), dst_url: server.url('copy'), ...snapshot } };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app, ...others } };
    const context = testContext({ settings, events, ...(controller && { signal: controller.signal }) });
    const report: Context['report'] = (event) => {
      context.report(event);
      if (event.event === 'step' && event.step === 'spare') controller?.abort(new Error('interrupted'));
    };
    return { ...context, report };
  }

  const sql = async (text: string, database = 'copy') => (await server.psql(database, { sql: text })).trim();
  /** But for sessions of the tests' own, which the server may end later than they do. */
  const codes = () =>
    events.flatMap((event) => (event.event === 'warning' && event.code !== 'sessions_open' ? [event.code] : []));
  const beside = async () => (await server.databases()).filter((name) => name.startsWith('copy.'));

  async function load(request: Partial<LoadRequest> = {}, on = contextWith()): Promise<LoadResult> {
    return applyLoad(on, await planLoad(on, { target: 'app', ...request }));
  }

  async function reset(request: Partial<ResetRequest> = {}, on = contextWith()): Promise<ResetResult> {
    return applyReset(on, asData(await planReset(on, { target: 'app', ...request })));
  }

  const dirty = () => sql("DELETE FROM person WHERE id > 100; SELECT nextval('counter'), lo_unlink(4711)");

  it('restores the state after the last load, again and again, and can be undone', async () => {
    await expect(planReset(contextWith(), { target: 'app' })).rejects.toMatchObject({ code: 'no_base_copy', exit: 1 });
    expect(await load({ keepBase: true })).toMatchObject({ base_database: 'copy.tool-base' });
    expect(await beside()).toEqual(['copy.tool-base', 'copy.tool-undo']);
    await expect(sql('SELECT 1', 'copy.tool-base')).rejects.toThrow('not currently accepting connections');
    await dirty();
    const changed = await server.dump('copy');

    const [listed] = await withCopies(contextWith(), await listTargets(contextWith()));
    const [line] = destinationCopyLines(listed ? [listed] : []);
    expect(line).toMatch(/^app: base copy copy\.tool-base, [\d.]+ MB, of snapshot [0-9a-f]{8}$/);

    const { plan } = await planReset(contextWith(), { target: 'app' });
    expect(plan).toMatchObject({ from: 'base', undo: true, spare: false, base: { database: 'copy.tool-base' } });
    expect(await reset()).toMatchObject({
      snapshot: plan.base.snapshot,
      from: 'base',
      undo_database: 'copy.tool-undo',
    });
    expect(await server.dump('copy')).toBe(pristine);

    await applyUndo(contextWith(), await planUndo(contextWith(), { target: 'app' }));
    expect(await server.dump('copy')).toBe(changed);
    await expect(planReset(contextWith(), { target: 'app' })).rejects.toMatchObject({ code: 'base_copy_outdated' });
    expect(destinationCopyLines(await withCopies(contextWith(), await listTargets(contextWith())))).toEqual([
      expect.stringContaining('cannot be used: the destination was replaced'),
    ]);
    await applyUndo(contextWith(), await planUndo(contextWith(), { target: 'app' }));
    await sql('DROP TABLE person CASCADE');
    await reset({ undo: false });
    expect(await server.dump('copy')).toBe(pristine);
    expect(await beside()).toEqual(['copy.tool-base']);
    expect(codes()).toEqual([]);
  });

  it('refuses a base copy to which a client was connected, although it is closed again', async () => {
    await load({ keepBase: true });
    const [{ version }] = JSON.parse(
      await sql(
        "SELECT json_agg(json_build_object('version', current_setting('server_version_num')::int))",
        'postgres',
      ),
    );
    await sql('ALTER DATABASE "copy.tool-base" ALLOW_CONNECTIONS true', 'postgres');
    expect(await planReset(contextWith(), { target: 'app' }).catch(({ code }) => code)).toBe('base_copy_outdated');
    await sql('UPDATE person SET boss = NULL', 'copy.tool-base');
    await sql('ALTER DATABASE "copy.tool-base" ALLOW_CONNECTIONS false', 'postgres');
    // Older servers count no sessions.
    if (version < 140_000) return;
    await expect(planReset(contextWith(), { target: 'app' })).rejects.toMatchObject({
      code: 'base_copy_outdated',
      message: expect.stringContaining('a client was connected to it since that load'),
    });
    expect((await planLoad(contextWith(), { target: 'app' })).plan.difference).toMatchObject({ method: 'full' });
  });

  it('reports once that a copy cannot be dropped', async () => {
    await load({ keepBase: true });
    await sql('ALTER DATABASE "copy.tool-base" IS_TEMPLATE true');
    events = [];
    await reset();
    await sql('ALTER DATABASE "copy.tool-base" IS_TEMPLATE false');
    expect(codes()).toEqual(['leftover']);
  });

  it('takes the spare where there is one, and makes the next one', async () => {
    expect(await load({ spare: true })).toMatchObject({ spare_database: 'copy.tool-spare' });
    await dirty();
    const spareOid = `SELECT oid FROM pg_database WHERE datname = 'copy.tool-spare'`;
    const spare = await sql(spareOid);
    expect(await reset({ spare: true })).toMatchObject({ from: 'spare', spare_database: 'copy.tool-spare' });
    expect(await server.dump('copy')).toBe(pristine);
    expect(await sql("SELECT oid FROM pg_database WHERE datname = 'copy'")).toBe(spare);
    expect(await sql(spareOid)).not.toBe(spare);
    expect(await beside()).toEqual(['copy.tool-base', 'copy.tool-spare', 'copy.tool-undo']);
    await dirty();
    expect(await reset()).toMatchObject({ from: 'spare', spare_database: null });
    expect(await server.dump('copy')).toBe(pristine);
    await dirty();

    const controller = new AbortController();
    const interrupted = contextWith({}, {}, controller);
    expect(await reset({ spare: true }, interrupted)).toMatchObject({ from: 'base', spare_database: null });
    expect(controller.signal.aborted).toBe(true);
    expect(codes()).toEqual(['spare_not_created']);
    expect(await server.dump('copy')).toBe(pristine);
    await dirty();
    await reset();
    expect(await server.dump('copy')).toBe(pristine);
    expect(await beside()).toEqual(['copy.tool-base', 'copy.tool-undo']);
  });

  it('does not take a spare that a client has changed, after resets that have read in the base copy', async () => {
    await load({ keepBase: true });
    await sql('DELETE FROM person WHERE id > 100');
    expect(await reset({ undo: false })).toMatchObject({ way: 'in_place' });
    await dirty();
    expect(await reset({ spare: true })).toMatchObject({ spare_database: 'copy.tool-spare' });
    const sessions = `SELECT coalesce((to_jsonb(s) ->> 'sessions')::int8, -1) FROM pg_stat_database s WHERE datname = 'copy.tool-spare'`;
    // Older servers count no sessions.
    if ((await sql(sessions)) === '-1') return;
    await sql('ALTER DATABASE "copy.tool-spare" ALLOW_CONNECTIONS true', 'postgres');
    await sql('UPDATE person SET boss = NULL', 'copy.tool-spare');
    await sql('ALTER DATABASE "copy.tool-spare" ALLOW_CONNECTIONS false', 'postgres');
    await expect.poll(() => sql(sessions)).toBe('1');
    expect((await planReset(contextWith(), { target: 'app' })).plan.from).toBe('base');
    await reset({ undo: false });
    expect(await server.dump('copy')).toBe(pristine);
  });

  it.each(['spare', 'base'] as const)(
    'notices a client that writes to the %s between the check and the copy',
    async (kind) => {
      await load({ spare: kind === 'spare', keepBase: true });
      const context = contextWith();
      const url = parsePostgresUrl(server.url('copy'));
      await using session = await connectToServer(context, url);
      const copies = await findBaseCopies(session, 'copy');
      const base = usableBase(copies, url);
      const spare = usableSpare(copies);
      expect(spare?.name).toBe(kind === 'spare' ? 'copy.tool-spare' : undefined);
      const changed = `copy.tool-${kind}`;
      await sql(`ALTER DATABASE "${changed}" ALLOW_CONNECTIONS true`, 'postgres');
      await sql('UPDATE person SET boss = NULL', changed);
      await sql(`ALTER DATABASE "${changed}" ALLOW_CONNECTIONS false`, 'postgres');
      const to = auxiliaryNames('copy').shadow();
      const made = newFromBase(context, session, { url, base, spare, to }).then(() =>
        sql('SELECT count(boss) FROM person', to),
      );
      await (kind === 'spare'
        ? expect(made).resolves.toBe('199')
        : expect(made).rejects.toThrow('opened to connections'));
    },
  );

  it('never takes a database of another role for a copy of its own, whatever its mark', async () => {
    const forge = async (name: string, mark: object) => {
      await sql(`DROP DATABASE IF EXISTS "${name}"`, 'postgres');
      await sql(`CREATE DATABASE "${name}" OWNER mallory`, 'postgres');
      await sql('CREATE TABLE forged ()', name);
      await sql(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`, 'postgres');
      await sql(`COMMENT ON DATABASE "${name}" IS '${JSON.stringify(mark)}'`, 'postgres');
    };
    await sql('DROP ROLE IF EXISTS mallory', 'postgres');
    await sql('CREATE ROLE mallory CREATEDB', 'postgres');
    const destination_oid = Number(await sql("SELECT oid FROM pg_database WHERE datname = 'copy'"));
    const mark = { of: 'copy', snapshot: null, loaded_at: new Date().toISOString(), destination_oid };
    await forge('copy.tool-base', { tool: 'base', ...mark });
    await expect(planReset(contextWith(), { target: 'app' })).rejects.toMatchObject({
      code: 'base_copy_outdated',
      message: expect.stringContaining('it belongs to another role'),
    });
    const branch = { name: 'forged', database: 'copy_forged', created_at: mark.loaded_at };
    await forge('copy_forged', { tool: 'branch', ...mark, branch });
    const on = contextWith();
    expect((await listBranches(on, { target: 'app' })).branches).toEqual([]);
    await expect(planBranchSwitch(on, { target: 'app', name: 'forged' })).rejects.toThrow('forged');
    expect((await planBranchCreate(on, { target: 'app', name: 'one' })).plan).toMatchObject({ base: null });

    await load({ spare: true });
    await sql('DROP DATABASE "copy.tool-undo"', 'postgres');
    await forge('copy.tool-undo', { tool: 'undo', of: 'copy', replaced_at: '2100-01-01T00:00:00Z' });
    await expect(planUndo(contextWith(), { target: 'app' })).rejects.toMatchObject({
      code: 'nothing_to_undo',
      details: ['copy.tool-undo belongs to another role'],
    });
    await forge('copy.tool-spare', {
      ...JSON.parse(
        await sql("SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = 'copy.tool-base'"),
      ),
      tool: 'spare',
    });
    await dirty();
    expect(await reset()).toMatchObject({ from: 'base' });
    expect(await server.dump('copy')).toBe(pristine);
    expect(await beside()).toEqual(['copy.tool-base', 'copy.tool-undo']);
  });

  itInFull('keeps owner, grants, settings and connection limit of the destination', async () => {
    await sql(`
      DROP ROLE IF EXISTS owner_of_copy; CREATE ROLE owner_of_copy; DROP ROLE IF EXISTS reader; CREATE ROLE reader;
      ALTER DATABASE copy OWNER TO owner_of_copy; ALTER DATABASE copy SET work_mem = '9MB';
      ALTER DATABASE copy CONNECTION LIMIT 7; REVOKE CONNECT ON DATABASE copy FROM PUBLIC`);
    const facts = `
      SELECT pg_get_userbyid(datdba), datconnlimit, datallowconn, datacl, current_setting('work_mem'),
        (SELECT relacl FROM pg_class WHERE relname = 'person'), (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'person')
      FROM pg_database WHERE datname = 'copy'`;
    await load({ spare: true });
    await sql('GRANT SELECT ON person TO reader');
    const before = await sql(facts);
    expect(before).toContain('owner_of_copy|7|t|');
    await dirty();
    await reset();
    expect(await sql(facts)).toBe(before);
    await reset();
    expect(await sql(facts)).toBe(before);
    expect(codes()).toEqual([]);
  });

  itInFull('is refused without a base copy of the present destination, which says why', async () => {
    await load({ keepBase: true });
    const planned = await planReset(contextWith(), { target: 'app' });
    await load({ keepBase: true });
    await expect(applyReset(contextWith(), planned)).rejects.toMatchObject({ code: 'plan_outdated' });

    await sql('ALTER DATABASE "copy.tool-base" ALLOW_CONNECTIONS true', 'postgres');
    await expect(reset()).rejects.toMatchObject({
      code: 'base_copy_outdated',
      message: expect.stringContaining('it accepts connections'),
    });
    await sql('ALTER DATABASE "copy.tool-base" ALLOW_CONNECTIONS false', 'postgres');
    // Nobody was connected.
    await reset();

    await sql('ALTER DATABASE copy RENAME TO copy_before; CREATE DATABASE copy', 'postgres').catch(async () => {
      await sql('ALTER DATABASE copy RENAME TO copy_before', 'postgres');
      await server.createDatabase('copy');
    });
    await expect(reset()).rejects.toMatchObject({
      code: 'base_copy_outdated',
      details: [expect.stringContaining(planned.plan.base.snapshot ?? '?')],
      hint: expect.stringContaining('--keep-base'),
    });
  });

  itInFull.each<[string, Partial<LoadRequest>]>([
    ['a load without --keep-base', {}],
    ['a load in place', { inPlace: true }],
  ])('is not possible after %s', async (_how, request) => {
    await load({ spare: true });
    await load(request);
    await expect(reset()).rejects.toMatchObject({
      code: expect.stringMatching(/^(no_base_copy|base_copy_outdated)$/),
    });
    if (!request.inPlace) expect(await beside()).toEqual(['copy.tool-undo']);
  });

  itInFull('never uses or drops a database of somebody else that has the name of a base copy', async () => {
    await server.createDatabase('copy.tool-base');
    await sql('CREATE TABLE precious ()', 'copy.tool-base');
    await load();
    await expect(load({ keepBase: true })).rejects.toMatchObject({ code: 'database_name_taken', exit: 5 });
    await expect(reset()).rejects.toMatchObject({ code: 'no_base_copy' });
    await expect(planDropCopies(contextWith(), { target: 'app' })).rejects.toMatchObject({ code: 'no_base_copy' });
    expect(await sql("SELECT count(*) FROM pg_class WHERE relname = 'precious'", 'copy.tool-base')).toBe('1');
  });

  itInFull('--drop removes base copy and spare only', async () => {
    await load({ spare: true });
    const planned = await planDropCopies(contextWith(), { target: 'app' });
    expect(planned.plan.copies.map(({ database }) => database)).toEqual(['copy.tool-base', 'copy.tool-spare']);
    expect(await applyDropCopies(contextWith(), planned)).toMatchObject({
      dropped: ['copy.tool-spare', 'copy.tool-base'],
    });
    expect(await beside()).toEqual(['copy.tool-undo']);
    expect(await server.dump('copy')).toBe(pristine);
  });

  itInFull('is offered by the plan of a load of the same snapshot, whole only', async () => {
    await load({ tables: ['public.person'], keepBase: true });
    const plan = async (request: Partial<LoadRequest> = {}) =>
      (await planLoad(contextWith(), { target: 'app', ...request })).plan;
    expect(await plan()).toMatchObject({ reset_instead: true });
    expect(await plan({ tables: ['public.person'] })).not.toHaveProperty('reset_instead');
    expect(await plan()).toMatchObject({ copies: { base: { database: 'copy.tool-base' }, spare: null } });
  });

  it('keeps base copies as the configuration says, unless the flag says otherwise', async () => {
    const configured = contextWith({ keep_base: true, keep_spare: true });
    expect((await planLoad(configured, { target: 'app' })).plan.keep_base).toEqual({ spare: true });
    expect((await planLoad(configured, { target: 'app', spare: false })).plan.keep_base).toEqual({ spare: false });
    expect((await planLoad(configured, { target: 'app', keepBase: false })).plan).not.toHaveProperty('keep_base');
    const inPlace = await planLoad(configured, { target: 'app', inPlace: true });
    expect(inPlace.plan.warnings.map(({ code }) => code)).toContain('base_copies_unsupported');
    await expect(planLoad(contextWith(), { target: 'app', inPlace: true, keepBase: true })).rejects.toMatchObject({
      code: 'base_copies_unsupported',
    });
  });

  itInFull('is never possible for the source of another target, nor is a base copy', async () => {
    await load({ keepBase: true });
    const owner = { snapshot: { src_url: server.url('copy') }, allow_destination_of: ['app'] };
    const allowed = contextWith({}, { owner });
    await expect(load({ keepBase: true }, allowed)).rejects.toMatchObject({ code: 'base_copies_unsupported' });
    await expect(reset({}, allowed)).rejects.toMatchObject({ code: 'base_copies_unsupported' });
    const ofBase = contextWith({}, { owner: { snapshot: { src_url: server.url('copy.tool-base') } } });
    for (const run of [load, reset]) {
      await expect(run({}, ofBase)).rejects.toMatchObject({
        code: expect.stringMatching(/^(destination_is_source|sources_unverified)$/),
      });
    }
    expect(await beside()).toEqual(['copy.tool-base', 'copy.tool-undo']);
  });

  itInFull('is refused when a crash of the server has emptied unlogged tables of the base copy', async () => {
    await sql('CREATE UNLOGGED TABLE cache AS SELECT 1 AS id', 'source');
    await build(contextWith(), { target: 'app' });
    await load({ keepBase: true });
    expect((await planReset(contextWith(), { target: 'app' })).plan.base).toMatchObject({ outdated: null });
    const checkpointer = await sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
    process.kill(Number(checkpointer), 'SIGKILL');
    await eventually(async () => (await sql('SELECT count(*) FROM cache').catch(() => '')) === '0');
    await expect(planReset(contextWith(), { target: 'app' })).rejects.toMatchObject({
      code: 'base_copy_outdated',
      message: expect.stringContaining('the server has crashed since that load, which empties unlogged tables'),
    });
    await expect(planBranchCreate(contextWith(), { target: 'app', name: 'one' })).resolves.toMatchObject({
      plan: { base: null },
    });
    await sql('DROP TABLE cache', 'source');
  });
});

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { connectToServer } from '../../../src/engines/postgres/connection/connect.ts';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import { lockDestination, verifyLock } from '../../../src/engines/postgres/server/server.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithPostgres('databases beside a destination', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres({ max_prepared_transactions: '5', wal_level: 'logical' }));
  let events: RunEvent[];
  let context: Context;

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.psql('source', { sql: 'CREATE TABLE item (id integer); INSERT INTO item VALUES (1), (2)' });
    await build(contextFor('source'), { target: 'app' });
  }, 120_000);

  beforeEach(async () => {
    events = [];
    context = contextFor('source');
    await forgetSources();
    for (const name of await server.databases()) {
      if (/^copy/i.test(name)) await server.psql('postgres', { sql: `DROP DATABASE "${name}" WITH (FORCE)` });
    }
    await server.createDatabase('copy');
    await sql('CREATE TABLE mine (id integer); INSERT INTO mine VALUES (7)');
  });

  function contextFor(source: string): Context {
    const target = { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } };
    const other = { snapshot: { src_url: server.url(source) } };
    return testContext({ settings: { working_directory: folder.path, targets: { app: target, other } }, events });
  }

  const run = async (request: Partial<LoadRequest> = {}, on = context) =>
    applyLoad(on, await planLoad(on, { target: 'app', ...request }));
  const sql = async (text: string, database = 'copy') => (await server.psql(database, { sql: text })).trim();
  const forgetSources = () => rm(join(folder.path, 'identities.json'), { force: true });
  const codes = () => events.flatMap((event) => (event.event === 'warning' ? [event.code] : []));

  it('are not swept for their names alone, and a source is safe however it is called', async () => {
    const names = [
      'copy.tool-new-12345678',
      'Copy.tool-new-12345678',
      'copy.tool-new-mine',
      'copy.tool-new-1234567890',
    ];
    for (const name of names) await server.createDatabase(name);
    await expect(run({}, contextFor('copy.tool-new-12345678'))).rejects.toMatchObject({
      code: 'destination_is_source',
    });
    await forgetSources();
    await run();
    expect(await server.databases()).toEqual(expect.arrayContaining([...names, 'copy', 'copy.tool-undo']));
    expect(events).toContainEqual(
      expect.objectContaining({ code: 'leftover', message: expect.stringContaining('copy.tool-new-12345678') }),
    );
  });

  it('databases with the mark of another destination stay unchanged', async () => {
    await server.createDatabase('copy.tool-new-12345678');
    const mark = JSON.stringify({ tool: 'new', of: 'COPY' });
    await sql(`COMMENT ON DATABASE "copy.tool-new-12345678" IS '${mark}'`, 'postgres');
    await run();
    expect(await server.databases()).toContain('copy.tool-new-12345678');
    await sql(`COMMENT ON DATABASE "copy.tool-new-12345678" IS '${mark.replace('COPY', 'copy')}'`, 'postgres');
    await run();
    expect(await server.databases()).not.toContain('copy.tool-new-12345678');
  });

  it('a database with the name of the undo copy that is none stops a load before it begins', async () => {
    await server.createDatabase('copy.tool-undo');
    await expect(planLoad(context, { target: 'app' })).rejects.toMatchObject({ code: 'database_name_taken', exit: 5 });
    const file = join(folder.path, 'script.sql');
    await writeFile(file, 'SELECT 1;\n');
    await expect(run({ file })).rejects.toMatchObject({ code: 'database_name_taken' });
    await expect(planUndo(context, { target: 'app' })).rejects.toMatchObject({ code: 'nothing_to_undo' });
    expect(await server.databases()).toContain('copy.tool-undo');
    expect(await sql('SELECT id FROM mine')).toBe('7');
  });

  it('the undo copy stays when the load replaces nothing', async () => {
    await run();
    await sql('DROP DATABASE copy', 'postgres');
    await run();
    expect(await sql('SELECT id FROM mine', 'copy.tool-undo')).toBe('7');
    await applyUndo(context, await planUndo(context, { target: 'app' }));
    expect(await sql('SELECT id FROM mine')).toBe('7');
  });

  it('an undo copy that is a source is not replaced', async () => {
    await run();
    await expect(run({}, contextFor('copy.tool-undo'))).rejects.toMatchObject({
      code: 'destination_is_source',
      exit: 5,
    });
    expect(await sql('SELECT id FROM mine', 'copy.tool-undo')).toBe('7');
  });

  it('a prepared transaction in the destination is found before anything is restored', async () => {
    await sql("BEGIN; INSERT INTO mine VALUES (8); PREPARE TRANSACTION 'held'");
    await expect(planLoad(context, { target: 'app' })).rejects.toMatchObject({
      code: 'swap_blocked',
      details: [expect.stringContaining("'held'")],
    });
    await sql("ROLLBACK PREPARED 'held'");
    await run();
    await sql("BEGIN; INSERT INTO mine VALUES (8); PREPARE TRANSACTION 'held'", 'copy.tool-undo');
    await expect(run()).rejects.toMatchObject({ code: 'swap_blocked' });
    await expect(planUndo(context, { target: 'app' }).then((plan) => applyUndo(context, plan))).rejects.toMatchObject({
      code: 'swap_blocked',
    });
    await sql("ROLLBACK PREPARED 'held'", 'copy.tool-undo');
  });

  it('one that cannot be dropped is named in the plan, is a warning after the swap, and stops no later load', async () => {
    await sql(`CREATE SUBSCRIPTION held CONNECTION 'dbname=nowhere' PUBLICATION p WITH (connect = false)`);
    await run();
    const { plan } = await planLoad(context, { target: 'app' });
    expect(plan.warnings).toContainEqual({ code: 'leftover', message: expect.stringContaining("subscription 'held'") });
    for (const _ of ['first', 'second']) {
      events.length = 0;
      expect(await run()).toMatchObject({ undo_database: 'copy.tool-undo' });
      expect(codes()).toContain('leftover');
      expect(await sql('SELECT count(*) FROM item')).toBe('2');
    }
    const [stuck] = (await server.databases()).filter((name) => name.startsWith('copy.tool-new-'));
    await sql('ALTER SUBSCRIPTION held SET (slot_name = NONE); DROP SUBSCRIPTION held', stuck);
    await run();
    expect(await server.databases()).toEqual(['copy', 'copy.tool-undo', 'postgres', 'source']);
  }, 120_000);

  it('a destination that cannot be dropped with --no-undo stays as the undo copy, with a warning', async () => {
    await sql(`CREATE SUBSCRIPTION held CONNECTION 'dbname=nowhere' PUBLICATION p WITH (connect = false)`);
    expect(await run({ undo: false })).toMatchObject({ undo_database: 'copy.tool-undo' });
    expect(codes()).toContain('leftover');
    await sql('ALTER SUBSCRIPTION held SET (slot_name = NONE); DROP SUBSCRIPTION held', 'copy.tool-undo');
  });

  it('a subscription at work stops a swap before it begins, one of its name in another database does not', async () => {
    await server.createDatabase('copying');
    await sql("SELECT pg_create_logical_replication_slot('held', 'pgoutput')", 'source');
    await sql('CREATE PUBLICATION p', 'source');
    const subscription = `CREATE SUBSCRIPTION held CONNECTION '${server.url('source')}' PUBLICATION p`;
    const works = async (): Promise<boolean> =>
      (await sql('SELECT count(pid) FROM pg_stat_subscription', 'postgres')) === '1';
    await sql(`${subscription} WITH (create_slot = false, slot_name = 'held')`, 'copying');
    await sql(`${subscription} WITH (connect = false)`);
    await eventually(works);
    await run();
    await sql('ALTER SUBSCRIPTION held DISABLE; ALTER SUBSCRIPTION held SET (slot_name = NONE)', 'copying');
    await sql('DROP SUBSCRIPTION held', 'copying');
    await eventually(async () => !(await works()));
    await sql("ALTER SUBSCRIPTION held SET (slot_name = 'held'); ALTER SUBSCRIPTION held ENABLE", 'copy.tool-undo');
    await eventually(works);
    await expect(applyUndo(context, await planUndo(context, { target: 'app' }))).rejects.toMatchObject({
      code: 'swap_blocked',
      details: [expect.stringContaining("copy.tool-undo cannot be renamed because of the subscription 'held'")],
    });
    await sql('ALTER SUBSCRIPTION held DISABLE; ALTER SUBSCRIPTION held SET (slot_name = NONE)', 'copy.tool-undo');
    await sql('DROP SUBSCRIPTION held', 'copy.tool-undo');
    await eventually(async () => !(await works()));
    await sql("DROP PUBLICATION p; SELECT pg_drop_replication_slot('held')", 'source');
  }, 60_000);

  it('a load survives a server that ends idle sessions after a second', async () => {
    await sql(`ALTER SYSTEM SET idle_session_timeout = '300ms'; `, 'postgres');
    await sql(`ALTER SYSTEM SET idle_in_transaction_session_timeout = '300ms'`, 'postgres');
    await sql('SELECT pg_reload_conf()', 'postgres');
    const file = join(folder.path, 'slow.sql');
    await writeFile(file, 'SELECT pg_sleep(1.5);\nCREATE TABLE slow (id integer);\n');
    try {
      await run({ file });
    } finally {
      for (const name of ['idle_session_timeout', 'idle_in_transaction_session_timeout']) {
        await sql(`ALTER SYSTEM RESET ${name}`, 'postgres');
      }
      await sql('SELECT pg_reload_conf()', 'postgres');
    }
    expect(await sql('SELECT count(*) FROM slow')).toBe('0');
  });

  it('the swap fails when the lock was lost', async () => {
    await using session = await connectToServer(context, parsePostgresUrl(server.url('copy')));
    await lockDestination(session, "it's ✓");
    await verifyLock(session, "it's ✓");
    await expect(verifyLock(session, 'another')).rejects.toMatchObject({ code: 'lock_lost', exit: 1 });
    await session.execute('SELECT pg_advisory_unlock_all()');
    await expect(verifyLock(session, "it's ✓")).rejects.toMatchObject({ code: 'lock_lost' });

    const losing: Context = {
      ...context,
      report(event) {
        context.report(event);
        if (event.event === 'step' && event.step === 'restore' && event.state === 'done')
          ending = sql(ENDED, 'postgres');
      },
    };
    let ending: Promise<string> | undefined;
    // A statement may be running when the session ends.
    await expect(run({}, losing)).rejects.toMatchObject({ code: expect.stringMatching(/^(?:lock|connection)_lost$/) });
    await ending;
    expect(await sql('SELECT id FROM mine')).toBe('7');
  });

  const ENDED = `SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory'`;
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { planBranchPrune } from '../../../src/operations/branch/prune/prune.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyRehearsal, planRehearsal, type RehearseRequest } from '../../../src/operations/rehearse/rehearse.ts';
import { rehearsalMarkdown, rehearsalSummary } from '../../../src/operations/rehearse/text.ts';
import type { RehearsalResult } from '../../../src/results/review/rehearsal-results.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { markdownText } from '../../../src/text/markdown.ts';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { makeAuthority, sign, speakTls } from '../../helpers/postgres/postgres-tls.ts';
import { type Tool, toolIn } from '../../helpers/terminal/tool-process.ts';

const FILL = `
  CREATE TABLE person (id integer PRIMARY KEY, email text NOT NULL, age integer);
  INSERT INTO person SELECT i, 'person' || (i % 500) || '@example.com', i FROM generate_series(1, 30000) i;
  CREATE TABLE calm (id integer PRIMARY KEY);
  INSERT INTO calm SELECT generate_series(1, 10);
  CREATE TABLE hollow (id integer PRIMARY KEY);`;

describeWithPostgres('a rehearsal', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let tool: Tool;
  let files = 0;

  beforeAll(async () => {
    [server, folder] = await Promise.all([startPostgres(), temporaryFolder()]);
    await server.createDatabase('source');
    await server.psql('source', { sql: FILL });
    tool = await toolIn(folder.path, settings());
    await build(context(), { target: 'app' });
    await server.createDatabase('copy');
    await applyLoad(context(), await planLoad(context(), { target: 'app', keepBase: true, undo: false }));
  }, 240_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  const settings = () => ({
    working_directory: join(folder.path, 'work'),
    targets: { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } },
  });

  function context(): Context {
    return testContext({ settings: settings() });
  }

  async function rehearse(request: Partial<RehearseRequest>): Promise<RehearsalResult> {
    return applyRehearsal(context(), await planRehearsal(context(), { target: 'app', ...request }));
  }

  async function sqlFile(text: string): Promise<string> {
    files += 1;
    const path = join(folder.path, `${files}.sql`);
    await writeFile(path, text);
    return path;
  }

  const SLEEPERS = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%'";
  const sleepers = (count: number) =>
    eventually(async () => (await server.psql('postgres', { sql: SLEEPERS })) === `${count}\n`);

  const branches = async () => (await server.databases()).filter((name) => name.includes('rehearsal'));

  it('reports locks, rewrites, definitions and rows of a command, and drops the branch', async () => {
    const sql =
      'BEGIN; ALTER TABLE person ALTER COLUMN age TYPE bigint; SELECT pg_sleep(0.05); DELETE FROM calm WHERE id < 4; COMMIT;';
    const result = await rehearse({
      command: [
        'sh',
        '-c',
        `psql -X -q -v ON_ERROR_STOP=1 "$DATABASE_URL" -f ${await sqlFile(sql)} && echo "$DATABASE_URL"`,
      ],
    });
    expect(result).toMatchObject({ outcome: 'passed', works: [{ exit: 0, failed: false }], statements_left_out: 0 });
    expect(result.statements.map(({ text }) => text)).toEqual([
      'BEGIN;',
      'ALTER TABLE person ALTER COLUMN age TYPE bigint;',
      'SELECT pg_sleep(0.05);',
      'DELETE FROM calm WHERE id < 4;',
      'COMMIT;',
    ]);
    const [lock] = result.locks.filter(({ table, index }) => table === 'public.person' && index === null);
    expect(lock).toMatchObject({ mode: 'ACCESS EXCLUSIVE', blocks: 'readers', below_resolution: false });
    expect(lock?.statement).toBe('ALTER TABLE person ALTER COLUMN age TYPE bigint;');
    expect(lock?.held_ms).toBeGreaterThan(50);
    expect(result.rewrites.map(({ name }) => name).sort()).toEqual(['public.person', 'public.person_pkey']);
    expect(result.rewritten_bytes).toBeGreaterThan(1_000_000);
    expect(result.definitions).toMatchObject([{ name: 'public.person (table)', change: 'changed' }]);
    expect(result.rows).toEqual([{ table: 'public.calm', before: 10, after: 7 }]);
    expect(await branches()).toEqual([]);
    expect(await server.psql('copy', { sql: 'SELECT count(*) FROM calm' })).toBe('10\n');
  }, 60_000);

  it('warns of a statement that is dangerous under load, and fails by it where that is asked for', async () => {
    const sql = await sqlFile('CREATE INDEX person_age ON person (age); CREATE INDEX ON hollow (id);');
    const result = await rehearse({ sql, limits: { fail_on_warning: true } });
    expect(result.warnings.map(({ code, table }) => `${code} ${table}`)).toContain(
      'index_not_concurrent public.person',
    );
    expect(result.warnings.filter(({ table }) => table === 'public.hollow')).toEqual([]);
    expect(result).toMatchObject({ outcome: 'over_limit', problems: [{ code: 'rehearsal_over_limit' }] });
    expect(rehearsalMarkdown(result, markdownText)).toContain('CREATE INDEX CONCURRENTLY');
    const calm = await rehearse({
      sql: await sqlFile("SET lock_timeout = '2s'; CREATE INDEX CONCURRENTLY person_age ON person (age);"),
      limits: { fail_on_warning: true },
    });
    expect(calm).toMatchObject({ outcome: 'passed', warnings: [] });
  }, 60_000);

  it('observes prepared statements of a driver and masks values of a failed constraint', async () => {
    const sql = await sqlFile('CREATE UNIQUE INDEX person_email ON person (email);');
    const result = await rehearse({ sql });
    expect(result).toMatchObject({ outcome: 'failed', problems: [{ code: 'rehearsal_failed' }] });
    expect(result.statements).toMatchObject([{ error: { code: '23505' } }]);
    const whole = JSON.stringify(result);
    expect(whole).not.toContain('@example.com');
    expect(whole).toContain('(email)=(***)');
    const script = `
      const pg = require('pg');
      (async () => {
        const client = new pg.Client(process.env.DATABASE_URL);
        await client.connect();
        await client.query('UPDATE calm SET id = id + $1', [100]);
        await client.query({ name: 'one', text: 'SELECT id FROM calm WHERE id = $1', values: [101] });
        await client.query('SELEC $1', [1]).catch(() => {});
        await client.end();
      })();`;
    const driven = await rehearse({ command: [process.execPath, '-e', script], cwd: process.cwd() });
    expect(driven.works[0]?.output).toBe('');
    expect(driven.statements).toMatchObject([
      { text: 'UPDATE calm SET id = id + $1', error: null },
      { text: 'SELECT id FROM calm WHERE id = $1', error: null },
      { text: 'SELEC $1', error: { code: '42601' } },
    ]);
    expect(driven).toMatchObject({ locks: [], rewrites: [], definitions: [], rows: [] });
  }, 60_000);

  it('passes on no connection of another user of the machine, and none as another role', async () => {
    const client = 'psql -X -c "SELECT 1"';
    const asRole = await rehearse({
      command: ['sh', '-c', `PGUSER=other ${client} "$(echo "$DATABASE_URL" | sed s,//[^:]*:,//other:,)"`],
    });
    expect(asRole.works[0]?.output).toContain('only');
    expect(asRole).toMatchObject({ outcome: 'failed', statements: [] });
    if (process.getuid?.() !== 0 || process.platform !== 'linux') return;
    const nobody = 'setpriv --reuid=65534 --regid=65534 --clear-groups';
    const asUser = await rehearse({ command: ['sh', '-c', `cd / && HOME=/ ${nobody} ${client} "$DATABASE_URL"`] });
    expect(asUser).toMatchObject({ outcome: 'failed', statements: [] });
    const own = await rehearse({ command: ['sh', '-c', `${client} "$DATABASE_URL"`] });
    expect(own).toMatchObject({ outcome: 'passed', statements: [{ text: 'SELECT 1' }] });
  }, 60_000);

  it('refuses a file that is missing or has a command of psql, before a branch is made', async () => {
    const plan = (sql: string) => planRehearsal(context(), { target: 'app', sql });
    await expect(plan(join(folder.path, 'absent.sql'))).rejects.toMatchObject({ code: 'file_missing' });
    await expect(plan(await sqlFile('SELECT 1;\n\\i other.sql'))).rejects.toMatchObject({ code: 'script_refused' });
    expect(await branches()).toEqual([]);
  });

  it('states locks that are too short for a sample, and ignores tables without rows', async () => {
    const sql = await sqlFile('ALTER TABLE calm ADD COLUMN note text; ALTER TABLE hollow ADD COLUMN note text;');
    const { locks, outcome } = await rehearse({ sql });
    expect(outcome).toBe('passed');
    expect([...new Set(locks.map(({ table }) => table))]).toEqual(['public.calm']);
    expect(locks).toMatchObject([{ mode: 'ACCESS EXCLUSIVE', blocks: 'readers' }]);
  }, 60_000);

  it('admits clients to the database of the branch only, by password', async () => {
    await server.psql('postgres', { sql: "CREATE ROLE other LOGIN SUPERUSER PASSWORD 'word-for-tests'" });
    const [source, copy] = ['source', 'copy'].map((name) =>
      server.url(name).replace(/\/\/[^@]*@/, '//other:word-for-tests@'),
    );
    const targets = { app: { snapshot: { src_url: source ?? '', dst_url: copy ?? '' } } };
    const given = testContext({ settings: { ...settings(), targets } });
    const command = [
      'sh',
      '-c',
      'psql -X -d postgres -c "SELECT 1"; psql -X -At -c "SELECT current_user"; echo "$DATABASE_URL"',
    ];
    const { works } = await applyRehearsal(given, await planRehearsal(given, { target: 'app', command }));
    const [{ output } = { output: '' }] = works;
    expect(output).toMatch(/FATAL: {2}this address leads to database "copy_rehearsal_[0-9a-f]{8}" as "[a-z]+" only\n/);
    expect(output).toMatch(/^other$/m);
    expect(output).toMatch(/^postgres:\/\/other:\*\*\*@127\.0\.0\.1:\d+\/copy_rehearsal_/m);
    expect(output).not.toContain('word-for-tests');
  }, 60_000);

  it('ends with exit codes, hides the password, and is interrupted without a branch', async () => {
    const failed = await tool.start(['rehearse', 'app', '--', 'sh', '-c', 'echo "$DATABASE_URL"; exit 3']).ended;
    expect(failed.code, failed.output).toBe(1);
    expect(failed.output).toContain('failed with exit code 3');
    expect(failed.output).not.toContain(':secret@');
    const sql = await sqlFile('VACUUM FULL person;');
    const over = await tool.start(['rehearse', 'app', '--sql', sql, '--max-rewrite', '1kB']).ended;
    expect(over.code, over.output).toBe(5);
    const run = tool.start(['rehearse', 'app', '--', 'sh', '-c', 'echo begun; sleep 60']);
    await run.said('"step":"work","state":"started"');
    run.child.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    expect(await branches()).toEqual([]);
    const again = tool.start(['rehearse', 'app', '--sql', await sqlFile('SELECT pg_sleep(600);')]);
    await sleepers(1);
    await eventually(async () => !again.child.kill('SIGINT'));
    const { code, signal } = await again.ended;
    expect([130, 'SIGINT']).toContain(code ?? signal);
    await sleepers(0);
    // A second Ctrl-C may have come before the branch was dropped.
    for (const name of await branches()) await server.psql('postgres', { sql: `DROP DATABASE "${name}"` });
  }, 90_000);

  it('has no password of a statement in the report', async () => {
    const secret = 'Hidden-Word-7';
    const statements = [
      `CREATE ROLE tool_rehearsed PASSWORD '${secret}'`,
      `DO $$ BEGIN EXECUTE 'ALTER ROLE tool_rehearsed PASSWORD $x$${secret}$x$'; END $$`,
      'DROP ROLE tool_rehearsed',
      `SELECT 'postgres://a:${secret}@here/db'`,
      `CREATE SUBSCRIPTION s CONNECTION 'host=here password=${secret}' PUBLICATION p WITH (connect = 1, enabled = no`,
    ];
    const result = await rehearse({ sql: await sqlFile(`${statements.join(';\n')});`) });
    expect(result.statements).toHaveLength(statements.length);
    expect(JSON.stringify(result)).not.toContain(secret);
    expect(rehearsalMarkdown(result, markdownText)).not.toContain(secret);
  }, 60_000);

  it('estimates durations on the source by the sizes of tables, where the branch has fewer rows', async () => {
    const other = { ...settings(), working_directory: join(folder.path, 'other') };
    const given = testContext({ settings: other });
    await build(given, { target: 'app' });
    const copy = { target: 'app', keepBase: true, undo: false, destdb: server.url('small') };
    await applyLoad(given, await planLoad(given, copy));
    await server.psql('source', {
      sql: "INSERT INTO person SELECT i, 'person' || (i % 500) || '@example.com', i FROM generate_series(30001, 120000) i",
    });
    await build(given, { target: 'app' });
    const sql = await sqlFile('ALTER TABLE person ALTER COLUMN age TYPE bigint;');
    const planned = await planRehearsal(given, { target: 'app', sql, destdb: server.url('small') });
    const result = await applyRehearsal(given, planned);
    expect(result.source_estimate?.ratio).toBeGreaterThan(3.9);
    expect(result.source_estimate?.ratio).toBeLessThan(4.5);
    expect(result.source_estimate?.duration_ms).toBeGreaterThan(result.duration_ms);
    expect(rehearsalSummary(result).details.join('\n')).toMatch(
      /Estimate for the source: .*, if time grows with the bytes of the tables \(4(?:\.\d)? times, as in snapshot [0-9a-f]{8}\)/,
    );
    await server.psql('source', { sql: 'DELETE FROM person WHERE id > 30000' });
  }, 90_000);

  it('loads a snapshot as the base copy where there is none, runs the steps of after_load, and keeps the branch', async () => {
    const query_file = await sqlFile("INSERT INTO calm VALUES (11); SELECT 'of a file';");
    const steps = [
      { query_file, timeout: 60 },
      { command: 'psql -X -c "DROP TABLE hollow" && exit 3', timeout: 60 },
    ];
    const never = { command: 'echo never', timeout: 60 };
    const snapshot = { src_url: server.url('source'), dst_url: server.url('fresh'), after_load: [...steps, never] };
    const given = testContext({ settings: { ...settings(), targets: { app: { snapshot } } } });
    const planned = await planRehearsal(given, { target: 'app', keep: true });
    expect(planned.plan).toMatchObject({
      base: null,
      keep: true,
      works: [{ kind: 'query_file' }, { kind: 'command' }, {}],
    });
    const result = await applyRehearsal(given, planned);
    expect(result).toMatchObject({ outcome: 'failed', kept: true, snapshot: planned.plan.load?.id });
    expect(result.works.map(({ exit, failed }) => [exit, failed])).toEqual([
      [null, false],
      [3, true],
    ]);
    expect(result.statements.map(({ text }) => text)).toEqual([
      'INSERT INTO calm VALUES (11)',
      "SELECT 'of a file'",
      'DROP TABLE hollow',
    ]);
    expect(result.rows).toEqual([
      { table: 'public.calm', before: 10, after: 11 },
      { table: 'public.hollow', before: 0, after: null },
    ]);
    expect(await server.psql(result.database, { sql: 'SELECT max(id) FROM calm' })).toBe('11\n');
    const [name] = await branches();
    expect(name).toBe(result.database);
    await server.psql('postgres', { sql: `DROP DATABASE "${result.database}"` });
    await expect(planRehearsal(context(), { target: 'app' })).rejects.toMatchObject({ code: 'missing_argument' });
  }, 60_000);

  it('passes on a login by SCRAM to a server that speaks TLS', async () => {
    const authority = await makeAuthority(join(folder.path, 'tls'));
    const signed = await sign(authority, { name: 'server', subject: '/CN=localhost', names: 'IP:127.0.0.1' });
    await speakTls(server, signed);
    await server.psql('postgres', { sql: "CREATE ROLE careful LOGIN SUPERUSER PASSWORD 'word-for-tests'" });
    const [source, copy] = ['source', 'copy'].map(
      (name) => `${server.url(name).replace(/\/\/[^@]*@/, '//careful:word-for-tests@')}?sslmode=require`,
    );
    const targets = { app: { snapshot: { src_url: source ?? '', dst_url: copy ?? '' } } };
    const given = testContext({ settings: { ...settings(), targets } });
    const sql = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
    const command = ['psql', '-X', '-At', '-c', sql];
    const { works, statements } = await applyRehearsal(given, await planRehearsal(given, { target: 'app', command }));
    expect(works).toMatchObject([{ exit: 0, output: 't\n' }]);
    expect(statements).toMatchObject([{ text: sql }]);
    const wrong = ['sh', '-c', 'psql -X -c "SELECT 1" "$(echo "$DATABASE_URL" | sed s/word-for-tests/wrong/)"'];
    const refused = await applyRehearsal(given, await planRehearsal(given, { target: 'app', command: wrong }));
    expect(refused.works[0]?.output).toContain('password authentication failed');
    expect(refused).toMatchObject({ outcome: 'failed', statements: [] });
  }, 60_000);

  it('leaves a branch that prune finds when it is killed, and no session', async () => {
    const run = tool.start(['rehearse', 'app', '--sql', await sqlFile('SELECT pg_sleep(600);')]);
    await sleepers(1);
    run.killGroup();
    await run.ended;
    await sleepers(0);
    expect(await branches()).toHaveLength(1);
    const later = { ...context(), clock: () => new Date(Date.now() + 25 * 3_600_000) };
    let names: string[] = [];
    await eventually(async () => {
      const { plan } = await planBranchPrune(later, { target: 'app' });
      names = plan.targets.flatMap((target) => target.branches.map(({ name }) => name));
      return names.length > 0;
    });
    expect(names).toEqual([expect.stringMatching(/^rehearsal-[0-9a-f]{8}$/)]);
  }, 60_000);
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { applyRehearsal, planRehearsal, type RehearseRequest } from '../../src/operations/rehearse/rehearse.ts';
import { rehearsalMarkdown, rehearsalSummary } from '../../src/operations/rehearse/text.ts';
import type { RehearsalResult } from '../../src/results/review/rehearsal-results.ts';
import type { Context } from '../../src/runtime/context.ts';
import { markdownText } from '../../src/text/markdown.ts';
import { eventually, temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';
import type { SanitizerServer } from './sanitizer.ts';

const LIMIT = 240_000;

/** What rehearsals keep on every engine, proved on a real server; called inside a `describe`. */
export function rehearsalContract(start: () => Promise<SanitizerServer>): void {
  let server: SanitizerServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let files = 0;

  beforeAll(async () => {
    [server, folder] = await Promise.all([start(), temporaryFolder()]);
    await server.createDatabase('source');
    const { numbers } = server;
    await server.run(
      'source',
      'CREATE TABLE person (id integer PRIMARY KEY, email varchar(100) NOT NULL, age integer)',
      `INSERT INTO person SELECT i, concat('person', i, '@example.com'), i FROM ${numbers(1000)}`,
      ...[1, 2, 4, 8, 16].map((count) => `INSERT INTO person SELECT id + ${1000 * count}, email, age FROM person`),
      'CREATE TABLE calm (id integer PRIMARY KEY)',
      `INSERT INTO calm SELECT i FROM ${numbers(10)}`,
      'CREATE TABLE hollow (id integer PRIMARY KEY)',
    );
    await build(context(), { target: 'app' });
    await server.createDatabase('copy');
    await applyLoad(context(), await planLoad(context(), { target: 'app', keepBase: true, undo: false }));
  }, LIMIT);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function context(signal?: AbortSignal): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } };
    return testContext({ settings, ...(signal && { signal }) });
  }

  async function rehearse(request: Partial<RehearseRequest>): Promise<RehearsalResult> {
    return applyRehearsal(context(), await planRehearsal(context(), { target: 'app', ...request }));
  }

  async function sqlFile(...statements: string[]): Promise<string> {
    files += 1;
    const path = join(folder.path, `${files}.sql`);
    await writeFile(path, statements.map((statement) => `${statement};\n`).join(''));
    return path;
  }

  const isMysql = (): boolean => server.url('copy').startsWith('mysql');
  const widen = (): string =>
    isMysql() ? 'ALTER TABLE person MODIFY age bigint' : 'ALTER TABLE person ALTER age TYPE bigint';
  /** Without the schema of PostgreSQL; the one of MySQL, the database of the rehearsal, is not shown. */
  const bare = (name: string): string => (isMysql() ? name : name.replace(/^public\./, ''));
  const branches = async () => (await server.databases()).filter((name) => name.includes('rehearsal'));

  it(
    'reports statements, locks, rewrites, definitions and rows of a file, and drops the branch',
    async () => {
      const statements = ['CREATE INDEX ages ON person (age)', widen(), 'DELETE FROM calm WHERE id < 4'];
      const result = await rehearse({ sql: await sqlFile(...statements) });
      expect(result).toMatchObject({ outcome: 'passed', works: [{ failed: false }], statements_left_out: 0 });
      expect(result.statements.map(({ text }) => text)).toEqual(statements);
      const isShown = result.sampling.samples > 0;
      expect(result.locks.some(({ below_resolution }) => below_resolution) && !isShown).toBe(false);
      const note = 'The server does not show its locks';
      expect(rehearsalMarkdown(result, markdownText).includes(note)).toBe(!isShown);
      const strong = result.locks.filter(({ index, blocks }) => index === null && blocks !== 'none');
      expect([...new Set(strong.map(({ table }) => bare(table)))]).toEqual(['person']);
      expect(strong.map(({ statement }) => statement)).toContain(statements[1]);
      const rewritten = result.rewrites.filter(({ kind }) => kind === 'table');
      expect(rewritten.map(({ name }) => bare(name))).toEqual(['person']);
      expect(result.rewritten_bytes).toBeGreaterThan(500_000);
      expect(result.wal_bytes).toBeGreaterThan(500_000);
      expect(result.definitions.map(({ name, change }) => `${bare(name)} ${change}`)).toContain(
        'person (table) changed',
      );
      expect(result.rows.map((row) => ({ ...row, table: bare(row.table) }))).toEqual([
        { table: 'calm', before: 10, after: 7 },
      ]);
      expect(result.warnings.map(({ table }) => bare(table ?? ''))).toContain('person');
      expect(await branches()).toEqual([]);
      expect(await server.value('copy', 'SELECT count(*) FROM calm')).toBe('10');
    },
    LIMIT,
  );

  it(
    'reports the statement that failed, masks its values, and does nothing behind it',
    async () => {
      const unique = 'CREATE UNIQUE INDEX person_email ON person (email)';
      const result = await rehearse({ sql: await sqlFile(unique, 'DELETE FROM calm') });
      expect(result).toMatchObject({ outcome: 'failed', problems: [{ code: 'rehearsal_failed' }], rows: [] });
      expect(result.statements).toMatchObject([{ text: unique, error: { code: isMysql() ? '1062' : '23505' } }]);
      expect(rehearsalMarkdown(result, markdownText)).toMatch(/^## Failed[^#]*### Failed statements[^#]*### Output/);
      const whole = JSON.stringify(result);
      expect(whole).toContain('***');
      expect(whole).not.toContain('@example.com');
    },
    LIMIT,
  );

  it(
    'refuses a file that changes another database before it makes a branch, where it could',
    async () => {
      if (!isMysql()) return;
      const file = await sqlFile('SELECT 1', 'DELETE FROM source.calm');
      const refused = { code: 'script_refused', message: expect.stringMatching(/2:1: .*database "source"$/) };
      await expect(planRehearsal(context(), { target: 'app', sql: file })).rejects.toMatchObject(refused);
      expect(await server.value('source', 'SELECT count(*) FROM calm')).toBe('10');
    },
    LIMIT,
  );

  it(
    'crosses limits of locks and rewrites, and writes them to the report; a table without rows crosses none',
    async () => {
      const limits = { max_lock_ms: 0, max_rewrite_bytes: 1000 };
      const result = await rehearse({ sql: await sqlFile(widen()), limits });
      expect(result.outcome).toBe('over_limit');
      expect(result.problems.some(({ message }) => /on (public\.)?person was held for/.test(message))).toBe(true);
      expect(result.problems.at(-1)?.message).toMatch(/were rewritten, more than 1\.0 kB$/);
      expect(rehearsalSummary(result).line).toBe('Over the limit: migration of app, 1 statement');
      const markdown = rehearsalMarkdown(result, markdownText);
      expect(markdown).toMatch(/^## Over the limit: migration of app/);
      expect(markdown).toContain('### Locks');
      const calm = await rehearse({ sql: await sqlFile('ALTER TABLE hollow ADD COLUMN note varchar(10)'), limits });
      expect(calm).toMatchObject({ outcome: 'passed', locks: [], rewrites: [], warnings: [] });
    },
    LIMIT,
  );

  it(
    'runs a load meanwhile: its slowest waits with what they waited for, and its errors',
    async () => {
      const held = isMysql()
        ? ['LOCK TABLES person WRITE', 'SELECT SLEEP(0.4)', 'UNLOCK TABLES', 'SELECT SLEEP(0.2)']
        : ['BEGIN', 'LOCK TABLE person', 'SELECT pg_sleep(0.4)', 'COMMIT', 'SELECT pg_sleep(0.2)'];
      const queries = [
        'SELECT count(*) FROM calm',
        'SELECT max(age) FROM person',
        "SELECT absent FROM calm WHERE 'p'='p'",
      ];
      const workload = { file: await sqlFile(...queries), sessions: 3 };
      const result = await rehearse({ sql: await sqlFile(...held), workload });
      expect(result.outcome).toBe('passed');
      expect(result.workload).toMatchObject({ sessions: 3, first_error: expect.stringMatching(/absent/) });
      const { statements = 0, failed = 0, waits = [] } = result.workload ?? {};
      expect(failed).toBeGreaterThan(2);
      expect(statements).toBeGreaterThan(failed);
      const wait = {
        statement: queries[1],
        waited_for: expect.stringMatching(/^(?:LOCK TABLES? person|SELECT SLEEP)/),
      };
      expect(waits.slice(0, 3)).toMatchObject(Array(3).fill(wait));
      expect(waits[0]?.duration_ms).toBeGreaterThan(100);
      // Its statements are not those of the migration.
      expect(result.statements.map(({ text }) => text)).toEqual(held);
      const { details } = rehearsalSummary(result);
      expect(details).toContainEqual(expect.stringMatching(/ {2}3 sessions ran \d+ statements, \d+ failed: .*absent/));
      expect(details).toContainEqual(
        expect.stringMatching(/SELECT max\(age\) FROM person, waited for: (?:LOCK|SELECT)/),
      );
      const empty = rehearse({ sql: workload.file, workload: { ...workload, file: await sqlFile() } });
      await expect(empty).rejects.toMatchObject({ code: 'invalid_value' });
      expect(await branches()).toEqual([]);
    },
    LIMIT,
  );

  it(
    'ends what a load still runs, so that the branch is dropped',
    async () => {
      const sleep = isMysql() ? 'SELECT SLEEP(600) FROM calm' : 'SELECT pg_sleep(600) FROM calm';
      const workload = { file: await sqlFile(sleep), sessions: 2 };
      const result = await rehearse({ sql: await sqlFile('DELETE FROM calm'), workload });
      expect(result).toMatchObject({ outcome: 'passed', workload: { failed: expect.any(Number) } });
      expect(await branches()).toEqual([]);
    },
    LIMIT,
  );

  it(
    'states a session that is lost in the middle as a failure, and drops the branch',
    async () => {
      const sql = await sqlFile('DELETE FROM calm WHERE id < 4', server.losesConnection, 'DELETE FROM calm');
      const result = await rehearse({ sql });
      expect(result).toMatchObject({ outcome: 'failed', works: [{ failed: true }], rows: [{ before: 10, after: 7 }] });
      expect(result.works[0]?.output).toMatch(/statement 2 failed\n.*(?:terminat|kill|interrupt)/i);
      expect(await branches()).toEqual([]);
    },
    LIMIT,
  );

  it(
    'two of one target beside a load of it disturb each other in nothing',
    async () => {
      const sql = await sqlFile('DELETE FROM calm WHERE id < 4');
      const request = { target: 'app', keepBase: true, undo: false };
      const load = async () => applyLoad(context(), await planLoad(context(), request));
      const [one, , other] = await Promise.all([rehearse({ sql }), load(), rehearse({ sql })]);
      for (const { outcome, rows } of [one, other])
        expect({ outcome, rows }).toMatchObject({ outcome: 'passed', rows: [{ before: 10, after: 7 }] });
      expect(await branches()).toEqual([]);
    },
    LIMIT,
  );

  it(
    'leaves no branch and no session when it is interrupted in the middle of a statement',
    async () => {
      const interrupting = new AbortController();
      const given = context(interrupting.signal);
      const planned = await planRehearsal(given, { target: 'app', sql: await sqlFile(server.sleeping) });
      const ended = applyRehearsal(given, planned).catch((error: unknown) => error);
      await eventually(async () => (await server.value('copy', server.sleepers)) === '1');
      interrupting.abort('enough');
      expect(await ended).toBe('enough');
      expect(await branches()).toEqual([]);
      expect(await server.value('copy', server.sleepers)).toBe('0');
    },
    LIMIT,
  );

  // The last one: the server is gone behind it.
  it(
    'reports a server that dies in the middle as a lost connection',
    async () => {
      const planned = await planRehearsal(context(), { target: 'app', sql: await sqlFile(server.sleeping) });
      const ended = applyRehearsal(context(), planned).catch((error: unknown) => error);
      await eventually(async () => (await server.value('copy', server.sleepers)) === '1');
      await server.stop();
      expect(await ended).toMatchObject({ code: 'connection_lost' });
    },
    LIMIT,
  );
}

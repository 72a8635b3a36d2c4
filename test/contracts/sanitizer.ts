import { cp } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { applySanitize, planSanitize, type SanitizeRequest } from '../../src/operations/sanitize/sanitize.ts';
import { withSuggestion } from '../../src/operations/sanitize/suggest.ts';
import { TRIED_ROWS } from '../../src/operations/sanitize/suggestion-text.ts';
import { localRepository } from '../../src/operations/snapshots/local-repository.ts';
import { findSnapshot, listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { createObjectPool } from '../../src/repository/objects/object-pool.ts';
import { filesOf } from '../../src/repository/repository.ts';
import type { RunEvent } from '../../src/results/events.ts';
import type { SanitizeResult } from '../../src/results/review/sanitize-results.ts';
import type { ColumnChoices } from '../../src/results/review/suggested-query.ts';
import type { Context } from '../../src/runtime/context.ts';
import { writeQuery } from '../../src/sanitize/suggestion.ts';
import { asData } from '../helpers/fakes/as-data.ts';
import { eventually, temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

/** What the contract needs of a real server, whatever its kind. */
export interface SanitizerServer {
  url(database: string): string;
  createDatabase(name: string): Promise<void>;
  /** If it is there. */
  dropDatabase(name: string): Promise<void>;
  databases(): Promise<string[]>;
  /** One value, as text. */
  value(database: string, sql: string): Promise<string>;
  run(database: string, ...statements: string[]): Promise<unknown>;
  stop(): Promise<void>;
  /** What tables of the source are called in a snapshot of it: `public`, `source`. */
  schema: string;
  /** Numbers from 1 in a column `i`, for `FROM`. */
  numbers(count: number): string;
  /** Never ends, and is seen by the other. */
  sleeping: string;
  sleepers: string;
  losesConnection: string;
  /** The URL as a user who may only read. */
  readOnlyUrl(database: string): Promise<string>;
}

const LIMIT = 240_000;

/** Changes all that is personal. */
const MASK = `UPDATE booking SET booked_by = NULL;
UPDATE person SET email = concat('p', id, '@example.com'), first_name = concat('Person ', id);
TRUNCATE TABLE login_log;`;

/** What sanitizing keeps on every engine, proved on a real server; called inside a `describe`. */
export function sanitizerContract(start: () => Promise<SanitizerServer>): void {
  const server = suiteResource(() => start());
  const pristine = suiteResource(() => temporaryFolder());
  let folder: Awaited<ReturnType<typeof temporaryFolder>> | undefined;

  beforeAll(async () => {
    await server.createDatabase('source');
    const { numbers } = server;
    const email = "concat('secret-', i, '@real.example.org')";
    await server.run(
      'source',
      'CREATE TABLE person (id integer PRIMARY KEY, first_name varchar(40), email varchar(80) NOT NULL UNIQUE, note varchar(40))',
      `INSERT INTO person SELECT i, 'Ada', ${email}, 'likes tea' FROM ${numbers(500)}`,
      'CREATE TABLE city (id integer PRIMARY KEY, title varchar(40))',
      `INSERT INTO city SELECT i, concat('Town ', i) FROM ${numbers(50)}`,
      // Phone numbers that nobody has typed: no finding.
      'CREATE TABLE login_log (id integer PRIMARY KEY, client_ip varchar(40), phone varchar(40))',
      `INSERT INTO login_log SELECT i, concat('192.0.2.', i), ' ' FROM ${numbers(100)}`,
      `CREATE TABLE booking (id integer PRIMARY KEY, booked_by varchar(80), CONSTRAINT booked FOREIGN KEY (booked_by) REFERENCES person (email))`,
      `INSERT INTO booking SELECT i, ${email} FROM ${numbers(200)}`,
      'CREATE VIEW mailing AS SELECT email FROM person',
    );
    await build(contextIn(pristine.path), { target: 'app' });
  }, LIMIT);

  beforeEach(async () => {
    await folder?.[Symbol.asyncDispose]();
    folder = await temporaryFolder();
    await cp(pristine.path, folder.path, { recursive: true });
    for (const name of ['clean', 'clean.tool-undo', 'copy']) await server.dropDatabase(name);
  }, LIMIT);

  afterAll(async () => {
    await folder?.[Symbol.asyncDispose]();
  });

  interface Change {
    query?: string;
    clean?: string;
    signal?: AbortSignal;
    events?: RunEvent[];
  }

  function contextIn(
    directory: string,
    { query = MASK, clean = server.url('clean'), signal, events = [] }: Change = {},
  ) {
    const target = {
      snapshot: { src_url: server.url('source'), dst_url: server.url('copy') },
      sanitize: { dst_url: clean, override_query: query },
    };
    const settings = { working_directory: directory, targets: { app: target } };
    return testContext({ settings, events, ...(signal && { signal }) });
  }

  const contextOf = (change?: Change): Context => contextIn(folder?.path ?? '', change);

  async function run(change: Change = {}, request: Partial<SanitizeRequest> = {}): Promise<SanitizeResult> {
    const context = contextOf(change);
    return applySanitize(context, asData(await planSanitize(context, { target: 'app', ...request })));
  }

  async function expectNothingPublished(): Promise<void> {
    const { snapshots } = await listSnapshots(contextOf(), 'app');
    expect(snapshots).toEqual([expect.objectContaining({ index: 0, sanitized: false })]);
    expect(await server.databases()).toEqual(expect.not.arrayContaining([expect.stringContaining('.tool-')]));
    expect(await server.value('source', 'SELECT email FROM person WHERE id = 1')).toBe('secret-1@real.example.org');
  }

  it(
    'stores the result beside the original, and loads use it unless the original is requested',
    async () => {
      const result = await run();
      expect(result).toMatchObject({
        snapshot: { index: 0, sanitized: true, sanitized_of: result.original.id, schemas: [server.schema], rows: 750 },
        original: { index: 0, sanitized: false, rows: 850 },
        statements: 3,
      });
      expect(await server.value('clean', "SELECT count(*) FROM mailing WHERE email LIKE 'p%@example.com'")).toBe('500');
      const context = contextOf();
      await applyLoad(context, await planLoad(context, { target: 'app', undo: false }));
      expect(await server.value('copy', 'SELECT email FROM person WHERE id = 1')).toBe('p1@example.com');
      await applyLoad(context, await planLoad(context, { target: 'app', snapshot: result.original.id, undo: false }));
      expect(await server.value('copy', 'SELECT email FROM person WHERE id = 1')).toMatch(/^secret-1@/);
      await applyLoad(context, await planLoad(context, { target: 'app', original: true, undo: false }));
      expect(await server.value('copy', "SELECT count(*) FROM mailing WHERE email LIKE 'secret-%'")).toBe('500');
    },
    LIMIT,
  );

  it(
    'reports changed tables and columns that still look personal, without any value',
    async () => {
      const events: RunEvent[] = [];
      const query = '-- keep: SCHEMA.person.first_name all are Ada\nTRUNCATE TABLE login_log'.replace(
        'SCHEMA',
        server.schema,
      );
      const { coverage } = await run({ query, events });
      const named = (table: string): string => `${server.schema}.${table}`;
      expect(coverage.tables).toEqual([
        { name: named('booking'), state: 'untouched', rows_before: 200, rows_after: 200, indirect: false },
        { name: named('city'), state: 'untouched', rows_before: 50, rows_after: 50, indirect: false },
        { name: named('login_log'), state: 'emptied', rows_before: 100, rows_after: 0, indirect: false },
        { name: named('person'), state: 'untouched', rows_before: 500, rows_after: 500, indirect: false },
      ]);
      expect(coverage.findings).toEqual([
        expect.objectContaining({ column: named('booking.booked_by'), kind: 'email', state: 'unchanged', values: 200 }),
        expect.objectContaining({ column: named('person.email'), kind: 'email', state: 'unchanged', values: 500 }),
      ]);
      expect(coverage.acknowledged).toEqual([expect.objectContaining({ column: named('person.first_name') })]);
      expect(JSON.stringify([events, coverage])).not.toMatch(/secret-\d|192\.0\.2\./);
    },
    LIMIT,
  );

  it(
    'finds values that are left in some rows, and publishes nothing of that when it is strict',
    async () => {
      const query = `${MASK} UPDATE person SET email = concat('secret-', id, '@real.example.org') WHERE id < 60`;
      await expect(run({ query }, { strict: true })).rejects.toMatchObject({ code: 'personal_data_left', exit: 5 });
      await expectNothingPublished();
      const { coverage } = await run({ query });
      expect(coverage.findings).toEqual([
        expect.objectContaining({ column: `${server.schema}.person.email`, state: 'partly' }),
      ]);
    },
    LIMIT,
  );

  it(
    'shares no object of a changed table with the original, and no e-mail of it is in any byte of the result',
    async () => {
      const { snapshot } = await run({}, { ephemeral: true });
      const { manifest } = await findSnapshot(contextOf(), { target: 'app', snapshot: snapshot.id });
      const { manifest: original } = await findSnapshot(contextOf(), { target: 'app', original: true });
      expect(manifest.server_version.split('.')[0]).toBe(original.server_version.split('.')[0]);
      const changed = ['person', 'login_log', 'booking'].map((table) => `${server.schema}.${table}`);
      const before = original.tables.filter(({ name }) => changed.includes(name)).map(({ file }) => file.sha256);
      expect(before).toHaveLength(3);
      expect(filesOf(manifest).filter(({ sha256 }) => before.includes(sha256))).toEqual([]);
      await using pool = createObjectPool(1);
      const content = async (files: ReturnType<typeof filesOf>): Promise<string> => {
        const parts: Uint8Array[] = [];
        for (const file of files) {
          for await (const part of pool.read(localRepository(contextOf()).object(file))) parts.push(part.slice());
        }
        return Buffer.concat(parts).toString('latin1');
      };
      expect(await content(filesOf(original))).toContain('@real.example.org');
      expect(await content(filesOf(manifest))).not.toContain('@real.example.org');
      expect(await content(filesOf(manifest))).toContain('@example.com');
      expect(await server.databases()).toEqual(expect.not.arrayContaining(['clean']));
    },
    LIMIT,
  );

  it(
    'names the failed statement, publishes nothing and leaves the destination unchanged',
    async () => {
      await server.createDatabase('clean');
      await server.run('clean', 'CREATE TABLE mine (id integer PRIMARY KEY)');
      await expect(run({ query: `${MASK}\n\nUPDATE nobody\nSET x = 1` })).rejects.toMatchObject({
        code: 'query_failed',
        exit: 1,
        message: 'The sanitization query failed at statement 4 (line 5): UPDATE nobody SET x = 1',
      });
      expect(await server.value('clean', 'SELECT count(*) FROM mine')).toBe('0');
      await expectNothingPublished();
    },
    LIMIT,
  );

  it(
    'refuses a query that is empty, drops every table, or loses its connection, each with an error of its own',
    async () => {
      const bad = [
        { query: '-- nothing', code: 'query_missing' },
        {
          query: 'DROP VIEW mailing; DROP TABLE booking; DROP TABLE person; DROP TABLE city; DROP TABLE login_log',
          code: 'nothing_left',
        },
        { query: server.losesConnection, code: 'connection_lost' },
      ];
      for (const { query, code } of bad) {
        await expect(run({ query }), code).rejects.toMatchObject({ code });
        await expectNothingPublished();
      }
    },
    LIMIT,
  );

  it(
    'ends a query that runs for ever when it is cancelled, and leaves nothing',
    async () => {
      const cancelled = new AbortController();
      const running = run({ query: server.sleeping, signal: cancelled.signal });
      running.catch(() => {});
      const sleepers = (): Promise<string> => server.value('source', server.sleepers);
      const asleep = eventually(async () => (await sleepers()) === '1', { deadline: 120_000 });
      await Promise.race([asleep, running]);
      const reason = new Error('Ctrl-C');
      cancelled.abort(reason);
      await expect(running).rejects.toBe(reason);
      await expectNothingPublished();
      await eventually(async () => (await sleepers()) === '0');
    },
    LIMIT,
  );

  it(
    'names the missing rights to a user who may only read, and leaves the destination unchanged',
    async () => {
      await server.createDatabase('clean');
      const clean = await server.readOnlyUrl('clean');
      await expect(run({ clean })).rejects.toMatchObject({ code: 'may_not_create', exit: 1 });
      await expectNothingPublished();
    },
    LIMIT,
  );

  it(
    'suggests a query that leaves nothing that looks personal, with the foreign keys whole; its replacements can be tried before',
    async () => {
      const { suggestion, trials } = await withSuggestion(
        contextOf({ query: 'SELECT 1' }),
        { target: 'app' },
        async ({ findings, query, tryOut }) => {
          const choose = (column: string, sql: string): ColumnChoices => ({
            [`${server.schema}.${column}`]: { action: 'replace', sql },
          });
          const trials = [
            await tryOut({}),
            await tryOut(choose('person.email', "'same for all'")),
            await tryOut(choose('person.first_name', "concat(no_such_column, 'x')")),
            await tryOut(choose('person.first_name', "'x'; DROP TABLE person")),
            await tryOut(choose('person.first_name', "concat('new ', id) -- remark")),
          ];
          return { suggestion: { findings, query: writeQuery(query) }, trials };
        },
      );
      const [suggested, equal, unknown, several, edited] = trials.map(({ columns }) =>
        Object.fromEntries(columns.map(({ column, ...of }) => [column.replace(`${server.schema}.`, ''), of])),
      );
      expect(Object.values(suggested ?? {}).map(({ error }) => error)).toEqual([null, null, null, null]);
      expect(suggested?.['person.email']?.values).toHaveLength(TRIED_ROWS);
      expect(suggested?.['person.email']?.values[0]).toEqual({
        before: expect.stringMatching(/^s\*{5}-\*+@\*{4}\.\*{7}\.\*{3}$/),
        after: expect.stringMatching(/^u\*{3}-\*{16}@\*{7}\.\*{3}$/),
      });
      expect(equal?.['person.email']?.error, 'the unique key of the table counts').toMatch(/unique|Duplicate/);
      expect(equal?.['person.first_name']?.error).toBeNull();
      expect(unknown?.['person.first_name']?.error).toMatch(/no_such_column/);
      expect(several?.['person.first_name']?.error).toBe('Not one SQL expression');
      expect(edited?.['person.first_name']).toMatchObject({
        error: null,
        values: expect.arrayContaining([{ before: 'A**', after: 'n** *' }]),
      });
      expect(suggestion.findings.map(({ column }) => column.replace(`${server.schema}.`, ''))).toEqual([
        'booking.booked_by',
        'login_log.client_ip',
        'person.first_name',
        'person.email',
      ]);
      await run({ query: suggestion.query }, { strict: true });
      const joined = 'SELECT count(*) FROM booking JOIN person ON email = booked_by';
      expect(await server.value('clean', joined)).toBe('200');
      expect(await server.value('clean', 'SELECT count(DISTINCT email) FROM person')).toBe('500');
      expect(await server.value('clean', "SELECT count(*) FROM person WHERE email LIKE '%real%'")).toBe('0');
      await expect(
        server.run('clean', "INSERT INTO booking VALUES (1000, 'nobody@example.com')"),
        'the foreign key is there again',
      ).rejects.toThrow();
    },
    LIMIT,
  );
}

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TargetSnapshots } from '../../../src/results/results.ts';
import { type AnyServer, startAnyServer, testedKinds } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { eventually, temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { type Tool, toolIn } from '../../helpers/terminal/tool-process.ts';

const FILL = [
  'CREATE TABLE event_log (id integer PRIMARY KEY, text varchar(40))',
  'CREATE TABLE event_old (id integer PRIMARY KEY, text varchar(40))',
  'CREATE TABLE page (id integer PRIMARY KEY, event_id integer, title varchar(40), FOREIGN KEY (event_id) REFERENCES event_log (id))',
  'CREATE TABLE visit (id integer PRIMARY KEY, event_id integer NOT NULL, FOREIGN KEY (event_id) REFERENCES event_log (id))',
  ...['event_log', 'event_old'].map((table) => `INSERT INTO ${table} VALUES (1, 'secret'), (2, 'secret')`),
  "INSERT INTO page VALUES (1, 1, 'one'), (2, NULL, 'two'), (3, 2, 'three')",
  'INSERT INTO visit VALUES (1, 1), (2, 1)',
];

for (const kind of testedKinds('mariadb')) {
  describeWithKind(kind, 'a build that excludes rows', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let tool: Tool;
    const named = (table: string): string => `${server.prefix('source')}.${table}`;

    async function configure(more: object = {}): Promise<void> {
      const [src_url, dst_url] = [server.url('source'), server.url('copy')];
      tool = await toolIn(folder.path, {
        working_directory: join(folder.path, 'work'),
        targets: {
          app: {
            snapshot: { src_url, dst_url, ...more },
            sanitize: { dst_url: server.url('clean'), query_file: join(folder.path, 'clean.sql') },
          },
        },
      });
    }

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      await mkdir(join(folder.path, 'work'));
      await writeFile(join(folder.path, 'clean.sql'), "UPDATE page SET title = 'x';\n");
      await server.create('source');
      await server.run('source', FILL);
      await configure();
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    async function refused(
      words: string[],
    ): Promise<{ code: string; message: string; details: string[]; exit: number }> {
      const { code, output } = await tool.start(['build', 'app', '--no-sanitize', ...words]).ended;
      expect(code, output).not.toBe(0);
      expect((await snapshots()).snapshots).toEqual([]);
      return JSON.parse(output.split('\n').findLast((line) => line.startsWith('{')) ?? '');
    }

    async function snapshots(): Promise<TargetSnapshots> {
      return JSON.parse((await tool.start(['target', 'app']).ended).output);
    }

    const count = (table: string, condition = '1 = 1') =>
      server.column('copy', `SELECT COUNT(*) FROM ${table} WHERE ${condition}`);

    it('is refused when a foreign key of another table would reference nothing, and names both ends', async () => {
      const error = await refused(['--exclude-rows', named('event_*')]);
      expect(error).toMatchObject({ code: 'excluded_rows_referenced' });
      const ends = [
        `${named('page')} (event_id) → ${named('event_log')}`,
        `${named('visit')} (event_id) → ${named('event_log')}`,
      ];
      for (const [at, end] of ends.entries()) expect(error.details.toSorted()[at]).toContain(end);
      const strict = await refused(['--exclude-rows', named('event_*'), '--nullify']);
      expect(strict.details).toEqual([expect.stringMatching(/visit \(event_id\) → .*; event_id cannot be NULL$/)]);
    });

    it('is refused when a name or a pattern matches no table', async () => {
      const names = [named('evnt_*'), 'event_log', named('event_log')].join();
      const { code, message } = await refused(['--exclude-rows', names]);
      expect({ code, message }).toEqual({
        code: 'table_unknown',
        message: expect.stringContaining(`: ${named('evnt_*')}`),
      });
      expect(message).not.toContain(named('event_log'));
      for (const list of [`${named('event_log')},`, '']) {
        expect(await refused(['--exclude-rows', list])).toMatchObject({
          code: 'table_unknown',
          message: expect.stringMatching(/: \(an empty name\)$/),
        });
      }
      const { details } = await refused(['--exclude-rows', named('evnt_log')]);
      expect(details).toEqual([expect.stringContaining(`did you mean ${named('event_log')}`)]);
    });

    it('is refused after the step that connects', async () => {
      const { output } = await tool.start(['build', 'app', '--exclude-rows', named('evnt_*')]).ended;
      expect(output).toMatch(/"step":"connect","state":"done"[\s\S]*table_unknown/);
    });

    it('is refused when references are to become NULL and no rows are excluded', async () => {
      expect(await refused(['--nullify'])).toMatchObject({ code: 'flag_needs_flag', exit: 2 });
    });

    it('stores all definitions and no excluded row, makes references NULL, and says so wherever the snapshot is shown', async () => {
      const before = kind === 'postgres' ? await rowsRead() : null;
      await configure({ exclude_rows: [named('event_*'), named('visit')], nullify: true });
      const { output } = await tool.start(['build', 'app', '--no-sanitize']).ended;
      expect(output).toContain('references_nullified');
      if (kind === 'postgres') expect(await rowsRead()).toBe(before);
      const [row] = (await snapshots()).snapshots;
      expect(row).toMatchObject({
        rows: 3,
        excluded_rows: {
          tables: ['event_log', 'event_old', 'visit'].map(named),
          nullified: [{ table: named('page'), columns: ['event_id'], references: named('event_log'), rows: 2 }],
        },
      });
      await tool.done(['load', 'app']);
      for (const table of ['event_log', 'event_old', 'visit']) expect(await count(table)).toEqual(['0']);
      expect(await count('page', 'event_id IS NULL')).toEqual(['3']);
      expect(await server.column('copy', 'SELECT title FROM page ORDER BY id')).toEqual(['one', 'two', 'three']);
      await tool.done(['verify', 'app']);
      await tool.done(['sanitize', 'app', '0']);
      const sanitized = (await snapshots()).snapshots.find((snapshot) => snapshot.sanitized);
      expect(sanitized).toMatchObject({ excluded_rows: row?.excluded_rows });
      // A build without the setting has all rows again, which the store did not have.
      await configure();
      await tool.done(['build', 'app', '--no-sanitize']);
      const [all, without] = (await snapshots()).snapshots;
      expect(all).not.toHaveProperty('excluded_rows');
      expect(without).toHaveProperty('excluded_rows');
      expect((await tool.start(['diff', 'app', '1', '0']).ended).output).toContain('"excluded_rows"');
      await tool.done(['load', 'app']);
      expect(await count('event_log')).toEqual(['2']);
      expect(await count('page', 'event_id IS NULL')).toEqual(['1']);
    }, 120_000);

    it('takes a name with a comma in quotes, and sanitizes what was built', async () => {
      await server.create('quoted');
      const quote = kind === 'postgres' ? '"' : '`';
      await server.run('quoted', [
        `CREATE TABLE ${quote}a,b${quote} (id integer PRIMARY KEY)`,
        `INSERT INTO ${quote}a,b${quote} VALUES (1)`,
        'CREATE TABLE page (title varchar(40))',
      ]);
      await configure({ src_url: server.url('quoted') });
      await tool.done(['build', 'app', '--exclude-rows', `"${server.prefix('quoted')}"."a,b"`]);
      const [sanitized, original] = (await snapshots()).snapshots;
      const excluded_rows = { tables: [`${server.prefix('quoted')}.a,b`], nullified: [] };
      expect(sanitized).toMatchObject({ sanitized: true, excluded_rows });
      expect(original).toMatchObject({ sanitized: false, excluded_rows });
    }, 120_000);

    /** Rows of the excluded tables that any statement has read, when the server has counted them. */
    async function rowsRead(): Promise<string> {
      const query = `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::text || ' of ' || sum(n_tup_ins) FROM pg_stat_user_tables
        WHERE relname LIKE 'event%'`;
      let read = '';
      await eventually(async () => {
        [read = ''] = await server.column('source', query);
        return read.endsWith(' of 4');
      });
      return read;
    }
  });
}

describeWithKind('postgres', 'a build that excludes partitions', () => {
  it('excludes the partitions of a table that is named, and refuses a key to a single one', async () => {
    await using folder = await temporaryFolder();
    const server = await startAnyServer('postgres');
    try {
      await mkdir(join(folder.path, 'work'));
      await server.create('source');
      await server.run('source', [
        'CREATE TABLE metric (id integer PRIMARY KEY) PARTITION BY RANGE (id)',
        'CREATE TABLE metric_low PARTITION OF metric FOR VALUES FROM (0) TO (10)',
        'CREATE TABLE metric_high PARTITION OF metric FOR VALUES FROM (10) TO (20)',
        'INSERT INTO metric SELECT generate_series(0, 19)',
        'CREATE DOMAIN known AS integer NOT NULL',
        'CREATE TABLE note (id integer, metric_id integer REFERENCES metric, region integer) PARTITION BY LIST (region)',
        'CREATE TABLE note_1 PARTITION OF note FOR VALUES IN (1)',
        'INSERT INTO note VALUES (1, 5, 1), (2, 15, 1)',
      ]);
      const tool = await toolIn(folder.path, {
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } },
      });
      const refused = await tool.start(['build', 'app', '--exclude-rows', 'public.metric_low']).ended;
      expect(refused.output).toContain('public.note_1 (metric_id) → public.metric_low');
      await tool.done(['build', 'app', '--exclude-rows', 'public.metric', '--nullify']);
      await tool.done(['load', 'app']);
      expect(await server.column('copy', 'SELECT count(*) FROM metric')).toEqual(['0']);
      expect(await server.column('copy', 'SELECT count(*) FROM note WHERE metric_id IS NULL')).toEqual(['2']);
      await server.run('source', ['ALTER TABLE note_1 ALTER metric_id TYPE known']).catch(() => {});
      await server.run('source', [
        'CREATE TABLE strict (metric_id known REFERENCES metric)',
        'INSERT INTO strict VALUES (3)',
      ]);
      const strict = await tool.start(['build', 'app', '--exclude-rows', 'public.metric', '--nullify']).ended;
      expect(strict.output).toContain('metric_id cannot be NULL');
    } finally {
      await server.stop();
    }
  });
});

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { quoteName, quoteText } from '../../../../src/engines/postgres/connection/quote.ts';
import { openSession, type PostgresSession } from '../../../../src/engines/postgres/connection/session.ts';
import { ConnectionLost, SqlError } from '../../../../src/engines/postgres/connection/session-errors.ts';
import { anyClientTools } from '../../../../src/engines/postgres/connection/tools.ts';
import { parsePostgresUrl } from '../../../../src/engines/postgres/connection/url.ts';
import { fc } from '../../../helpers/fast-check.ts';
import { itIf } from '../../../helpers/it-if.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { startStatementProxy } from '../../../helpers/proxies/statement-proxy.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const context = testContext({ settings: {} });

for (const way of ['psql', 'our own connection'] as const)
  describeWithPostgres(`a session over ${way}`, () => {
    const BY_PSQL = way === 'psql' ? { mounts: [] } : {};
    const server = suiteResource(() => startPostgres());
    let session: PostgresSession;

    beforeAll(async () => {
      session = await open();
    });

    afterAll(async () => {
      await session?.close();
    });

    async function open(settings: Record<string, string> = {}, signal?: AbortSignal): Promise<PostgresSession> {
      const { psql } = await anyClientTools(context);
      const url = parsePostgresUrl(server.url('postgres'));
      return openSession({ ...context, ...(signal && { signal }) }, { psql, url, settings, ...BY_PSQL });
    }

    it('commits nothing of a transaction whose BEGIN is refused', async () => {
      const port = Number(new URL(server.url('postgres')).port);
      const proxy = await startStatementProxy('postgres', port);
      const through = new URL(server.url('postgres'));
      through.port = String(proxy.port);
      through.searchParams.set('sslmode', 'disable');
      const { psql } = await anyClientTools(context);
      const own = await openSession(context, { psql, url: parsePostgresUrl(through.href), ...BY_PSQL });
      try {
        proxy.arm('refused', 1);
        await expect(own.transaction(['CREATE TABLE public.half ()', 'SELECT 1'])).rejects.toThrow();
        expect(proxy.disarm().spoiled).toMatch(/^BEGIN/);
        expect(await session.query("SELECT FROM pg_class WHERE relname = 'half'")).toEqual([]);
      } finally {
        await own.close();
        await proxy.stop();
      }
    });

    async function echo(text: string): Promise<string | undefined> {
      const rows = await session.query<{ text: string }>(`SELECT ${quoteText(text)}::text AS text`);
      return rows[0]?.text;
    }

    it('limits the time and the temporary files of statements, unless its caller sets a limit', async () => {
      const limits = `SELECT current_setting('statement_timeout') AS time, current_setting('temp_file_limit') AS files`;
      expect(await session.query(limits)).toEqual([{ time: '10min', files: '2GB' }]);
      await using unlimited = await open({ statement_timeout: '0' });
      expect(await unlimited.query(limits)).toEqual([{ time: '0', files: '-1' }]);
    });

    itIf(way === 'psql')(
      'writes rows and their ending into a file of any name, and nothing after rows of a failed statement',
      async () => {
        await using folder = await temporaryFolder();
        const file = (name: string) => ({ path: join(folder.path, name), ending: '\\.\n\n\n' });
        const odd = file(`it's "odd" \\n :x \`id\``);
        await session.copyToFile(`COPY (SELECT i, E'a\\\\b' FROM generate_series(1, 2) i) TO STDOUT`, odd);
        expect(await readFile(odd.path, 'utf8')).toBe('1\ta\\\\b\n2\ta\\\\b\n\\.\n\n\n');
        const failed = file('failed');
        const half = 'COPY (SELECT 1 / (20000 - i) FROM generate_series(1, 20000) i) TO STDOUT';
        await expect(session.copyToFile(half, failed)).rejects.toMatchObject({
          sqlstate: '58030',
        });
        expect(await readFile(failed.path, 'utf8')).not.toContain('\\.');
        expect(await echo('still there')).toBe('still there');
      },
    );

    itIf(way === 'psql').skipIf(!existsSync('/dev/full'))('rejects when the rows cannot be written', async () => {
      const full = { path: '/dev/full', ending: 'end' };
      await session.execute('SELECT 1');
      for (const rows of [1, 100_000]) {
        const copying = session.copyToFile(`COPY (SELECT generate_series(1, ${rows})) TO STDOUT`, full);
        await expect(copying).rejects.toMatchObject({ sqlstate: '58030' });
      }
      expect(await echo('still there')).toBe('still there');
    });

    it('passes on rows of COPY in whole lines, also long ones, and fails when the server does', async () => {
      const rows = 'SELECT i, repeat(chr(97 + i % 26), i % 7 * 20000) FROM generate_series(1, 100) i';
      const read: Buffer[] = [];
      await session.lines(`COPY (${rows}) TO STDOUT`, (lines) => {
        if (lines.length > 0) expect(lines.at(-1)).toBe(0x0a);
        read.push(Buffer.from(lines));
      });
      expect(Buffer.concat(read).toString()).toBe(await server.psql('postgres', { sql: `COPY (${rows}) TO STDOUT` }));
      const half = 'COPY (SELECT 1 / (20000 - i) FROM generate_series(1, 20000) i) TO STDOUT';
      await expect(session.lines(half, () => {})).rejects.toBeInstanceOf(SqlError);
      expect(await echo('still there')).toBe('still there');
    });

    itIf(way !== 'psql')('refuses to send rows to a statement that waits for them', async () => {
      await session.execute('CREATE TABLE public.waiting (id integer)');
      await expect(session.executeForeign('COPY public.waiting FROM STDIN')).rejects.toMatchObject({
        sqlstate: '57014',
      });
      expect(await echo('still there')).toBe('still there');
    });

    it('returns rows of a query as objects, numbers as numbers and null as null', async () => {
      const rows = await session.query(
        `SELECT i AS number, 'text ' || i AS text, NULL AS nothing FROM generate_series(1, 2) i`,
      );
      expect(rows).toEqual([
        { number: 1, text: 'text 1', nothing: null },
        { number: 2, text: 'text 2', nothing: null },
      ]);
      expect(await session.query('SELECT WHERE false')).toEqual([]);
    });

    it.for([
      ['line breaks', 'one\ntwo\r\nthree\n\n'],
      ["Unicode's line breaks", 'one\u2028two\u2029three\u0085four'],
      ['backslashes', String.raw`\n \\ \echo \q \' C:\temp`],
      ['quotes', `it's "quoted" $$and$$ 'so'`],
      ['what psql takes for a variable or a command', ":SQLSTATE :'HOST' :{?x}\n\\quit\n\\.\n;"],
      ['what looks like the end of an answer', '--0123456789abcdef01234567 00000\n--0123456789abcdef01234567'],
      ['an elephant', 'ünïcödé 🐘'],
    ])('returns %s unchanged', async ([, text]) => {
      expect(await echo(text ?? '')).toBe(text);
    });

    it('returns any text unchanged', async () => {
      const text = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((value) => !value.includes('\0'));
      await fc.assert(
        fc.asyncProperty(text, async (value) => {
          expect(await echo(value)).toBe(value);
        }),
        { numRuns: 100 },
      );
    });

    it('returns any name unchanged', async () => {
      const names = ['"', 'a"b', "it's", 'new\nline', String.raw`back\slash`, ':HOST', 'ünï 🐘'];
      for (const name of names) {
        const [row] = await session.query<Record<string, number>>(`SELECT 1 AS ${quoteName(name)}`);
        expect(row).toEqual({ [name]: 1 });
      }
    });

    it('returns a result of many megabytes', async () => {
      const [row] = await session.query<{ text: string }>(`SELECT repeat('0123456789', 500000) AS text`);
      expect(row?.text).toHaveLength(5_000_000);
    });

    it('rejects with the SQLSTATE and the words of the server, and goes on', async () => {
      const failure = session.query('SELECT 1 / 0');
      await expect(failure).rejects.toBeInstanceOf(SqlError);
      await expect(failure).rejects.toMatchObject({
        sqlstate: '22012',
        message: expect.stringContaining('division by zero'),
      });
      await expect(session.execute('SELEKT')).rejects.toMatchObject({ sqlstate: '42601' });
      await expect(session.execute(`DO $$ BEGIN RAISE 'one\ntwo'; END $$`)).rejects.toMatchObject({
        message: 'one\ntwo',
      });
      expect(await echo('still here')).toBe('still here');
    });

    it('answers in the order it was asked', async () => {
      const answers = await Promise.all([
        echo('a'),
        session.execute('SELECT nowhere').catch(() => 'refused'),
        echo('b'),
      ]);
      expect(answers).toEqual(['a', 'refused', 'b']);
    });

    it('runs a transaction whole or not at all', async () => {
      await session.transaction(['CREATE TABLE public.whole (id integer)', 'INSERT INTO public.whole VALUES (1)']);
      await expect(
        session.transaction([
          'INSERT INTO public.whole VALUES (2)',
          'SELECT 1 / 0',
          'INSERT INTO public.whole VALUES (3)',
        ]),
      ).rejects.toMatchObject({ sqlstate: '22012' });
      expect(await session.query('SELECT id FROM public.whole')).toEqual([{ id: 1 }]);
      await session.execute('INSERT INTO public.whole VALUES (4)');
      expect(await server.psql('postgres', { sql: 'SELECT id FROM whole' })).toBe('1\n4\n');
    });

    it('fails a transaction that can only be found out about when it is committed', async () => {
      await session.execute('CREATE TABLE public.late (id integer UNIQUE DEFERRABLE INITIALLY DEFERRED)');
      const twice = Array.from({ length: 2 }, () => 'INSERT INTO public.late VALUES (1)');
      await expect(session.transaction(twice)).rejects.toMatchObject({ sqlstate: '23505' });
      expect(await session.query('SELECT FROM public.late')).toEqual([]);
    });

    it('has its settings with any content, searches only the catalog, and compiles no statement', async () => {
      await using own = await open({ 'my.name': String.raw`my "own" \ it's`, work_mem: '7MB' });
      expect(
        await own.query(`SELECT current_setting('my.name') AS name, current_setting('work_mem') AS memory,
        current_setting('search_path') AS path, current_setting('jit') AS jit`),
      ).toEqual([{ name: String.raw`my "own" \ it's`, memory: '7MB', path: 'pg_catalog', jit: 'off' }]);
    });

    it('is lost when the server ends it, and so is every statement after', async () => {
      await using own = await open();
      await expect(own.execute('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toBeInstanceOf(ConnectionLost);
      await expect(own.query('SELECT 1')).rejects.toThrow('terminating connection');
    });

    it('ends with the reason of its signal', async () => {
      const controller = new AbortController();
      await using own = await open({}, controller.signal);
      const answer = own.execute('SELECT pg_sleep(60)');
      controller.abort(new Error('stopped'));
      await expect(answer).rejects.toThrow('stopped');
      await expect(own.execute('SELECT 1')).rejects.toThrow('stopped');
    });

    it('cannot be opened without a listening server', async () => {
      const { psql } = await anyClientTools(context);
      const url = parsePostgresUrl('postgres://me@127.0.0.1:1/d');
      const opening = openSession(context, { psql, url, ...BY_PSQL });
      await expect(opening).rejects.toBeInstanceOf(ConnectionLost);
      await expect(opening).rejects.toThrow('port 1');
    });
  });

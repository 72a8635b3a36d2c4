import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { build } from '../../.ci/build.mjs';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
} from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

const SHOP = `
  CREATE TABLE country (id integer PRIMARY KEY);
  CREATE TABLE customer (id integer PRIMARY KEY, country integer REFERENCES country);
  CREATE TABLE orders (id integer PRIMARY KEY, customer integer REFERENCES customer);
  CREATE TABLE log (line text);
  INSERT INTO country VALUES (1);
  INSERT INTO customer SELECT i, 1 FROM generate_series(1, 50) i;
  INSERT INTO orders SELECT i, i FROM generate_series(1, 40) i;
  INSERT INTO log SELECT repeat('x', 100) FROM generate_series(1, 1000)`;

const COUNTS = `SELECT (SELECT count(*) FROM country), (SELECT count(*) FROM customer),
  (SELECT count(*) FROM orders), (SELECT count(*) FROM log)`;

describeWithPostgres('a load of some tables', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let terminal: TestTerminal | undefined;

  beforeAll(async () => {
    await build();
    [folder, server] = await Promise.all([temporaryFolder(), startPostgres()]);
    await server.createDatabase('shop');
    await server.psql('shop', { sql: SHOP });
    const text = [
      `secret_key: ${'0123456789abcdef'.repeat(2)}\nworking_directory: ${join(folder.path, 'work')}\ntargets:\n`,
      `  shop:\n    snapshot: { src_url: "${server.url('shop')}", dst_url: "${server.url('copy')}" }\n`,
    ].join('');
    await writeFile(join(folder.path, 'tool.yml'), text, { mode: 0o600 });
    await tool('build', 'shop');
  });

  afterEach(() => terminal?.close());

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  /** Its last line of JSON. */
  async function tool(...words: string[]): Promise<{ exit: number; last: unknown }> {
    const options = { cwd: folder.path, env: { ...process.env, TOOL_TRUST: 'true', HOME: folder.path } };
    const { code, stdout } = await promisify(execFile)(
      process.execPath,
      [PROGRAM, '--json', '--yes', ...words],
      options,
    ).then(
      (done) => ({ ...done, code: 0 }),
      (failed: { code: number; stdout: string }) => failed,
    );
    return { exit: code, last: JSON.parse(stdout.trim().split('\n').at(-1) ?? '') };
  }

  it.for([
    { columns: 80, rows: 24 },
    { columns: 220, rows: 60 },
  ])('is requested by marks at $columns×$rows, and plan and summary list the required tables', async (size) => {
    const shown = openTerminal({
      command: [process.execPath, PROGRAM],
      cwd: folder.path,
      environment: { TOOL_TRUST: 'true', HOME: folder.path, XDG_CACHE_HOME: join(folder.path, 'cache') },
      ...size,
    });
    terminal = shown;
    await shown.waitFor('❯ shop');
    shown.press('enter');
    await shown.waitFor(/1 snapshot|❯ snapshots of shop ─+ 1,/);
    shown.press('right');
    await shown.waitFor(/❯ {4}public\.log/);
    shown.press('l');
    await shown.waitFor('Mark the tables to load first: press Space');
    // The largest first: log, customer, orders, country.
    shown.press('j', 'j', ' ');
    await shown.waitFor('❯ ●  public.orders');
    await shown.waitFor('1 marked');
    shown.press('l');
    await shown.waitFor('Only these rows');
    shown.press('enter');
    await shown.waitFor(/load 1 table of \w{8} RAW/);
    await shown.waitFor(/Required tables +public\.customer \(public\.orders refers to it\)/);
    await shown.waitFor('public.country (public.customer refers to it)');
    await shown.waitFor(/Left empty +public\.log/);
    shown.press('down', 'enter');
    await shown.waitFor(/✓ copy created|✓ copy replaced/);
    await shown.waitFor('Loaded 1 table of snapshot 0 of shop (');
    await shown.waitFor('Tables: public.orders');
    await shown.waitFor(/Required tables: public\.customer \(public\.orders refers\s+to\s+it\),/);
    await shown.waitFor('Left empty: public.log');
    expect(await server.psql('copy', { sql: COUNTS })).toBe('1|50|40|0\n');
    shown.press('esc');
    await shown.waitFor('❯ ●  public.orders');
    await server.psql('copy', { sql: 'DELETE FROM orders WHERE id > 3' });
    shown.press('l');
    await shown.waitFor('Only these rows');
    shown.press('down', 'enter');
    await shown.waitFor(/Rows replaced +public\.orders: 3 rows → 40/);
    shown.press('down', 'enter');
    await shown.waitFor('✓ copy changed');
    expect(await server.psql('copy', { sql: COUNTS })).toBe('1|50|40|0\n');
    shown.press('esc');
    await shown.waitFor('❯ ●  public.orders');
    await server.psql('postgres', { sql: 'DROP DATABASE copy WITH (FORCE)' });
  });

  it('is requested by --tables, and --dry-run and the result list the required tables', async () => {
    const selection = {
      chosen: ['public.customer'],
      needed: [{ table: 'public.country', needed_by: 'public.customer', why: 'reference' }],
      empty: ['public.log', 'public.orders'],
    };
    const words = ['load', 'shop', '--tables', 'public.cust*', '--tables', 'public.customer,public.customer'];
    expect(await tool(...words, '--dry-run')).toMatchObject({ exit: 0, last: { dry_run: true, plan: { selection } } });
    expect((await server.databases()).includes('copy')).toBe(false);
    expect(await tool(...words)).toMatchObject({ exit: 0, last: { event: 'done', tables: 2, rows: 51, selection } });
    expect(await server.psql('copy', { sql: COUNTS })).toBe('1|50|0|0\n');
  });

  it('is refused with a file, and of a table that is not there', async () => {
    const file = await tool('load', 'shop', 'fixtures.sql', '--tables', 'public.log');
    expect(file).toMatchObject({ exit: 2, last: { code: 'flag_needs_flag' } });
    expect(await tool('load', 'shop', '--only')).toMatchObject({ exit: 2, last: { code: 'flag_needs_flag' } });
    const other = await tool('load', 'shop', '--tables', 'public.log', '--only', '--in-place');
    expect(other).toMatchObject({ exit: 2, last: { code: 'usage' } });
    expect(await tool('load', 'shop', '--tables', 'orders')).toMatchObject({
      exit: 2,
      last: { code: 'table_unknown', details: [expect.stringContaining('did you mean public.orders')] },
    });
  });
});

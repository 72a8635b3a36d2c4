import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { build } from '../../.ci/build.mjs';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
} from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

// Each of 200 customers has ten orders, each order one of 40 products; nothing leads to the countries or the log.
const SHOP = `
  CREATE TABLE country (code text PRIMARY KEY);
  INSERT INTO country SELECT 'c' || i FROM generate_series(1, 30) i;
  CREATE TABLE customer (id integer PRIMARY KEY, name text);
  INSERT INTO customer SELECT i, 'customer ' || i FROM generate_series(1, 200) i;
  CREATE TABLE product (id integer PRIMARY KEY);
  INSERT INTO product SELECT i FROM generate_series(1, 40) i;
  CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customer,
    product_id integer REFERENCES product);
  INSERT INTO orders SELECT i, 1 + i % 200, 1 + i % 40 FROM generate_series(1, 2000) i;
  CREATE INDEX ON orders (customer_id);
  CREATE TABLE log (id integer PRIMARY KEY);
  INSERT INTO log SELECT i FROM generate_series(1, 500) i;
  ANALYZE`;

describeWithPostgres('the plan of a subset on a real server', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let terminal: TestTerminal;

  beforeAll(async () => {
    await build();
    server = await startPostgres();
    await server.createDatabase('shop');
    await server.psql('shop', { sql: SHOP });
  });
  beforeEach(async () => {
    folder = await temporaryFolder();
    await writeFile(join(folder.path, 'tool.yml'), configuration(), { mode: 0o600 });
  });
  afterEach(async () => {
    terminal.close();
    await folder[Symbol.asyncDispose]();
  });
  afterAll(() => server?.stop());

  function configuration(): string {
    return `secret_key: ${'0123456789abcdef'.repeat(2)}
working_directory: ${folder.path}
targets:
  shop: # ours
    subset:
      src_url: "${server.url('shop')}"
      dst_url: "${server.url('shop_small')}"
      subset_tables:
        - table: public.customer # who
          percent: 5 # enough
      copy_tables:
        - public.country # all
# the end
`;
  }

  async function openPlan(size: { columns: number; rows: number }): Promise<void> {
    terminal = openTerminal({
      command: [process.execPath, PROGRAM],
      cwd: folder.path,
      environment: { TOOL_TRUST: 'true', HOME: folder.path, XDG_CACHE_HOME: folder.path },
      ...size,
    });
    await terminal.waitFor('1 target');
    terminal.press('x');
    await terminal.waitFor(row('❯ public.customer', 'target', ['200', '10']));
  }

  it('is a tree of the ways rows come, changed by keys, saved with comments kept, and then made', async () => {
    await openPlan({ columns: 80, rows: 24 });
    await terminal.waitFor(/customer .*\n│ {4}public\.orders .*\n│ {6}public\.product +parent/);
    await terminal.waitFor(row('public.orders', 'child', ['2,000', '100']));
    await terminal.waitFor(row('public.country', 'copy', ['30', '30']));
    await terminal.waitFor(row('public.log', 'empty', ['500', '0']));
    // The diagram has the rows of the subset, beside those of the source.
    terminal.press('O');
    await terminal.waitFor(/│ ❯ customer +│━+◂│ +orders +│━+▸│ +product/);
    await terminal.waitFor(/10 of 200 .*100 of 2,000 .*8 of 40/);
    terminal.press('esc');
    await terminal.waitFor('Enter create');

    terminal.press('-');
    await terminal.waitFor('public.customer is a subset table');
    terminal.press('>');
    await terminal.waitFor(row('❯ public.customer', 'target', ['200', '20']));
    await terminal.waitFor(row('public.orders', 'child', ['2,000', '200']));
    await terminal.waitFor(/rows in 4 tables, [\d.]+ kB/);
    await terminal.waitFor('not saved');
    await select(/❯ +public\.product/);
    terminal.press('-');
    await terminal.waitFor(row('public.product', 'excluded', ['40', '0']));
    await select(/❯ +public\.orders/);
    await terminal.waitFor(/Set to null +product_id/);
    await select(/❯ +public\.log/);
    terminal.press('+');
    await terminal.waitFor(row('❯ public.log', 'copy', ['500', '500']));

    terminal.press('w');
    await terminal.waitFor('Saved ');
    await terminal.waitFor((screen) => !screen.includes('not saved'));
    expect(await readFile(join(folder.path, 'tool.yml'), 'utf8')).toBe(
      configuration()
        .replace('percent: 5 #', 'percent: 10 #')
        .replace(
          '- public.country # all\n',
          '- public.country # all\n        - public.log\n      excluded_tables: [public.product]\n',
        ),
    );

    terminal.press('enter');
    await terminal.waitFor('❯ Cancel');
    await terminal.waitFor('shop_small does not exist yet and will be created.');
    terminal.press('down', 'enter');
    await terminal.waitFor('Created the subset of', 30_000);
    const counted = await server.psql('shop_small', {
      sql: `SELECT (SELECT count(*) FROM customer), (SELECT count(*) FROM orders), (SELECT count(*) FROM product),
        (SELECT count(*) FROM log), (SELECT count(*) FROM orders WHERE product_id IS NOT NULL)`,
    });
    expect(counted.trim()).toBe('20|200|0|500|0');
    terminal.press('esc');
    await terminal.waitFor('shop ❯ subset');
    terminal.press('esc');
    await terminal.waitFor('1 target');
    terminal.press('q');
    const { exitCode } = await terminal.exited();
    expect(exitCode).toBe(0);
  });

  it('is complete in a small window, and an impossible plan shows the reason', async () => {
    await openPlan({ columns: 60, rows: 20 });
    terminal.press('<');
    await terminal.waitFor(row('❯ public.customer', 'target', ['200', '4']));
    terminal.resize(120, 40);
    await terminal.waitFor(row('public.log', 'empty', ['500', '0']));
    await server.psql('postgres', { sql: 'ALTER DATABASE shop RENAME TO away' });
    try {
      terminal.press('>');
      await terminal.waitFor('database "shop" does not exist');
    } finally {
      await server.psql('postgres', { sql: 'ALTER DATABASE away RENAME TO shop' });
    }
    terminal.press('<');
    await terminal.waitFor(row('❯ public.customer', 'target', ['200', '4']));
  });

  it('is suggested for a target without one, and written after its change was shown', async () => {
    const file = join(folder.path, 'tool.yml');
    const without = configuration().replace(
      / {4}subset:[\s\S]*?# all\n/,
      `    snapshot:\n      src_url: "${server.url('shop')}"\n      dst_url: "${server.url('shop_dev')}"\n`,
    );
    await writeFile(file, without, { mode: 0o600 });
    terminal = openTerminal({
      command: [process.execPath, PROGRAM],
      cwd: folder.path,
      environment: { TOOL_TRUST: 'true', HOME: folder.path, XDG_CACHE_HOME: folder.path },
    });
    await terminal.waitFor('1 target');
    terminal.press('x');
    await terminal.waitFor('shop has no subset. Suggest one?');
    terminal.press('down', 'enter');
    await terminal.waitFor(row('❯ public.customer', 'target', ['200', '100']));
    await terminal.waitFor(row('public.log', 'target', ['500', '100']));
    await terminal.waitFor('not saved');
    terminal.press('w');
    await terminal.waitFor(/\+ +- table: public\.customer/);
    expect(await readFile(file, 'utf8')).toBe(without);
    terminal.press('enter');
    await terminal.waitFor('Saved ');
    const text = await readFile(file, 'utf8');
    expect(text).toContain(`dst_url: ${JSON.stringify(server.url('shop_subset'))}`.replaceAll('"', ''));
    expect(text).toContain('        - table: public.log\n          percent: 20\n      copy_tables:');
    expect(text.endsWith('# the end\n')).toBe(true);
    terminal.press('enter');
    await terminal.waitFor('shop_subset does not exist yet and will be created.');
  });

  /** The tables are few enough to walk through: one step down at a time, and from the first one again. */
  async function select(row: RegExp): Promise<void> {
    terminal.press('g');
    await terminal.waitFor(/❯ public\.customer/);
    for (let steps = 0; steps < 5 && !row.test(terminal.screen()); steps += 1) {
      const before = terminal.screen();
      terminal.press('down');
      await terminal.waitFor((screen) => screen !== before);
    }
    await terminal.waitFor(row);
  }
});

/** A table of the plan with its rows, now and in the subset; the sizes beside them depend on the server. */
function row(table: string, rule: string, [now, then]: [string, string]): RegExp {
  const size = '(?: +[\\d.]+ [kM]?B)?';
  return new RegExp(`${table.replace('.', '\\.')} +${rule} +${now}${size} +${then}${size}(?=[\\s│]|$)`);
}

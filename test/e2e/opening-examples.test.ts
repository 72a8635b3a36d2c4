import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { build } from '../../.ci/build.mjs';
import {
  blocksOf,
  type DocumentedSession,
  isShell,
  openDocumentedSession,
} from '../helpers/documents/documented-commands.ts';
import { describeWithMysql, startMysql } from '../helpers/mysql/mysql-server.ts';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { SECRET_KEY } from '../helpers/terminal/config-folder.ts';

const SHOP = `
  CREATE TABLE country (code text PRIMARY KEY); INSERT INTO country VALUES ('DE');
  CREATE TABLE customer (id integer PRIMARY KEY, referred_by integer REFERENCES customer);
  CREATE TABLE page_view (id integer PRIMARY KEY, customer integer REFERENCES customer);
  CREATE TABLE orders (id integer, placed date, customer integer REFERENCES customer, PRIMARY KEY (id, placed));
  CREATE TABLE invoice (id integer PRIMARY KEY, order_id integer, order_placed date);
  INSERT INTO customer VALUES (1, NULL), (2, 1); INSERT INTO orders VALUES (1, '2026-01-01', 1), (2, '2026-01-02', 2);
  INSERT INTO invoice VALUES (7, 1, '2026-01-01'), (8, 2, '2026-01-02'); INSERT INTO page_view VALUES (1, 1)`;

beforeAll(async () => {
  await build();
});

/** A folder with a configuration, in which the commands of pages run. */
async function openSession(targets: object, substitutes: [string, string][] = []): Promise<DocumentedSession> {
  const session = await openDocumentedSession({ substitutes });
  const settings = { secret_key: SECRET_KEY, working_directory: './snapshots', targets };
  await writeFile(join(session.folder, 'tool.yml'), stringify(settings), { mode: 0o600 });
  return session;
}

async function runPage(page: string, session: DocumentedSession): Promise<string> {
  const outputs: string[] = [];
  for (const block of (await blocksOf(page)).filter(isShell)) outputs.push(await session.shell(block));
  return outputs.join('');
}

test('configuration: every command runs', async () => {
  const session = await openDocumentedSession({});
  expect(await runPage('docs/configuration.md', session)).toContain('working_directory');
});

describeWithPostgres('the first commands of pages', () => {
  const postgres = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await postgres.createDatabase('shop');
    await postgres.psql('shop', { sql: SHOP });
  });

  const app = (destination: string) => ({
    app: { snapshot: { src_url: postgres.url('shop'), dst_url: postgres.url(destination) } },
  });

  test('builds and loads: every command runs', async () => {
    const output = await runPage('docs/builds-and-loads.md', await openSession(app('app_dev')));
    expect(output).toMatch(/Loaded snapshot 0 of app[\s\S]*Restored the previous/);
  });

  test('PostgreSQL: every command runs', async () => {
    expect(await runPage('docs/postgres.md', await openSession(app('app_copy')))).toContain('Loaded snapshot 0 of app');
  });

  test('images: every command runs', async () => {
    const session = await openSession(app('app_dev'));
    await session.shell({ title: 'a snapshot', language: 'sh', text: 'tool build app' });
    expect(await runPage('docs/images.md', session)).toMatch(/TARGET +PORT[\s\S]*Stopped 1 server/);
  });

  test('the guard: the load into a source is refused', async () => {
    const url = 'postgres://app@db.example.com:5432/shop';
    const session = await openSession(app('app_guarded'), [[url, postgres.url('shop')]]);
    await session.shell({ title: 'a snapshot', language: 'sh', text: 'tool build app' });
    await expect(runPage('docs/guard.md', session)).rejects.toThrow(/source/);
  });

  test('subsets: every command runs', async () => {
    const written = (await blocksOf('docs/subset.md')).find(({ language }) => language === 'yaml');
    const { targets } = parse(written?.text ?? '');
    targets.shop.subset.src_url = postgres.url('shop');
    targets.shop.subset.dst_url = postgres.url('shop_small');
    await runPage('docs/subset.md', await openSession(targets));
    const views = await postgres.psql('shop_small', { sql: 'SELECT count(*) FROM page_view' });
    expect(views.trim()).toBe('0');
  });
});

describeWithMysql('mariadb', { name: 'the first commands of the page' }, () => {
  test('MySQL and MariaDB: every command runs', async () => {
    const server = await startMysql('mariadb');
    onTestFinished(() => server.stop());
    await server.createDatabase('shop');
    await server.sql('shop', 'CREATE TABLE orders (id int PRIMARY KEY)', 'INSERT INTO orders VALUES (1)');
    const snapshot = { src_url: server.url('shop'), dst_url: server.url('shop_dev') };
    const output = await runPage('docs/mysql.md', await openSession({ shop: { snapshot } }));
    expect(output).toContain('Loaded snapshot 0 of shop');
  });
});

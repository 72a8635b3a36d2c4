import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseMysqlUrl } from '../../src/engines/mysql/connection/url.ts';
import { parsePostgresUrl } from '../../src/engines/postgres/connection/url.ts';
import { assertNotASource } from '../../src/operations/load/guard/guard.ts';
import { checkTargets, listTargets } from '../../src/operations/targets/targets.ts';
import type { TargetRow } from '../../src/results/results.ts';
import { describeWithMysql, startMysql, type TestMysql } from '../helpers/mysql/mysql-server.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres/postgres-server.ts';

/** Names that break out of quotes, look like parts of a URL, or differ in case only. */
const NAMES = ["o'brien", 'back\\slash', 'a b%20c', 'ünï-✓', 'App', 'app', "');--", '$1', 'x/y?z=1#f', '\\gexec'];

async function statuses(urlOf: (name: string) => string): Promise<Record<string, TargetRow['status']>> {
  const targets = Object.fromEntries(NAMES.map((name, index) => [`t${index}`, { snapshot: { src_url: urlOf(name) } }]));
  const context = testContext({ settings: { targets } });
  const found: Record<string, TargetRow['status']> = {};
  await checkTargets(context, {
    rows: await listTargets(context),
    take: ({ name, status }) => {
      found[NAMES[Number(name.slice(1))] ?? ''] = status;
    },
  });
  return found;
}

const allOk = Object.fromEntries(NAMES.map((name) => [name, 'ok']));

describeWithPostgres('databases with hostile names', () => {
  let server: TestPostgres;
  const urlOf = (name: string): string => server.url('-').replace(/-$/, encodeURIComponent(name));

  beforeAll(async () => {
    server = await startPostgres();
    for (const name of NAMES) await server.psql('postgres', { sql: `CREATE DATABASE "${name}"` });
  }, 60_000);

  afterAll(async () => server?.stop());

  it('are checked through one connection and compared by the guard', async () => {
    expect(await statuses(urlOf)).toEqual(allOk);
    await using folder = await temporaryFolder();
    for (const name of NAMES) {
      const src_url = urlOf(name).replace('127.0.0.1', 'localhost');
      const settings = { working_directory: folder.path, targets: { app: { snapshot: { src_url } } } };
      const refused = assertNotASource(testContext({ settings }), parsePostgresUrl(urlOf(name)));
      await expect(refused, name).rejects.toMatchObject({ code: 'destination_is_source' });
    }
    const settings = { working_directory: folder.path, targets: { app: { snapshot: { src_url: urlOf('App') } } } };
    expect(await assertNotASource(testContext({ settings }), parsePostgresUrl(urlOf('app')))).toEqual([]);
  }, 60_000);
});

describeWithMysql('mariadb', { name: 'databases with hostile names' }, () => {
  let server: TestMysql;

  beforeAll(async () => {
    server = await startMysql('mariadb');
    for (const name of NAMES) await server.createDatabase(name);
  }, 120_000);

  afterAll(async () => server?.stop());

  it('are checked through one connection and compared by the guard', async () => {
    expect(await statuses((name) => server.url(name))).toEqual(allOk);
    await using folder = await temporaryFolder();
    for (const name of NAMES) {
      const settings = {
        working_directory: folder.path,
        targets: { app: { snapshot: { src_url: server.url(name) } } },
      };
      const refused = assertNotASource(testContext({ settings }), parseMysqlUrl(server.url(name)));
      await expect(refused, name).rejects.toMatchObject({ code: 'destination_is_source' });
    }
  }, 60_000);
});

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MysqlSession, openSession as openMysql } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { connect as connectPostgres } from '../../../src/engines/postgres/connection/connect.ts';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import { checkTargets, listTargets } from '../../../src/operations/targets/targets.ts';
import type { TargetRow } from '../../../src/results/results.ts';
import { describeWithMysql, startMysql, type TestMysql } from '../../helpers/mysql/mysql-server.ts';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  type TestPostgres,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';

interface CountingProxy {
  port: number;
  /** Connections so far, and the most that were open at a time. */
  total: number;
  most: number;
  stop(): void;
}

/** Stands before a server and counts connections. */
async function countingProxy(target: number): Promise<CountingProxy> {
  const open = new Set<Socket>();
  const server: Server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    open.add(near);
    proxy.total += 1;
    proxy.most = Math.max(proxy.most, open.size);
    // The client has closed it, however long the server takes to notice.
    near.on('end', () => open.delete(near));
    near.on('close', () => {
      open.delete(near);
      far.destroy();
    });
    for (const socket of [near, far]) socket.on('error', () => {});
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = (): void => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  const proxy: CountingProxy = { port: (server.address() as AddressInfo).port, total: 0, most: 0, stop };
  return proxy;
}

async function check(urls: string[], signal?: AbortSignal): Promise<TargetRow[]> {
  const targets = Object.fromEntries(urls.map((src_url, index) => [`t${index}`, { snapshot: { src_url } }]));
  const context = testContext({ settings: { targets }, ...(signal && { signal }) });
  const rows = new Map<string, TargetRow>();
  await checkTargets(context, { rows: await listTargets(context), take: (row) => rows.set(row.name, row) });
  return urls.map((_, index) => rows.get(`t${index}`) as TargetRow);
}

describeWithPostgres('checks of many targets on one server', () => {
  let server: TestPostgres;

  beforeAll(async () => {
    server = await startPostgres();
    for (const name of ['one', 'two', 'closed', 'forbidden', 'full']) await server.createDatabase(name);
    await server.psql('postgres', {
      sql: `
        ALTER DATABASE closed ALLOW_CONNECTIONS false;
        REVOKE CONNECT ON DATABASE forbidden FROM PUBLIC;
        CREATE ROLE reader LOGIN PASSWORD 'r';
        CREATE ROLE single LOGIN PASSWORD 's' CONNECTION LIMIT 1`,
    });
  }, 60_000);

  afterAll(async () => server?.stop());

  const as = (database: string, user: string, port = server.port): string =>
    `postgres://${user}@127.0.0.1:${port}/${database}`;

  it('share one connection, which tells the states of all their databases apart', async () => {
    const proxy = await countingProxy(server.port);
    const names = [...Array.from({ length: 100 }, (_, index) => (index % 2 ? 'one' : 'two')), 'closed', 'forbidden'];
    const rows = await check(names.map((name) => as(name, 'reader:r', proxy.port)));
    proxy.stop();
    // The first one learns that the server has no TLS.
    expect(proxy).toMatchObject({ most: 1, total: 2 });
    for (const row of rows.slice(0, 100)) {
      expect(row).toMatchObject({ status: 'ok', error_code: null, server_version: expect.any(String) });
      expect(row.size_bytes).toBeGreaterThan(1_000_000);
    }
    expect(rows[100]).toMatchObject({ status: 'denied', error_code: 'closed_database' });
    expect(rows[101]).toMatchObject({ status: 'denied', error_code: 'not_permitted' });
  });

  it('finds the others behind a first database that is closed, forbidden or missing, and sees through proxies', async () => {
    const proxy = await countingProxy(server.port);
    const names = ['closed', 'forbidden', 'nowhere', 'one', 'elsewhere'];
    for (const port of [server.port, proxy.port]) {
      const rows = await check(names.map((name) => as(name, 'reader:r', port)));
      expect(rows.map(({ status }) => status)).toEqual(['denied', 'denied', 'missing', 'ok', 'missing']);
      expect(rows.every(({ status, error }) => status === 'ok' || (error ?? '') !== '')).toBe(true);
    }
    proxy.stop();
    expect(proxy.most).toBe(1);
  });

  it('open at most four connections, however many users there are', async () => {
    const proxy = await countingProxy(server.port);
    const users = Array.from({ length: 24 }, (_, index) => `app_${index}`);
    await server.psql('postgres', { sql: users.map((user) => `CREATE ROLE ${user} LOGIN PASSWORD 'p'`).join(';') });
    const rows = await check(users.map((user) => as('one', `${user}:p`, proxy.port)));
    proxy.stop();
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['ok']));
    // Each of the first four asks for TLS on one that the server is still closing when the next is open.
    expect(proxy.most).toBeLessThanOrEqual(8);
    expect(proxy.most).toBeGreaterThan(1);
  }, 60_000);

  it('name a lack of connection slots, a wrong password, an unknown host and a closed port', async () => {
    const url = parsePostgresUrl(as('one', 'single:s'));
    await using held = await connectPostgres(testContext({ settings: {} }), url);
    const rows = await check([
      as('one', 'single:s'),
      as('one', 'reader:wrong'),
      as('one', 'reader'),
      'postgres://u@nowhere.invalid/d',
      'postgres://u@127.0.0.1:1/d',
      `${as('one', 'reader:r')}?sslmode=require`,
    ]);
    await held.close();
    expect(rows.map(({ status, error_code }) => [status, error_code])).toEqual([
      ['unreachable', 'too_many_connections'],
      ['denied', 'wrong_password'],
      ['denied', 'password_missing'],
      ['unreachable', 'host_unknown'],
      ['unreachable', 'connection_refused'],
      ['unreachable', 'tls_unavailable'],
    ]);
  });

  it('end at once when they are cancelled', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const controller = new AbortController();
    const closed = once(silent, 'connection').then(async ([socket]: Socket[]) => {
      controller.abort(new Error('cancelled'));
      if (socket) await once(socket.resume(), 'close');
    });
    await expect(check([as('one', 'u', port), as('two', 'u', port)], controller.signal)).rejects.toThrow('cancelled');
    await closed;
    silent.close();
  });
});

describeWithMysql('mariadb', { name: 'checks of many targets on one server' }, () => {
  let server: TestMysql;

  beforeAll(async () => {
    server = await startMysql('mariadb', ['--max-connections=10']);
    await server.sql(
      '',
      'CREATE DATABASE one',
      'CREATE DATABASE two',
      'CREATE DATABASE hidden',
      "CREATE USER reader@'%' IDENTIFIED BY 'r'",
      "GRANT SELECT ON one.* TO reader@'%'",
      "GRANT SELECT ON two.* TO reader@'%'",
      "CREATE USER lister@'%' IDENTIFIED BY 'l'",
      "GRANT SHOW DATABASES ON *.* TO lister@'%'",
      "GRANT SELECT ON one.* TO lister@'%'",
    );
  }, 120_000);

  afterAll(async () => server?.stop());

  it('share one connection, which tells the states of all their databases apart', async () => {
    const proxy = await countingProxy(server.port);
    const urls = (user: string, names: string[]): string[] =>
      names.map((name) => `mysql://${user}@127.0.0.1:${proxy.port}/${name}`);
    const rows = await check(urls('reader:r', ['one', 'two', 'hidden', ...Array(60).fill('one')]));
    expect(proxy).toMatchObject({ most: 1, total: 1 });
    expect(rows.map(({ status }) => status)).toEqual(['ok', 'ok', 'denied', ...Array(60).fill('ok')]);
    expect(rows[2]).toMatchObject({ error_code: 'not_permitted' });
    const listed = await check(urls('lister:l', ['one', 'hidden']));
    expect(listed.map(({ status }) => status)).toEqual(['ok', 'denied']);
    const all = await check(urls('root', ['one', 'nowhere']));
    proxy.stop();
    expect(all.map(({ status, error_code }) => [status, error_code])).toEqual([
      ['ok', null],
      ['missing', 'database_missing'],
    ]);
  });

  it('name a lack of connection slots, a wrong password, an unknown host and a closed port', async () => {
    const url = server.url('one', { name: 'reader', password: 'r' });
    const opened: MysqlSession[] = [];
    // Sessions of the tests before still take a slot while they end; an administrator has one more.
    await eventually(async () => {
      const another = await openMysql({ url: parseMysqlUrl(url) }).catch(() => null);
      if (another) opened.push(another);
      const [row] = await server.sql<{ taken: number }>(
        '',
        "SELECT COUNT(*) = @@max_connections AS taken FROM information_schema.PROCESSLIST WHERE USER = 'reader'",
      );
      return Number(row?.taken) === 1;
    });
    const [full] = await check([url]);
    for (const each of opened) await each.close();
    expect(full).toMatchObject({ status: 'unreachable', error_code: 'too_many_connections' });
    const rows = await check([
      server.url('one', { name: 'reader', password: 'x' }),
      'mysql://u@nowhere.invalid/d',
      'mysql://u@127.0.0.1:1/d',
    ]);
    expect(rows.map(({ status, error_code }) => [status, error_code])).toEqual([
      ['denied', 'wrong_password'],
      ['unreachable', 'host_unknown'],
      ['unreachable', 'connection_refused'],
    ]);
  });
});

import { connect as connectTo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it, test } from 'vitest';
import { sameDatabaseAs } from '../../../../src/engines/postgres/connection/same-database.ts';
import { parsePostgresUrl } from '../../../../src/engines/postgres/connection/url.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  testContext,
} from '../../../helpers/postgres-server.ts';

/** Nobody listens on port 1: these are told apart, or not, by their addresses alone. */
const ALIKE: [string, string][] = [
  ['postgres://127.0.0.1:1/app', 'postgres://localhost:1/app'],
  ['postgres://127.0.0.1:1/app', 'postgres://[::1]:1/app'],
  ['postgres://127.0.0.1:1/app', 'postgres://127.9.9.9:1/app'],
  ['postgres://a:b@LOCALHOST:1/app', 'postgresql://c:d@localhost:1/app?sslmode=require'],
  ['postgres://localhost:1/app', 'postgres://%2Fvar%2Frun%2Fpostgresql:1/app'],
  ['postgres://localhost:1/app', 'postgres:///app?host=@abstract&port=1'],
  ['postgres://nowhere.invalid:1,localhost:1/app', 'postgres://127.0.0.1:1/app'],
  ['postgres://nowhere.invalid:1/app', 'postgres://NOWHERE.invalid:1/app'],
  ['postgres://nowhere.invalid:1/app?hostaddr=127.0.0.1', 'postgres://localhost:1/app'],
  ['postgres://localhost:1/app', 'postgres://app@localhost:1'],
  ['postgres://localhost:1/me', 'postgres://localhost:1'],
  ['postgres://localhost:1/app', 'postgres://localhost:1/%61pp'],
];

const APART: [string, string][] = [
  ['postgres://localhost:1/app', 'postgres://localhost:1/App'],
  ['postgres://localhost:1/app', 'postgres://localhost:2/app'],
  ['postgres://localhost:1/app', 'postgres://nowhere.invalid:1/app'],
  ['postgres://localhost:1/app', 'postgres://localhost:1/app?dbname=other'],
];

const context = { ...testContext({ settings: {} }), environment: { PATH: process.env.PATH, PGUSER: 'me' } };

function isSame(one: string, other: string): Promise<boolean> {
  return sameDatabaseAs(context, parsePostgresUrl(one))(parsePostgresUrl(other));
}

test.for(ALIKE)('%s is %s', async ([one, other]) => {
  expect(await isSame(one, other)).toBe(true);
  expect(await isSame(other, one)).toBe(true);
});

test.for(APART)('%s is not %s', async ([one, other]) => {
  expect(await isSame(one, other)).toBe(false);
});

test('a URL without a database leads to the one of the environment', async () => {
  const environment = { ...context.environment, PGDATABASE: 'app' };
  const isApp = sameDatabaseAs({ ...context, environment }, parsePostgresUrl('postgres://u@localhost:1'));
  expect(await isApp(parsePostgresUrl('postgres://localhost:1/app'))).toBe(true);
});

describeWithPostgres('two databases that answer', () => {
  let server: TestPostgres;
  let tunnel: Server;
  const open = new Set<Socket>();

  beforeAll(async () => {
    server = await startPostgres();
    tunnel = createServer((near) => {
      const far = connectTo(server.port, '127.0.0.1');
      for (const socket of [near, far]) open.add(socket.on('error', () => {}));
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => tunnel.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    tunnel?.close();
    for (const socket of open) socket.destroy();
    await server?.stop();
  });

  it('are known to be one through a tunnel, and to be two beside each other', async () => {
    await server.createDatabase('other');
    const address = tunnel.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const through = (database: string): string => server.url(database).replace(`:${server.port}`, `:${port}`);
    expect(await isSame(server.url('postgres'), through('postgres'))).toBe(true);
    expect(await isSame(server.url('postgres'), through('other'))).toBe(false);
    expect(await isSame(server.url('postgres'), server.url('other'))).toBe(false);
  });
});

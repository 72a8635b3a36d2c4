import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parsePostgresUrl } from '../../../../src/engines/postgres/connection/url.ts';
import { createAddressComparison } from '../../../../src/operations/load/guard/guard.ts';
import { localRunner } from '../../../../src/process/local.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';

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
  return createAddressComparison(context, parsePostgresUrl(one))(parsePostgresUrl(other));
}

test.for(ALIKE)('%s is %s', async ([one, other]) => {
  expect(await isSame(one, other)).toBe(true);
  expect(await isSame(other, one)).toBe(true);
});

test.for(APART)('%s is not %s', async ([one, other]) => {
  expect(await isSame(one, other)).toBe(false);
});

test('a URL without a database uses the one of the environment', async () => {
  const environment = { ...context.environment, PGDATABASE: 'app' };
  const isApp = createAddressComparison({ ...context, environment }, parsePostgresUrl('postgres://u@localhost:1'));
  expect(await isApp(parsePostgresUrl('postgres://localhost:1/app'))).toBe(true);
});

test('PGHOSTADDR, PGSERVICE and service= resolve as in libpq', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'services.conf');
  await writeFile(file, '[prod]\nhost=nowhere.invalid\nhostaddr=127.0.0.1\nport=1\n');
  const isApp = async (url: string, variables: NodeJS.ProcessEnv): Promise<boolean> => {
    const environment = { ...context.environment, PGSERVICEFILE: file, ...variables };
    const runner = localRunner({ environment, report: () => {} });
    const compare = createAddressComparison({ ...context, environment, runner }, parsePostgresUrl(url));
    return compare(parsePostgresUrl('postgres://localhost:1/app?hostaddr=127.0.0.1'));
  };
  expect(await isApp('postgres://nowhere.invalid:1/app', { PGHOSTADDR: '127.0.0.1' })).toBe(true);
  expect(await isApp('postgres://localhost:1/app', { PGHOSTADDR: '192.0.2.1' })).toBe(false);
  expect(await isApp('postgres:///app?service=prod', {})).toBe(true);
  expect(await isApp('postgres:///other?service=prod', {})).toBe(false);
  const prod = { ...context, environment: { ...context.environment, PGSERVICEFILE: file, PGSERVICE: 'prod' } };
  const runner = localRunner({ environment: prod.environment, report: () => {} });
  const isProd = createAddressComparison({ ...prod, runner }, parsePostgresUrl('postgres:///app'));
  expect(await isProd(parsePostgresUrl('postgres://127.0.0.1:1/app'))).toBe(true);
});

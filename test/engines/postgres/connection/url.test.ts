import { expect, test } from 'vitest';
import type { DatabaseUrl } from '../../../../src/engines/database-url.ts';
import {
  connectionEnvironment,
  parsePostgresUrl,
  portOf,
  urlWithPassword,
  withDatabase,
} from '../../../../src/engines/postgres/connection/url.ts';
import { fc } from '../../../helpers/fast-check.ts';

const SHOWN: [string, string][] = [
  ['postgres://app:secret@db.example.com:5432/app', 'postgres://app@db.example.com:5432/app'],
  ['postgresql://localhost/app', 'postgres://localhost/app'],
  ['postgres://app:p%40ss%3Aw%2Frd@db/app?sslmode=require', 'postgres://app@db/app'],
  ['postgres://app@[::1]:5433/app', 'postgres://app@[::1]:5433/app'],
  ['postgres://one:5432,two:5433/app?target_session_attrs=read-write', 'postgres://one:5432,two:5433/app'],
  [
    'postgres:///app?host=/var/run/postgresql&port=5433&user=me&password=secret',
    'postgres://me@%2Fvar%2Frun%2Fpostgresql:5433/app',
  ],
  ['postgres://app@%2Ftmp%2Fsocket/app', 'postgres://app@%2Ftmp%2Fsocket/app'],
  ['postgres://app@[fe80::1%25eth0]/app', 'postgres://app@[fe80::1%25eth0]/app'],
  ['postgres://one,two/app?port=5432,5433', 'postgres://one:5432,two:5433/app'],
  ['postgres://one,two:5433/app', 'postgres://one,two:5433/app'],
  ['postgres://one,two/app?port=5433', 'postgres://one:5433,two:5433/app'],
  ['postgres://here:5433/app?host=%2Ftmp', 'postgres://%2Ftmp:5433/app'],
  ['postgres://here:5433/app?port=5434', 'postgres://here:5434/app'],
  ['postgres://h/app?host=::1,db', 'postgres://[::1],db/app'],
  ['postgres://app@db/my%20data', 'postgres://app@db/my%20data'],
  ['postgres://app@db?dbname=other', 'postgres://app@db/other'],
  ['pgdocker://app:secret@db:5432/app', 'pgdocker://app@db:5432/app'],
];

test.for(SHOWN)('%s is shown as %s', ([text, shown]) => {
  const url = parsePostgresUrl(text);
  expect(url.display).toBe(shown);
  expect(JSON.stringify({ url })).toBe(JSON.stringify({ url: shown }));
});

test('pgdocker:// names the same database as postgres://, with tools in a container', () => {
  const [inside, outside] = ['pgdocker', 'postgres'].map((scheme) =>
    parsePostgresUrl(`${scheme}://u:p@h:1/d?sslmode=require`),
  );
  expect(inside?.inContainer).toBe(true);
  expect(outside?.inContainer).toBe(false);
  expect(inside && connectionEnvironment(inside)).toEqual(outside && connectionEnvironment(outside));
  expect(inside && withDatabase(inside, 'other')).toMatchObject({
    inContainer: true,
    display: 'pgdocker://u@h:1/other',
  });
});

test('files and sockets of a URL are passed to the runner, and no folder is', () => {
  const url = parsePostgresUrl(
    'postgres://u@%2Frun%2Fpg,db/d?sslrootcert=/etc/ca.pem&sslcert=relative.crt&passfile=/x/.pgpass&application_name=/root',
  );
  expect(connectionEnvironment(url).mounts).toEqual(
    ['/run/pg/.s.PGSQL.5432', '/etc/ca.pem', '/x/.pgpass'].map((path) => ({ path, fileOnly: true })),
  );
});

test('a percent-encoded password is decoded, and passed by environment only', () => {
  const url = parsePostgresUrl(`postgres://app:${encodeURIComponent('p@ss:w/rd?#%41')}@db/app?sslmode=require`);
  const { args, env } = connectionEnvironment(url);
  expect(env.PGPASSWORD).toBe('p@ss:w/rd?#%41');
  expect(args).toEqual(['--dbname', 'postgres://app@db/app?sslmode=require']);
});

test('every other parameter is passed on unharmed', () => {
  const text = 'postgres://u@h:1/d?sslmode=verify-full&sslrootcert=%2Fca.pem&service=team&application_name=a%20b';
  expect(connectionEnvironment(parsePostgresUrl(text)).args[1]).toBe(text);
});

test('settings are passed by PGOPTIONS, or with the options of the URL', () => {
  const settings = { search_path: 'pg_catalog', application_name: 'a b' };
  expect(connectionEnvironment(parsePostgresUrl('postgres://h/d'), settings).env.PGOPTIONS).toBe(
    '-c search_path=pg_catalog -c application_name=a\\ b',
  );
  const own = connectionEnvironment(parsePostgresUrl('postgres://h/d?options=-c%20geqo%3Doff'), { search_path: 'x' });
  expect(own.env.PGOPTIONS).toBeUndefined();
  expect(decodeURIComponent(own.args[1] ?? '')).toBe('postgres://h/d?options=-c geqo=off -c search_path=x');
});

test('a URL of another database keeps all other parts', () => {
  const other = withDatabase(parsePostgresUrl('postgres://u:p@h:1/d?sslmode=require'), 'postgres');
  expect(other).toMatchObject({ database: 'postgres', password: 'p', display: 'postgres://u@h:1/postgres' });
  expect(connectionEnvironment(other).args[1]).toBe('postgres://u@h:1/postgres?sslmode=require');
});

test('a host without a port takes the one of the environment, else 5432', () => {
  const [host] = parsePostgresUrl('postgres://h/d').hosts;
  expect(host && portOf(host, { PGPORT: '6000' })).toBe(6000);
  expect(host && portOf(host, {})).toBe(5432);
});

test.for([
  ['mysql://h/d', 'expected postgres://'],
  ['postgres://h:port/d', '"port" is not a port'],
  ['postgres://h:70000/d', '"70000" is not a port'],
  ['postgres://a,b,c/d?port=1,2', '2 ports for 3 hosts'],
  ['postgres://::1/d', 'stands in brackets'],
  ['postgres://u:100%@h/d', 'two hexadecimal digits'],
  ['postgres://h/d?sslpassword=x', 'service file'],
  ['postgres://h/d?sslmod=require', 'sslmod is not a parameter of PostgreSQL, did you mean sslmode?'],
  ['postgres://h/d?schema=public', 'schema is not a parameter of PostgreSQL'],
  ['postgres://h/d?SSLMODE=disable', 'SSLMODE is not a parameter'],
  ['postgres://h/d?sslkeylogfile=/tmp/keys', 'not a parameter of'],
  ['postgres://h/d?sslmode=disable&sslmode=require', 'given twice'],
  ['postgres://h/d?sslmode', 'no valid value'],
  ['postgres://h/d?options=a%0Ab', 'control character'],
  ['postgres://h/d%00', 'NUL'],
])('%s is refused: %s', ([text, reason]) => {
  expect(() => parsePostgresUrl(text ?? '')).toThrow(reason);
});

test('ssl=true of JDBC requires TLS, as libpq reads it', () => {
  expect(connectionEnvironment(parsePostgresUrl('postgres://h/d?ssl=true')).args[1]).toBe(
    'postgres://h/d?sslmode=require',
  );
});

test('libpq gets the same values for any URL, and the password by environment only', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
  const name = fc.stringMatching(/^[a-z]{1,8}$/);
  const host = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.ipV6(),
    name.map((folder) => `/run/${folder} 1:2`),
  );
  const port = fc.option(fc.integer({ min: 1, max: 65535 }));
  const urls = fc.record({
    user: fc.option(text),
    password: fc.option(text),
    hosts: fc.array(fc.record({ host, port }), { minLength: 1, maxLength: 3 }),
    database: fc.option(text),
    parameters: fc.dictionary(fc.constantFrom('application_name', 'sslmode', 'service', 'options'), text, {
      noNullPrototype: true,
    }),
  });
  fc.assert(
    fc.property(urls, (given) => {
      const url: DatabaseUrl = { engine: 'postgres', inContainer: false, display: '', toJSON: () => '', ...given };
      const { args, env } = connectionEnvironment(url);
      const { display, engine, inContainer, toJSON, ...read } = parsePostgresUrl(args[1] ?? '');
      expect(read).toEqual({ ...given, password: null });
      expect(env.PGPASSWORD).toBe(given.password ?? undefined);
    }),
  );
});

test('the URL for other programs leads through an open tunnel, by a parameter of libpq only where a name is verified', () => {
  const through = (parameters: string): string => {
    const url = parsePostgresUrl(`postgres://app:pw@db.internal:5432/app?tunnel=ssh://me%40bastion${parameters}`);
    return urlWithPassword({ ...url, localPorts: [40_000] });
  };
  expect(through('&sslmode=require')).toBe('postgres://app:pw@127.0.0.1:40000/app?sslmode=require');
  expect(through('&sslmode=verify-full')).toBe(
    'postgres://app:pw@db.internal:40000/app?sslmode=verify-full&hostaddr=127.0.0.1',
  );
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { directAddress } from '../../../../src/engines/postgres/connection/direct-address.ts';
import { parsePostgresUrl } from '../../../../src/engines/postgres/connection/url.ts';
import type { WireAddress } from '../../../../src/engines/postgres/connection/wire-login.ts';
import { DATA_TERMINATOR, TERMINATOR_LINES } from '../../../../src/engines/postgres/dump/archive.ts';
import { type CopyReader, openCopyReader } from '../../../../src/engines/postgres/dump/copy-readers.ts';
import { readFrames } from '../../../../src/repository/objects/read-object.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const ROWS = 30_000;
/** Rows longer than a frame and than what is received at once, and short ones. */
const SOURCE = `
  CREATE TABLE event (id integer, words text);
  INSERT INTO event SELECT i, CASE WHEN i % 9000 = 0 THEN repeat('é\\' || i, 600000) ELSE repeat(md5(i::text), i % 5) END FROM generate_series(1, ${ROWS}) i;
  CREATE ROLE other LOGIN PASSWORD 'schön'`;

describeWithPostgres('rows that a thread reads', () => {
  const context = testContext({ settings: {} });
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let number = 0;

  beforeAll(async () => {
    await server.psql('postgres', { sql: SOURCE });
  }, 60_000);

  async function addressFor(url: string, environment: NodeJS.ProcessEnv = {}): Promise<WireAddress | null> {
    return await directAddress({ runner: context.runner, environment }, parsePostgresUrl(url));
  }

  async function address(): Promise<WireAddress> {
    const found = await addressFor(server.url('postgres'));
    if (!found) throw new Error('no address');
    return found;
  }

  async function open(): Promise<CopyReader> {
    const reader = await openCopyReader(context, { address: await address(), statements: ['BEGIN'] });
    if (!reader) throw new Error('not connected');
    return reader;
  }

  it('runs no function of the database in place of a function of the server', async () => {
    await server.psql('postgres', {
      sql: `CREATE TABLE run (id integer);
        CREATE FUNCTION note(bigint, text) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.run VALUES (1); RETURN 1; END';
        CREATE AGGREGATE count(text) (SFUNC = note, STYPE = bigint, INITCOND = '0')`,
    });
    const statements = [`SELECT count('text'::text)`];
    await using reader = await openCopyReader(context, { address: await address(), statements });
    expect(reader).not.toBeNull();
    expect(
      (await server.psql('postgres', { sql: 'SELECT count(*) FROM run; DROP AGGREGATE count(text)' })).trim(),
    ).toMatch(/^0/);
  });

  it('has the name that the sessions of psql have', async () => {
    await using _reader = await open();
    const sql = `SELECT count(*), min(application_name), max(application_name) FROM pg_stat_activity WHERE backend_type = 'client backend'`;
    expect((await server.psql('postgres', { sql })).trim()).toBe('2|psql|psql');
  });

  function destination(): string {
    number += 1;
    return join(folder.path, `${number}.object`);
  }

  const rows = { statement: 'COPY public.event TO STDOUT', stored: null, onBytes: () => {} };

  it('are those of psql, and their number is the server’s', async () => {
    await using reader = await open();
    const path = destination();
    let told = 0;
    const packed = await reader.read({
      ...rows,
      destination: path,
      onBytes: (bytes) => {
        told += bytes;
      },
    });
    const content = Buffer.concat([...readFrames({ path, ...packed })].map((frame) => Buffer.from(frame)));
    const expected = (await server.psql('postgres', { sql: 'COPY public.event TO STDOUT' })) + DATA_TERMINATOR;
    expect(content.equals(Buffer.from(expected))).toBe(true);
    expect(packed).toMatchObject({ lines: ROWS + TERMINATOR_LINES, terminated: true, isStored: false, bytes: told });
  });

  it('are not compressed again where the store has them intact', async () => {
    await using reader = await open();
    const path = destination();
    const some = { ...rows, statement: 'COPY (SELECT * FROM public.event WHERE id < 8000) TO STDOUT' };
    const first = await reader.read({ ...some, destination: path });
    const stored = { path, ...first };
    expect(await reader.read({ ...some, destination: destination(), stored })).toEqual({ ...first, isStored: true });

    const changed = { ...some, statement: 'COPY (SELECT * FROM public.event WHERE id < 8001) TO STDOUT' };
    expect(await reader.read({ ...changed, destination: destination(), stored })).toMatchObject({
      isStored: false,
      lines: 8000 + TERMINATOR_LINES,
    });
    const asLong = {
      ...some,
      statement: 'COPY (SELECT id, reverse(words) FROM public.event WHERE id < 8000) TO STDOUT',
    };
    const reversed = await reader.read({ ...asLong, destination: destination(), stored });
    expect(reversed).toMatchObject({ isStored: false, bytes: first.bytes });
    expect(reversed.sha256).not.toBe(first.sha256);
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
    writeFileSync(path, bytes);
    expect(await reader.read({ ...some, destination: destination(), stored })).toEqual(first);
  });

  it("end with the server's message", async () => {
    await using reader = await open();
    const statement = `COPY (SELECT 1 / (${ROWS} - id) FROM public.event) TO STDOUT`;
    const reading = [
      reader.read({ ...rows, statement, destination: destination() }),
      reader.read({ ...rows, destination: destination() }),
    ];
    await expect(reading[0]).rejects.toMatchObject({ name: 'SqlError', sqlstate: '22012' });
    await expect(reading[1]).rejects.toMatchObject({ name: 'SqlError', sqlstate: '25P02' });
  });

  it('end when the connection is lost, and when the disk refuses them', async () => {
    await using lost = await open();
    const statement = 'COPY (SELECT id, pg_terminate_backend(pg_backend_pid()) FROM public.event) TO STDOUT';
    const ended = { name: 'ConnectionLost', message: expect.stringContaining('terminating connection') };
    await expect(lost.read({ ...rows, statement, destination: destination() })).rejects.toMatchObject(ended);
    await expect(lost.read({ ...rows, destination: destination() })).rejects.toMatchObject(ended);
    await using refused = await open();
    const missing = join(folder.path, 'missing', 'file');
    await expect(refused.read({ ...rows, destination: missing })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('end with the signal', async () => {
    const ending = new AbortController();
    const opened = { address: await address(), statements: [] };
    await using reader = await openCopyReader({ ...context, signal: ending.signal }, opened);
    const reading = reader?.read({
      ...rows,
      statement: 'COPY (SELECT pg_sleep(600)) TO STDOUT',
      destination: destination(),
    });
    ending.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });

  it.each([
    ['a wrong password', { password: 'wrong' }],
    ['no password', { password: null }],
    ['a database that is missing', { database: 'missing' }],
    ['a port where nobody listens', { port: 1 }],
  ])('are left to psql with %s', async (_, change) => {
    const changed = { ...(await address()), ...change };
    expect(await openCopyReader(context, { address: changed, statements: [] })).toBeNull();
  });

  it('are read with a password that must be normalized', async () => {
    const other = { ...(await address()), user: 'other', password: 'scho\u0308n' };
    await using reader = await openCopyReader(context, { address: other, statements: [] });
    expect(reader).not.toBeNull();
  });

  it('are left to psql where a session has another snapshot', async () => {
    const statements = ['BEGIN ISOLATION LEVEL REPEATABLE READ', `SET TRANSACTION SNAPSHOT '00000003-0000001B-1'`];
    expect(await openCopyReader(context, { address: await address(), statements })).toBeNull();
  });

  it.each([
    ['two hosts', (url: string) => url.replace(/@([^/]+)/, '@$1,$1'), {}],
    ['roots of the system', (url: string) => `${url}?sslmode=require&sslrootcert=system`, {}],
    ['a list of what was revoked', (url: string) => `${url}?sslmode=require&sslcrl=/tmp/list`, {}],
    ['a service', (url: string) => `${url}?service=app`, {}],
    ['options', (url: string) => `${url}?options=-cwork_mem%3D1MB`, {}],
    ['no host', (url: string) => url.replace(/@[^/]+/, '@'), {}],
    ['the user of the system', (url: string) => url.replace(/\/\/.*@/, '//'), {}],
    ['an environment for libpq', (url: string) => url, { PGSSLMODE: 'require' }],
    [
      'a plain connection to another machine, where there may be a ticket of Kerberos',
      () => 'postgres://a:b@db.example.com/app',
      { KRB5CCNAME: '/tmp/tickets' },
    ],
  ])('are left to psql with %s', async (_, change, environment) => {
    expect(await addressFor(change(server.url('postgres')), environment)).toBeNull();
    expect(await addressFor(`${server.url('postgres')}?sslmode=prefer`)).not.toBeNull();
    expect(await addressFor(`${server.url('postgres')}?sslmode=require`)).not.toBeNull();
  });
});

import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, createSecureContext, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tryToConnect } from '../../../src/engines/postgres/connection/connect.ts';
import { readEncryption } from '../../../src/engines/postgres/connection/encryption.ts';
import { ConnectionLost } from '../../../src/engines/postgres/connection/session-errors.ts';
import { anyClientTools } from '../../../src/engines/postgres/connection/tools.ts';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import { openWire } from '../../../src/engines/postgres/connection/wire.ts';
import { localRunner } from '../../../src/process/local.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { type Certificate, makeAuthority, type Signed, sign, speakTls } from '../../helpers/postgres/postgres-tls.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** Users that the server lets in by one transport only, by certificate, or by the password itself. */
const USERS = `
  CREATE ROLE encrypted LOGIN PASSWORD 'secret';
  CREATE ROLE plain LOGIN PASSWORD 'secret';
  CREATE ROLE certified LOGIN;
  CREATE ROLE spoken LOGIN PASSWORD 'secret';
  SET password_encryption = md5;
  CREATE ROLE digested LOGIN PASSWORD 'secret'`;
const RULES = `
hostnossl all encrypted all reject
hostssl all plain all reject
hostssl all certified all cert
host all spoken all password
host all digested all md5
host all all all scram-sha-256
`;

interface Case {
  server?: 'tls' | 'expired' | 'off' | 'stripping' | 'between';
  user?: string;
  host?: string;
  parameters?: Record<string, string>;
  /** Files in ~/.postgresql. */
  home?: Record<string, string>;
  psql: boolean;
  /** Where it is not that of psql, psql reads the rows. */
  own?: boolean;
}

describeWithPostgres('TLS of a connection of our own', () => {
  const servers: TestPostgres[] = [];
  const proxies: Server[] = [];
  const folder = suiteResource(() => temporaryFolder());
  let authority: Certificate;
  let other: Certificate;
  let client: Certificate;
  const ports: Record<string, number> = {};
  const passwords: Record<string, string> = {};

  beforeAll(async () => {
    authority = await makeAuthority(join(folder.path, 'own'));
    other = await makeAuthority(join(folder.path, 'other'));
    client = await sign(authority, { name: 'client', subject: '/CN=certified' });
    const start = async (name: string, certificate: Certificate | null): Promise<TestPostgres> => {
      const server = await startPostgres();
      servers.push(server);
      ports[name] = server.port;
      passwords[name] = new URL(server.url('postgres')).password;
      if (certificate) await speakTls(server, certificate, authority);
      return server;
    };
    const names = 'DNS:localhost';
    const tls = await start('tls', await sign(authority, { name: 'server', subject: '/CN=elsewhere', names }));
    await tls.psql('postgres', { sql: USERS });
    const rules = (await tls.psql('postgres', { sql: 'SHOW hba_file' })).trim();
    await writeFile(rules, RULES);
    await tls.psql('postgres', { sql: 'SELECT pg_reload_conf()' });
    await start('expired', await sign(authority, { name: 'expired', subject: '/CN=localhost', expired: true }));
    await start('off', null);
    const between = await sign(other, { name: 'between', subject: '/CN=localhost' });
    for (const [name, upgrade] of Object.entries({ stripping: null, between })) {
      const proxy = createServer((near) => stand(near, { port: tls.port, upgrade }));
      proxies.push(proxy);
      await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
      ports[name] = (proxy.address() as AddressInfo).port;
      passwords[name] = passwords.tls ?? '';
    }
  }, 120_000);

  afterAll(async () => {
    for (const proxy of proxies) proxy.close();
    for (const server of servers) await server.stop();
  });

  let homes = 0;

  async function tried({ server = 'tls', user, host = 'localhost', parameters = {}, home = {} }: Case) {
    homes += 1;
    const HOME = join(folder.path, `home-${homes}`);
    await mkdir(HOME);
    if (Object.keys(home).length > 0) await mkdir(join(HOME, '.postgresql'));
    for (const [name, from] of Object.entries(home)) {
      await writeFile(join(HOME, '.postgresql', name), readFileSync(filled(from)), { mode: 0o600 });
    }
    const words = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(filled(value))}`);
    const password = user === undefined ? passwords[server] : 'secret';
    const url = parsePostgresUrl(
      `postgres://${user ?? 'postgres'}:${password}@${host}:${ports[server]}/postgres?${words.join('&')}`,
    );
    const environment = { ...process.env, HOME };
    const context = {
      ...testContext({ settings: {} }),
      environment,
      runner: localRunner({ environment, report: () => {} }),
    };
    const session = await tryToConnect(context, url, { tools: await anyClientTools(context) });
    if (!(session instanceof ConnectionLost)) await session.close();
    const found = await readEncryption(url, environment);
    const address = {
      host,
      port: ports[server] ?? 0,
      user: user ?? 'postgres',
      password: password ?? '',
      database: 'postgres',
    };
    const wire = found && (await openWire({ ...address, ...found }).catch(() => null));
    await wire?.execute('SELECT 1');
    wire?.close();
    return { psql: !(session instanceof ConnectionLost), own: wire !== null };
  }

  /** A file of the test, by a word. */
  function filled(word: string): string {
    const files: Record<string, string> = {
      CA: authority.certificate,
      'OTHER CA': other.certificate,
      CERTIFICATE: client.certificate,
      KEY: client.key,
      'OTHER KEY': other.key,
    };
    return files[word] ?? word;
  }

  const full = { sslmode: 'verify-full', sslrootcert: 'CA' };

  it.each<[string, Case]>([
    ['no parameter', { psql: true }],
    ['disable', { parameters: { sslmode: 'disable' }, psql: true }],
    ['disable, TLS only', { user: 'encrypted', parameters: { sslmode: 'disable' }, psql: false }],
    ['allow, TLS only', { user: 'encrypted', parameters: { sslmode: 'allow' }, psql: true, own: false }],
    ['allow', { parameters: { sslmode: 'allow' }, psql: true }],
    ['prefer, plain only', { user: 'plain', parameters: { sslmode: 'prefer' }, psql: true, own: false }],
    ['prefer, TLS only', { user: 'encrypted', parameters: { sslmode: 'prefer' }, psql: true }],
    ['prefer, a server without TLS', { server: 'off', parameters: { sslmode: 'prefer' }, psql: true }],
    ['prefer, another authority at home', { home: { 'root.crt': 'OTHER CA' }, psql: true, own: false }],
    ['require', { parameters: { sslmode: 'require' }, psql: true }],
    ['require, plain only', { user: 'plain', parameters: { sslmode: 'require' }, psql: false }],
    ['require, a server without TLS', { server: 'off', parameters: { sslmode: 'require' }, psql: false }],
    ['require, expired', { server: 'expired', parameters: { sslmode: 'require' }, psql: true }],
    ['require, the authority at home', { parameters: { sslmode: 'require' }, home: { 'root.crt': 'CA' }, psql: true }],
    [
      'require, another one at home',
      { parameters: { sslmode: 'require' }, home: { 'root.crt': 'OTHER CA' }, psql: false },
    ],
    [
      'require, expired, the authority at home',
      { server: 'expired', parameters: { sslmode: 'require' }, home: { 'root.crt': 'CA' }, psql: false },
    ],
    ['require, another authority', { parameters: { sslmode: 'require', sslrootcert: 'OTHER CA' }, psql: false }],
    ['verify-ca, no authority', { parameters: { sslmode: 'verify-ca' }, psql: false }],
    ['verify-ca', { host: '127.0.0.1', parameters: { sslmode: 'verify-ca', sslrootcert: 'CA' }, psql: true }],
    ['verify-ca, expired', { server: 'expired', parameters: { sslmode: 'verify-ca', sslrootcert: 'CA' }, psql: false }],
    ['verify-ca, another authority', { parameters: { sslmode: 'verify-ca', sslrootcert: 'OTHER CA' }, psql: false }],
    ['verify-full', { parameters: full, psql: true }],
    ['verify-full, another name', { host: '127.0.0.1', parameters: full, psql: false }],
    ['verify-full, no file', { parameters: { ...full, sslrootcert: '/missing' }, psql: false }],
    ['verify-full, no authority in the file', { parameters: { ...full, sslrootcert: 'KEY' }, psql: false }],
    ['verify-full, the roots of the system', { parameters: { ...full, sslrootcert: 'system' }, psql: false }],
    [
      'a list of what was revoked, of nobody',
      { parameters: { sslmode: 'require' }, home: { 'root.crt': 'CA', 'root.crl': 'CA' }, psql: false },
    ],
    [
      'a certificate of the client',
      { user: 'certified', parameters: { sslmode: 'require', sslcert: 'CERTIFICATE', sslkey: 'KEY' }, psql: true },
    ],
    [
      'a certificate at home',
      {
        ...{ user: 'certified', parameters: { sslmode: 'require' }, psql: true },
        home: { 'postgresql.crt': 'CERTIFICATE', 'postgresql.key': 'KEY' },
      },
    ],
    ['no certificate', { user: 'certified', parameters: { sslmode: 'require' }, psql: false }],
    [
      'a certificate without its key',
      { user: 'certified', parameters: { sslmode: 'require', sslcert: 'CERTIFICATE' }, psql: false },
    ],
    [
      'the key of another certificate',
      {
        user: 'certified',
        parameters: { sslmode: 'require', sslcert: 'CERTIFICATE', sslkey: 'OTHER KEY' },
        psql: false,
      },
    ],
    ['the password itself', { user: 'spoken', parameters: { sslmode: 'require' }, psql: true }],
    ['a digest of the password', { user: 'digested', parameters: { sslmode: 'require' }, psql: true }],
    ['a bound channel', { parameters: { sslmode: 'require', channel_binding: 'require' }, psql: true }],
    ['a bound channel without TLS', { parameters: { sslmode: 'disable', channel_binding: 'require' }, psql: false }],
    [
      'a bound channel, the server has no TLS',
      { server: 'off', parameters: { channel_binding: 'require' }, psql: false },
    ],
    [
      'a bound channel, the password itself',
      { user: 'spoken', parameters: { sslmode: 'require', channel_binding: 'require' }, psql: false },
    ],
    [
      'a bound channel, a digest',
      { user: 'digested', parameters: { sslmode: 'require', channel_binding: 'require' }, psql: false },
    ],
    [
      'a bound channel, a certificate',
      {
        ...{ user: 'certified', psql: false },
        parameters: { sslmode: 'require', channel_binding: 'require', sslcert: 'CERTIFICATE', sslkey: 'KEY' },
      },
    ],
    ['no binding', { parameters: { sslmode: 'require', channel_binding: 'disable' }, psql: true }],
    ['prefer, TLS taken away on the way', { server: 'stripping', parameters: { sslmode: 'prefer' }, psql: true }],
    ['require, TLS taken away on the way', { server: 'stripping', parameters: { sslmode: 'require' }, psql: false }],
    ['another certificate on the way', { server: 'between', parameters: { sslmode: 'require' }, psql: false }],
    [
      'another certificate on the way, no binding',
      { server: 'between', parameters: { sslmode: 'require', channel_binding: 'disable' }, psql: true },
    ],
    ['another certificate on the way, verify-full', { server: 'between', parameters: full, psql: false }],
  ])('connects where psql does, and never where it refuses: %s', async (_, one) => {
    expect(await tried(one)).toEqual({ psql: one.psql, own: one.own ?? one.psql });
  });

  it.each([
    ['the password itself', 3, ''],
    ['a digest', 5, 'salt'],
    ['a proof without binding', 10, 'SCRAM-SHA-256\0\0'],
    ['nothing', 0, ''],
  ])('sends nothing to a server that asks for %s where the channel must be bound', async (_, code, text) => {
    const { certificate, key } = await sign(other, { name: 'asking', subject: '/CN=localhost' });
    const secureContext = createSecureContext({ cert: readFileSync(certificate), key: readFileSync(key) });
    const message = Buffer.concat([Buffer.from('R'), Buffer.alloc(8), Buffer.from(text)]);
    message.writeInt32BE(message.length - 1, 1);
    message.writeInt32BE(code, 5);
    const ready = code === 0 ? Buffer.from('Z\0\0\0\u0005I') : Buffer.alloc(0);
    const sent: Buffer[] = [];
    const ended = Promise.withResolvers<void>();
    const asking = createServer((near) => {
      near.on('error', () => {}).on('close', () => ended.resolve());
      near.once('data', () => {
        near.write('S');
        const secure = new TLSSocket(near, { isServer: true, secureContext });
        secure.on('error', () => {});
        secure.once('data', () => {
          secure.on('data', (bytes) => sent.push(bytes));
          secure.write(Buffer.concat([message, ready]));
        });
      });
    });
    proxies.push(asking);
    await new Promise<void>((done) => asking.listen(0, '127.0.0.1', done));
    const { port } = asking.address() as AddressInfo;
    const url = parsePostgresUrl(`postgres://app:secret@localhost:${port}/app?sslmode=require&channel_binding=require`);
    const found = await readEncryption(url, { ...process.env, HOME: folder.path });
    if (!found) throw new Error('no address');
    const address = { host: 'localhost', port, user: 'app', password: 'secret', database: 'app', ...found };
    await expect(openWire(address)).rejects.toMatchObject({ name: 'ConnectionLost' });
    await ended.promise;
    expect(Buffer.concat(sent).toString('latin1')).toBe('');
  });

  it.each<[string, Omit<Signed, 'name'>, { psql: boolean; own: boolean }]>([
    ['CN=localhost', { subject: '/CN=localhost' }, { psql: true, own: true }],
    [
      'CN=localhost beside another name',
      { subject: '/CN=localhost', names: 'DNS:example.com' },
      { psql: false, own: false },
    ],
    ['two common names', { subject: '/CN=localhost/CN=example.com' }, { psql: true, own: false }],
    ['a second common name', { subject: '/CN=example.com/CN=localhost' }, { psql: false, own: false }],
    ['another case', { subject: '/CN=x', names: 'DNS:LocalHost' }, { psql: true, own: true }],
    ['an asterisk within the name', { subject: '/CN=x', names: 'DNS:local*' }, { psql: false, own: false }],
  ])('reads the names of a certificate at most as freely as psql: %s', async (_, request, expected) => {
    const server = servers[2];
    if (!server) throw new Error('no server');
    await speakTls(server, await sign(authority, { name: 'named', ...request }));
    await expect.poll(() => tried({ server: 'off', parameters: full, ...expected })).toEqual(expected);
  });
});

const SSL_REQUEST = 8;

/** Between client and server: with a certificate of its own and TLS to both, or without TLS to both. */
function stand(near: Socket, { port, upgrade }: { port: number; upgrade: Certificate | null }): void {
  near.on('error', () => {});
  near.once('data', (request: Buffer) => {
    const far = connectSocket(port, '127.0.0.1');
    far.on('error', () => near.destroy());
    const isRequest = request.length === SSL_REQUEST;
    if (!upgrade) {
      if (isRequest) near.write('N');
      else far.write(request);
      near.pipe(far).pipe(near);
      return;
    }
    if (!isRequest) return void near.destroy();
    far.write(request);
    far.once('data', () => {
      const secureFar = connectTls({ socket: far, rejectUnauthorized: false });
      near.write('S');
      const key = { cert: readFileSync(upgrade.certificate), key: readFileSync(upgrade.key) };
      const secureNear = new TLSSocket(near, { isServer: true, secureContext: createSecureContext(key) });
      for (const one of [secureFar, secureNear]) one.on('error', () => near.destroy());
      secureNear.pipe(secureFar).pipe(secureNear);
    });
  });
}

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encrypt } from '../../src/config/secrets/cipher.ts';
import { connectionEnvironment, parsePostgresUrl } from '../../src/engines/postgres/connection/url.ts';
import { encryptValues } from '../../src/operations/configuration/secrets.ts';
import { show } from '../../src/operations/configuration/show.ts';
import { chooseDestination } from '../../src/operations/load/destination.ts';
import { bucketKey } from '../../src/operations/snapshots/remote-repositories.ts';
import { localRunner } from '../../src/process/local.ts';
import { redact } from '../../src/process/redact.ts';
import type { RunEvent } from '../../src/results/events.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';
import { configFolder, SECRET_KEY, withKey } from '../helpers/terminal/config-folder.ts';

function warnings(text: string): Promise<string[]> {
  return configFolder({ 'tool.yml': withKey(text) })
    .then((folder) => folder.inspect({ environment: { AWS_ACCESS_KEY_ID: 'x' } }))
    .then(({ problems }) =>
      problems.filter(({ severity }) => severity === 'warning').map(({ code, key }) => `${code} ${key}`),
    );
}

const PSQL = '/usr/lib/postgresql/15/bin/psql';
const target = (url: string) => `targets: { app: { snapshot: { src_url: "${url}" } } }\n`;
const KEY = 'targets.app.snapshot.src_url';

test.each([
  ['postgres://evil.example.com/app?service=prod', [`service_elsewhere ${KEY}`]],
  ['postgres://app@/app?service=prod&host=evil.example.com', [`service_elsewhere ${KEY}`]],
  ['postgres:///app?%73ervice=prod&hostaddr=192.0.2.1', [`service_elsewhere ${KEY}`]],
  ['postgres:///app?service=prod', []],
  ['postgres://app:own@db.example.com/app?service=prod', [`service_elsewhere ${KEY}`]],
])('the password of a service goes to no other host without a warning: %s', async (url, expected) => {
  expect(await warnings(target(url))).toEqual(expected);
});

// The reason for the warning beside a password: libpq takes that of the service over PGPASSWORD.
test.skipIf(!existsSync(PSQL))('libpq sends the password of a service in place of that of the URL', async () => {
  await using folder = await temporaryFolder();
  const services = join(folder.path, 'services.conf');
  await writeFile(services, '[prod]\npassword=of-service\n');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const received = new Promise<string>((resolve) => {
    server.on('connection', (socket) => {
      socket.once('data', () => {
        // AuthenticationCleartextPassword: https://www.postgresql.org/docs/current/protocol-message-formats.html
        socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
        socket.once('data', (answer) => resolve(String(answer)));
        socket.once('data', () => socket.destroy());
      });
    });
  });
  const { port } = server.address() as AddressInfo;
  const url = `postgres://app:of-url@127.0.0.1:${port}/app?service=prod&sslmode=disable&gssencmode=disable`;
  const { args, env } = connectionEnvironment(parsePostgresUrl(url));
  const environment = { PATH: process.env.PATH, PGSERVICEFILE: services };
  await localRunner({ environment, report: () => {} }).run({ file: PSQL, args, env });
  expect(await received).toContain('of-service');
  server.close();
});

test('--destdb with a service and another host is a warning before anything is connected to', () => {
  const events: RunEvent[] = [];
  const context = testContext({ settings: { targets: { app: { snapshot: { src_url: 'postgres://db/app' } } } } });
  const destdb = 'postgres://evil.example.com/app?service=prod';
  chooseDestination({ ...context, report: (event) => events.push(event) }, { target: 'app', destdb });
  expect(events).toMatchObject([{ event: 'warning', code: 'service_elsewhere' }]);
});

test('a container sees the files that a URL names for them, and no folder and nothing of another parameter', () => {
  const names = ['sslcert', 'sslkey', 'sslrootcert', 'sslcrl', 'passfile', 'servicefile'];
  const files = names.map((name) => `${name}=/etc/${name}`).join('&');
  const url = parsePostgresUrl(`postgres://db/app?${files}&application_name=/root&sslcrldir=/home&options=/etc`);
  expect(connectionEnvironment(url).mounts).toEqual(names.map((name) => ({ path: `/etc/${name}`, fileOnly: true })));
});

const profiles = (prefix: string) => `storage_profiles:
  private: { provider: s3, bucket: one, region: eu-central-1 }
  team: { provider: s3, bucket: two, region: eu-central-1 }
  same: { provider: s3, bucket: one, region: eu-central-1, prefix: "${prefix}" }
`;
const sharing = ({
  push,
  share,
  prefix = '',
}: {
  push: string;
  share: string;
  prefix?: string;
}) => `${profiles(prefix)}targets:
  app: { snapshot: { src_url: "postgres://db/app" }, storage_profile: ${push} }
  team: { share: { storage_profile_name: ${share} } }
`;

test.each([
  { push: 'team', share: 'team', codes: ['originals_shared targets.app.storage_profile'] },
  { push: 'private', share: 'same', codes: ['originals_shared targets.app.storage_profile'] },
  { push: 'private', share: 'same', prefix: 'a', codes: [] },
  { push: 'private', share: 'team', codes: [] },
])(
  'originals pushed to $push where a share target reads $share are a warning: $codes',
  async ({ codes, ...places }) => {
    expect(await warnings(sharing(places))).toEqual(codes);
  },
);

test.each(['oauth_client_secret', 'scram_client_key', 'scram_server_key', 'sslpassword'])(
  '%s in a URL is a password: encrypted, masked, and never an argument of a program',
  async (name) => {
    const url = `postgres://app@db.example.com/app?${name}=s3cr3t-value&sslmode=require`;
    const thrown = (() => {
      try {
        parsePostgresUrl(url);
        return '';
      } catch (error) {
        return String(error);
      }
    })();
    expect(thrown).toContain(name);
    expect(thrown).not.toContain('s3cr3t-value');
    expect(redact(`tool: ${url}`)).not.toContain('s3cr3t-value');
    const folder = await configFolder({ 'tool.yml': withKey(target(url)) });
    const environment = { HOME: folder.path, TOOL_TRUST: 'true' };
    const encrypted = await encryptValues({ cwd: folder.path, environment, keys: [], dryRun: false });
    expect(encrypted.encrypted).toEqual([KEY]);
    const text = await readFile(join(folder.path, 'tool.yml'), 'utf8');
    expect(text).toContain(`${name}=$aes$`);
    const shown = JSON.stringify(await show({ cwd: folder.path, environment }));
    expect(shown).not.toContain('s3cr3t-value');
  },
);

test('a bucket with an encryption_key opens by this key, whatever the secret_key, and tokens do not', async () => {
  const key = '89abcdef0123456789abcdef01234567';
  const profile = (more: string) =>
    `storage_profiles: { team: { provider: minio, bucket: b, endpoint: "http://127.0.0.1:1", encrypt: true${more} } }\n`;
  const keyOf = async (more: string) => {
    const folder = await configFolder({ 'tool.yml': withKey(profile(more)) });
    return bucketKey((await folder.load()).settings, 'team');
  };
  expect(await keyOf(`, encryption_key: "${key}"`)).toBe(key);
  expect(await keyOf(`, encryption_key: "${encrypt(key, SECRET_KEY)}"`)).toBe(key);
  expect(await keyOf('')).toBe(SECRET_KEY);
});

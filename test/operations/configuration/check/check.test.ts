import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { COMMANDS } from '../../../../src/commands/registry.ts';
import { check } from '../../../../src/operations/configuration/check/check.ts';
import { describeWithS3, startS3 } from '../../../helpers/storage/s3-server.ts';
import { runWith } from '../../../helpers/terminal/cli-host.ts';
import { configFolder, withKey } from '../../../helpers/terminal/config-folder.ts';

let server: Server;
let heard: { method: string | undefined; url: string | undefined; headers: string }[];
let address: string;

beforeEach(async () => {
  heard = [];
  server = createServer(({ method, url, headers }, response) => {
    heard.push({ method, url, headers: JSON.stringify(headers) });
    response.writeHead(403).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function checked(text: string, { offline = false }: { offline?: boolean } = {}) {
  const folder = await configFolder({ 'tool.yml': withKey(text) });
  const { report } = await check({
    cwd: folder.path,
    environment: { TOOL_TRUST: 'true', HOME: folder.path, PATH: folder.path, AWS_ACCESS_KEY_ID: 'x' },
    offline,
    report: () => {},
    signal: new AbortController().signal,
    clock: () => new Date(0),
  });
  return report;
}

const storage = (endpoint: string) =>
  `storage_profiles:\n  team: {provider: minio, bucket: b, endpoint: "${endpoint}"}\n`;

test('a storage service and the cloud answer when there is any answer; neither hears a secret', async () => {
  const withPassword = address.replace('://', '://me:hunter2@');
  const report = await checked(`authtoken: hunter2\nbase_url: ${address}\n${storage(withPassword)}`);
  expect(report).toMatchObject({
    ok: true,
    offline: false,
    storage_profiles: [{ name: 'team', provider: 'minio', bucket: 'b', complete: true, url: address, ok: true }],
    cloud: { url: `${address}/api/v3`, ok: true, error: null },
  });
  expect(heard.map(({ method, url }) => `${method} ${url}`).sort()).toEqual(['HEAD /', 'HEAD /api/v3']);
  expect(JSON.stringify([heard, report])).not.toContain('hunter2');
});

test('an unreachable server is reported with the reason, and so is a missing cloud address', async () => {
  server.close();
  const report = await checked(`authtoken: t\n${storage(address)}`);
  expect(report.problems).toMatchObject([{ code: 'api_url_missing' }]);
  expect(report.storage_profiles).toMatchObject([{ ok: false, error: expect.stringContaining('ECONNREFUSED') }]);
  expect(report.cloud).toEqual({ url: null, ok: false, error: expect.stringContaining('base_url is not set') });
});

describeWithS3('a bucket', () => {
  test('a missing bucket is an error of its profile, and config check exits with 4', async () => {
    const s3 = await startS3();
    onTestFinished(() => s3.stop());
    const profile = await s3.bucket();
    const profiles = { there: profile, missing: { ...profile, bucket: 'no-such-bucket' } };
    const text = withKey(`storage_profiles: ${JSON.stringify(profiles)}\n`);
    const folder = await configFolder({ 'tool.yml': text });
    const environment = { TOOL_TRUST: 'true', HOME: folder.path };
    const { exit, stdout } = await runWith(['config', 'check', '--json'], COMMANDS, { cwd: folder.path, environment });
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      problems: expect.arrayContaining([
        expect.objectContaining({ code: 'bucket_missing', key: 'storage_profiles.missing.bucket' }),
      ]),
      storage_profiles: [
        { name: 'there', ok: true },
        { name: 'missing', ok: false, error: expect.stringContaining('Bucket not found') },
      ],
    });
    expect(exit).toBe(4);
  });
});

test('offline nobody is asked', async () => {
  const report = await checked(`authtoken: t\nbase_url: ${address}\n${storage(address)}`, { offline: true });
  expect(heard).toEqual([]);
  expect(report).toMatchObject({ offline: true, storage_profiles: [{ url: address, ok: null }], cloud: { ok: null } });
});

test('a profile that lacks something is not asked, and others are, whatever else is wrong', async () => {
  const report = await checked(`env: nowhere\n${storage(address)}  half: {provider: r2, bucket: b}\n`);
  expect(report).toMatchObject({
    ok: false,
    storage_profiles: [
      { name: 'team', complete: true, ok: true },
      { name: 'half', complete: false, url: null, ok: null },
    ],
    cloud: null,
  });
});

test('missing Docker is reported only where an image is configured', async () => {
  expect((await checked('')).docker).toBeNull();
  expect((await checked('docker: {images: {postgres: "postgres:17"}}\n')).docker).toMatchObject({
    ok: false,
    error: expect.stringContaining('Neither docker nor podman is installed'),
  });
});

test('names the place of sanitization of each target with a query', async () => {
  const { sanitizing } = await checked(
    `targets:
  into: {snapshot: {src_url: 'postgres://a@h/x'}, sanitize: {dst_url: 'postgres://me:secret@here/clean', override_query: 'SELECT 1'}}
  beside: {snapshot: {src_url: 'mysql://a@h/x', dst_url: 'mysql://me:secret@there/dev'}, sanitize: {override_query: 'SELECT 1'}}
  nowhere: {snapshot: {src_url: 'mysql://a@h/x'}, sanitize: {override_query: 'SELECT 1'}}
  queryless: {snapshot: {src_url: 'mysql://a@h/x'}, sanitize: {dst_url: 'mysql://a@h/clean'}}
  not: {snapshot: {src_url: 'mysql://a@h/x'}}
`,
    { offline: true },
  );
  const serverHere = expect.stringMatching(/^a throw-away .* server$/);
  const [into, beside, nowhere, queryless] = sanitizing;
  expect(queryless).toMatchObject({ place: null, throw_away: false });
  expect(queryless?.error).toContain('no sanitization query');
  expect(sanitizing.map(({ target }) => target)).toEqual(['into', 'beside', 'nowhere', 'queryless']);
  expect(into).toMatchObject({ place: 'postgres://me@here/clean', throw_away: false });
  if (nowhere?.place === null) {
    expect(nowhere.error).toContain('nowhere');
    expect(beside?.place).toBe('a throw-away database on the server of mysql://me@there/dev');
  } else {
    expect([beside, nowhere]).toEqual([
      expect.objectContaining({ place: serverHere }),
      expect.objectContaining({ place: serverHere, error: null }),
    ]);
  }
});

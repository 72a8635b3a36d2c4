import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { pull } from '../../../src/operations/snapshots/transfer/pull.ts';
import { push } from '../../../src/operations/snapshots/transfer/push.ts';
import { verify } from '../../../src/operations/snapshots/verify/verify.ts';
import { createS3Client } from '../../../src/repository/s3/client.ts';
import type { BucketProfile } from '../../../src/repository/s3/connection.ts';
import { makeOwnersRole } from '../../helpers/storage/bucket-role.ts';
import { type Machine, machine } from '../../helpers/storage/machine.ts';
import { describeWithS3, startS3 } from '../../helpers/storage/s3-server.ts';
import { storeTables } from '../../helpers/storage/stored-snapshot.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithS3('an encrypted bucket, by temporary credentials of a role', () => {
  const server = suiteResource(() => startS3({ roles: true }));
  let folder: string;
  let role: string;
  let profile: BucketProfile;

  beforeAll(async () => {
    role = await makeOwnersRole(server, 'team');
    folder = mkdtempSync(join(tmpdir(), 'tool-cli-'));
  });

  afterAll(async () => {
    rmSync(folder, { recursive: true });
  });

  beforeEach(async () => {
    const { access_key, secret_key, ...bucket } = await server.bucket();
    profile = { ...bucket, encrypt: true };
    const [credentials, config] = [join(folder, 'credentials'), join(folder, 'config')];
    writeFileSync(credentials, `[base]\naws_access_key_id = ${access_key}\naws_secret_access_key = ${secret_key}\n`);
    const work = [
      'region = us-east-1',
      `endpoint_url = ${server.endpoint}`,
      `role_arn = ${role}`,
      'source_profile = base',
    ];
    writeFileSync(config, `[profile work]\n${work.join('\n')}\n`);
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', credentials);
    vi.stubEnv('AWS_CONFIG_FILE', config);
    vi.stubEnv('AWS_ENDPOINT_URL_STS', server.endpoint);
  });

  afterEach(() => vi.unstubAllEnvs());

  async function expectToWork(here: Machine, there: Machine): Promise<void> {
    const contents = { customers: 'Zebediah Quux\n', large: randomBytes(20_000_000) };
    const manifest = await storeTables(here.directory, {
      ...{ target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z', contents },
    });
    expect(await push(here.context, { target: 'app' })).toMatchObject({ objects: 2 });
    expect((await listSnapshots(there.context, 'app')).snapshots).toMatchObject([{ where: ['remote'] }]);
    expect(await verify(there.context, { target: 'app' })).toMatchObject({ ok: true, files: 2 });
    expect(await pull(there.context, { target: 'app' })).toMatchObject({ objects: 2 });
    expect(await there.repository.list('app')).toEqual([manifest]);
  }

  it('a cli_profile that assumes a role pushes, lists, verifies and pulls', async () => {
    const assumed = { ...profile, cli_profile: 'work' };
    const { accessKeyId, sessionToken } = await (await createS3Client(assumed)).config.credentials();
    expect(accessKeyId).not.toBe((await server.client.config.credentials()).accessKeyId);
    expect(sessionToken).toBeTruthy();
    await using here = await machine({ profile: assumed });
    await using there = await machine({ profile: assumed });
    await expectToWork(here, there);
  });

  it('a profile with a role_arn does, by the credentials that the sign-in brings, whatever keys it has', async () => {
    const assumed = await (await createS3Client({ ...profile, cli_profile: 'work' })).config.credentials();
    const { accessKeyId, secretAccessKey, sessionToken = '', expiration = new Date() } = assumed;
    const asked: string[] = [];
    const signedIn = async () => {
      const one = await machine({ profile: { ...profile, role_arn: role, access_key: 'no', secret_key: 'none' } });
      one.context.roleCredentials = async (name) => {
        asked.push(name);
        return { accessKeyId, secretAccessKey, sessionToken, expiration };
      };
      return one;
    };
    await using here = await signedIn();
    await using there = await signedIn();
    await expectToWork(here, there);
    expect(new Set(asked)).toEqual(new Set(['team']));
  });
});

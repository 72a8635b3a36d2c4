import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../../src/operations/sign-in/sign-in.ts';
import { pull } from '../../src/operations/snapshots/transfer/pull.ts';
import { push } from '../../src/operations/snapshots/transfer/push.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import { type SignInWorld, signInWorld } from '../helpers/sign-in/signed-in.ts';
import { makeSigningKey, type SigningKey } from '../helpers/sign-in/signing-key.ts';
import { makeBucketRole } from '../helpers/storage/bucket-role.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { storeSnapshot } from '../helpers/storage/stored-snapshot.ts';

describeWithS3("a role of Ceph's gateway", () => {
  let server: S3Server;
  let signingKey: SigningKey;
  let bucket: BucketProfile;
  let other: BucketProfile;

  beforeAll(async () => {
    [server, signingKey] = await Promise.all([startS3({ roles: true }), makeSigningKey()]);
    [bucket, other] = [await server.bucket(), await server.bucket()];
  });

  afterAll(() => server.stop());

  /** A configuration without any key of the service, and a role there that trusts ann. */
  async function worldOf(name: string): Promise<SignInWorld> {
    const role = `arn:aws:iam:::role/${name}`;
    const profile = ({ bucket }: BucketProfile): string =>
      `{ provider: minio, bucket: ${bucket}, endpoint: ${server.endpoint}, role_arn: "${role}" }`;
    const world = await signInWorld(
      `storage_profiles:
  team: ${profile(bucket)}
  other: ${profile(other)}
targets:
  app: { storage_profile: team, snapshot: {} }
  elsewhere: { storage_profile: other, snapshot: {} }
`,
      { signingKey },
    );
    const { provider_url: url, client_id: clientId } = world.provider.settings;
    const provider = { url, clientId, thumbprint: signingKey.thumbprint, subject: 'ann' };
    await makeBucketRole(server, { name, bucket: bucket.bucket, provider });
    for (const target of ['app', 'elsewhere']) {
      const named = { target, id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z' };
      await storeSnapshot(join(world.folder, 'work'), { ...named, content: '1\tone\n' });
    }
    return world;
  }

  it('allows push and pull after a sign-in, without keys', async () => {
    const world = await worldOf('developers');
    await signIn(await world.open(), {});
    const pushed = await push(await world.open(), { target: 'app' });
    expect(pushed).toMatchObject({ objects: 1, storage: `s3://${bucket.bucket}` });
    await rm(join(world.folder, 'work'), { recursive: true });
    const pulled = await pull(await world.open(), { target: 'app' });
    expect(pulled).toMatchObject({ objects: 1, snapshot: { where: ['local', 'remote'] } });
  });

  it('opens no bucket but its own', async () => {
    const world = await worldOf('strangers');
    await signIn(await world.open(), {});
    const failed = push(await world.open(), { target: 'elsewhere' });
    await expect(failed).rejects.toMatchObject({ code: 'storage_forbidden', exit: 4 });
  });

  it('is refused to whom it does not trust', async () => {
    const world = await worldOf('others');
    world.person = 'bob';
    await signIn(await world.open(), {});
    await expect(push(await world.open(), { target: 'app' })).rejects.toMatchObject({ code: 'role_refused', exit: 4 });
  });
});

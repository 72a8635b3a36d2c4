import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { signIn } from '../../src/operations/sign-in/sign-in.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { createS3Client } from '../../src/repository/s3/client.ts';
import type { RoleCredentials } from '../../src/sso/role-credentials.ts';
import { type SignInWorld, signInWorld } from '../helpers/sign-in/signed-in.ts';

/** A service that answers in the documented format; what the real ones do with roles is theirs. */
async function tokenService({ life = 3600, refuses = false } = {}) {
  const requests: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    requests.push(new URLSearchParams(await text(request)));
    const expiration = new Date(Date.now() + life * 1000).toISOString();
    if (refuses)
      response
        .writeHead(403)
        .end('<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not you</Message></Error></ErrorResponse>');
    else
      response.end(`<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult><Credentials><SessionToken>session-${requests.length}</SessionToken>
  <SecretAccessKey>secret</SecretAccessKey><Expiration>${expiration}</Expiration><AccessKeyId>key</AccessKeyId>
  </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return { requests, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const profile = (endpoint: string): string => `storage_profiles:
  team:
    provider: minio
    bucket: b
    endpoint: http://127.0.0.1:9
    role_arn: arn:aws:iam::1:role/snapshots
    sts_endpoint: ${endpoint}
`;

async function credentialsIn(world: SignInWorld): Promise<RoleCredentials> {
  const { roleCredentials } = await world.open();
  if (!roleCredentials) throw new Error('no storage profile has a role');
  return roleCredentials;
}

it('a role gives temporary credentials for the ID token, cached until they expire', async () => {
  const { requests, endpoint } = await tokenService();
  const world = await signInWorld(profile(endpoint));
  await signIn(await world.open(), {});
  const roleCredentials = await credentialsIn(world);
  const credentials = await roleCredentials('team');
  expect(credentials).toMatchObject({ accessKeyId: 'key', secretAccessKey: 'secret', sessionToken: 'session-1' });
  expect(await roleCredentials('team')).toBe(credentials);
  expect(requests).toHaveLength(1);
  expect(Object.fromEntries(requests[0] ?? [])).toEqual({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: 'arn:aws:iam::1:role/snapshots',
    RoleSessionName: 'tool-ann@example.com',
    WebIdentityToken: expect.stringMatching(/^eyJ/),
  });
});

it('credentials about to expire are renewed', async () => {
  const { requests, endpoint } = await tokenService({ life: 60 });
  const world = await signInWorld(profile(endpoint));
  await signIn(await world.open(), {});
  const roleCredentials = await credentialsIn(world);
  await roleCredentials('team');
  await expect(roleCredentials('team')).resolves.toMatchObject({ sessionToken: 'session-2' });
  expect(requests).toHaveLength(2);
});

it("a refused role is an error with the service's message, without the token", async () => {
  const { endpoint } = await tokenService({ refuses: true });
  const world = await signInWorld(profile(endpoint));
  await signIn(await world.open(), {});
  const roleCredentials = await credentialsIn(world);
  const failed = await roleCredentials('team').catch((error) => error);
  expect(failed).toMatchObject({ code: 'role_refused', exit: 4, details: ['403 AccessDenied: Not you'] });
  expect(JSON.stringify([failed.message, failed.hint, failed.details])).not.toMatch(/eyJ/);
});

it('a refused role is not retried', async () => {
  const { requests, endpoint } = await tokenService({ refuses: true });
  const world = await signInWorld(
    `${profile(endpoint)}targets: { shared: { share: { storage_profile_name: team } } }\n`,
  );
  await signIn(await world.open(), {});
  await expect(listSnapshots(await world.open(), 'shared')).rejects.toMatchObject({ code: 'role_refused' });
  expect(requests).toHaveLength(1);
});

it('the token goes to no other machine without encryption', async () => {
  const world = await signInWorld(profile('http://sts.example.com'));
  await signIn(await world.open(), {});
  const roleCredentials = await credentialsIn(world);
  await expect(roleCredentials('team')).rejects.toMatchObject({ code: 'role_insecure', exit: 3 });
});

it('without a sign-in there are no credentials', async () => {
  const world = await signInWorld(profile('http://127.0.0.1:9'));
  const roleCredentials = await credentialsIn(world);
  await expect(roleCredentials('team')).rejects.toMatchObject({ code: 'not_signed_in', exit: 4 });
});

it('a profile with a role signs with its credentials, not with other keys', async () => {
  const { endpoint } = await tokenService();
  const world = await signInWorld(profile(endpoint));
  await signIn(await world.open(), {});
  const roleCredentials = await credentialsIn(world);
  const keys = { access_key: 'shared', secret_key: 'shared' };
  const bucket = { provider: 'minio', bucket: 'b', endpoint: 'http://127.0.0.1:9', ...keys } as const;
  const client = await createS3Client(bucket, () => roleCredentials('team'));
  expect(await client.config.credentials()).toMatchObject({ accessKeyId: 'key', sessionToken: 'session-1' });
});

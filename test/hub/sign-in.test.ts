import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { exchangeToken, openCloud } from '../../src/operations/cloud/open-cloud.ts';
import { endHubSession } from '../../src/operations/cloud/sign-in/end-hub-session.ts';
import { signInToHub } from '../../src/operations/cloud/sign-in/sign-in-to-hub.ts';
import { claimsOf } from '../../src/sso/session.ts';
import { putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, eventually, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { freePort } from '../helpers/proxies/free-port.ts';
import { type SignInWorld, signInWorld } from '../helpers/sign-in/signed-in.ts';
import { startTokenIssuer } from '../helpers/sign-in/token-issuer.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

describeWithPostgres('signing in to the hub', () => {
  const postgres = suiteResource(() => startPostgres());
  let databases = 0;

  /** A database of its own for each hub, on one server. */
  async function hubWith(change: Parameters<typeof startHub>[0]): Promise<TestHub> {
    databases += 1;
    const name = `hub${databases}`;
    await postgres.createDatabase(name);
    const hub = await startHub({ databaseUrl: postgres.url(name), ...change }, postgres);
    onTestFinished(() => hub.stop());
    return hub;
  }

  interface World {
    world: SignInWorld;
    hub: TestHub;
  }

  async function worldWithHub(options: Parameters<typeof signInWorld>[1] = {}): Promise<World> {
    const port = await freePort();
    const world = await signInWorld(`env: development\ndev_api_url: http://127.0.0.1:${port}\n`, options);
    const { provider_url, client_id } = world.provider.settings;
    const signIn = { provider_url, client_id, redirect_url: 'http://127.0.0.1:0/callback', groups_claim: 'groups' };
    const hub = await hubWith({ signIn, memberGroups: ['ops'], listen: { host: '127.0.0.1', port } });
    return { world, hub };
  }

  test('the client asks the hub for its provider, signs in there and stores the token encrypted', async () => {
    const { world, hub } = await worldWithHub();
    const result = await signInToHub(await world.open(), { device: false });
    expect(result).toMatchObject({ provider: 'hub', signed_in: true, groups: ['developers', 'ops'] });
    const text = await world.text();
    expect(text).toMatch(/^authtoken: \$aes\$/m);
    expect(text).toMatch(/^sso:[\s\S]*hub:\s+provider_url: http/m);
    expect(text).toContain('# our provider');
    const context = await world.open();
    const { body } = await (await openCloud(context)).call('me');
    expect(body).toMatchObject({
      kind: 'user',
      name: 'ann@example.com',
      role: 'member',
      groups: ['developers', 'ops'],
    });
    const token = context.configuration.settings.authtoken ?? '';
    expect(token).toMatch(/^toolhub_/);
    // Neither the log nor the database has it.
    expect(hub.lines.join('')).not.toContain(token);
    expect(
      await postgres.psql(`hub${databases}`, { sql: 'SELECT tokens::text, users::text FROM tokens, users' }),
    ).not.toContain(token);
  });

  test('groups that only the userinfo endpoint tells are taken from there', async () => {
    const { world } = await worldWithHub({ claimsInUserInfo: true });
    await signInToHub(await world.open(), { device: false });
    const { body } = await (await openCloud(await world.open())).call('me');
    expect(body?.groups).toEqual(['developers', 'ops']);
  });

  test('an ID token is exchanged once, however its signature is spelled', async () => {
    const { url, sign } = await startTokenIssuer();
    const hub = await hubWith({
      signIn: { provider_url: url, client_id: 'tool', redirect_url: null, groups_claim: 'groups' },
    });
    const token = sign({});
    const end = token.slice(-4);
    // The last digit of the 256 bytes has four bits that say nothing.
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const other = digits[digits.indexOf(token.slice(-1)) ^ 1];
    const spellings = [token, `${token}==`, `${token} `, `${token.slice(0, -4)}\n${end}`, token.slice(0, -1) + other];
    const statuses: number[] = [];
    for (const id_token of spellings)
      statuses.push((await hub.send('POST', '/sessions', { body: { id_token } })).status);
    expect(statuses).toEqual([201, ...spellings.slice(1).map(() => 401)]);
  });

  test('the token of a job signs in as no person where GitLab is the provider of people, too', async () => {
    const { url, sign } = await startTokenIssuer();
    const signIn = { provider_url: url, client_id: 'tool', redirect_url: null, groups_claim: 'groups_direct' };
    const rules = [{ repository: 'acme/app', ref: 'refs/heads/main', targets: ['orders'] }];
    const person = { groups_direct: ['owners'] };
    const job = { ...person, project_path: 'acme/app', ref: 'main', ref_type: 'branch', pipeline_source: 'push' };
    for (const gitlab of [
      { issuer: url, rules: [] },
      { issuer: url, rules },
    ]) {
      const hub = await hubWith({ signIn, gitlab });
      await putTarget(hub, 'orders', { settings: {} });
      const roleOf = async (claims: object) => {
        const { status, body } = await hub.send('POST', '/sessions', { body: { id_token: sign(claims) } });
        return body.user?.role ?? status;
      };
      expect(await roleOf(job)).toBe(401);
      expect(await roleOf({ ...job, aud: ['tool', hub.settings.publicUrl], azp: 'tool' })).not.toBe('owner');
      expect(await roleOf(person)).toBe('owner');
      expect(await roleOf({ ...job, aud: hub.settings.publicUrl })).toBe(rules === gitlab.rules ? 'builder' : 401);
    }
  });

  test('a client exchanges an ID token once', async () => {
    const { world, hub } = await worldWithHub();
    await signInToHub(await world.open(), { device: false });
    const context = await world.open();
    const { id_token = '', access_token = '' } = await sessionOf(world);
    await expect(exchangeToken(context, id_token, access_token)).rejects.toMatchObject({
      code: 'cloud_token_refused',
      exit: 4,
    });
    expect(hub.lines.join('')).not.toContain(id_token);
  });

  test('a token that was revoked is replaced by a new one, as long as the provider refreshes the sign-in', async () => {
    const { world, hub } = await worldWithHub();
    await signInToHub(await world.open(), { device: false });
    const context = await world.open();
    const before = context.configuration.settings.authtoken ?? '';
    // Two ID tokens of one second are the same.
    const issued = claimsOf((await sessionOf(world)).id_token)?.iat;
    await eventually(async () => Math.floor(Date.now() / 1000) > Number(issued));
    await hub.send('DELETE', '/sessions/current', { token: before });
    const { body } = await (await openCloud(context)).call('me');
    expect(body?.name).toBe('ann@example.com');
    expect(world.provider.refreshes()).toBe(1);
    expect((await world.open()).configuration.settings.authtoken).not.toBe(before);
  });

  test('a disabled user is refused at once and at the next sign-in, and enabling revives no session', async () => {
    const { world, hub } = await worldWithHub();
    await signInToHub(await world.open(), { device: false });
    const { items } = (await hub.send('GET', '/users', { token: hub.ownerToken })).body;
    await hub.send('PATCH', `/users/${items[0].id}`, { token: hub.ownerToken, body: { disabled: true } });
    const { authtoken: token } = (await world.open()).configuration.settings;
    expect((await hub.send('GET', '/me', { token })).status).toBe(401);
    await expect((await openCloud(await world.open())).call('me')).rejects.toMatchObject({ code: 'not_permitted' });
    await expect(signInToHub(await world.open(), { device: false })).rejects.toMatchObject({ code: 'not_permitted' });
    await hub.send('PATCH', `/users/${items[0].id}`, { token: hub.ownerToken, body: { disabled: false } });
    expect((await hub.send('GET', '/me', { token })).status).toBe(401);
  });

  test('logging out ends the session of the hub and removes its token', async () => {
    const { world, hub } = await worldWithHub();
    await signInToHub(await world.open(), { device: false });
    const context = await world.open();
    await endHubSession(context);
    expect(await readFile(world.file, 'utf8')).not.toMatch(/^authtoken/m);
    const token = context.configuration.settings.authtoken ?? '';
    expect((await hub.send('GET', '/me', { token })).status).toBe(401);
  });

  async function sessionOf(world: SignInWorld): Promise<{ id_token: string; access_token: string }> {
    const { sso } = (await world.open()).configuration.settings;
    return { id_token: sso.hub?.id_token ?? '', access_token: sso.hub?.access_token ?? '' };
  }

  test('the audit names people by verified addresses only, and tells two people with one name apart', async () => {
    const { url, sign } = await startTokenIssuer();
    const hub = await hubWith({
      signIn: { provider_url: url, client_id: 'tool', redirect_url: null, groups_claim: 'groups' },
    });
    const groups: string[] = [];
    const signIn = async (claims: object): Promise<void> => {
      const body = { id_token: sign({ groups, ...claims }) };
      expect((await hub.send('POST', '/sessions', { body })).status).toBe(201);
    };
    const address = 'ceo@example.com';
    await signIn({ sub: '1', email: address, email_verified: true });
    await signIn({ sub: '2', email: address, email_verified: false, name: 'Ann' });
    await signIn({ sub: '3', email: address, name: 'Ann' });
    await signIn({ sub: '4', email: address, email_verified: 'true', preferred_username: address });
    const { body } = await hub.send('GET', '/audit_events', { token: hub.ownerToken });
    const people = body.items.map(({ actor, subject, issuer }: Record<string, string>) => ({ actor, subject, issuer }));
    expect(people.reverse()).toEqual([
      { actor: address, subject: '1', issuer: url },
      { actor: 'Ann', subject: '2', issuer: url },
      { actor: 'Ann', subject: '3', issuer: url },
      { actor: '4', subject: '4', issuer: url },
    ]);
    const chosen = await hub.send('GET', '/audit_events?actor=Ann&subject=3', { token: hub.ownerToken });
    expect(chosen.body.items).toMatchObject([{ actor: 'Ann', subject: '3' }]);
    const csv = await hub.send('GET', '/audit_events', { token: hub.ownerToken, headers: { accept: 'text/csv' } });
    expect(csv.text).toContain(`,3,${url}`);
  });

  test('forged ID tokens are refused, and leave no user', async () => {
    const { url, sign } = await startTokenIssuer();
    const hub = await hubWith({
      signIn: { provider_url: url, client_id: 'tool', redirect_url: null, groups_claim: 'groups' },
    });
    const old = Math.floor(Date.now() / 1000) - 700;
    const forged: Record<string, string> = {
      'no token': 'nothing',
      'another audience': sign({ aud: 'other' }),
      'several audiences, for another client': sign({ aud: ['tool', 'other'], azp: 'other' }),
      'another issuer': sign({ iss: 'https://other.example.com' }),
      expired: sign({ exp: old }),
      'older than ten minutes': sign({ iat: old }),
      'without its time': sign({ iat: undefined }),
      'without subject': sign({ sub: undefined }),
      'signed by a stranger': sign({}, { byStranger: true }),
      unsigned: sign({}, { header: { alg: 'none' }, unsigned: true }),
      'with a shared secret': sign({}, { header: { alg: 'HS256' } }),
    };
    for (const [what, id_token] of Object.entries(forged)) {
      const { status, body } = await hub.send('POST', '/sessions', { body: { id_token } });
      expect({ status, code: body.code }, what).toEqual({ status: 401, code: 'cloud_token_refused' });
    }
    expect((await hub.send('GET', '/users', { token: hub.ownerToken })).body.items).toEqual([]);
    expect((await hub.send('POST', '/sessions', { body: { id_token: sign({}) } })).status).toBe(201);
  });

  test('a workflow of the named repository and branch builds without a stored secret; any other does not', async () => {
    const { url, sign } = await startTokenIssuer();
    const rules = [{ repository: 'acme/app', ref: 'refs/heads/main', targets: ['orders', 'unknown'] }];
    const hub = await hubWith({ github: { issuer: url, rules } });
    await putTarget(hub, 'orders', { settings: {} });
    const right = { aud: hub.settings.publicUrl, repository: 'acme/app', ref: 'refs/heads/main', event_name: 'push' };
    const opened = await hub.send('POST', '/sessions', { body: { id_token: sign(right) } });
    expect(opened.status).toBe(201);
    expect(opened.body.user).toMatchObject({ kind: 'service', role: 'builder', targets: ['orders'] });
    const { items } = (await hub.send('GET', '/targets', { token: opened.body.authtoken })).body;
    expect(items).toMatchObject([{ name: 'orders', permissions: ['read', 'push', 'read_source'] }]);
    const others: Record<string, [object, number]> = {
      'another repository': [{ repository: 'eve/app' }, 403],
      'another branch': [{ ref: 'refs/heads/feature' }, 403],
      'a pull request of a stranger': [{ event_name: 'pull_request_target' }, 403],
      'for another service': [{ aud: 'https://other.example.com' }, 401],
    };
    for (const [what, [change, status]] of Object.entries(others)) {
      const answer = await hub.send('POST', '/sessions', { body: { id_token: sign({ ...right, ...change }) } });
      expect(answer.status, what).toBe(status);
    }
  });

  test('a pipeline of GitLab of the named project and branch builds without a stored secret; any other does not', async () => {
    const { url, sign } = await startTokenIssuer();
    const rules = [{ repository: 'acme/apps/app', ref: 'refs/heads/main', targets: ['orders'] }];
    const hub = await hubWith({ gitlab: { issuer: url, rules } });
    await putTarget(hub, 'orders', { settings: {} });
    const where = { project_path: 'acme/apps/app', ref: 'main', ref_type: 'branch', pipeline_source: 'schedule' };
    const right = { aud: hub.settings.publicUrl, ...where };
    const opened = await hub.send('POST', '/sessions', { body: { id_token: sign(right) } });
    expect(opened.status, opened.text).toBe(201);
    expect(opened.body.user).toMatchObject({ name: 'gitlab:acme/apps/app@main', role: 'builder', targets: ['orders'] });
    const others: Record<string, [object, number]> = {
      'another project': [{ project_path: 'eve/app' }, 403],
      'another branch': [{ ref: 'feature' }, 403],
      'a tag of the name': [{ ref_type: 'tag' }, 403],
      'a merge request of a stranger': [{ pipeline_source: 'merge_request_event' }, 403],
      'claims of GitHub': [{ project_path: undefined, repository: 'acme/apps/app', event_name: 'push' }, 403],
      'for another service': [{ aud: 'https://other.example.com' }, 401],
    };
    for (const [what, [change, status]] of Object.entries(others)) {
      const answer = await hub.send('POST', '/sessions', { body: { id_token: sign({ ...right, ...change }) } });
      expect(answer.status, what).toBe(status);
    }
  });

  test('a service token has a role, targets and an end, is shown once, and ends when it is revoked', async () => {
    const hub = await hubWith({});
    await putTarget(hub, 'orders', { settings: {} });
    const request = { name: 'ci', role: 'builder', targets: ['orders'], expires_in_days: 30 };
    const { status, body } = await hub.send('POST', '/tokens', { token: hub.ownerToken, body: request });
    expect(status).toBe(201);
    expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(29 * 86_400_000);
    const listed = await hub.send('GET', '/tokens', { token: hub.ownerToken });
    expect(listed.text).not.toContain(body.authtoken);
    expect(listed.body.items.find(({ id }: { id: string }) => id === body.id)).toMatchObject({ targets: ['orders'] });
    expect((await hub.send('GET', '/me', { token: body.authtoken })).body).toMatchObject({
      role: 'builder',
      targets: ['orders'],
    });
    await hub.send('DELETE', `/tokens/${body.id}`, { token: hub.ownerToken });
    expect((await hub.send('GET', '/me', { token: body.authtoken })).status).toBe(401);
    const unknown = { ...request, targets: ['orders', 'nowhere'] };
    expect((await hub.send('POST', '/tokens', { token: hub.ownerToken, body: unknown })).body).toMatchObject({
      code: 'cloud_refused',
      errors: [{ pointer: '/targets/1', detail: 'is unknown' }],
    });
    const owner = { ...request, role: 'owner' };
    expect((await hub.send('POST', '/tokens', { token: hub.ownerToken, body: owner })).status).toBe(422);
  });
});

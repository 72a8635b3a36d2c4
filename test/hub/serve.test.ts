import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../hub/database/database.ts';
import { MIGRATIONS } from '../../hub/database/migrations.ts';
import { migrate } from '../../hub/migrate.ts';
import { assertReady } from '../../hub/ready.ts';
import { readHubSettings } from '../../hub/settings/settings.ts';
import { fingerprint } from '../../src/cloud/contract/fingerprint.ts';
import { putStorageProfile, putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  temporaryFolder,
} from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { freePort } from '../helpers/proxies/free-port.ts';
import { startTokenIssuer } from '../helpers/sign-in/token-issuer.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

interface Running {
  child: ChildProcess;
  output: () => string;
  ended: Promise<number | null>;
}

function tool(words: string[], environment: NodeJS.ProcessEnv = {}): Running {
  const { PATH, TMPDIR } = process.env;
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    env: { PATH, TMPDIR, HOME: '/nonexistent', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, output: () => output, ended };
}

describeWithPostgres('tool hub', () => {
  const postgres = suiteResource(() => startPostgres());

  test('serve --dev starts a database of its own, prints an owner token once, and ends with SIGTERM', async () => {
    const port = await freePort();
    const hub = tool(['hub', 'serve', '--dev'], { TOOL_HUB_LISTEN: `127.0.0.1:${port}` });
    await eventually(async () => hub.output().includes('toolhub_'), { deadline: 25_000 });
    const [token = ''] = /toolhub_[\w-]+/.exec(hub.output()) ?? [];
    const at = (path: string) =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });
    expect(await (await at('/readyz')).text()).toBe('ready\n');
    expect(await (await at('/api/v3/me')).json()).toMatchObject({ role: 'owner' });
    hub.child.kill('SIGTERM');
    expect(await hub.ended).toBe(0);
    expect(hub.output().match(/toolhub_/g)).toHaveLength(1);
  });

  test('migrate, then serve with settings from files; serve never migrates', async () => {
    await postgres.createDatabase('served');
    await using folder = await temporaryFolder();
    const files = {
      DATABASE_URL: postgres.url('served'),
      KEYS: randomBytes(32).toString('hex'),
    };
    const environment: NodeJS.ProcessEnv = {
      TOOL_HUB_PUBLIC_URL: 'https://hub.example.com',
      TOOL_HUB_PROVIDER_URL: 'https://idp.example.com',
      TOOL_HUB_CLIENT_ID: 'tool',
      TOOL_HUB_OWNER_GROUPS: 'owners',
      TOOL_HUB_LISTEN: `127.0.0.1:${await freePort()}`,
      TOOL_HUB_METRICS_LISTEN: `127.0.0.1:${await freePort()}`,
    };
    for (const [name, text] of Object.entries(files)) {
      const file = join(folder.path, name);
      await writeFile(file, `${text}\n`, { mode: 0o600 });
      environment[`TOOL_HUB_${name}_FILE`] = file;
    }
    const early = tool(['hub', 'serve'], environment);
    expect(await early.ended).toBe(1);
    expect(early.output()).toContain('tool hub migrate');
    const first = tool(['hub', 'migrate', '--json'], environment);
    expect(await first.ended).toBe(0);
    expect(JSON.parse(first.output())).toEqual({ migrations: Object.keys(MIGRATIONS), rewrapped: 0 });
    const second = tool(['hub', 'migrate'], environment);
    await second.ended;
    expect(second.output()).toContain('The schema is up to date');
    const hub = tool(['hub', 'serve'], environment);
    await eventually(async () => hub.output().includes('listening'), { deadline: 20_000 });
    const root = await fetch(`http://${environment.TOOL_HUB_LISTEN}/api/v3`);
    expect(await root.json()).toMatchObject({
      sign_in: { provider_url: 'https://idp.example.com', client_id: 'tool' },
    });
    const metrics = await (await fetch(`http://${environment.TOOL_HUB_METRICS_LISTEN}/metrics`)).text();
    expect(metrics).toContain('tool_hub_requests_total{route="root",status="200"} 1');
    expect(metrics).toContain('tool_hub_database_connections_total');
    const lines = hub
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({ level: 'info', route: 'root', status: 200, address: '127.0.0.1' });
    expect(hub.output()).not.toContain(files.KEYS);
  });

  test('migrations of one database at the same time take turns', async () => {
    for (const round of [1, 2, 3]) {
      const [name, role] = [`at_once_${round}`, `serving_${round}`];
      await postgres.createDatabase(name);
      await postgres.psql('postgres', { sql: `CREATE ROLE ${role}` });
      const environment = { TOOL_HUB_DATABASE_URL: postgres.url(name), TOOL_HUB_DATABASE_ROLE: role };
      const done = await Promise.all([1, 2, 3, 4].map(() => migrate(environment)));
      expect(done.flatMap(({ migrations }) => migrations)).toEqual(Object.keys(MIGRATIONS));
    }
  });

  test.each([
    ['schema', "INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-later', now())"],
    ['schema of the queue', 'UPDATE pgboss.version SET version = version + 1'],
  ])('migrate and serve report a newer %s with one message', async (what, later) => {
    const name = what.replaceAll(' ', '_');
    await postgres.createDatabase(name);
    const environment = { TOOL_HUB_DATABASE_URL: postgres.url(name) };
    await migrate(environment);
    await postgres.psql(name, { sql: later });
    const { db, [Symbol.asyncDispose]: close } = openDatabase(postgres.url(name));
    onTestFinished(close);
    const newer = { code: 'hub_schema_newer', exit: 1 };
    await expect(migrate(environment)).rejects.toMatchObject(newer);
    await expect(assertReady(db, { keys: [] })).rejects.toMatchObject(newer);
  });

  test('every setting that is wrong or missing is named at once, without its value', async () => {
    const environment = {
      TOOL_HUB_KEYS: 'my-secret-key',
      TOOL_HUB_DATABASE_URL: 'postgres://localhost/hub',
      TOOL_HUB_DATABASE_URL_FILE: '/run/secrets/url',
      TOOL_HUB_PUBLIC_URL: 'http://hub.example.com',
      TOOL_HUB_GITHUB_BUILDERS: 'acme/app',
      TOOL_HUB_LISTEN: 'everywhere',
      TOOL_HUB_WEBHOOK_URL: 'http://hooks.example.com/',
      TOOL_HUB_WEBHOOK_SECRET: 'my-secret-key',
      TOOL_HUB_PROVIDER: 'https://idp.example.com',
    };
    const error = await readHubSettings(environment, { dev: false }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'hub_settings_invalid', exit: 3 });
    expect(error.details.map((detail: string) => detail.split(' ')[0])).toEqual([
      'TOOL_HUB_PROVIDER',
      'TOOL_HUB_DATABASE_URL',
      'TOOL_HUB_PROVIDER_URL',
      'TOOL_HUB_CLIENT_ID',
      'TOOL_HUB_OWNER_GROUPS',
      'TOOL_HUB_PUBLIC_URL',
      'TOOL_HUB_KEYS',
      'TOOL_HUB_LISTEN',
      'TOOL_HUB_GITHUB_BUILDERS',
      'TOOL_HUB_WEBHOOK_URL',
      'TOOL_HUB_WEBHOOK_SECRET',
    ]);
    expect(error.details.join()).not.toContain('my-secret-key');
  });

  test('a trial listens on this machine only', async () => {
    const read = readHubSettings(
      { TOOL_HUB_LISTEN: '0.0.0.0:3000' },
      { dev: true, databaseUrl: 'postgres://localhost/hub' },
    );
    await expect(read).rejects.toMatchObject({ details: ['A trial (--dev) listens on this machine only: 127.0.0.1'] });
  });

  async function ownHub(change: Parameters<typeof startHub>[0] = {}): Promise<TestHub> {
    const name = `hub_${randomBytes(4).toString('hex')}`;
    await postgres.createDatabase(name);
    return startHub({ databaseUrl: postgres.url(name), ...change }, postgres);
  }

  test('a request that has begun is answered although the instance ends; a new one is not accepted', async () => {
    const hub = await ownHub();
    const body = JSON.stringify({ settings: {} });
    const port = Number(new URL(hub.url).port);
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk));
    const closed = new Promise((resolve) => socket.on('close', resolve));
    const head = [
      'PUT /api/v3/targets/late HTTP/1.1',
      'host: hub',
      `authorization: Bearer ${hub.ownerToken}`,
      'content-type: application/json',
      'if-none-match: *',
      `content-length: ${body.length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
    // The server has read the head when it answers another request on its own connection.
    await hub.send('GET', '/me', { token: hub.ownerToken });
    const stopped = hub.stop();
    await eventually(async () => hub.lines.some((line) => line.includes('"ending"')));
    await expect(eventually(async () => !(await accepts(port)))).resolves.toBeUndefined();
    socket.write(body.slice(5));
    await closed;
    await stopped;
    expect(answer).toMatch(/^HTTP\/1.1 201 /);
    expect(answer.toLowerCase()).toContain('connection: close');
    expect(hub.lines.at(-1)).toContain('"ended"');
  });

  function accepts(port: number): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
  }

  test('malformed, huge, cross-origin and unknown requests receive their error and change nothing', async () => {
    const hub = await ownHub();
    onTestFinished(() => hub.stop());
    const create = { 'if-none-match': '*' };
    const put = (options: object) =>
      hub.send('PUT', '/targets/orders', { token: hub.ownerToken, headers: create, ...options });
    const cases: [string, Promise<{ status: number; body: { code: string } }>, number, string][] = [
      ['no JSON', put({ body: '{"settings":' }), 422, 'cloud_refused'],
      ['an unknown field', put({ body: { settings: {}, owner: true } }), 422, 'cloud_refused'],
      ['an unknown setting', put({ body: { settings: { query_file: 'x' } } }), 422, 'cloud_refused'],
      [
        'a body of another type',
        put({ body: 'a=b', headers: { ...create, 'content-type': 'text/plain' } }),
        422,
        'cloud_refused',
      ],
      ['a body of 2 MB', put({ body: { settings: { name: 'x'.repeat(2_000_000) } } }), 413, 'cloud_too_large'],
      [
        'from a page of another site',
        put({ body: { settings: {} }, headers: { ...create, origin: 'https://evil.example' } }),
        403,
        'not_permitted',
      ],
      [
        'sent by a browser',
        put({ body: { settings: {} }, headers: { ...create, 'sec-fetch-site': 'cross-site' } }),
        403,
        'not_permitted',
      ],
      ['without a revision', put({ body: { settings: {} }, headers: {} }), 428, 'cloud_condition'],
      [
        'of an old program',
        put({ body: { settings: {} }, headers: { ...create, 'user-agent': 'tool/0.0.9' } }),
        426,
        'tool_too_old',
      ],
      ['without a token', put({ body: { settings: {} }, token: undefined }), 401, 'cloud_token_refused'],
      [
        'an unknown parameter',
        hub.send('GET', '/targets?limit=1&all=1', { token: hub.ownerToken }),
        422,
        'cloud_refused',
      ],
      ['a limit of 0', hub.send('GET', '/targets?limit=0', { token: hub.ownerToken }), 422, 'cloud_refused'],
      [
        'a parameter twice',
        hub.send('GET', '/targets?limit=1&limit=2', { token: hub.ownerToken }),
        422,
        'cloud_refused',
      ],
      [
        'a made-up cursor',
        hub.send('GET', '/users?cursor=WyJhIiwiYiJd', { token: hub.ownerToken }),
        422,
        'cloud_refused',
      ],
      ['a cursor that is none', hub.send('GET', '/targets?cursor=x', { token: hub.ownerToken }), 422, 'cloud_refused'],
      [
        'a name that cannot be',
        hub.send('GET', `/targets/${'x'.repeat(101)}`, { token: hub.ownerToken }),
        404,
        'cloud_unknown',
      ],
      ['a folder above', hub.send('GET', '/targets/..%2f..', { token: hub.ownerToken }), 404, 'cloud_unknown'],
      ['U+0000 in a query', hub.send('GET', '/targets?q=%00', { token: hub.ownerToken }), 422, 'cloud_refused'],
      ['U+0000 in a body', put({ body: { settings: { name: 'a\u0000b' } } }), 422, 'cloud_refused'],
      ['no such path', hub.send('GET', '/nowhere', { token: hub.ownerToken }), 404, 'cloud_unknown'],
      ['no such method', hub.send('PATCH', '/targets/orders', { token: hub.ownerToken }), 405, 'cloud_method'],
    ];
    for (const [what, sent, status, code] of cases) {
      const answer = await sent;
      expect({ status: answer.status, code: answer.body.code }, what).toEqual({ status, code });
      expect(answer.body, what).toMatchObject({ type: `urn:tool:${code}`, request_id: expect.stringMatching(/./) });
    }
    expect((await hub.send('GET', '/targets', { token: hub.ownerToken })).body.items).toEqual([]);
    expect(hub.lines.join('')).not.toContain(hub.ownerToken.slice(0, 20).concat('"'));
  });

  test('a body without an end is cut off at its limit', async () => {
    const hub = await ownHub();
    onTestFinished(() => hub.stop());
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(`${hub.url}/api/v3/targets/orders`, {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${hub.ownerToken}`,
          'content-type': 'application/json',
          'if-none-match': '*',
        },
      });
      request.on('response', (response) => resolve(response.resume().statusCode));
      request.on('error', reject);
      for (let count = 0; count < 40; count += 1) request.write('x'.repeat(64 * 1024));
    });
    expect(status).toBe(413);
  });

  test('a change names the revision that it changes, and loses against an earlier one', async () => {
    const hub = await ownHub();
    onTestFinished(() => hub.stop());
    const put = (headers: Record<string, string>, name: string) =>
      hub.send('PUT', '/targets/orders', { token: hub.ownerToken, body: { settings: { name } }, headers });
    expect(await put({ 'if-none-match': '*' }, 'one')).toMatchObject({ status: 201 });
    expect((await put({ 'if-none-match': '*' }, 'two')).body.code).toBe('cloud_changed');
    const both = await Promise.all([put({ 'if-match': '"1"' }, 'two'), put({ 'if-match': '"1"' }, 'three')]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
    const { headers, body } = await hub.send('GET', '/targets/orders', { token: hub.ownerToken });
    expect({ etag: headers.get('etag'), revision: body.revision }).toEqual({ etag: '"2"', revision: 2 });
  });

  test('a list that is known already is not sent again', async () => {
    const hub = await ownHub();
    onTestFinished(() => hub.stop());
    const first = await hub.send('GET', '/targets', { token: hub.ownerToken });
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
    expect((await hub.send('GET', '/targets', { token: hub.ownerToken, headers })).status).toBe(304);
    await hub.send('PUT', '/targets/new', {
      token: hub.ownerToken,
      body: { settings: {} },
      headers: { 'if-none-match': '*' },
    });
    expect((await hub.send('GET', '/targets', { token: hub.ownerToken, headers })).status).toBe(200);
  });

  test('lists have pages that miss and repeat nothing', async () => {
    const hub = await ownHub();
    onTestFinished(() => hub.stop());
    const names = Array.from({ length: 7 }, (_, index) => `target-${index}`);
    const headers = { 'if-none-match': '*' };
    for (const name of names)
      await hub.send('PUT', `/targets/${name}`, { token: hub.ownerToken, body: { settings: {} }, headers });
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const next: string = cursor === null ? '' : `&cursor=${cursor}`;
      const { body } = await hub.send('GET', `/targets?limit=3${next}`, { token: hub.ownerToken });
      expect(body.items.length).toBeLessThanOrEqual(3);
      found.push(...body.items.map(({ name }: { name: string }) => name));
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(found).toEqual(names);
  });

  test('a list goes on after the longest names', async () => {
    const { url, sign } = await startTokenIssuer();
    const signIn = { provider_url: url, client_id: 'tool', redirect_url: null, groups_claim: 'groups' };
    const hub = await ownHub({ signIn });
    onTestFinished(() => hub.stop());
    const token = hub.ownerToken;
    for (const sub of ['1', '2']) {
      const id_token = sign({ sub, name: '\u0001\u{1F600}'.repeat(500) });
      expect((await hub.send('POST', '/sessions', { body: { id_token } })).status).toBe(201);
    }
    const profile = { provider: 's3', region: 'eu-1', bucket: 'team', access_key: 'key', secret_key: 'secret' };
    const names = ['"'.repeat(100), '\uFFFD'.repeat(100)].map(encodeURIComponent);
    for (const name of names) {
      await putTarget(hub, name, { settings: {} });
      await putStorageProfile(hub, name, profile);
    }
    for (const [list, length] of Object.entries({ users: 2, targets: 2, storage_profiles: 2 })) {
      let cursor: string | null = '';
      let found = 0;
      for (; cursor !== null; found += 1) {
        const next: string = cursor && `&cursor=${cursor}`;
        const { status, body, text } = await hub.send('GET', `/${list}?limit=1${next}`, { token });
        expect(status, text).toBe(200);
        cursor = body.next_cursor;
      }
      expect(found, list).toBe(length);
    }
  });

  test('a change keeps the rows of unchanged secrets, and a digest is computed for its first reader', async () => {
    const hub = await ownHub();
    onTestFinished(() => hub.stop());
    await putStorageProfile(hub, 'kept', { provider: 's3', bucket: 'b', access_key: 'first', secret_key: 'second' });
    const rows = () =>
      hub.database.db
        .selectFrom('secrets')
        .innerJoin('storage_profiles', 'storage_profiles.id', 'owner_id')
        .select(['field', 'sealed', 'salt', 'digest'])
        .where('name', '=', 'kept')
        .orderBy('field')
        .execute();
    const put = async (revision: number, secret_key: string) => {
      const settings = { provider: 's3', bucket: 'b', access_key: 'first', secret_key };
      const headers = { 'if-match': `"${revision}"` };
      const path = '/storage_profiles/kept';
      expect((await hub.send('PUT', path, { token: hub.ownerToken, body: { settings }, headers })).status).toBe(200);
    };
    const get = () => hub.send('GET', '/storage_profiles/kept', { token: hub.ownerToken });
    // Nobody has compared them, so that the write did not wait for their digests.
    expect(await rows()).toMatchObject([{ digest: '' }, { digest: '' }]);
    const both = await Promise.all([get(), get()]);
    expect(both[0]?.body.secrets).toEqual(both[1]?.body.secrets);
    const [access, secret] = await rows();
    await put(1, 'second');
    expect(await rows()).toEqual([access, secret]);
    await put(2, 'third');
    expect(await rows()).toMatchObject([access, { field: 'secret_key', digest: '' }]);
    const { body } = await get();
    expect(body.secrets.secret_key.digest).toBe(fingerprint('third', body.secrets.secret_key.salt));
    expect(body.secrets.access_key).toEqual({ salt: access?.salt, digest: access?.digest });
  });

  test('secrets are sealed: neither the database nor any answer has them, and another hub key cannot open them', async () => {
    const hub = await ownHub();
    onTestFinished(() => hub.stop());
    const profile = { provider: 's3', bucket: 'b', access_key: 'AKIA-in-clear', secret_key: 'secret-in-clear' };
    await putStorageProfile(hub, 'team', profile);
    const src_url = 'postgres://app:password-in-clear@db.example.com/orders';
    const body = { settings: { snapshot: { src_url } } };
    await hub.send('PUT', '/targets/orders', { token: hub.ownerToken, body, headers: { 'if-none-match': '*' } });
    const shown = await hub.send('GET', '/targets/orders', { token: hub.ownerToken });
    expect(shown.body.settings.snapshot.src_url).toBe('postgres://app@db.example.com/orders');
    const secrets = await hub.send('GET', '/targets/orders/secrets', { token: hub.ownerToken });
    expect(secrets.body.urls).toEqual({ 'snapshot.src_url': src_url });
    expect(secrets.headers.get('cache-control')).toBe('no-store');
    const database = new URL(hub.settings.databaseUrl).pathname.slice(1);
    const everything = await postgres.dump(database, '--inserts');
    const text = [everything, shown.text, hub.lines.join('')].join();
    const forms = ['AKIA-in-clear', 'secret-in-clear', 'password-in-clear'];
    for (const secret of forms.flatMap((one) => [
      one,
      Buffer.from(one).toString('hex'),
      Buffer.from(one).toString('base64'),
    ])) {
      expect(text).not.toContain(secret);
    }
    const other = startHub({ databaseUrl: hub.settings.databaseUrl }, postgres);
    await expect(other).rejects.toMatchObject({ code: 'hub_key_missing', exit: 3 });
  });
});

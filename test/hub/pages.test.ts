import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HUB, recordEvent } from '../../hub/database/audit.ts';
import { createMetrics } from '../../hub/metrics.ts';
import { pagesOf } from '../../hub/pages/pages.ts';
import { nextPage } from '../../hub/pages/sign-in.ts';
import { putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { freePort } from '../helpers/proxies/free-port.ts';
import { startIdentityProvider } from '../helpers/sign-in/identity-provider.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

function statusAt(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, (response) => resolve(response.resume().statusCode)).on('error', reject);
  });
}

describeWithPostgres('pages of the hub', () => {
  const postgres = suiteResource(() => startPostgres());
  /** Its public address is https, as behind a proxy. */
  let hub: TestHub;

  beforeAll(async () => {
    await postgres.createDatabase('pages');
    const signIn = {
      provider_url: 'http://127.0.0.1:1',
      client_id: 'tool',
      redirect_url: null,
      groups_claim: 'groups',
    };
    const pages = { clientId: 'tool', clientSecret: null };
    hub = await startHub({ databaseUrl: postgres.url('pages'), signIn, pages }, postgres);
    await putTarget(hub, 'orders', { settings: { sso_groups: ['developers'] }, expected_every: '1d' });
  });

  afterAll(async () => {
    await hub.stop();
  });

  interface Visit {
    method?: string;
    token?: string | undefined;
    headers?: Record<string, string>;
  }

  async function visit(path: string, { method = 'GET', token, headers = {} }: Visit = {}) {
    const cookie = token === undefined ? {} : { cookie: `other=1; __Host-tool_hub_session=${token}` };
    const response = await fetch(`${hub.url}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...cookie, ...headers },
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  const SAME_SITE = { origin: 'https://hub.example.com', 'sec-fetch-site': 'same-origin' };

  const CALLERS = {
    nobody: async () => undefined,
    'unknown token': async () => `toolhubpage_${'x'.repeat(43)}`,
    'expired session': async () => (await person(['owners'], { hours: -1 })).token,
    'session of the command line': async () => (await hub.person(randomUUID(), ['owners'])).token,
    'owner token of the command line': async () => hub.ownerToken,
    'disabled user': async () => {
      const { token, userId } = await person(['owners']);
      await hub.send('PATCH', `/users/${userId}`, { token: hub.ownerToken, body: { disabled: true } });
      return token;
    },
    member: async () => (await person(['developers'])).token,
    outsider: async () => (await person([])).token,
    owner: async () => (await person(['owners'])).token,
    auditor: async () => (await person(['auditors'])).token,
  };
  type CallerKind = keyof typeof CALLERS;

  function person(groups: string[], options = {}) {
    return hub.person(randomUUID(), groups, { ...options, page: true });
  }

  function everybody(status: number): Record<CallerKind, number> {
    return Object.fromEntries(Object.keys(CALLERS).map((caller) => [caller, status])) as Record<CallerKind, number>;
  }

  const auditors = { ...everybody(401), member: 403, outsider: 403, owner: 200, auditor: 200 };

  /** The status of every page for every kind of caller. 503: there is no such provider. */
  const EXPECTED: Record<string, Record<CallerKind, number>> = {
    overview: auditors,
    audit: auditors,
    auditCsv: auditors,
    signIn: everybody(200),
    beginSignIn: everybody(503),
    endSignIn: everybody(401),
    signInOnce: everybody(401),
    signOut: everybody(303),
    style: everybody(200),
  };

  const PAGES = pagesOf({ provider: null, codes: new Set() });

  test.each(Object.entries(PAGES))('%s answers every kind of caller as the table says', async (name, page) => {
    const found: Record<string, number> = {};
    for (const [caller, tokenOf] of Object.entries(CALLERS)) {
      const method = 'method' in page ? 'POST' : 'GET';
      const headers: Record<string, string> = method === 'POST' ? SAME_SITE : {};
      const answer = await visit(page.path, { method, token: await tokenOf(), headers });
      found[caller] = answer.status;
      if (answer.status !== 200) expect(answer.text, caller).not.toContain('orders');
      expect(answer.headers.get('content-security-policy'), caller).toMatch(
        /^default-src 'none'; style-src 'self';.* frame-ancestors 'none'/,
      );
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      if (name !== 'style') expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.text).not.toMatch(/<script|style=|javascript:/i);
    }
    expect(found).toEqual(EXPECTED[name]);
  });

  test('a page without an expectation fails', () => {
    expect(Object.keys(EXPECTED)).toEqual(Object.keys(PAGES));
  });

  test('a page is read only: no other method exists', async () => {
    const { token } = await person(['owners']);
    for (const path of ['/', '/audit', '/audit.csv', '/sign-in']) {
      for (const method of ['POST', 'PUT', 'DELETE']) {
        expect((await visit(path, { method, token, headers: SAME_SITE })).status, `${method} ${path}`).toBe(405);
      }
    }
  });

  test('a form of another site does not sign out', async () => {
    const { token } = await person(['owners']);
    const forged = [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { origin: 'https://hub.example.com', 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'same-origin' },
    ];
    for (const headers of forged) {
      const answer = await visit('/sign-out', { method: 'POST', token, headers: headers as Record<string, string> });
      expect({ status: answer.status, cookies: answer.headers.getSetCookie() }).toEqual({ status: 403, cookies: [] });
    }
    expect((await visit('/', { token })).status).toBe(200);
    const ended = await visit('/sign-out', { method: 'POST', token, headers: SAME_SITE });
    expect(ended.headers.getSetCookie()).toEqual([
      '__Host-tool_hub_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax',
    ]);
    expect((await visit('/', { token })).status).toBe(401);
  });

  test('the token of a page is stored hashed, and the API refuses it', async () => {
    const { token } = await person(['owners']);
    expect((await visit('/', { token })).status).toBe(200);
    for (const path of ['/me', '/targets']) expect((await hub.send('GET', path, { token })).status).toBe(401);
    expect(await postgres.dump('pages', '--inserts')).not.toContain(token);
    expect(hub.lines.join('')).not.toContain(token);
  });

  test('names from outside are escaped in every place that shows them', async () => {
    const name = `"'><script>alert(1)<|script>\u202Efdp.exe&amp;`.replace('|', '\u2215');
    await putTarget(hub, encodeURIComponent(name), {
      settings: { sso_groups: [name] },
      original_groups: [name],
      builder_groups: [name],
    });
    const by = { name, subject: name, issuer: name };
    const event = { by, action: name, target: name, object: name, outcome: 'refused', address: name } as const;
    await recordEvent(hub.database.db, event);
    const user = await hub.person(name, ['owners'], { page: true });
    const search = new URLSearchParams({ actor: name, target: name, action: name });
    const pages = [
      await visit(`/?q=${encodeURIComponent(name)}`, user),
      await visit(`/audit?${search}`, user),
      await visit('/', await hub.person(`${name}2`, [], { page: true })),
    ];
    for (const { text } of pages) {
      const escaped = '&quot;&#39;&gt;&lt;script&gt;';
      expect(text).toContain(escaped);
      expect(text).not.toContain('<script');
      expect(text).not.toContain(`"'>`);
      // In the input of the form alone: the value must stay the one that was searched for.
      expect(text.replaceAll(/value="[^"]*"/g, '')).not.toMatch(/[\u202A-\u202E]/);
    }
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 403]);
    expect(pages[0]?.text).toContain('2 targets');
  });

  test('a target is late without a snapshot, or with one that is too old', async () => {
    const { db } = hub.database;
    const profile = await db
      .insertInto('storage_profiles')
      .values({ name: 'any', settings: '{}', applied: null } as never)
      .returning('id')
      .executeTakeFirstOrThrow();
    const ages: [string, string | null, number | null][] = [
      ['t-none', '1d', null],
      ['t-old', '2h', 121],
      ['t-new', '2h', 119],
      ['t-weeks', '1w', 7 * 24 * 60 - 1],
      ['t-free', null, 100_000],
    ];
    for (const [name, expected_every, minutes] of ages) {
      const target_id = await putTarget(hub, name, { settings: {}, expected_every });
      if (minutes === null) continue;
      const created_at = new Date(Date.now() - minutes * 60_000);
      const keys = { manifest_key: name, manifest_sha256: 'a'.repeat(64) };
      const row = {
        target_id,
        profile_id: profile.id,
        id: '00000001',
        created_at,
        sanitized: false,
        headline: '{}',
        ...keys,
      };
      await db
        .insertInto('snapshots')
        .values(row as never)
        .execute();
    }
    await putTarget(hub, 't-planned', { settings: {}, schedule: { cron: '30 2 * * 1-5', timezone: 'Europe/Berlin' } });
    const user = await person(['auditors']);
    const { text } = await visit('/?q=t-', user);
    expect(text).toContain('30 2 * * 1-5 Europe/Berlin');
    const states = [...text.matchAll(/<bdi>(t-\w+)<\/bdi>[\s\S]*?(Late|On time|No schedule|Scheduled)</g)].map(
      ([, name, state]) => [name, state],
    );
    expect(states).toEqual([
      ['t-free', 'No schedule'],
      ['t-new', 'On time'],
      ['t-none', 'Late'],
      ['t-old', 'Late'],
      ['t-planned', 'Scheduled'],
      ['t-weeks', 'On time'],
    ]);
    const metrics = await createMetrics(hub.database, () => new Date()).text();
    expect(metrics).toMatch(/^tool_hub_targets_late 3$/m);
    expect(metrics.match(/^tool_hub_target_late\{.*$/gm)).toEqual([
      'tool_hub_target_late{target="orders"} 1',
      'tool_hub_target_late{target="t-none"} 1',
      'tool_hub_target_late{target="t-old"} 1',
    ]);
    const { token } = await hub.service('reader', 'reader', [
      (await hub.send('GET', '/targets/t-old', { token: hub.ownerToken })).body.id,
    ]);
    expect((await hub.send('GET', '/targets', { token })).body.items).toMatchObject([{ name: 't-old', late: true }]);
    expect((await hub.send('GET', '/targets/t-old', { token })).body).toMatchObject({ late: true, schedule: null });
    // To a plain reader, a target with originals alone looks as one without any snapshot.
    const ids = await db.selectFrom('targets').select('id').where('name', 'in', ['t-new', 't-none']).execute();
    const plain = await hub.service(
      'plain',
      'reader',
      ids.map(({ id }) => id),
    );
    const { body: listed } = await hub.send('GET', '/targets', { token: plain.token });
    const [fresh, none] = listed.items.map((item: object) => ({ ...item, id: '', name: '' }));
    expect(fresh).toEqual({ ...none, late: true });
    const keptId = await putTarget(hub, 't-keep', { settings: {}, keep: { last: 1, weekly: 4 } });
    for (const id of ['0000000a', '0000000b', '0000000c']) {
      await db
        .insertInto('snapshots')
        .values({
          ...{ target_id: keptId, profile_id: profile.id, id, created_at: new Date(), sanitized: true, headline: '{}' },
          ...{ manifest_key: id, manifest_sha256: 'a'.repeat(64) },
        } as never)
        .execute();
    }
    const kept = await visit('/?q=t-keep', user);
    expect(kept.text).toContain('last 1, one a week for 4 weeks<br>');
    expect(kept.text).toContain('Next publication removes 2 snapshots: 0000000b, 0000000a<');
    const late = await visit('/?q=t-&late=1', user);
    expect([...late.text.matchAll(/<bdi>(t-\w+)<\/bdi>/g)].map(([, name]) => name)).toEqual(['t-none', 't-old']);
    expect(text).toMatch(/<time datetime="\d{4}-\d\d-\d\dT[\d:.]+Z">/);
  });

  test('a target is late without a proved restore, or with one that is too old', async () => {
    const { db } = hub.database;
    const profile = await db
      .insertInto('storage_profiles')
      .values({ name: 'of-proofs', settings: '{}', applied: null } as never)
      .returning('id')
      .executeTakeFirstOrThrow();
    const ids = new Map<string, string>();
    for (const [name, every] of [
      ['p-none', '1d'],
      ['p-new', '2h'],
      ['p-old', '2h'],
      ['p-free', null],
    ] as const) {
      const id = await putTarget(hub, name, { settings: {}, restore_expected_every: every });
      ids.set(name, id);
      const snapshot = { target_id: id, profile_id: profile.id, created_at: new Date(), headline: '{}' };
      const keys = { manifest_key: name, manifest_sha256: 'a'.repeat(64) };
      await db
        .insertInto('snapshots')
        .values([
          { ...snapshot, ...keys, id: '0000000a', sanitized: false },
          { ...snapshot, ...keys, id: '0000000b', sanitized: true },
        ])
        .execute();
    }
    const all = [...ids.values()];
    const { token: builder } = await hub.service('prover', 'builder', all);
    const { token: reader } = await hub.service('reader', 'reader', all);
    const prove = async (name: string, snapshot: string, token = builder): Promise<number> =>
      (await hub.send('POST', `/targets/${name}/snapshots/${snapshot}/restores`, { token, body: {} })).status;
    // A builder token reports originals, too, which it does not read.
    expect(await prove('p-new', '0000000a')).toBe(204);
    expect(await prove('p-old', '0000000b')).toBe(204);
    expect(await prove('p-old', '0000000c')).toBe(404);
    expect(await prove('p-old', '0000000b', reader)).toBe(403);
    const ago = new Date(Date.now() - 121 * 60_000);
    await db.updateTable('targets').set({ restored_at: ago }).where('name', '=', 'p-old').execute();
    const shown = async (token: string) => {
      const { body } = await hub.send('GET', '/targets?q=p-', { token });
      const items: { name: string; last_restore: { snapshot: string } | null; restore_late: boolean }[] = body.items;
      return items.map(({ name, last_restore, restore_late }) => [name, last_restore?.snapshot, restore_late]);
    };
    expect(await shown(builder)).toEqual([
      ['p-free', undefined, false],
      ['p-new', '0000000a', false],
      ['p-none', undefined, true],
      ['p-old', '0000000b', true],
    ]);
    // As if there was no original.
    expect(await shown(reader)).toContainEqual(['p-new', undefined, true]);
    expect(await shown(reader)).toContainEqual(['p-old', '0000000b', true]);
    const { body } = await hub.send('GET', '/targets/p-old', { token: hub.ownerToken });
    expect(body).toMatchObject({
      ...{ late: false, restore_late: true, restore_expected_every: '2h', revision: 1 },
      last_restore: { at: ago.toISOString(), snapshot: '0000000b' },
    });
    const events = await hub.send('GET', '/audit_events?target=p-old&actor=prover', { token: hub.ownerToken });
    expect(events.body.items).toMatchObject([{ action: 'snapshot.prove_restore', object: '0000000b' }]);
    const metrics = await createMetrics(hub.database, () => new Date()).text();
    expect(metrics).toMatch(/^tool_hub_targets_restore_late 2$/m);
    expect(metrics.match(/^tool_hub_target_restore_late\{.*$/gm)).toEqual([
      'tool_hub_target_restore_late{target="p-none"} 1',
      'tool_hub_target_restore_late{target="p-old"} 1',
    ]);
    const { text } = await visit('/?q=p-&late=1', await person(['auditors']));
    expect([...text.matchAll(/<bdi>(p-\w+)<\/bdi>/g)].map(([, name]) => name)).toEqual(['p-none', 'p-old']);
    expect(text).toMatch(/2 with a late restore[\s\S]*Restore late<[\s\S]*Restored 2 h ago<[\s\S]*Restore: 2 hours</);
  });

  test('lists have pages that keep the filters; what cannot be is refused', async () => {
    for (let count = 0; count < 60; count += 1) {
      await recordEvent(hub.database.db, {
        by: { ...HUB, name: 'pia' },
        action: 'snapshot.publish',
        object: `number ${count}`,
      });
    }
    const user = await person(['auditors']);
    const first = await visit('/audit?actor=pia', user);
    expect(first.text.match(/number \d+/g)).toHaveLength(50);
    const [, next = ''] = /href="([^"]*)" rel="next"/.exec(first.text) ?? [];
    const second = await visit(next.replaceAll('&amp;', '&'), user);
    expect(second.text.match(/number \d+/g)).toHaveLength(10);
    expect(second.text).not.toContain('rel="next"');
    const csv = await visit('/audit.csv?actor=pia', user);
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.text.trim().split('\r\n')).toHaveLength(61);
    for (const wrong of ['cursor=x', 'since=yesterday', 'outcome=maybe', 'actor=a&actor=b', 'nothing=1', 'actor=%00']) {
      const { status, text } = await visit(`/audit?${wrong}`, user);
      expect({ wrong, status }).toEqual({ wrong, status: 422 });
      expect(text).toContain('<h1>');
    }
    const days = await visit('/audit?since=2020-01-01&until=2020-01-02', user);
    expect(days.text).toContain('No event matches');
    const today = new Date().toISOString().slice(0, 10);
    expect((await visit(`/audit?actor=pia&since=${today}&until=${today}`, user)).text).toContain('number 59');
  });

  test('a refused page is in the audit', async () => {
    const { token } = await hub.person('mallory', ['developers'], { page: true });
    await visit('/audit', { token });
    const { body } = await hub.send('GET', '/audit_events?actor=mallory', { token: hub.ownerToken });
    expect(body.items).toMatchObject([{ action: 'GET /audit', outcome: 'refused' }]);
  });

  test('refused sign-ins of an address and requests of a token have a limit', async () => {
    await postgres.createDatabase('limited');
    const limits = { requests: { perSecond: 0.01, burst: 3 }, refusedSignIns: 2 };
    const limited = await startHub({ databaseUrl: postgres.url('limited'), publicUrl: null, limits }, postgres);
    try {
      const statuses = async (path: string, headers = {}) => {
        const found: number[] = [];
        for (let count = 0; count < 4; count += 1) {
          found.push((await fetch(`${limited.url}${path}`, { headers, redirect: 'manual' })).status);
        }
        return found;
      };
      expect(await statuses('/sign-in/once?code=guessed')).toEqual([401, 401, 429, 429]);
      const { token } = await limited.person('ann', ['owners'], { page: true });
      expect(await statuses('/', { cookie: `tool_hub_session=${token}` })).toEqual([200, 200, 200, 429]);
    } finally {
      await limited.stop();
    }
  });

  test('after a sign-in only pages of the hub are led to', () => {
    const wanted = [
      '/audit?actor=a%20b&late=1',
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/sign-out',
      '/audit?a=\r\nx',
    ];
    expect(wanted.map((one) => nextPage(one))).toEqual(['/audit?actor=a%20b&late=1', '/', '/', '/', '/', '/']);
  });

  test('a sign-in of a public client ends in the browser that began it, once', async () => {
    await postgres.createDatabase('public_client');
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    const provider = await startIdentityProvider({
      ...{ groups: { ann: ['owners'] }, deviceFlow: false },
      webClient: { redirectUrl: `${publicUrl}/sign-in/callback` },
    });
    const { provider_url } = provider.settings;
    const own = await startHub(
      {
        ...{ databaseUrl: postgres.url('public_client'), publicUrl, listen: { host: '127.0.0.1', port } },
        signIn: { provider_url, client_id: 'tool', redirect_url: null, groups_claim: 'groups' },
        pages: { clientId: 'pages', clientSecret: null },
      },
      postgres,
    );
    try {
      const start = `${publicUrl}/sign-in/start`;
      expect(await provider.refuse(start)).toMatch(/refused the sign-in.*Sign in again/s);
      const page = await provider.signIn(start);
      expect(page).toContain('<h1>Overview</h1>');
      expect(page).toContain('ann@example.com');
      const again = await fetch(provider.lastCallback(), { redirect: 'manual' });
      expect({ status: again.status, cookies: again.headers.getSetCookie() }).toEqual({ status: 401, cookies: [] });
      // Another browser, which has begun a sign-in of its own: the code of somebody else is not its.
      const begun = await fetch(start, { redirect: 'manual' });
      const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
      const forced = await fetch(provider.lastCallback(), { redirect: 'manual', headers: { cookie } });
      expect({ status: forced.status, cookies: forced.headers.getSetCookie() }).toEqual({ status: 401, cookies: [] });
    } finally {
      await own.stop();
    }
  });

  test('the link of a trial signs in once, at this machine only', async () => {
    await postgres.createDatabase('trial');
    const port = await freePort();
    const trial = await startHub(
      { databaseUrl: postgres.url('trial'), publicUrl: null, listen: { host: '127.0.0.1', port } },
      postgres,
    );
    try {
      expect(await (await fetch(trial.url)).text()).toContain('tool hub serve --dev');
      const opened = await fetch(trial.pages, { redirect: 'manual' });
      expect(opened.status).toBe(303);
      const [cookie = ''] = opened.headers.getSetCookie();
      expect(cookie).toMatch(
        /^tool_hub_session=toolhubpage_[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/,
      );
      const headers = { cookie: cookie.split(';')[0] ?? '' };
      expect((await fetch(trial.url, { headers })).status).toBe(200);
      expect((await fetch(trial.pages, { redirect: 'manual' })).status).toBe(401);
      // Another name that resolves to this machine.
      expect(await statusAt(trial.url, { ...headers, host: 'evil.example' })).toBe(403);
    } finally {
      await trial.stop();
    }
  });
});

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordEvent } from '../../hub/database/audit.ts';
import { putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres } from '../helpers/postgres/postgres-server.ts';
import { startHttpsProxy } from '../helpers/proxies/https-proxy.ts';
import { type Chromium, hasChromium, startChromium } from '../helpers/sign-in/chromium.ts';
import { type IdentityProvider, startIdentityProvider } from '../helpers/sign-in/identity-provider.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Markup, quotes, and characters that reorder text. */
const HOSTILE = `<script>alert(1)<\u200bscript>"'><img src=x onerror=alert(1)>\u202Egpj.exe`;

/** Older than a day. */
async function putSnapshot({ database: { db } }: TestHub, target_id: string): Promise<void> {
  const profile = { name: 'any', settings: '{}', applied: null } as never;
  const { id: profile_id } = await db
    .insertInto('storage_profiles')
    .values(profile)
    .returning('id')
    .executeTakeFirstOrThrow();
  const keys = { manifest_key: 'any', manifest_sha256: 'a'.repeat(64) };
  const created_at = new Date(Date.now() - 90_000_000);
  const row = { target_id, profile_id, id: '00000001', created_at, sanitized: true, headline: '{}', ...keys };
  await db
    .insertInto('snapshots')
    .values(row as never)
    .execute();
}

describe.skipIf(!hasChromium)(`pages in a real browser${hasChromium ? '' : ' (needs chromium)'}`, () => {
  describeWithPostgres('of a hub behind a proxy that speaks TLS', () => {
    const proxy = suiteResource(() => startHttpsProxy());
    let provider: IdentityProvider;
    let hub: TestHub;
    let browser: Chromium;

    beforeAll(async () => {
      const webClient = { redirectUrl: `${proxy.url}/sign-in/callback`, secret: 'secret of the pages' };
      const groups = { ann: ['owners'], bob: ['sales'], eve: ['auditors'] };
      provider = await startIdentityProvider({ webClient, groups, shared: true, deviceFlow: false });
      const { provider_url } = provider.settings;
      hub = await startHub({
        publicUrl: proxy.url,
        signIn: { provider_url, client_id: 'tool', redirect_url: null, groups_claim: 'groups' },
        pages: { clientId: 'pages', clientSecret: webClient.secret },
      });
      proxy.forwardTo(hub.url);
      const orders = await putTarget(hub, 'orders', {
        settings: { sso_groups: ['developers', 'a group with a long name that has to break somewhere'] },
        original_groups: ['dba'],
        expected_every: '24h',
      });
      await putSnapshot(hub, orders);
      await putTarget(hub, 'reports', { settings: {}, builder_groups: ['platform'] });
      await recordEvent(hub.database.db, {
        by: { name: HOSTILE, subject: HOSTILE, issuer: HOSTILE },
        action: 'snapshot.publish',
        target: 'orders',
        object: HOSTILE,
      });
      await recordEvent(hub.database.db, {
        by: { name: 'eve', subject: 'eve-1', issuer: null },
        action: 'GET /tokens',
        outcome: 'refused',
        address: '::1',
      });
      browser = await startChromium();
    });

    afterAll(async () => {
      await browser?.[Symbol.asyncDispose]();
      await hub?.stop();
      await provider?.stop();
    });

    beforeEach(async () => {
      await browser.ask('Network.clearBrowserCookies');
    });

    /** Signs in: the button of the hub, then the pages of the provider. */
    async function signIn(person: string, path = '/'): Promise<void> {
      await browser.go(`${proxy.url}${path}`);
      await browser.until(`document.querySelector('a.button')`);
      await browser.evaluate(`document.querySelector('a.button').click()`);
      await browser.until(`document.querySelector('[name=login]')`);
      await browser.evaluate(`
        document.querySelector('[name=login]').value = '${person}';
        document.querySelector('[name=password]').value = 'any';
        document.querySelector('form').submit()`);
      await browser.until(`/authorize/i.test(document.body.innerText)`);
      await browser.evaluate(`document.querySelector('form').submit()`);
      await browser.until(`location.origin === '${proxy.url}'`);
      // What the pages of the provider load is not ours.
      browser.requests.length = 0;
      browser.complaints.length = 0;
    }

    /** With a session that exists: the sign-in has tests of its own. */
    async function open(name: string, groups: string[]): Promise<void> {
      const { token } = await hub.person(name, groups, { page: true });
      const cookie = { name: '__Host-tool_hub_session', value: token, path: '/', secure: true, httpOnly: true };
      await browser.ask('Network.setCookie', { url: proxy.url, ...cookie });
      browser.requests.length = 0;
      browser.complaints.length = 0;
    }

    const text = async () => String(await browser.evaluate('document.body.innerText'));

    async function show(path: string, title: string): Promise<void> {
      await browser.go(`${proxy.url}${path}`);
      await browser.until(
        `location.pathname === '${path.replace(/\?.*/, '')}' && document.title.startsWith('${title}')`,
      );
    }

    async function resize(width: number): Promise<void> {
      await browser.ask('Emulation.setDeviceMetricsOverride', {
        width,
        height: 800,
        deviceScaleFactor: 1,
        mobile: false,
      });
    }

    async function prefer(scheme: 'light' | 'dark'): Promise<void> {
      await browser.ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
    }

    test('an owner signs in with the provider, reads both pages and signs out', async () => {
      await signIn('ann', '/audit?outcome=refused');
      await browser.until(`document.title.startsWith('Audit')`);
      expect(await browser.evaluate('location.search')).toBe('?outcome=refused');
      expect(await text()).toContain('GET /tokens');
      expect(await text()).not.toContain('snapshot.publish');
      const all = (await browser.ask('Network.getCookies', { urls: [proxy.url] })).cookies as {
        name: string;
        value: string;
      }[];
      const cookies = all.filter(({ name }) => name.includes('tool_hub'));
      expect(cookies).toMatchObject([
        { name: '__Host-tool_hub_session', httpOnly: true, secure: true, sameSite: 'Lax', path: '/' },
      ]);
      const [session] = cookies;
      expect((await hub.send('GET', '/me', { token: session?.value })).status).toBe(401);
      await show('/', 'Overview');
      expect(await text()).toMatch(/2 targets, 1 late/);
      expect(await text()).toContain('ann@example.com');
      await browser.evaluate(`document.querySelector('form.user button').click()`);
      await browser.until(`location.pathname === '/sign-in'`);
      await browser.ask('Network.setCookie', { url: proxy.url, ...session });
      await browser.go(`${proxy.url}/`);
      await browser.until(`document.querySelector('a.button')`);
      expect(await text()).not.toContain('orders');
    });

    test('a person of another group is told which groups permit the pages', async () => {
      await signIn('bob');
      expect(await text()).toMatch(/Only owners and auditors.*\n+It needs one of the groups: owners, auditors\./);
      expect(await text()).not.toContain('orders');
    });

    test('the pages fit, are readable and are accessible at every width and in both schemes', async () => {
      await open('eve@example.com', ['auditors']);
      const axe = await readFile(AXE, 'utf8');
      const problems: unknown[] = [];
      for (const [path, title] of [
        ['/', 'Overview'],
        ['/audit', 'Audit'],
        ['/sign-in', 'Sign in'],
      ] as const) {
        for (const [width, scheme] of [
          [320, 'light'],
          [1280, 'dark'],
        ] as const) {
          await resize(width);
          await prefer(scheme);
          await show(path, title);
          const where = `${path} ${width} ${scheme}`;
          const wide = await browser.evaluate('document.documentElement.scrollWidth');
          if (Number(wide) > width) problems.push(`${where}: ${wide} px wide`);
          await browser.evaluate(`${axe}; 0`);
          const found = await browser.evaluate(`axe.run().then(({ violations, passes }) => ({
            checked: passes.map(({ id }) => id),
            violations: violations.map(({ id, nodes }) => [id, nodes.map(({ html, any }) => [html, any.map(({ message }) => message)])]),
          }))`);
          const { checked, violations } = found as { checked: string[]; violations: unknown[] };
          expect(checked).toContain('color-contrast');
          for (const violation of violations) problems.push([where, violation]);
        }
      }
      expect(problems).toEqual([]);
      expect(browser.complaints).toEqual([]);
      const loaded = new Set(browser.requests.map((url) => new URL(url).origin));
      expect([...loaded].filter((origin) => ![proxy.url, 'null'].includes(origin))).toEqual([]);
    });

    test('names from outside are text: no element, no attribute, no reordering', async () => {
      await open('ann@example.com', ['owners']);
      await show('/audit', 'Audit');
      expect(await browser.evaluate(`document.querySelectorAll('script, img, [onerror]').length`)).toBe(0);
      expect(await text()).toContain('<script>alert(1)');
      expect(await text()).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
      await browser.go(`${proxy.url}/audit?actor=${encodeURIComponent(HOSTILE)}`);
      await browser.until(`document.querySelector('[name=actor]').value !== ''`);
      expect(await browser.evaluate(`document.querySelector('[name=actor]').value`)).toBe(HOSTILE);
      expect(await browser.evaluate(`document.querySelectorAll('script, img, [onerror]').length`)).toBe(0);
      expect(browser.complaints).toEqual([]);
    });

    test('the keyboard reaches everything, in the order of the page, with a visible focus', async () => {
      await open('ann@example.com', ['owners']);
      await resize(1280);
      await show('/', 'Overview');
      const seen: string[] = [];
      for (let count = 0; count < 7; count += 1) {
        await browser.press('Tab');
        seen.push(
          String(
            await browser.evaluate(`(() => {
              const element = document.activeElement;
              const { outlineStyle, outlineWidth } = getComputedStyle(element);
              const { top, bottom } = element.getBoundingClientRect();
              const visible = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && bottom > 0 && top >= 0;
              return (element.innerText || element.name) + (visible ? '' : ' (invisible)');
            })()`),
          ),
        );
      }
      expect(seen).toEqual(['Skip to the content', 'Overview', 'Audit', 'Sign out', 'q', 'late', 'Search']);
      await show('/', 'Overview');
      await browser.press('Tab');
      await browser.press('Enter');
      await browser.until(`location.hash === '#content'`);
      await browser.press('Tab');
      expect(await browser.evaluate('document.activeElement.name')).toBe('q');
      await browser.press('Tab');
      await browser.press('Space');
      await browser.press('Enter');
      await browser.until(`location.search.includes('late=1')`);
      expect(await text()).toContain('orders');
      expect(await text()).not.toContain('reports');
    });
  });
});

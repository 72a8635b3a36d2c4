import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../hub/database/database.ts';
import { serve } from '../../hub/serve.ts';
import { keyOf } from '../../hub/settings/parse-values.ts';
import { readHubSettings } from '../../hub/settings/settings.ts';
import { startHubDatabase } from '../../src/operations/hub-database.ts';
import { startChromium } from '../../test/helpers/sign-in/chromium.ts';

const HOUR = 3_600_000;
/** The hub's clock stands still, so that ages and dates are the same in every run. */
const now = Date.parse('2026-11-21T10:30:00Z');
const clock = () => new Date(now);

const targets = [
  [
    'billing',
    { expected_every: '24h', readers: ['finance'], originals: ['dba'], builders: ['platform'], age: 7, count: 31 },
  ],
  ['crm', { expected_every: null, readers: ['sales', 'support'], originals: [], builders: [], age: 403, count: 4 }],
  [
    'orders',
    {
      expected_every: '12h',
      readers: ['developers', 'qa'],
      originals: ['dba'],
      builders: ['platform'],
      age: 39,
      count: 128,
    },
  ],
  ['reports', { expected_every: '1w', readers: [], originals: ['analysts'], builders: [], age: null, count: 0 }],
];

const events = [
  [
    2,
    {
      actor: 'github:acme/app@main',
      action: 'snapshot.publish',
      target: 'billing',
      object: '3f2a9c01',
      address: '203.0.113.7',
    },
  ],
  [
    3,
    {
      actor: 'ann@example.com',
      action: 'snapshot.download',
      target: 'billing',
      object: '3f2a9c01',
      address: '198.51.100.23',
    },
  ],
  [5, { actor: 'bob@example.com', action: 'GET /tokens', outcome: 'refused', address: '198.51.100.40' }],
  [9, { actor: 'ann@example.com', action: 'target.change', target: 'orders', address: '198.51.100.23' }],
  [31, { actor: 'eve@example.com', action: 'target.read_source', target: 'orders', address: '198.51.100.61' }],
  [
    39,
    {
      actor: 'github:acme/app@main',
      action: 'snapshot.publish',
      target: 'orders',
      object: 'b81d4470',
      address: '203.0.113.7',
    },
  ],
];

/** A hub for a trial with these targets and events; `end` leaves nothing of it. */
export async function startSampleHub() {
  const database = await startHubDatabase({ report: () => {}, environment: process.env, clock });
  const keys = [keyOf(Buffer.alloc(32, 1))];
  const flags = { dev: true, databaseUrl: database.url, keys };
  const settings = await readHubSettings({ TOOL_HUB_LISTEN: '127.0.0.1:0' }, flags);
  const ending = new AbortController();
  const ended = Promise.withResolvers();
  const served = await new Promise((ready, failed) => {
    const common = { settings, dev: true, version: '0.1.0', write: () => {}, signal: ending.signal };
    serve({ ...common, clock, ready }).then(ended.resolve, (error) => {
      failed(error);
      ended.reject(error);
    });
  });
  await fill(database.url);
  return {
    ...served,
    async end() {
      ending.abort();
      await ended.promise;
      await database[Symbol.asyncDispose]();
    },
  };
}

/** The pages of a hub in Chromium: at the width of a desktop and of a phone, light and dark. */
export async function drawPages({ url, pages }, folder) {
  await using browser = await startChromium();
  await browser.ask('Emulation.setScrollbarsHidden', { hidden: true });
  await browser.go(pages);
  await browser.until('document.querySelector("table")');
  for (const [name, path] of [
    ['overview', '/'],
    ['audit', '/audit'],
  ]) {
    for (const [size, width, height] of [
      ['', 1200, 700],
      ['-phone', 360, 740],
    ]) {
      for (const scheme of ['light', 'dark']) {
        const at = { width, height, deviceScaleFactor: 2, mobile: false };
        await browser.ask('Emulation.setDeviceMetricsOverride', at);
        const features = [{ name: 'prefers-color-scheme', value: scheme }];
        await browser.ask('Emulation.setEmulatedMedia', { features });
        await browser.go(`${url}${path}`);
        await browser.until(`location.pathname === '${path}' && document.querySelector('table')`);
        const { data } = await browser.ask('Page.captureScreenshot', { format: 'png' });
        const file = `hub-${name}${size}-${scheme}.png`;
        writeFileSync(join(folder, file), Buffer.from(data, 'base64'));
        console.log(`docs/pictures/${file}`);
      }
    }
  }
}

async function fill(databaseUrl) {
  await using opened = openDatabase(databaseUrl);
  const { db } = opened;
  // It was issued by the clock that stands still, and is checked by the present one.
  await db
    .updateTable('tokens')
    .set({ expires_at: new Date('2126-01-01') })
    .execute();
  const profile = { name: 'team', settings: '{}', applied: null };
  const { id: profile_id } = await db
    .insertInto('storage_profiles')
    .values(profile)
    .returning('id')
    .executeTakeFirstOrThrow();
  for (const [name, { expected_every, readers, originals, builders, age, count }] of targets) {
    const groups = { reader_groups: readers, original_groups: originals, builder_groups: builders };
    const row = { name, settings: '{}', applied: null, expected_every, ...groups };
    const { id: target_id } = await db.insertInto('targets').values(row).returning('id').executeTakeFirstOrThrow();
    for (let index = 0; index < count; index += 1) {
      const created_at = new Date(now - (age + index * 24) * HOUR);
      const id = index.toString(16).padStart(8, '0');
      const keys = { manifest_key: id, manifest_sha256: 'a'.repeat(64) };
      const snapshot = { target_id, profile_id, id, created_at, sanitized: true, headline: '{}', ...keys };
      await db.insertInto('snapshots').values(snapshot).execute();
    }
  }
  // Events are listed by their number, the newest last.
  await db.deleteFrom('audit_events').execute();
  for (const [hours, event] of events.toReversed()) {
    const at = new Date(now - hours * HOUR);
    await db
      .insertInto('audit_events')
      .values({ target: null, object: null, outcome: 'done', ...event, at })
      .execute();
  }
}

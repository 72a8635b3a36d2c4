import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { HUB } from '../../hub/database/audit.ts';
import { publish } from '../../hub/database/snapshots/snapshots.ts';
import type { Manifest } from '../../src/repository/manifest/manifest.ts';
import { manifestKey } from '../../src/repository/repository.ts';
import { putStorageProfile, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { createHubTarget, type HubTarget, openHubTarget } from '../helpers/hub/hub-target.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { configuredCli } from '../helpers/terminal/configured-cli.ts';

const DAY = 86_400_000;

describeWithPostgres('keep policies of the hub', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let profile: Awaited<ReturnType<S3Server['bucket']>>;
    let target: HubTarget;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      profile = await s3.bucket();
      await putStorageProfile(hub, 'team', profile);
    });

    afterAll(async () => {
      await hub.stop();
      await s3.stop();
    });

    beforeEach(async () => {
      target = await createHubTarget(hub, profile, 'team');
    });

    /** Publishes a snapshot that is so many days old. */
    async function push(days: number, change: Partial<Manifest> = {}, by = target): Promise<string> {
      const created_at = new Date(Date.now() - days * DAY).toISOString();
      const manifest = by.manifestOf([], { created_at, ...change });
      const { status, text } = await by.publish(manifest);
      expect(status, text).toBe(201);
      return manifest.id;
    }

    async function setKeep(keep: object | null) {
      const { body } = await hub.send('GET', `/targets/${target.name}`, { token: hub.ownerToken });
      return hub.send('PUT', `/targets/${target.name}`, {
        token: hub.ownerToken,
        body: { settings: body.settings, keep },
        headers: { 'if-match': `"${body.revision}"` },
      });
    }

    async function removals(): Promise<{ actor: string; object: string }[]> {
      const { body } = await hub.send('GET', `/audit_events?target=${target.name}&limit=200`, {
        token: hub.ownerToken,
      });
      return body.items
        .filter(({ action }: { action: string }) => action === 'snapshot.remove_by_keep_policy')
        .map(({ actor, object }: { actor: string; object: string }) => ({ actor, object }));
    }

    const retention = async (query = '') =>
      (await hub.send('GET', `/targets/${target.name}/retention${query}`, { token: hub.ownerToken })).body;
    const ids = (removes: { id: string }[]) => removes.map(({ id }) => id);

    test('a policy removes nothing at once; what it removes is named, and removed after the next publication', async () => {
      const [c, b, a] = [await push(3), await push(2), await push(1)];
      const created_at = new Date(Date.now() - 4 * DAY).toISOString();
      const d = target.manifestOf([], { created_at });
      await target.publish(d);
      expect(ids((await retention('?last=3')).removes)).toEqual([d.id]);
      const set = await setKeep({ last: 2, daily: 1 });
      expect(set).toMatchObject({ status: 200, body: { keep: { last: 2, daily: 1 }, next_removals: [c, d.id] } });
      expect(await retention()).toMatchObject({ keep: { last: 2, daily: 1 }, removes: [{ id: c }, { id: d.id }] });
      expect(await target.listed()).toEqual([a, b, c, d.id]);

      const newest = await push(0);
      expect(await target.listed()).toEqual([newest, a]);
      expect(await removals()).toHaveLength(3);
      expect(await removals()).toEqual(expect.arrayContaining([b, c, d.id].map((object) => ({ actor: 'ci', object }))));
      await eventually(async () => !(await target.store.present([manifestKey(d)])).has(manifestKey(d)));
      expect((await retention()).removes).toEqual([]);
    });

    test('every snapshot stays without a policy, and after its removal', async () => {
      const first = await push(9);
      await setKeep({ last: 1 });
      expect((await setKeep(null)).body).toMatchObject({ keep: null, next_removals: [] });
      const second = await push(0);
      expect(await target.listed()).toEqual([second, first]);
    });

    test('an original and what was made of it count as one', async () => {
      const old = await push(5, { sanitized: false });
      const oldSanitized = await push(5, { sanitized_of: old });
      const original = await push(1, { sanitized: false });
      const sanitized = await push(1, { sanitized_of: original });
      await setKeep({ last: 2 });
      expect((await retention()).removes).toEqual([]);
      const newest = await push(0);
      expect(await target.listed()).toEqual([newest, sanitized, original]);
      expect((await removals()).map(({ object }) => object).sort()).toEqual([old, oldSanitized].sort());
    });

    test('the newest snapshot and the newest sanitized one stay, whatever the policy', async () => {
      const sanitized = await push(30);
      await push(20, { sanitized: false });
      await setKeep({ within: '1h' });
      const newest = await push(10, { sanitized: false });
      expect(await target.listed()).toEqual([newest, sanitized]);
    });

    test('a snapshot survives its own publication, however old it is', async () => {
      await setKeep({ last: 1 });
      const newest = await push(0);
      const old = await push(100);
      expect(await target.listed()).toEqual([newest, old]);
      expect(ids((await retention()).removes)).toEqual([old]);
    });

    test('a time in the future displaces no other snapshot', async () => {
      const [b, a] = [await push(2), await push(1)];
      const claimed = await push(0);
      // The hub refuses such a time since; older ones remain.
      const { db } = hub.database;
      await db.updateTable('snapshots').set({ created_at: '2126-01-01' }).where('id', '=', claimed).execute();
      const wrongClock = await push(3);
      await db
        .updateTable('snapshots')
        .set({ published_at: new Date('2100-01-01') } as never)
        .where('id', '=', wrongClock)
        .execute();
      await setKeep({ last: 2 });
      // The claimed time counts as that of its publication: later snapshots are newer.
      const [first, second] = [await push(0), await push(0)];
      expect((await target.listed()).sort()).toEqual([second, first, wrongClock].sort());
      expect((await removals()).map(({ object }) => object).sort()).toEqual([a, b, claimed].sort());
    });

    test('a pinned snapshot is kept until it is unpinned', async () => {
      const [b, a] = [await push(3), await push(2)];
      await setKeep({ last: 1 });
      const annotate = (body: object) =>
        hub.send('PATCH', `/targets/${target.name}/snapshots/${b}`, { token: hub.ownerToken, body });
      expect((await annotate({ pinned: true, tags: ['v2'] })).status).toBe(204);
      expect((await annotate({ note: 'kept' })).status).toBe(204);
      const { body } = await hub.send('GET', `/targets/${target.name}/snapshots/${b}`, { token: hub.ownerToken });
      expect(body.headline).toMatchObject({ pinned: true, tags: ['v2'], note: 'kept' });
      await push(0);
      expect((await removals()).map(({ object }) => object)).toEqual([a]);
      expect((await annotate({ pinned: false })).status).toBe(204);
      await push(0);
      expect((await removals()).map(({ object }) => object)).toContain(b);
    });

    test('a snapshot that is being published is not removed', async () => {
      const row = await hub.database.db
        .selectFrom('targets')
        .select(['id', 'original_profile_id'])
        .where('id', '=', target.id)
        .executeTakeFirstOrThrow();
      const common = { target: target.name, engine: 'postgres' as const, server_version: '15', schemas: [] };
      const id = randomBytes(4).toString('hex');
      const old = await push(50);
      await setKeep({ last: 1 });
      const done = await publish(hub.database.db, {
        targetId: target.id,
        profileId: row.original_profile_id ?? '',
        headline: {
          ...{ ...common, id, created_at: '2026-01-01T00:00:00.000Z', sanitized: true },
          ...{ tables: 0, rows: 0, size_bytes: 0, stored_bytes: 0, note: null },
        },
        sha256s: [],
        manifestKey: `snapshots/${id}`,
        manifestSha256: 'a'.repeat(64),
        event: { by: HUB, action: 'snapshot.publish' },
        store: async () => void (await push(0)),
      });
      expect(done).toBe(true);
      expect((await removals()).map(({ object }) => object)).toEqual([old]);
      expect(await target.listed()).toContain(id);
    });

    test('two instances at once keep the newest, and remove each other snapshot once', async () => {
      const other = await startHub({ databaseUrl: hub.settings.databaseUrl, keys: hub.settings.keys }, hub.postgres);
      try {
        const twin = await openHubTarget(other, { ...target, profile });
        await setKeep({ last: 2 });
        const pushed = await Promise.all(
          Array.from({ length: 12 }, (_, index) => push(index + 1, {}, index % 2 === 0 ? target : twin)),
        );
        const newest = await push(0);
        expect(await target.listed()).toEqual([newest, pushed[0]]);
        const removed = (await removals()).map(({ object }) => object);
        expect(removed.sort()).toEqual(pushed.slice(1).sort());
      } finally {
        await other.stop();
      }
    });

    test.each([
      ['no rule', {}],
      ['zero', { last: 0 }],
      ['a fraction', { last: 1.5 }],
      ['another unit', { within: '3 days' }],
      ['a number', { within: 30 }],
      ['an unknown rule', { last: 1, hourly: 4 }],
      ['a huge number', { daily: 1e9 }],
    ])('a policy with %s is refused', async (_, keep) => {
      const { status, body } = await setKeep(keep);
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'cloud_refused' });
      expect((await retention()).keep).toBe(null);
    });

    test('apply, show and prune --dry-run name what the next publication removes', async () => {
      const [b, a] = [await push(2), await push(1)];
      const text = `env: development\ndev_api_url: ${hub.url}\nauthtoken: ${hub.ownerToken}\nworking_directory: ./work\n`;
      const file = `targets:\n  ${target.name}:\n    storage_profile: team\n    sso_groups: [readers]
    sanitize: {override_query: UPDATE users SET email = NULL}\n    keep: {last: 1, within: 12h}\n`;
      const cli = await configuredCli(text, { 'hub.yml': file, 'wrong.yml': file.replace('12h', 'soon') });
      const says = `keep of target ${target.name} removes 1 snapshot at the next publication: ${b}`;
      const wrong = await cli.tool(['cloud', 'apply', 'wrong.yml', '--dry-run']);
      expect(wrong.stderr).toContain(`targets.${target.name}.keep.within must be such as 12h`);
      const planned = await cli.tool(['cloud', 'apply', 'hub.yml', '--dry-run']);
      expect(planned.stdout, planned.stderr).toContain(says);
      expect(planned.stdout).toContain('keep.within: (none) → 12h');
      expect((await cli.tool(['prune', target.name, '--dry-run'])).stderr).toContain('No retention option is given');
      const applied = await cli.tool(['cloud', 'apply', 'hub.yml', '--yes']);
      expect(applied.stdout, applied.stderr).toContain(says);
      expect(await target.listed()).toEqual([a, b]);
      const { last } = await cli.json(['cloud', 'apply', 'hub.yml', '--yes']);
      expect(last).toMatchObject({ plan: { resources: [{ action: 'unchanged' }] } });
      const shown = await cli.tool(['cloud', 'show']);
      expect(shown.stdout).toContain(`# ${says}`);
      expect(shown.stdout).toMatch(/keep:\n +last: 1\n +within: 12h/);
      expect((await cli.json(['cloud', 'show'])).last).toMatchObject({ next_removals: { [target.name]: [b] } });
      const { last: pruned } = await cli.json(['prune', target.name, '--dry-run']);
      expect(pruned).toMatchObject({
        plan: { targets: [{ target: target.name, keep: [{ id: a }], remove: [{ id: b }], from: ['remote'] }] },
      });
      expect(await target.listed()).toEqual([a, b]);
      expect((await cli.tool(['prune', target.name, '--yes'])).exit).toBe(0);
      expect(await target.listed()).toEqual([a]);
    });
  });
});

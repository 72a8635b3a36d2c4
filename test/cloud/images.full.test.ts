import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openCommandContext } from '../../src/cli/open-context.ts';
import { signingKey } from '../../src/config/signing-key.ts';
import { applyDown, planDown } from '../../src/operations/servers/down/down.ts';
import { serverUrl } from '../../src/operations/servers/up/text.ts';
import { applyUp, planUp } from '../../src/operations/servers/up/up.ts';
import { publicKeyText } from '../../src/repository/manifest/signature.ts';
import type { RunEvent } from '../../src/results/events.ts';
import type { Context } from '../../src/runtime/context.ts';
import { startForgingHub } from '../helpers/hub/forging-hub.ts';
import { putStorageProfile, putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, psqlAt } from '../helpers/postgres/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

describeWithPostgres('images of a cloud target', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      await putStorageProfile(hub, 'team', { ...(await s3.bucket()), prefix: 'team' });
      await hub.postgres.createDatabase('source');
      await hub.postgres.psql('source', {
        sql: `CREATE TABLE person (id integer PRIMARY KEY, email text);
          INSERT INTO person SELECT i, 'secret-' || i || '@real.example.org' FROM generate_series(1, 5000) i;
          ANALYZE`,
      });
    });

    afterAll(async () => {
      await hub?.stop();
      await s3?.stop();
    });

    /** A builder of a target of its own has built a snapshot and pushed its image. */
    async function built(url = hub.url) {
      const target = `orders-${randomBytes(4).toString('hex')}`;
      const sanitize = { override_query: "UPDATE person SET email = 'p' || id || '@example.com'" };
      const settings = { storage_profile: 'team', image: true, sso_groups: ['readers'], sanitize };
      const snapshot = { src_url: hub.postgres.url('source') };
      const id = await putTarget(hub, target, { settings: { ...settings, snapshot } });
      const builder = await machine((await hub.service('ci', 'builder', [id])).token, '', url);
      const { exit, last } = await builder.json(['build', target]);
      expect(exit, JSON.stringify(last)).toBe(0);
      return {
        target,
        builder,
        trust: await trustOf(builder, target),
        snapshot: (last.sanitized as { id: string }).id,
      };
    }

    function machine(token: string, more = '', url = hub.url): Promise<ConfiguredCli> {
      const hubLines = `env: development\ndev_api_url: ${url}\nauthtoken: ${token}\n`;
      return configuredCli(`${hubLines}working_directory: ./work\n${more}`);
    }

    async function reader(more = ''): Promise<ConfiguredCli> {
      return machine((await hub.person('rita', ['readers'])).token, more);
    }

    function contextOf({ folder: { path } }: ConfiguredCli, target: string, events: RunEvent[] = []): Promise<Context> {
      const environment = { TOOL_TRUST: 'true', HOME: path, PATH: process.env.PATH, TMPDIR: process.env.TMPDIR };
      const report = (event: RunEvent) => void events.push(event);
      const { signal } = new AbortController();
      return openCommandContext({ cwd: path, environment, target, report, signal, clock: () => new Date() });
    }

    const trustOf = async (cli: ConfiguredCli, target: string): Promise<string> => {
      const { environment } = await contextOf(cli, target);
      return `trusted_keys: ["${publicKeyText(await signingKey(environment))}"]\n`;
    };

    const published = async (target: string): Promise<number> => {
      const path = `/audit_events?target=${target}&action=image.publish&limit=200`;
      const { body } = await hub.send('GET', path, { token: hub.ownerToken });
      expect(body.items.every(({ actor }: { actor: string }) => actor === 'ci')).toBe(true);
      return body.items.length;
    };

    test('are pushed by a build, and start elsewhere without a load where their key is trusted', {
      timeout: 180_000,
    }, async () => {
      const { target, trust, snapshot } = await built();
      expect(await published(target)).toBe(1);
      const stranger = await planUp(await contextOf(await reader(), target), { target });
      expect(stranger.plan.image).toBe('new');
      expect(stranger.plan.steps[0]).toContain('it is signed by a key that is not in trusted_keys');
      const events: RunEvent[] = [];
      const other = await reader(trust);
      const context = await contextOf(other, target, events);
      const planned = await planUp(context, { target, detach: true });
      expect(planned.plan).toMatchObject({ image: 'shared', snapshot: { id: snapshot } });
      await applyUp(context, planned);
      onTestFinished(async () => void (await applyDown(context, await planDown(context, {}))));
      const steps = events.flatMap((one) => (one.event === 'step' && one.state === 'done' ? [one.label] : []));
      expect(steps.join('\n')).toMatch(/^Pulled \d+ objects of the image from .*\nStarted a server for orders-\w+$/);
      const url = events.flatMap((one) => (one.event === 'server' ? [serverUrl(one)] : [])).join();
      expect(await psqlAt(url, { sql: 'SELECT count(*), min(email) FROM person' })).toBe('5000|p1000@example.com\n');
      expect(existsSync(join(other.folder.path, 'work', 'objects'))).toBe(false);
    });

    test('stay on their machine where the hub is of an earlier version, and a push succeeds', {
      timeout: 180_000,
    }, async () => {
      const forging = await startForgingHub(hub.url);
      onTestFinished(forging.stop);
      forging.isUnknown = ({ path }) => path.includes('/images/');
      const { target, builder, snapshot } = await built(forging.url);
      expect((await builder.json(['push', target, snapshot])).exit).toBe(0);
      expect(await published(target)).toBe(0);
      const { db } = hub.database;
      const { objects } = await db
        .selectFrom('objects')
        .innerJoin('targets', 'targets.id', 'target_id')
        .select((eb) => eb.fn.countAll<number>().as('objects'))
        .where('targets.name', '=', target)
        .executeTakeFirstOrThrow();
      // Of the original and the sanitized snapshot.
      expect(objects).toBeLessThan(20);
    });

    test('are pushed again where a chunk is missing only, and go with their snapshot', {
      timeout: 180_000,
    }, async () => {
      const { target, builder, trust, snapshot } = await built();
      const pushAgain = async (): Promise<void> => {
        const { exit, last } = await builder.json(['push', target, snapshot]);
        expect(exit, JSON.stringify(last)).toBe(0);
      };
      await pushAgain();
      expect(await published(target)).toBe(1);
      const { db } = hub.database;
      const link = await db
        .selectFrom('image_objects')
        .innerJoin('snapshots', 'pk', 'snapshot_pk')
        .select('object_id')
        .where('id', '=', snapshot)
        .executeTakeFirstOrThrow();
      await db.updateTable('objects').set({ state: 'expected' }).where('id', '=', link.object_id).execute();
      const other = await contextOf(await reader(trust), target);
      expect((await planUp(other, { target })).plan.image).toBe('new');
      await pushAgain();
      expect((await planUp(other, { target })).plan.image).toBe('shared');
      const owner = await machine(hub.ownerToken);
      expect(await owner.json(['rm', target, snapshot, '--remote', '--yes'])).toMatchObject({ exit: 0 });
      await expect(planUp(other, { target })).rejects.toMatchObject({ code: 'snapshot_missing' });
    });
  });
});

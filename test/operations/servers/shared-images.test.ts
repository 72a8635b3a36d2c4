import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { signingKey } from '../../../src/config/signing-key.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { applyDown, planDown } from '../../../src/operations/servers/down/down.ts';
import { serverUrl } from '../../../src/operations/servers/up/text.ts';
import { applyUp, planUp } from '../../../src/operations/servers/up/up.ts';
import { publicKeyText } from '../../../src/repository/manifest/signature.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { SnapshotRow } from '../../../src/results/results.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  dumpAt,
  psqlAt,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';

describeWithPostgres('images beside sanitized snapshots', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let maker: Context;
  let key: string;
  let snapshot: SnapshotRow;
  const bucket = (...names: string[]): string => join(folder.path, 'bucket', ...names);

  /** A machine of another user. */
  const machine = (name: string, settings: Partial<Settings> = {}, events: RunEvent[] = []): Context => {
    const context = testContext({
      settings: {
        working_directory: join(folder.path, name, 'work'),
        storage_profiles: { team: { provider: 'folder', path: bucket() } },
        targets: { shop: { share: { storage_profile_name: 'team' } } },
        ...settings,
      },
      events,
    });
    const home = join(folder.path, name);
    return { ...context, environment: { ...process.env, HOME: home, XDG_CONFIG_HOME: home } };
  };

  beforeAll(async () => {
    folder = await temporaryFolder();
    await mkdir(bucket());
    server = await startPostgres();
    await server.createDatabase('shop');
    await server.psql('shop', {
      sql: `CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL);
        INSERT INTO customer SELECT i, 'canary-' || i FROM generate_series(1, 20000) i`,
    });
    const sanitize = { override_query: "UPDATE customer SET name = 'person ' || id" };
    const source = { storage_profile: 'team', image: true, snapshot: { src_url: server.url('shop') }, sanitize };
    maker = machine('maker', { targets: { shop: source } });
    key = publicKeyText(await signingKey(maker.environment));
    const request = { target: 'shop', build: {}, ephemeral: true, strict: false };
    snapshot = (await applySanitize(maker, await planSanitize(maker, request))).snapshot;
  }, 120_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  const up = async (context: Context) => {
    const events: RunEvent[] = [];
    const planned = await planUp(context, { target: 'shop', detach: true });
    const reporting = { ...context, report: (event: RunEvent) => void events.push(event) };
    await applyUp(reporting, planned);
    const url = events.flatMap((one) => (one.event === 'server' ? [serverUrl(one)] : [])).join();
    const steps = events.flatMap((one) => (one.event === 'step' && one.state === 'done' ? [one.label] : []));
    return { plan: planned.plan, url, steps };
  };

  it('start on another machine, which trusts the key, without the snapshot', async () => {
    const reader = machine('reader', { trusted_keys: [key] });
    const { plan, url, steps } = await up(reader);
    expect(plan.image).toBe('shared');
    expect(steps.join('\n')).toMatch(/^Pulled \d+ objects of the image from .*\nStarted a server for shop$/);
    const rows = await psqlAt(url, { sql: 'SELECT count(*), min(name) FROM customer' });
    expect(rows).toBe('20000|person 1\n');
    expect(existsSync(join(reader.configuration.settings.working_directory, 'objects'))).toBe(false);
    expect((await planUp(reader, { target: 'shop' })).plan.image).toBe('stored');
    await applyDown(reader, await planDown(reader, {}));
  }, 60_000);
});

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { quoteName } from '../../../src/engines/postgres/connection/quote.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { findSnapshot } from '../../../src/operations/snapshots/snapshots.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { Manifest } from '../../../src/repository/manifest/manifest.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { forgeSnapshot } from '../../helpers/storage/forged-snapshot.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** Names of 63 bytes that quotes make twice as long, so that one COPY is longer than an argument may be. */
const COLUMNS = Array.from({ length: 1200 }, (_, i) => `${'"'.repeat(59)}${String(i).padStart(4, '0')}`);

describeWithPostgres('a table whose COPY is longer than an argument', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let manifest: Manifest;

  function context(): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    const small = { src_url: server.url('source'), dst_url: server.url('copy'), copy_tables: ['public.wide'] };
    return testContext({
      settings: {
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot }, small: { subset: small } },
      },
    });
  }

  beforeAll(async () => {
    await server.createDatabase('source');
    const file = join(folder.path, 'fill.sql');
    await writeFile(
      file,
      `CREATE TABLE wide (${COLUMNS.map((name) => `${quoteName(name)} integer`).join(', ')}); INSERT INTO wide DEFAULT VALUES;`,
    );
    await server.psql('source', { file });
    await build(context(), { target: 'app', cpus: 1 });
    manifest = (await findSnapshot(context(), { target: 'app' })).manifest;
  }, 120_000);

  it.each([false, true])('is loaded, and its rows are never commands (in place: %s)', async (inPlace) => {
    await applyLoad(context(), await planLoad(context(), { target: 'app', snapshot: manifest.id, cpus: 1, inPlace }));
    const before = await server.dump('source');
    expect(await server.dump('copy')).toBe(before);
    const proof = join(folder.path, 'executed');
    const file = manifest.tables[0]?.file.name ?? '';
    const id = inPlace ? 'a0000001' : 'b0000001';
    await forgeSnapshot({
      directory: join(folder.path, 'work'),
      manifest,
      id,
      files: { [file]: `\\.\n\\! touch ${proof}\n\\.\n\n\n` },
    });
    const loading = planLoad(context(), { target: 'app', snapshot: id, cpus: 1, inPlace }).then((plan) =>
      applyLoad(context(), plan),
    );
    await expect(loading).rejects.toMatchObject({ code: 'content_refused' });
    expect(existsSync(proof)).toBe(false);
    expect(await server.dump('copy')).toBe(before);
  });

  it('is copied into a subset', async () => {
    await applySubset(context(), await planSubset(context(), { target: 'small', cpus: 1 }));
    expect(await server.dump('copy')).toBe(await server.dump('source'));
  });
});

import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { verify } from '../../src/operations/snapshots/verify/verify.ts';
import { createStaging, stagingRoot } from '../../src/repository/staging.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

describeWithPostgres('a build that ends without a snapshot', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.psql('source', {
      sql: `CREATE TABLE large AS SELECT i, repeat(md5(i::text), 20) AS text FROM generate_series(1, 5000) i;
        CREATE TABLE small AS SELECT 1 AS id`,
    });
  }, 60_000);

  /** Interrupts the build when all of its objects are stored. */
  function interrupted(work: string): Promise<unknown> {
    const stop = new AbortController();
    const context = contextIn(work);
    return build(
      {
        ...context,
        signal: stop.signal,
        report: (event) => {
          if (event.event === 'step' && event.step === 'store') stop.abort();
        },
      },
      { target: 'app' },
    );
  }

  function contextIn(work: string) {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    return testContext({ settings: { working_directory: work, targets: { app: { snapshot } } } });
  }

  async function objectsIn(work: string): Promise<string[]> {
    const entries = await readdir(join(work, 'objects'), { recursive: true, withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  }

  it('removes the objects that it alone has stored', async () => {
    const work = join(folder.path, 'first');
    await expect(interrupted(work)).rejects.toThrow();
    expect(await objectsIn(work)).toEqual([]);
    expect(await readdir(stagingRoot(work))).toEqual([]);
  });

  it('keeps the objects of earlier snapshots', async () => {
    const work = join(folder.path, 'second');
    const { id } = await build(contextIn(work), { target: 'app' });
    const before = await objectsIn(work);
    await server.psql('source', { sql: 'UPDATE small SET id = id + 1' });
    await expect(interrupted(work)).rejects.toThrow();
    expect((await objectsIn(work)).sort()).toEqual(before.sort());
    expect(await verify(contextIn(work), { target: 'app', snapshot: id })).toMatchObject({ ok: true });
  });

  it('keeps its objects while another run is active, which may reference them', async () => {
    const work = join(folder.path, 'third');
    await mkdir(work, { mode: 0o700 });
    await using _other = await createStaging(stagingRoot(work));
    await expect(interrupted(work)).rejects.toThrow();
    expect((await objectsIn(work)).length).toBeGreaterThan(2);
  });
});

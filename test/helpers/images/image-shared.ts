import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { signingKey } from '../../../src/config/signing-key.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyDown, planDown } from '../../../src/operations/servers/down/down.ts';
import { applyUp, planUp } from '../../../src/operations/servers/up/up.ts';
import { localRepository } from '../../../src/operations/snapshots/local-repository.ts';
import { signed } from '../../../src/operations/snapshots/signatures.ts';
import { push } from '../../../src/operations/snapshots/transfer/push.ts';
import { newSnapshotId } from '../../../src/repository/local-repository.ts';
import { publicKeyText } from '../../../src/repository/manifest/signature.ts';
import { startPostgres, testContext } from '../postgres/postgres-server.ts';
import { mb } from './cut.ts';
import { CHANGES } from './image-days.ts';
import { rowsFor, tablesOf } from './image-engine.ts';
import { DEFINITION, generated, indexesOf } from './image-postgres.ts';

/** Measures what the snapshots and images of two days add to a bucket, and the time of their transfers. */
export async function measureShared(folder: string, megabytes: number, only: string | undefined): Promise<string[][]> {
  const rows = rowsFor(megabytes);
  const table = [
    [
      'changed',
      'snapshot, MB',
      'image, MB',
      'next snapshot',
      'next image',
      'ratio',
      'push, s',
      'fetch, s',
      'next fetch, s',
    ],
  ];
  const source = await startPostgres();
  try {
    for (const [changed, change] of Object.entries(CHANGES).filter(([name]) => only === undefined || name === only)) {
      await source.psql('postgres', { sql: 'DROP DATABASE IF EXISTS shop' });
      await source.createDatabase('shop');
      const create = tablesOf((at) => [
        `CREATE TABLE t_${at} ${DEFINITION}`,
        `INSERT INTO t_${at} ${generated(at, { from: 1, to: rows })}`,
        ...indexesOf(at),
      ]);
      for (const sql of create.flat()) await source.psql('shop', { sql });
      table.push([
        changed,
        ...(await measureTwoDays(folder, source.url('shop'), () =>
          source.psql('shop', { sql: tablesOf((at) => change(at, rows)).join(';') }),
        )),
      ]);
    }
  } finally {
    await source.stop();
  }
  return table;
}

async function measureTwoDays(folder: string, url: string, change: () => Promise<unknown>): Promise<string[]> {
  const [maker, reader, bucket] = ['maker', 'reader', 'bucket'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(bucket);
  const storage_profiles = { team: { provider: 'folder', path: bucket } } as const;
  const of = (image: boolean): Partial<Settings> => ({
    working_directory: maker,
    storage_profiles,
    targets: { shop: { image, storage_profile: 'team', snapshot: { src_url: url } } },
  });
  const plain = testContext({ settings: of(false) });
  const trusted_keys = [publicKeyText(await signingKey(process.env))];
  const shared = { shop: { share: { storage_profile_name: 'team' } } };
  const other = testContext({
    settings: { working_directory: reader, storage_profiles, targets: shared, trusted_keys },
  });
  const [added, seconds]: [number[], number[]] = [[], []];
  const timed = async (work: () => Promise<unknown>): Promise<void> => {
    const started = performance.now();
    await work();
    seconds.push((performance.now() - started) / 1000);
  };
  for (const day of [1, 2]) {
    if (day === 2) await change();
    const { id } = await build(plain, { target: 'shop', push: false });
    const repository = localRepository(plain);
    const built = (await repository.list('shop')).find((one) => one.id === id);
    if (!built) throw new Error(id);
    const { signature: _, ...facts } = { ...built, id: newSnapshotId(), sanitized: true };
    const snapshot = await signed(plain, facts);
    await repository.write(snapshot);
    const request = { target: 'shop', snapshot: snapshot.id };
    const before = sizeOf(bucket);
    await push(plain, request);
    const between = sizeOf(bucket);
    const making = testContext({ settings: of(true) });
    await applyUp(making, await planUp(making, { ...request, detach: true }));
    await applyDown(making, await planDown(making, {}));
    await timed(() => push(making, request));
    added.push(between - before, sizeOf(bucket) - between);
    await timed(async () => applyUp(other, await planUp(other, { ...request, detach: true })));
    await applyDown(other, await planDown(other, {}));
  }
  for (const path of [maker, reader, bucket]) rmSync(path, { recursive: true });
  const [, , next = 0, image = 0] = added;
  const [pushed = 0, first = 0, , second = 0] = seconds;
  return [
    ...added.map(mb),
    next > 0 ? (image / next).toFixed(2) : '',
    ...[pushed, first, second].map((one) => one.toFixed(1)),
  ];
}

function sizeOf(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

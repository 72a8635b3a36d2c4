import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { findSnapshot } from '../../../src/operations/snapshots/snapshots.ts';
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

const FORGED = [
  { what: 'an end-of-copy mark in the middle', rows: (command: string) => `1\tone\n\\.\n${command}\n\\.\n\n\n` },
  {
    what: 'an end-of-copy mark with a carriage return',
    rows: (command: string) => `1\tone\n\\.\r\n${command}\n\\.\n\n\n`,
  },
  { what: 'an end-of-copy mark at the beginning', rows: (command: string) => `\\.\n${command}\n\\.\n\n\n` },
  {
    what: 'a mark that psql sees behind a NUL',
    rows: (command: string) => `1\t\0${'x'.repeat(8187)}\\.\n${command}\n\\.\n\n\n`,
  },
  {
    what: 'a mark across the border of two frames',
    rows: (command: string) => `${`1\t${'y'.repeat(1021)}\n`.repeat(1024).slice(0, -2)}\n\\.\n${command}\n\\.\n\n\n`,
  },
  { what: 'commands in place of the terminator', rows: (command: string) => `1\tone\n\\.\n${command}\n` },
  { what: 'commands behind the terminator', rows: (command: string) => `1\tone\n\\.\n\n\n${command}\n` },
  { what: 'no terminator', rows: () => '1\tone\n2\ttwo\n' },
];

describeWithPostgres('rows of a forged snapshot', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let manifest: Manifest;
  let before: string;

  function context(): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    return testContext({ settings: { working_directory: folder.path, targets: { app: { snapshot } } } });
  }

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.createDatabase('copy');
    await server.psql('source', {
      sql: "CREATE TABLE items (id int, name text); INSERT INTO items VALUES (1, 'one'), (2, 'two'); CREATE TABLE later (id int, name text); INSERT INTO later VALUES (3, 'x')",
    });
    await server.psql('copy', { sql: 'CREATE TABLE precious AS SELECT 1 AS id' });
    await build(context(), { target: 'app', cpus: 1 });
    manifest = (await findSnapshot(context(), { target: 'app' })).manifest;
    before = await server.dump('copy');
  }, 120_000);

  it.each([
    ...FORGED.map((one) => ({ ...one, inPlace: false })),
    ...FORGED.slice(0, 1).map((one) => ({ ...one, inPlace: true })),
  ])('load refuses $what and runs nothing (in place: $inPlace)', async ({ rows, inPlace, what }) => {
    const proof = join(folder.path, 'executed');
    const file = manifest.tables.find(({ name }) => name === 'public.items')?.file.name ?? '';
    const id = `${inPlace ? 'a' : 'b'}000000${FORGED.findIndex((one) => one.what === what)}`;
    const content = rows(`\\! touch ${proof}\nCREATE TABLE IF NOT EXISTS public.forged ();`);
    await forgeSnapshot({ directory: folder.path, manifest, id, files: { [file]: content } });
    const loading = planLoad(context(), { target: 'app', snapshot: id, cpus: 1, inPlace }).then((plan) =>
      applyLoad(context(), plan),
    );
    await expect(loading).rejects.toMatchObject({ code: 'content_refused', exit: 5 });
    expect(existsSync(proof)).toBe(false);
    expect(await server.dump('copy')).toBe(before);
  });

  it.each([false, true])('load refuses fewer rows than the manifest says (in place: %s)', async (inPlace) => {
    const file = manifest.tables.find(({ name }) => name === 'public.items')?.file.name ?? '';
    const id = `${inPlace ? 'a' : 'b'}0000010`;
    await forgeSnapshot({ directory: folder.path, manifest, id, files: { [file]: '1\tone\n\\.\n\n\n' } });
    const loading = planLoad(context(), { target: 'app', snapshot: id, cpus: 1, inPlace }).then((plan) =>
      applyLoad(context(), plan),
    );
    await expect(loading).rejects.toMatchObject({ code: 'restore_failed' });
    expect(await server.dump('copy')).toBe(before);
  });
});

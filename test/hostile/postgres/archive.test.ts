import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeAll, expect, it } from 'vitest';
import { archiveDetails } from '../../../src/engines/postgres/dump/archive.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { findSnapshot } from '../../../src/operations/snapshots/snapshots.ts';
import { createLocalRepository } from '../../../src/repository/local-repository.ts';
import type { Manifest } from '../../../src/repository/manifest/manifest.ts';
import { createObjectPool } from '../../../src/repository/objects/object-pool.ts';
import type { Context } from '../../../src/runtime/context.ts';
import type { UserError } from '../../../src/runtime/errors.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { forgeSnapshot } from '../../helpers/storage/forged-snapshot.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** A comment that is long enough to be written over. */
const COMMENT = 'x'.repeat(200);

const FILL = `
  CREATE TABLE items (id integer PRIMARY KEY, other integer);
  INSERT INTO items VALUES (1, 1);
  COMMENT ON TABLE items IS '${COMMENT}';
  CREATE RULE keep AS ON DELETE TO items DO INSTEAD NOTHING;
  CREATE STATISTICS related (dependencies) ON id, other FROM items;
  ALTER TABLE items ENABLE ROW LEVEL SECURITY;
  CREATE POLICY all_rows ON items USING (true);
  CREATE MATERIALIZED VIEW filled AS SELECT id FROM items;
  CREATE MATERIALIZED VIEW unfilled AS SELECT id FROM items WITH NO DATA;
  CREATE FUNCTION told() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
  CREATE EVENT TRIGGER telling ON ddl_command_end EXECUTE FUNCTION told();
  CREATE PUBLICATION changes FOR TABLE items;
  SELECT lo_from_bytea(70001, 'content'), lo_from_bytea(70002, ''), lo_from_bytea(70003, decode(repeat('ab', 300000), 'hex'))`;

describeWithPostgres('a forged or incomplete archive', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let manifest: Manifest;
  let before: string;
  let ids = 0;

  function context(): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    return testContext({ settings: { working_directory: folder.path, targets: { app: { snapshot } } } });
  }

  /** The content of a file of the snapshot. */
  async function read(name: string): Promise<Buffer> {
    const repository = createLocalRepository({ directory: folder.path, report: () => {} });
    const file = manifest.files.find((one) => one.name === name);
    if (!file) throw new Error(`no ${name}`);
    const pool = createObjectPool(1);
    const content = await buffer(pool.read(repository.object(file)));
    await pool[Symbol.asyncDispose]();
    return content;
  }

  async function loadForged(change: Pick<Parameters<typeof forgeSnapshot>[0], 'files' | 'details'>, inPlace: boolean) {
    ids += 1;
    const id = ids.toString(16).padStart(8, '0');
    await forgeSnapshot({ directory: folder.path, manifest, id, ...change });
    return applyLoad(context(), await planLoad(context(), { target: 'app', snapshot: id, cpus: 1, inPlace }));
  }

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.createDatabase('copy');
    await server.psql('source', { sql: FILL });
    await build(context(), { target: 'app', cpus: 1 });
    manifest = (await findSnapshot(context(), { target: 'app' })).manifest;
    await server.psql('copy', { sql: 'CREATE TABLE precious AS SELECT 1 AS id' });
    before = await server.dump('copy');
  }, 120_000);

  it.each([false, true])('runs no command that stands in a definition (in place: %s)', async (inPlace) => {
    const proof = join(folder.path, 'executed');
    const toc = await read('toc.dat');
    const command = `';\n\\! touch ${proof}\n`.padEnd(COMMENT.length, '-');
    const forged = Buffer.from(
      toc.toString('latin1').replace(COMMENT, () => command),
      'latin1',
    );
    expect(forged.equals(toc)).toBe(false);
    await expect(loadForged({ files: { 'toc.dat': forged } }, inPlace)).rejects.toMatchObject({
      code: 'restore_failed',
    });
    expect(existsSync(proof)).toBe(false);
    expect(await server.dump('copy')).toBe(before);
  });

  it('reads no file of this machine as a large object', async () => {
    const list = '70001 ../../../../../../../../../../etc/passwd\n';
    const loading = loadForged({ files: { 'blobs.toc': list } }, false);
    await expect(loading).rejects.toMatchObject({ code: 'content_refused', exit: 5 });
    expect(await server.dump('copy')).toBe(before);
  });

  it.each([false, true])('fails when objects of any kind are missing (in place: %s)', async (inPlace) => {
    const { inventory } = archiveDetails(manifest);
    const objects = { ...inventory.objects };
    const kinds = ['rule', 'extended statistics', 'policy', 'populated materialized view', 'event trigger'];
    for (const kind of kinds) {
      expect(objects[kind]).toHaveLength(1);
      objects[kind] = [...(objects[kind] ?? []), 'public.missing'];
    }
    const error = await loadForged({ details: { inventory: { ...inventory, objects } } }, inPlace).then(
      () => null,
      (thrown: UserError) => thrown,
    );
    expect(error).toMatchObject({ code: 'restore_failed' });
    for (const kind of kinds) expect(error?.details.join('\n')).toContain(`${kind} public.missing is missing`);
    expect(await server.dump('copy')).toBe(before);
  });

  it.each([false, true])(
    'fails when a large object is shorter than in the manifest (in place: %s)',
    async (inPlace) => {
      expect(archiveDetails(manifest).inventory.large_objects).toEqual({ count: 3, bytes: 300_007 });
      await expect(loadForged({ files: { 'blob_70001.dat': 'conten' } }, inPlace)).rejects.toMatchObject({
        code: 'restore_failed',
      });
      expect(await server.dump('copy')).toBe(before);
    },
  );

  it('is loaded whole when it is neither, and the plan names what is left out', async () => {
    const planned = await planLoad(context(), { target: 'app', snapshot: manifest.id, cpus: 1, inPlace: true });
    expect(planned.plan.warnings).toContainEqual(
      expect.objectContaining({
        code: 'replication_left_out',
        message: expect.stringContaining('publication changes'),
      }),
    );
    await applyLoad(context(), planned);
    const withoutPublication = (await server.dump('source', '--no-publications')).trim();
    expect((await server.dump('copy')).trim()).toBe(withoutPublication);
  });
});

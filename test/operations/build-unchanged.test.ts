import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type BuildRequest, build } from '../../src/operations/build/build.ts';
import { planBuild } from '../../src/operations/build/planned-build.ts';
import { buildQuestion, builtSummary } from '../../src/operations/build/text.ts';
import { localRepository } from '../../src/operations/snapshots/local-repository.ts';
import { filesOfTable, type Manifest } from '../../src/repository/manifest/manifest.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import type { Context } from '../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

/** Two large tables, of which one has two ranges, and a small one. */
const SOURCE = `
  CREATE TABLE event AS SELECT i AS id, repeat(md5(i::text), 20) AS body FROM generate_series(1, 18000) i;
  CREATE TABLE item AS SELECT i AS id, repeat('x', 100) AS body FROM generate_series(1, 3000) i;
  CREATE TABLE kind AS SELECT 1 AS id`;
const DAY = 24 * 3_600_000;

describeWithPostgres('a build after another one', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres({ autovacuum: 'off' }));
  let count = 0;

  interface Source {
    context: (more?: { full_every?: string; clock?: () => Date }) => Context;
    run: (request?: Partial<BuildRequest>, more?: { full_every?: string; clock?: () => Date }) => Promise<SnapshotRow>;
    sql: (statements: string) => Promise<string>;
    manifest: (row: SnapshotRow) => Promise<Manifest>;
    work: string;
  }

  async function filled(): Promise<Source> {
    count += 1;
    const name = `app_${count}`;
    await server.createDatabase(name);
    await server.psql(name, { sql: SOURCE });
    const work = join(folder.path, name);
    const context: Source['context'] = ({ full_every, clock } = {}) => {
      const snapshot = { src_url: server.url(name), ...(full_every !== undefined && { full_every }) };
      const settings = { working_directory: work, targets: { app: { snapshot } } };
      return { ...testContext({ settings }), ...(clock && { clock }) };
    };
    return {
      context,
      work,
      run: (request = {}, more = {}) => build(context(more), { target: 'app', cpus: 2, ...request }),
      sql: (statements) => server.psql(name, { sql: statements }),
      async manifest({ id }) {
        const manifests = await localRepository(context()).list('app');
        const found = manifests.find((one) => one.id === id);
        if (!found) throw new Error(`no snapshot ${id}`);
        return found;
      },
    };
  }

  it('reads what has changed only, and stores the same as one that reads all', async () => {
    const source = await filled();
    expect((await source.run()).reading).toMatchObject({ all_read: 'first', tables_read: 3, tables_unchanged: 0 });
    const again = await source.run();
    expect(again.reading).toMatchObject({ all_read: null, tables_unchanged: 2, read: ['public.kind'] });
    await source.sql(`INSERT INTO event VALUES (0, 'new'); UPDATE kind SET id = 2`);
    const changed = await source.run();
    const unchanged = { tables_partly_read: 1, tables_unchanged: 1, read: ['public.event', 'public.kind'] };
    expect(changed.reading).toMatchObject(unchanged);
    expect(builtSummary('app', changed).details).toEqual([
      expect.stringMatching(/^Proved unchanged: 1 table \(.* not read\)$/),
      'Read: 2 tables, 1 of them in part: public.event, public.kind',
    ]);
    const full = await source.run({ full: true });
    expect(full.reading).toMatchObject({ all_read: 'asked', tables_read: 3 });
    const [one, other] = [await source.manifest(changed), await source.manifest(full)];
    expect(one.tables).toEqual(other.tables);
    expect(one.details).toEqual(other.details);
    expect(await source.manifest(again)).not.toHaveProperty('details.evidence');
  });

  it('reads all once in full_every, and after a clock that was set back', async () => {
    const source = await filled();
    await source.run();
    const at = (days: number) => () => new Date(Date.now() + days * DAY);
    expect((await source.run({}, { clock: at(6) })).reading?.all_read).toBe(null);
    expect((await source.run({}, { clock: at(2), full_every: '1d' })).reading?.all_read).toBe('due');
    expect((await source.run({}, { clock: at(3), full_every: '2d' })).reading?.all_read).toBe(null);
    const planned = await planBuild(source.context({ clock: at(-1) }), { target: 'app' });
    expect(planned.plan.all_read).toBe('due');
    expect(buildQuestion(planned.plan, new Date()).facts[0]?.value).toContain('full_every');
    // A build that did not read all did not postpone it.
    expect((await source.run({}, { clock: at(9.5) })).reading?.all_read).toBe('due');
  });

  it('reads again what the store lacks or has damaged', async () => {
    const source = await filled();
    const first = await source.manifest(await source.run());
    const objects = first.tables.flatMap(filesOfTable).filter(({ bytes }) => bytes > 100_000);
    const [lost, damaged] = objects.map(({ sha256 }) => join(source.work, 'objects', sha256.slice(0, 2), sha256));
    if (!lost || !damaged) throw new Error('no objects');
    await rm(lost);
    const content = await readFile(damaged);
    content[100] = (content[100] ?? 0) ^ 1;
    await writeFile(damaged, content);
    const row = await source.run();
    expect(row.reading?.tables_read ?? 0).toBeGreaterThan(0);
    expect((await source.manifest(row)).tables).toEqual(first.tables);
    for (const path of [lost, damaged]) expect((await readFile(path)).length).toBeGreaterThan(0);
    expect((await readFile(damaged)).equals(content)).toBe(false);
    expect((await source.run()).reading).toMatchObject({ tables_unchanged: 2 });
  });

  it('reads all with evidence that is damaged, and keeps none of a subset or in the manifest', async () => {
    const source = await filled();
    await source.run();
    const file = join(source.work, 'evidence', 'app.json');
    const stored = await readFile(file, 'utf8');
    expect(await readdir(join(source.work, 'evidence'))).toEqual(['app.json']);
    await source.run({ source: source.context().configuration.settings.targets?.app?.snapshot?.src_url ?? '' });
    expect(await readFile(file, 'utf8')).toBe(stored);
    await writeFile(file, stored.slice(1));
    expect((await source.run()).reading?.all_read).toBe('first');
  });

  it('reports no proof where no table is large, or has its rows in the snapshot', async () => {
    const source = await filled();
    const excludeRows = ['*.event', '*.item'];
    expect((await source.run({ excludeRows })).reading).toMatchObject({ all_read: null, tables_read: 1 });
    await source.run();
    const excluded = await source.run({ excludeRows });
    expect(excluded.reading).toMatchObject({ all_read: null, tables_unchanged: 0 });
    await source.sql('DROP TABLE event, item');
    const small = await source.run();
    expect(small.reading).toMatchObject({ all_read: null, tables_read: 1, tables_unchanged: 0 });
    for (const row of [excluded, small]) {
      expect(builtSummary('app', row).details.filter((line) => /^(Read|Proved)/.test(line))).toEqual([]);
    }
    const full = await source.run({ full: true });
    expect(builtSummary('app', full).details).toEqual(['Read all rows: as requested']);
  });

  it('believes only what this user has signed, in a regular file', async () => {
    const source = await filled();
    await source.run();
    const file = join(source.work, 'evidence', 'app.json');
    const stored = await readFile(file, 'utf8');
    // Rows of before would be taken for those of now.
    await source.sql('DELETE FROM item WHERE id = 1');
    const forged = stored.replaceAll(/"rows":3000\b/g, '"rows":2999');
    expect(forged).not.toBe(stored);
    await writeFile(file, forged);
    const built = await source.run();
    expect(built.reading).toMatchObject({ all_read: 'first', tables_unchanged: 0 });
    expect((await source.manifest(built)).tables.find(({ name }) => name.endsWith('item'))?.rows).toBe(2999);
    expect((await source.run()).reading).toMatchObject({ all_read: null, tables_unchanged: 2 });
    await writeFile(file, stored.replace(/"signature":"[^"]*"/, '"signature":""'));
    expect((await source.run()).reading?.all_read).toBe('first');
    await rm(file);
    execFileSync('mkfifo', [file]);
    expect((await source.run()).reading?.all_read).toBe('first');
    await truncate(file, 64_000_001);
    expect((await source.run()).reading?.all_read).toBe('first');
  });
});

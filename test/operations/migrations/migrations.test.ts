import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { diff } from '../../../src/operations/snapshots/diff/diff.ts';
import { migrationLines } from '../../../src/operations/snapshots/diff/diff-text.ts';
import { localRepository } from '../../../src/operations/snapshots/local-repository.ts';
import { findSnapshot, listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { snapshotFacts } from '../../../src/presentation/snapshot.ts';
import { snapshotColumns } from '../../../src/presentation/snapshot-columns.ts';
import { verifyManifest } from '../../../src/repository/manifest/signature.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { toSelector } from '../../../src/text/snapshot-selector.ts';
import { EXPECTED_MIGRATIONS, MIGRATION_TABLES, OTHER_TABLES } from '../../helpers/databases/migration-tables.ts';
import { itIf } from '../../helpers/it-if.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithPostgres('the git repository and the migrations of a snapshot', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let minute = 0;

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.createDatabase('copy');
    await server.psql('source', { sql: `CREATE SCHEMA a; CREATE SCHEMA b; ${MIGRATION_TABLES}; ${OTHER_TABLES}` });
    await mkdir(checkout(''));
    git('init', '--quiet', '--initial-branch=main');
    git('remote', 'add', 'origin', 'https://me:se@cret@git.example.com/app.git?token=hidden');
    git('commit', '--quiet', '--allow-empty', '-m', 'one');
  }, 60_000);

  function checkout(path: string): string {
    return join(folder.path, 'checkout', path);
  }
  function git(...words: string[]): string {
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
    return execFileSync('git', ['-C', checkout(''), ...identity, ...words], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  }
  async function write(path: string, text = ''): Promise<void> {
    await mkdir(dirname(checkout(path)), { recursive: true });
    await writeFile(checkout(path), text);
  }
  function contextWith(more: Partial<Context> = {}): Context {
    const schema_config = { use_default_schema: false };
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy'), schema_config };
    const query = `UPDATE a.alembic_version SET version_num = 'clean'; DELETE FROM a.knex_migrations`;
    const settings = {
      working_directory: join(folder.path, 'work'),
      targets: { app: { snapshot, sanitize: { override_query: query } } },
    };
    const clock = () => new Date(Date.UTC(2026, 0, 1, 0, minute));
    return { ...testContext({ settings }), clock, cwd: checkout(''), ...more };
  }
  async function built(): Promise<string> {
    minute += 1;
    return (await build(contextWith(), { target: 'app' })).id;
  }
  const aheadIn = () => warningsIn('migrations_ahead');
  async function warningsIn(wanted: string, context = contextWith()): Promise<string[]> {
    const { plan } = await planLoad(context, { target: 'app', snapshot: 0, original: true });
    return plan.warnings
      .filter(({ code }) => code === wanted)
      .map(({ message }) => message)
      .sort();
  }

  it('are in its manifest, its row and its facts, without credentials and without what is of no known program', async () => {
    await server.psql('source', {
      sql: `INSERT INTO b.django_migrations VALUES (1, E'\\x1b[31m', 'evil'), (2, 'app', repeat('x', 100000)), (3, 'ok', E'right\\u202eleft');
            INSERT INTO b.alembic_version SELECT i FROM generate_series(1, 30000) i`,
    });
    const id = await built();
    const { manifest, row } = await findSnapshot(contextWith(), { target: 'app', snapshot: id });
    const found = manifest.migrations?.map(({ table, tool, versions }) => [...table.split('.'), tool, versions]);
    expect(found).toEqual(EXPECTED_MIGRATIONS);
    const commit = git('rev-parse', 'HEAD');
    const repository = 'https://git.example.com/app.git';
    expect(manifest.git).toEqual({ repository, branch: 'main', commit, clean: null });
    expect(row).toMatchObject({ git: manifest.git });
    expect(row.migrations?.find(({ tool }) => tool === 'rails')).toMatchObject({ count: 2, newest: '20260102' });
    const facts = snapshotFacts(row, null).map(({ name, value }) => `${name}: ${value}`);
    expect(facts).toContain(`Git: branch main at ${commit.slice(0, 10)}, of ${repository}`);
    expect(facts).toContain('Migrations: 2 of rails, newest 20260102');
    const titles = snapshotColumns([row], 0).map(({ title }) => title);
    expect(titles).toEqual(expect.arrayContaining(['GIT BRANCH', 'MIGRATION']));
    expect(
      snapshotColumns([{ ...row, git: undefined, migrations: [] } as never], 0).map(({ title }) => title),
    ).not.toContain('MIGRATION');
  });

  it('are signed; without them, as an older version reads the manifest, its signature is valid too', async () => {
    const { manifest } = await findSnapshot(contextWith(), { target: 'app' });
    const { git: state, migrations = [], ...rest } = manifest;
    expect(verifyManifest(manifest).state).toBe('valid');
    expect(verifyManifest(rest).state).toBe('valid');
    if (!state) throw new Error('no git state');
    for (const changed of [
      { ...manifest, git: { ...state, branch: 'other' } },
      { ...rest, git: state },
      { ...manifest, migrations: migrations.slice(1) },
      { ...manifest, signature: { key: manifest.signature?.key ?? '', value: manifest.signature?.value ?? '' } },
    ]) {
      expect(verifyManifest(changed).state).toBe('invalid');
    }
    const many = Array.from({ length: 1001 }, (_, index) => `${index}`);
    const forged = migrations.map((table) => ({ ...table, versions: many }));
    const repository = localRepository(contextWith());
    await expect(repository.write({ ...manifest, id: 'aaaa0000', migrations: forged })).resolves.toBeUndefined();
    expect((await repository.list('app')).map(({ id }) => id)).not.toContain('aaaa0000');
    await repository.remove({ ...manifest, id: 'aaaa0000' });
  });

  it('choose the snapshot of a load and the rows of a list; an error names what there is', async () => {
    const [first] = (await listSnapshots(contextWith(), 'app')).snapshots;
    git('checkout', '--quiet', '-b', 'feature/x');
    await server.psql('source', { sql: `INSERT INTO a.schema_migrations VALUES ('20260103')` });
    await write('dirty.txt');
    const second = await built();
    const context = contextWith();
    const load = async (word: string) =>
      (await findSnapshot(context, { target: 'app', snapshot: toSelector(word) })).row.id;
    const { plan } = await planLoad(context, { target: 'app', snapshot: toSelector('@main') });
    expect(plan.snapshot?.id).toBe(first?.id);
    expect((await findSnapshot(context, { target: 'app' })).row.git).toMatchObject({
      branch: 'feature/x',
      clean: null,
    });
    expect(await load('@main')).toBe(first?.id);
    expect(await load('@feature/x')).toBe(second);
    expect(await load('+20260102')).toBe(second);
    expect(await load('+20260103')).toBe(second);
    expect(await load('+0002_price')).toBe(second);
    const ids = async (word: string) =>
      (await listSnapshots(context, 'app', { select: toSelector(word) })).snapshots.map(({ id }) => id);
    expect(await ids('@main')).toEqual([first?.id]);
    expect(await ids('+12')).toEqual([second, first?.id]);
    await expect(load('@gone')).rejects.toMatchObject({
      code: 'snapshot_missing',
      details: ['Git branches of its snapshots: feature/x, main'],
    });
    expect(await ids('1')).toEqual([first?.id]);
    expect(await ids(second)).toEqual([second]);
    for (const word of ['9', 'gone']) await expect(ids(word)).rejects.toMatchObject({ code: 'snapshot_missing' });
    await expect(ids('+13')).rejects.toThrow('has no snapshot with migration "13"');
    const compared = await diff(context, { target: 'app', a: 1, b: 0 });
    expect(compared.migrations).toEqual([
      { tool: 'rails', table: 'a.schema_migrations', only_from: [], only_to: ['20260103'] },
    ]);
    expect(migrationLines(compared)).toEqual([`Migrations of snapshot 0 (${second} RAW) only (rails): 20260103`]);
    expect(await diff(context, { target: 'app', a: 0, b: 0 })).not.toHaveProperty('migrations');
  });

  it('are compared with those of the destination', async () => {
    const context = contextWith();
    await applyLoad(context, await planLoad(context, { target: 'app', snapshot: 0 }));
    expect(await diff(context, { target: 'app', a: 0 })).not.toHaveProperty('migrations');
    await server.psql('copy', {
      sql: `DELETE FROM a.schema_migrations WHERE version = '20260103'; INSERT INTO a.schema_migrations VALUES ('20260104');
            INSERT INTO b.django_migrations VALUES (9, 'app', repeat('y', 100000))`,
    });
    const compared = await diff(context, { target: 'app', a: 0 });
    expect(compared.migrations).toEqual([
      { tool: 'rails', table: 'a.schema_migrations', only_from: ['20260103'], only_to: ['20260104'] },
    ]);
    expect(migrationLines(compared)[1]).toBe(`Migrations of ${compared.destination} only (rails): 20260104`);
  });

  it('are compared with the working tree by the plan of a load, which names what it lacks', async () => {
    expect(await aheadIn()).toEqual([]);
    const outside = join(folder.path, 'outside.py');
    await writeFile(outside, `revision = 'ae1027a6acf'`);
    await write('db/migrate/20260101_init.rb');
    await write('shop/migrations/0001_initial.py');
    await write('packages/api/prisma/migrations/1_init/migration.sql');
    await write('drizzle/meta/_journal.json', '{"entries":[{"idx":0,"when":1700000000000,"tag":"0000_a"}]}');
    await write('src/main/resources/db/migration/V1__init.sql');
    await write('src/main/resources/db/changelog/a.xml', `<changeSet author="ann"\n id="1">`);
    await write('alembic/versions/1_x.py', 'revision: str = "other"');
    await symlink(outside, checkout('alembic/versions/2_x.py'));
    await write('migrations/11_x.up.sql');
    await write('knex/migrations/20260101_init.ts');
    await write('src/migrations/1600000000000-Other.ts');
    expect(await aheadIn()).toEqual([
      'The working tree lacks 1 of 1 migrations of the snapshot (alembic, a.alembic_version): ae1027a6acf',
      'The working tree lacks 1 of 1 migrations of the snapshot (golang-migrate, b.schema_migrations): 12',
      'The working tree lacks 1 of 1 migrations of the snapshot (typeorm, a.migrations): Init1700000000000',
      'The working tree lacks 1 of 2 migrations of the snapshot (drizzle, a.__drizzle_migrations): 1800000000000',
      'The working tree lacks 1 of 2 migrations of the snapshot (flyway, a.flyway_schema_history): 1.2',
      'The working tree lacks 1 of 2 migrations of the snapshot (knex, a.knex_migrations): 20260103_names.js',
      'The working tree lacks 1 of 2 migrations of the snapshot (liquibase, a.databasechangelog): db/b.xml::2::ann',
      'The working tree lacks 1 of 2 migrations of the snapshot (prisma, a._prisma_migrations): 2_names',
      'The working tree lacks 1 of 3 migrations of the snapshot (django, a.django_migrations): shop.0002_price',
      'The working tree lacks 2 of 3 migrations of the snapshot (rails, a.schema_migrations): 20260102, 20260103',
    ]);
    await write('db/migrate/20260102_names.rb');
    await write('db/migrate/20260103_prices.rb');
    await write('shop/migrations/0002_price.py');
    await write('packages/api/prisma/migrations/2_names/migration.sql');
    await write('drizzle/meta/_journal.json', '{"entries":[{"when":1700000000000},{"when":1800000000000}]}');
    await write('src/main/resources/db/migration/V1_2__names.sql');
    await write(
      'src/main/resources/db/changelog/b.yaml',
      'databaseChangeLog:\n  - changeSet:\n      author: ann\n      id: 2\n',
    );
    await write('alembic/versions/3_x.py', `"""doc"""\nrevision = 'ae1027a6acf'\n`);
    await write('migrations/000012_y.up.sql');
    await write('knex/migrations/20260103_names.ts');
    await write('src/migrations/1700000000000-Init.ts');
    expect(await aheadIn()).toEqual([]);
    git('remote', 'set-url', 'origin', 'https://git.example.com/other.git');
    await write('db/migrate/20260103_prices.rb');
    execFileSync('rm', [checkout('db/migrate/20260103_prices.rb')]);
    expect(await aheadIn()).toEqual([]);
    git('remote', 'set-url', 'origin', 'https://git.example.com/app.git');
    expect(await aheadIn()).toHaveLength(1);
  });

  it('are named by the plan with the step that applies them where the snapshot lacks some of the working tree', async () => {
    const behindIn = (context?: Context) => warningsIn('migrations_behind', context);
    const before = await behindIn();
    // Of another database of the repository.
    await write('engines/blog/db/migrate/20260109_posts.rb');
    expect(await behindIn()).toEqual(before);
    await write('db/migrate/20260104_tags.rb');
    await write('shop/migrations/0003_tax.py');
    await write('packages/api/prisma/migrations/5_more/migration.sql');
    await write('drizzle/meta/_journal.json', '{"entries":[{"when":1700000000000},{"when":1900000000000}]}');
    await write('src/main/resources/db/migration/V1_10__more.sql');
    await write('src/main/resources/db/changelog/c.sql', '--liquibase formatted sql\n--changeset ann:3\n');
    await write('alembic/versions/0_old.py', `revision = 'old'\ndown_revision = None\n`);
    await write('alembic/versions/3_x.py', `revision = 'ae1027a6acf'\ndown_revision = 'old'\n`);
    await write('alembic/versions/4_x.py', `revision: str = "newer"\ndown_revision: str | None = "ae1027a6acf"\n`);
    await write('alembic/versions/1_x.py', `revision = 'other'\ndown_revision = 'old'\n`);
    await write('migrations/13_z.up.sql');
    await write('knex/migrations/20260104_more.ts');
    await write('src/migrations/1800000000000-More.ts');
    const found = await behindIn();
    const steps = found.map((message) =>
      /\((\S+), .*?\): (.*?)\. A load applies them with (.*) in the snapshot/.exec(message)?.slice(1),
    );
    expect(steps.sort()).toEqual([
      ['alembic', 'newer, other', 'after_load: [{ command: "alembic upgrade head" }]'],
      ['django', 'shop.0003_tax', 'after_load: [{ command: "python manage.py migrate" }]'],
      ['drizzle', '1900000000000', 'after_load: [{ command: "npx drizzle-kit migrate" }]'],
      ['flyway', '1.10', 'after_load: [{ command: "flyway migrate" }]'],
      [
        'golang-migrate',
        '13',
        'after_load: [{ command: "migrate -path migrations -database \\"$DATABASE_URL\\" up" }]',
      ],
      ['knex', '20260104_more', 'after_load: [{ command: "npx knex migrate:latest" }]'],
      ['liquibase', '3', 'after_load: [{ command: "liquibase update" }]'],
      ['prisma', '5_more', 'after_load: [{ command: "npx prisma migrate deploy" }]'],
      ['rails', '20260104', 'after_load: [{ command: "bin/rails db:migrate" }]'],
      [
        'typeorm',
        '1600000000000, 1800000000000',
        'after_load: [{ command: "npx typeorm migration:run --dataSource data-source.js" }]',
      ],
    ]);
    // The steps of the target are taken for those that apply them.
    const context = contextWith();
    const snapshot = context.configuration.settings.targets.app?.snapshot;
    if (snapshot) snapshot.after_load = [{ command: 'bin/rails db:migrate', timeout: 60 }];
    expect(await behindIn(context)).toEqual([]);
  });

  itIf(process.env.TEST_FULL)(
    'are those of the sanitized data in a sanitized snapshot, and absent outside of a repository',
    async () => {
      minute += 1;
      const context = contextWith();
      const { snapshot } = await applySanitize(context, await planSanitize(context, { target: 'app' }));
      const tools = snapshot.migrations?.map(({ tool, newest }) => `${tool} ${newest}`);
      expect(tools).toContain('alembic clean');
      expect(tools?.filter((text) => text.startsWith('knex'))).toEqual([]);
      expect(snapshot.git).toMatchObject({ branch: 'feature/x' });
      minute += 1;
      expect(await build(contextWith({ cwd: folder.path }), { target: 'app' })).not.toHaveProperty('git');
    },
  );
});

import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { findSnapshot } from '../../../src/operations/snapshots/snapshots.ts';
import { EXPECTED_MIGRATIONS, MIGRATION_TABLES, OTHER_TABLES } from '../../helpers/databases/migration-tables.ts';
import { describeWithMysql, startMysql } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithMysql('mariadb', { name: 'the migrations of a snapshot' }, () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startMysql('mariadb'));

  beforeAll(async () => {
    for (const name of ['a', 'b']) await server.createDatabase(name);
    const statements = `${MIGRATION_TABLES}; ${OTHER_TABLES}`.split(';').filter((text) => text.trim() !== '');
    for (const statement of statements) await server.sql('a', statement);
  }, 60_000);

  it.each([false, true])('are read from the dump, by the program: %s', async (program) => {
    const targets = Object.fromEntries(
      ['a', 'b'].map((name) => [name, { program, snapshot: { src_url: server.url(name) } }]),
    );
    const context = testContext({ settings: { working_directory: join(folder.path, 'work'), targets } });
    const found: unknown[] = [];
    for (const target of ['a', 'b']) {
      const { id } = await build(context, { target });
      const { manifest } = await findSnapshot(context, { target, snapshot: id });
      for (const { table, tool, versions } of manifest.migrations ?? [])
        found.push([...table.split('.'), tool, versions]);
    }
    expect(found).toEqual(EXPECTED_MIGRATIONS);
  });
});

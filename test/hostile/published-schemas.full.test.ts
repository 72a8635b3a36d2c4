import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { buildAndLoad, withDetails } from '../helpers/databases/build-and-load.ts';
import { hasApt } from '../helpers/databases/debian-packages.ts';
import { copyByPgDump, dumpDifferences } from '../helpers/databases/dump-differences.ts';
import { MYSQL_SCHEMAS, POSTGRES_SCHEMAS, writeSchema } from '../helpers/databases/published-schemas.ts';
import { describeWithMysql, startMysql, type TestMysql } from '../helpers/mysql/mysql-server.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres/postgres-server.ts';

const LACKING = hasApt ? {} : { files: 'apt-get, to fetch packages of Debian' };

describeWithPostgres(
  'a schema that is published with a program',
  () => {
    let server: TestPostgres;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startPostgres();
    }, 60_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it.each(POSTGRES_SCHEMAS)(
      '$name is the same after a build and a load as after pg_dump and psql',
      async (schema) => {
        const { name, tables } = schema;
        const script = join(folder.path, `${name}.sql`);
        await writeSchema({ ...schema, before: `\\set ON_ERROR_STOP off\n${schema.before ?? ''}` }, script);
        await server.createDatabase(name);
        await server.psql(name, { file: script });
        const count = `SELECT count(*) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`;
        expect(Number(await server.psql(name, { sql: count }))).toBeGreaterThanOrEqual(tables);
        const { warnings } = await buildAndLoad(server, {
          database: name,
          workingDirectory: join(folder.path, 'work'),
          schemaConfig: { use_default_schema: false },
        });
        expect(warnings).toEqual([]);
        const reference = `${name}_reference`;
        await copyByPgDump(server, { from: name, to: reference, file: join(folder.path, 'dump.sql') });
        expect(dumpDifferences(await server.dump(reference), await server.dump(`${name}_copy`))).toEqual([]);
      },
    );
  },
  LACKING,
);

describeWithMysql('mariadb', { name: 'a schema that is published with a program', ...LACKING }, () => {
  let server: TestMysql;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startMysql('mariadb');
  }, 120_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it.each(MYSQL_SCHEMAS)('$name is the same after a build and a load, by mariadb-dump', async (schema) => {
    const { name, tables } = schema;
    const script = join(folder.path, `${name}.sql`);
    await writeSchema(schema, script);
    await server.createDatabase(name);
    await server.file(name, script);
    const [count] = await server.sql<{ n: number }>(
      name,
      'SELECT count(*) AS n FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()',
    );
    expect(Number(count?.n)).toBeGreaterThanOrEqual(tables);
    const snapshot = { src_url: server.url(name), dst_url: server.url(`${name}_copy`) };
    const settings = { working_directory: join(folder.path, 'work'), targets: { [name]: { snapshot } } };
    const context = testContext({ settings });
    await withDetails(build(context, { target: name }));
    await withDetails(applyLoad(context, await planLoad(context, { target: name, cpus: 2 })));
    expect(dumpDifferences(await server.dump(name), await server.dump(`${name}_copy`))).toEqual([]);
  });
});

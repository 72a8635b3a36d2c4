import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { describeWithMysql, startMysql, type TestMysql } from '../helpers/mysql/mysql-server.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres/postgres-server.ts';

/** Of schemas, tables, columns, indexes and constraints; as SQL writes them, and as they are. */
const NAMES = ['tab\there', 'new\nline', '\x1b[2J', 'return\r', '\x7f', '\u0085', '\u241b000a', '\u241b'];

describeWithPostgres('names with control characters', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    server = await startPostgres();
    folder = await temporaryFolder();
  });

  afterAll(async () => {
    await server.stop();
    await folder[Symbol.asyncDispose]();
  });

  it('come back as they were by a build and a load, and no manifest has any', async () => {
    await server.createDatabase('source');
    const sql = NAMES.map(
      (name) => `CREATE TABLE "${name}" ("${name}" integer CONSTRAINT "${name} key" PRIMARY KEY);
        INSERT INTO "${name}" VALUES (1), (2); CREATE INDEX "${name} index" ON "${name}" ("${name}");`,
    ).join('\n');
    await server.psql('source', { sql });
    const targets = { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } };
    const context = testContext({ settings: { working_directory: folder.path, targets } });
    await build(context, { target: 'app' });
    await expectNoControlCharacters(folder.path);
    await applyLoad(context, await planLoad(context, { target: 'app' }));
    const columns =
      'SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = $$public$$ ORDER BY 1, 2';
    const query = { sql: `SELECT json_agg(t) FROM (${columns}) t` };
    expect(await server.psql('copy', query)).toBe(await server.psql('source', query));
    for (const name of NAMES) expect(await server.psql('copy', { sql: `SELECT count(*) FROM "${name}"` })).toBe('2\n');
  });
});

describeWithMysql('mariadb', { name: 'names with control characters' }, () => {
  let server: TestMysql;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    server = await startMysql('mariadb');
    folder = await temporaryFolder();
  });

  afterAll(async () => {
    await server.stop();
    await folder[Symbol.asyncDispose]();
  });

  it('come back as they were by a build and a load, and no manifest has any', async () => {
    // No name of MariaDB's ends with white space; one with a line feed is refused by the load.
    const names = NAMES.filter((name) => !name.includes('\n')).map((name) => `${name} x`);
    await server.createDatabase('source');
    for (const name of names) {
      await server.sql(
        'source',
        `CREATE TABLE \`${name}\` (\`${name}\` INT PRIMARY KEY, KEY \`${name} index\` (\`${name}\`))`,
        `INSERT INTO \`${name}\` VALUES (1), (2)`,
      );
    }
    const targets = { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } };
    const context = testContext({ settings: { working_directory: folder.path, targets } });
    await build(context, { target: 'app' });
    await expectNoControlCharacters(folder.path);
    await applyLoad(context, await planLoad(context, { target: 'app' }));
    const columns = (schema: string) =>
      server.sql(
        'source',
        `SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '${schema}' ORDER BY 1, 2`,
      );
    expect(await columns('copy')).toEqual(await columns('source'));
    for (const name of names) expect(await server.sql('copy', `SELECT * FROM \`${name}\``)).toHaveLength(2);
  });
});

async function expectNoControlCharacters(directory: string): Promise<void> {
  const manifests = join(directory, 'snapshots', 'app');
  for (const file of await readdir(manifests)) {
    expect(await readFile(join(manifests, file), 'utf8')).not.toMatch(/\\[ntbfr]|\\u00|\x7f|\x85/);
  }
}

import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { anyClientTools } from '../../../../src/engines/postgres/connection/tools.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../../../src/operations/sanitize/sanitize.ts';
import { readRows } from '../../../../src/operations/snapshots/rows/rows.ts';
import { verify } from '../../../../src/operations/snapshots/verify/verify.ts';
import { applySubset, planSubset } from '../../../../src/operations/subset/subset.ts';
import { withDetails } from '../../../helpers/databases/build-and-load.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

/** Written in the encoding of the database, as its client sends them. */
const DATABASES = [
  { encoding: 'SQL_ASCII', text: '\xe9\xff\x80', node: 'latin1' },
  { encoding: 'LATIN1', text: 'é\xffß', node: 'latin1' },
  { encoding: 'UTF8', text: 'é表🐘', node: 'utf8' },
] as const;

describeWithPostgres('a database of another encoding', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let programs = '';

  beforeAll(async () => {
    programs = (await anyClientTools(testContext({ settings: {} }))).directory;
  }, 60_000);

  async function create(name: string, encoding: string, script: Buffer): Promise<void> {
    const sql = `CREATE DATABASE ${name} ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`;
    await server.psql('postgres', { sql });
    const file = join(folder.path, `${name}.sql`);
    await writeFile(file, Buffer.concat([Buffer.from(`SET client_encoding = '${encoding}';\n`), script]));
    await server.psql(name, { file });
  }

  /** A letter for each byte. */
  const dump = (name: string): string =>
    execFileSync(join(programs, 'pg_dump'), ['--no-owner', '-d', server.url(name)], {
      encoding: 'latin1',
      maxBuffer: 1e8,
    }).replaceAll(/^\\(un)?restrict .*$/gm, '');

  it.each(DATABASES)(
    '($encoding) has the same bytes after a load, a subset and a sanitization',
    {
      timeout: 180_000,
    },
    async ({ encoding, text, node }) => {
      const name = encoding.toLowerCase();
      const script = `
      CREATE TABLE item (id integer PRIMARY KEY, note text DEFAULT '${text}', kept text);
      COMMENT ON TABLE item IS '${text}';
      CREATE VIEW noted AS SELECT id, '${text}'::text AS word FROM item WHERE note <> '${text}x';
      CREATE FUNCTION word() RETURNS text LANGUAGE sql AS $$ SELECT '${text}' $$;
      INSERT INTO item VALUES (1, '${text}', '${text}1'), (2, 'plain', '${text}2');
      CREATE TABLE many (id integer PRIMARY KEY, note text);
      INSERT INTO many SELECT n, repeat('${text}', 50) || n FROM generate_series(1, 20000) n;`;
      await create(name, encoding, Buffer.from(script, node));
      const settings = {
        working_directory: join(folder.path, name),
        targets: {
          app: {
            snapshot: { src_url: server.url(name), dst_url: server.url(`${name}_copy`) },
            sanitize: { dst_url: server.url(`${name}_clean`), override_query: "UPDATE item SET note = 'x'" },
          },
          small: {
            subset: {
              src_url: server.url(name),
              dst_url: server.url(`${name}_small`),
              subset_tables: [
                { table: 'public.item', percent: 100 },
                { table: 'public.many', percent: 100 },
              ],
            },
          },
        },
      };
      const context = testContext({ settings });
      await withDetails(build(context, { target: 'app', cpus: 2 }));
      await verify(context, { target: 'app' });
      await withDetails(applyLoad(context, await planLoad(context, { target: 'app', cpus: 2 })));
      const original = dump(name);
      expect(original).toContain(Buffer.from(text, node).toString('latin1'));
      expect(dump(`${name}_copy`)).toBe(original);
      const { rows } = await readRows(context, { target: 'app', table: 'public.item', reveal: true });
      expect(JSON.stringify(rows)).toContain('plain');
      await withDetails(applySubset(context, await planSubset(context, { target: 'small', cpus: 2 })));
      expect(dump(`${name}_small`)).toBe(original);
      await withDetails(applySanitize(context, await planSanitize(context, { target: 'app' })));
      await withDetails(applyLoad(context, await planLoad(context, { target: 'app', cpus: 2 })));
      await server.psql(name, { sql: "UPDATE item SET note = 'x'" });
      expect(dump(`${name}_copy`).split('\n').sort()).toEqual(dump(name).split('\n').sort());
    },
  );

  it('(SQL_ASCII) with names that are not UTF-8 is refused by the build, with the names', async () => {
    await create('named', 'SQL_ASCII', Buffer.from('CREATE TABLE "caf\xe9" (id integer, "\xff" text);', 'latin1'));
    const settings = {
      working_directory: join(folder.path, 'named'),
      targets: { app: { snapshot: { src_url: server.url('named') } } },
    };
    await expect(build(testContext({ settings }), { target: 'app' })).rejects.toMatchObject({
      code: 'names_unreadable',
      details: ['table public.caf\ufffd', 'column public.caf\ufffd.\ufffd'],
    });
  });
});

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { anyClientTools } from '../../../src/engines/postgres/connection/tools.ts';
import { listContents } from '../../../src/engines/postgres/dump/archive-contents.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import { buildAndLoad, normalized, withDetails } from '../../helpers/databases/build-and-load.ts';
import { EVERY_OBJECT, INVALID_INDEX } from '../../helpers/postgres/every-object.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const ALL = { use_default_schema: false };

describeWithPostgres('a database with every kind of object', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let expected: string[];

  beforeAll(async () => {
    await server.createDatabase('all_kinds');
    await server.psql('all_kinds', { sql: EVERY_OBJECT });
    await server.psql('all_kinds', { sql: INVALID_INDEX }).catch(() => {});
    expected = await dumpOf('all_kinds');
  }, 60_000);

  /** Rows in the order of the table's bytes: a restored partition may hold those of another. */
  function dumpOf(database: string): Promise<string[]> {
    return server.dump(database, '--load-via-partition-root').then(normalized);
  }

  it('has an archive of which the entries are read as pg_restore lists them', async () => {
    const { pg_dump, pg_restore } = await anyClientTools(testContext({ settings: {} }));
    await using own = await temporaryFolder();
    const archive = join(own.path, 'archive');
    await promisify(execFile)(pg_dump, ['--format=directory', '-f', archive, '-d', server.url('all_kinds')]);
    const { stdout } = await promisify(execFile)(pg_restore, ['--list', '--verbose', archive]);
    const listed = stdout.split('\n').filter((line) => /^(\d|;\tdepends)/.test(line));
    const read = listContents(await readFile(join(archive, 'toc.dat')))?.flatMap(({ line, needs }) => [
      line,
      ...(needs.length > 0 ? [`;\tdepends on: ${needs.join(' ')}`] : []),
    ]);
    expect(listed.length).toBeGreaterThan(200);
    expect(read).toEqual(listed);
  });

  it('is the same after a build and a load, by pg_dump', async () => {
    const { warnings } = await buildAndLoad(server, {
      database: 'all_kinds',
      workingDirectory: folder.path,
      schemaConfig: ALL,
    });
    expect(warnings).toEqual([]);
    expect(await dumpOf('all_kinds_copy')).toEqual(expected);
  });

  it('is the same after a load in place, and after another over it', async () => {
    const snapshot = {
      src_url: server.url('all_kinds'),
      dst_url: server.url('all_kinds_in_place'),
      schema_config: ALL,
    };
    const settings = { working_directory: folder.path, targets: { all_kinds: { snapshot } } };
    const context = testContext({ settings });
    await server.createDatabase('all_kinds_in_place');
    for (let time = 0; time < 2; time += 1) {
      await withDetails(
        applyLoad(
          context,
          await planLoad(context, { target: 'all_kinds', cpus: 1, inPlace: true, remoteTables: true }),
        ),
      );
      expect(await dumpOf('all_kinds_in_place')).toEqual(expected);
    }
  });

  it.each([false, true])(
    'has event triggers that do not hear of owners and grants that are kept (in place: %s)',
    async (inPlace) => {
      const copy = `all_kinds_granted_${inPlace}`;
      const snapshot = { src_url: server.url('all_kinds'), dst_url: server.url(copy), schema_config: ALL };
      const context = testContext({
        settings: { working_directory: folder.path, targets: { all_kinds: { snapshot } } },
      });
      const role = `reader_${inPlace}`;
      await server.createDatabase(copy);
      await server.psql(copy, {
        sql: `CREATE TABLE kinds (id integer); CREATE ROLE ${role}; GRANT SELECT ON kinds TO ${role}; ALTER DATABASE ${copy} OWNER TO ${role}`,
      });
      await withDetails(
        applyLoad(context, await planLoad(context, { target: 'all_kinds', cpus: 2, inPlace, remoteTables: true })),
      );
      const facts = `SELECT (SELECT count(*) FROM noted), tableowner FROM pg_tables WHERE tablename = 'kinds';
      SELECT evtname, evtenabled FROM pg_event_trigger ORDER BY 1`;
      expect(await server.psql(copy, { sql: facts })).toBe(`0|${role}\nnotes|A\nnotes_off|D\n`);
    },
  );

  it('is loaded by quoted names of tables, and a name that two tables have is an error', async () => {
    const snapshot = { src_url: server.url('all_kinds'), dst_url: server.url('all_kinds_some'), schema_config: ALL };
    const settings = { working_directory: folder.path, targets: { all_kinds: { snapshot } } };
    const context = testContext({ settings });
    const some = (tables: string[]) => planLoad(context, { target: 'all_kinds', cpus: 2, tables });
    await expect(some(['a.b.c'])).rejects.toMatchObject({
      code: 'name_ambiguous',
      message: expect.stringMatching(/a\."b\.c"/),
      hint: expect.stringContaining('with quotes'),
    });
    await applyLoad(context, await some(['a."b.c"', 'a.b.t']));
    const counts = `SELECT (SELECT count(*) FROM a."b.c"), (SELECT count(*) FROM "a.b".c), (SELECT count(*) FROM "a.b".t), (SELECT count(*) FROM a.t)`;
    expect(await server.psql('all_kinds_some', { sql: counts })).toBe('3|0|2|0\n');
  });

  it('is loaded without one of two schemas whose names begin alike', async () => {
    const snapshot = {
      src_url: server.url('all_kinds'),
      dst_url: server.url('all_kinds_one_schema'),
      schema_config: { include_schemas: ['a', 'a.b'] },
    };
    const settings = { working_directory: folder.path, targets: { alike: { snapshot } } };
    await build(testContext({ settings }), { target: 'alike' });
    const only = { ...snapshot, schema_config: { include_schemas: ['a'] } };
    const context = testContext({ settings: { ...settings, targets: { alike: { snapshot: only } } } });
    await withDetails(applyLoad(context, await planLoad(context, { target: 'alike', cpus: 2 })));
    const schemas = `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'a%'`;
    expect(await server.psql('all_kinds_one_schema', { sql: schemas })).toBe('a\n');
  });

  it('is subset by quoted names of tables', async () => {
    const plan = (table: string) => {
      const section = {
        src_url: server.url('all_kinds'),
        dst_url: server.url('all_kinds_named'),
        subset_tables: [{ table, percent: 100 }],
      };
      return planSubset(testContext({ settings: { targets: { t: { subset: section } } } }), { target: 't' });
    };
    await expect(plan('a.b.c')).rejects.toMatchObject({
      details: [expect.stringContaining('a."b.c" or "a.b".c')],
    });
    for (const table of ['a."b.c"', 'a.b.t']) await expect(plan(table)).resolves.toBeDefined();
    const { plan: planned } = await plan('"a.b".t');
    const unreachable = planned.warnings.find(({ code }) => code === 'table_not_reached')?.message;
    expect(unreachable).toMatch(
      /^\d+ tables are not reachable .*: ([^,]+, ){9}[^,]+ and \d+ more\. Add them to copy_tables/,
    );
  });

  it('has the same definitions in a subset, and rows of partitions by hash of an enum', async () => {
    const section = {
      src_url: server.url('all_kinds'),
      dst_url: server.url('all_kinds_small'),
      subset_tables: [{ table: 'public.hashed', where: 'n <= 5' }],
    };
    const context = testContext({ settings: { working_directory: folder.path, targets: { t: { subset: section } } } });
    await withDetails(applySubset(context, await planSubset(context, { target: 't', cpus: 2 })));
    const count = 'SELECT count(*) FROM hashed; SELECT count(*) FROM noted';
    expect(await server.psql('all_kinds_small', { sql: count })).toBe('25\n0\n');
    const definitions = async (database: string): Promise<string[]> =>
      normalized(await server.dump(database, '--schema-only'));
    await server.psql('all_kinds', { sql: 'DROP SERVER far CASCADE' });
    expect(await definitions('all_kinds_small')).toEqual(await definitions('all_kinds'));
  });
});

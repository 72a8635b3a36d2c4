import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { observe } from '../../../src/engines/mysql/rehearse/observe.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { withProgram, withPrograms } from '../../helpers/mysql/mysql-programs.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const GUEST = { name: 'guest', password: 'guest' };
/** Quotes and backslashes, also as the second byte of a character. */
const BYTES = {
  gbk: '815CBF5C27D55C22',
  sjis: '835C5C27955C22',
  big5: 'A55C5C27B35C22',
  utf16: '005C0027275C5C27005C',
  latin1: 'BF275C22BF5C',
};
const INIT_CONNECT = [
  'USE other',
  'START TRANSACTION',
  "SET NAMES sjis, sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,PAD_CHAR_TO_FULL_LENGTH'",
  'SET NAMES gbk, autocommit = 0, completion_type = 1, sql_safe_updates = 1, sql_select_limit = 1, group_concat_max_len = 4',
];
/** Above the number of tables, and below that of columns or rows. */
const LIMITS = ['SET sql_select_limit = 3'];
const OF_MARIADB = ["SET system_versioning_asof = '2001-01-01 00:00:00'"];

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'init_connect of the server' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));
    let context: Context;
    let expected: string;
    let other: string;

    beforeAll(async () => {
      await server.sql('', "CREATE USER guest@'%' IDENTIFIED BY 'guest'");
      for (const name of ['source', 'other', 'copy', 'small', 'people']) {
        await server.createDatabase(name);
        await server.sql('', `GRANT ALL ON \`${name}%\`.* TO guest@'%'`);
      }
      const versioned = flavour === 'mariadb' ? 'WITH SYSTEM VERSIONING' : '';
      for (const [charset, bytes] of Object.entries(BYTES)) {
        const create = `CREATE TABLE t_${charset} (id INT PRIMARY KEY, t VARCHAR(50) CHARACTER SET ${charset}, b BLOB)`;
        await server.sql(
          'source',
          create,
          `INSERT INTO t_${charset} VALUES (1, _${charset} 0x${bytes}, 0x${bytes}), (2, '"''\\\\', '')`,
        );
        await server.sql('other', create, `INSERT INTO t_${charset} VALUES (1, 'other', '')`);
      }
      await server.sql(
        'source',
        `CREATE TABLE history (id INT PRIMARY KEY) ${versioned}`,
        'INSERT INTO history VALUES (1), (2)',
      );
      await server.sql(
        'people',
        'CREATE TABLE person (id INT PRIMARY KEY)',
        'CREATE TABLE note (id INT PRIMARY KEY, person INT, FOREIGN KEY (person) REFERENCES person (id) ON DELETE CASCADE)',
        'INSERT INTO person VALUES (1), (2)',
        'INSERT INTO note VALUES (1, 1), (2, 2)',
      );
      const url = (name: string) => server.url(name, GUEST);
      const subset_tables = [{ table: 'source.t_gbk', where: 'id = 1' }];
      const app = {
        snapshot: { src_url: url('source'), dst_url: url('copy') },
        subset: { src_url: url('source'), dst_url: url('small'), subset_tables },
      };
      const people = {
        snapshot: { src_url: url('people'), dst_url: url('people_copy') },
        sanitize: { dst_url: url('people_clean'), override_query: 'DELETE FROM person WHERE id = 1' },
      };
      context = testContext({ settings: { working_directory: join(folder.path, 'work'), targets: { app, people } } });
      expected = await contentOf('source');
      other = await server.dump('other');
    }, 120_000);

    it.each(flavour === 'mariadb' ? [...INIT_CONNECT, ...OF_MARIADB] : INIT_CONNECT)(
      'changes no rows that a build, a load or a subset reads and writes: %s',
      async (statement) => {
        await server.sql('', `SET GLOBAL init_connect = ${JSON.stringify(statement)}`);
        await build(context, { target: 'app' });
        await applyLoad(context, await planLoad(context, { target: 'app' }));
        expect(await contentOf('copy')).toBe(expected);
        await server.sql('copy', "UPDATE t_gbk SET t = 'changed'", 'DELETE FROM t_sjis');
        const tables = ['source.t_gbk', 'source.t_sjis'];
        await applyLoad(context, await planLoad(context, { target: 'app', tables, only: true }));
        expect(await contentOf('copy')).toBe(expected);
        await applySubset(context, await planSubset(context, { target: 'app' }));
        expect(await server.sql('small', 'SELECT id, HEX(t) AS t FROM t_gbk')).toEqual([{ id: 1, t: BYTES.gbk }]);
        expect(await server.dump('other')).toBe(other);
      },
      60_000,
    );

    it('keeps no rows in a sanitization that reference deleted ones', async () => {
      await server.sql('', "SET GLOBAL init_connect = 'SET foreign_key_checks = 0, unique_checks = 0'");
      await build(context, { target: 'people' });
      await applySanitize(context, await planSanitize(context, { target: 'people' }));
      await applyLoad(context, await planLoad(context, { target: 'people' }));
      expect(await server.sql('people_copy', 'SELECT * FROM note')).toEqual([{ id: 2, person: 2 }]);
    });

    it.each(flavour === 'mariadb' ? [...LIMITS, ...OF_MARIADB] : LIMITS)(
      'refuses a build by the vendor program, which would leave rows or columns out: %s',
      async (statement) => {
        await server.sql('', `SET GLOBAL init_connect = ${JSON.stringify(statement)}`);
        const byProgram = await withPrograms(withProgram(context, 'people'), flavour, folder.path);
        await expect(build(byProgram, { target: 'people' })).rejects.toMatchObject({ code: 'dump_failed' });
        await server.sql('', "SET GLOBAL init_connect = ''");
        expect(await build(byProgram, { target: 'people' })).toMatchObject({ rows: 4 });
      },
    );

    it('refuses a rehearsal whose sessions begin in another database', async () => {
      await server.sql('', "SET GLOBAL init_connect = 'USE other'");
      const observed = observe(context, parseMysqlUrl(server.url('copy', GUEST)));
      await expect(observed).rejects.toMatchObject({ code: 'rehearsal_unobservable' });
    });

    async function contentOf(database: string): Promise<string> {
      const tables = [...Object.keys(BYTES).map((charset) => [`t_${charset}`, ', HEX(t), HEX(b)']), ['history', '']];
      const rows = await Promise.all(
        tables.map(([table, more]) => server.sql(database, `SELECT id${more} FROM ${table} ORDER BY id`)),
      );
      return JSON.stringify(rows);
    }
  });
}

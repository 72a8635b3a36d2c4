import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Settings } from '../../../../src/config/schema/settings.ts';
import { assertNoNameCollision, readNameCase } from '../../../../src/engines/mysql/catalog/name-case.ts';
import { readRights } from '../../../../src/engines/mysql/catalog/rights/rights.ts';
import { inDatabase } from '../../../../src/engines/mysql/connection/quote.ts';
import { type MysqlSession, openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { needsOf } from '../../../../src/engines/mysql/restore/table-needs.ts';
import { destinationName } from '../../../../src/engines/mysql/server/server.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../../src/operations/load/planned-load.ts';
import { applyReset, planReset } from '../../../../src/operations/reset/reset.ts';
import { applySanitize, planSanitize } from '../../../../src/operations/sanitize/sanitize.ts';
import { diff } from '../../../../src/operations/snapshots/diff/diff.ts';
import { applySubset, planSubset } from '../../../../src/operations/subset/subset.ts';
import { applyUndo, planUndo } from '../../../../src/operations/undo/undo.ts';
import { withDetails } from '../../../helpers/databases/build-and-load.ts';
import { itIf } from '../../../helpers/it-if.ts';
import { describeWithMysql, startMysql, type TestMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

describe('names that differ in case', () => {
  const folding = (folds: boolean) => ({ folds, fold: (name: string) => name.toLowerCase() });

  it('are refused where they are one, with both', () => {
    const names = ['Artist', 'case1', 'Case1', 'B', 'b'];
    expect(() => assertNoNameCollision(folding(false), names)).not.toThrow();
    expect(() => assertNoNameCollision(folding(true), names)).toThrow(
      expect.objectContaining({
        code: 'names_collide',
        message: expect.stringMatching(/"Case1" and "case1"/),
        details: ['B, b'],
      }),
    );
  });

  it('are found in a foreign key that the server wrote in lower case', () => {
    const foreignKeys = ['CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `artist` (`a`)'];
    const tables = [
      { name: 'Album', foreignKeys },
      { name: 'Artist', foreignKeys: [] },
    ];
    expect(needsOf(tables, 'app')).toEqual([{ table: 'app.Artist', needed_by: 'app.Album', why: 'reference' }]);
    expect(needsOf([...tables, { name: 'artist', foreignKeys: [] }], 'app')).toMatchObject([{ table: 'app.artist' }]);
  });
});

/** Both take minutes: MySQL in the full suite. */
const FLAVOURS = testedFlavours('mariadb');
for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'upper and lower case in names of tables' }, () => {
    /** One tells case apart, the other keeps names of tables in lower case, as on Windows. */
    let exact: TestMysql;
    let folding: TestMysql;
    const folder = suiteResource(() => temporaryFolder());

    function contextOf(target: Settings['targets'][string], name: string) {
      return testContext({ settings: { working_directory: join(folder.path, name), targets: { app: target } } });
    }
    async function loaded(context: ReturnType<typeof contextOf>, request: Partial<LoadRequest> = {}) {
      return withDetails(applyLoad(context, await planLoad(context, { target: 'app', cpus: 2, ...request })));
    }
    async function tablesOf(server: TestMysql, database: string): Promise<string[]> {
      const rows = await server.sql<{ name: string }>(
        '',
        `SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = '${database}'`,
      );
      return rows.map(({ name }) => name).sort();
    }

    beforeAll(async () => {
      [exact, folding] = await Promise.all([startMysql(flavour), startMysql(flavour, ['--lower-case-table-names=1'])]);
      await exact.createDatabase('Chinook');
      await exact.sql(
        'Chinook',
        'CREATE TABLE Artist (ArtistId INT PRIMARY KEY, Name VARCHAR(40))',
        'CREATE TABLE Album (AlbumId INT PRIMARY KEY, ArtistId INT, Title VARCHAR(40), KEY IFK_Artist (ArtistId), CONSTRAINT FK_Artist FOREIGN KEY (ArtistId) REFERENCES Artist (ArtistId))',
        'CREATE TABLE Ärger (Id INT PRIMARY KEY)',
        'INSERT INTO Ärger VALUES (5)',
        "INSERT INTO Artist VALUES (1, 'Ada'), (2, 'Bob')",
        "INSERT INTO Album VALUES (10, 1, 'One'), (20, 2, 'Two')",
        'CREATE VIEW AlbumTitles AS SELECT a.Title, r.Name FROM Album a JOIN Artist r ON r.ArtistId = a.ArtistId',
        'CREATE TRIGGER CheckAlbum BEFORE INSERT ON Album FOR EACH ROW SET NEW.Title = UPPER(NEW.Title)',
        'CREATE FUNCTION AlbumCount() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM Album)',
      );
      await exact.createDatabase('twins');
      await exact.sql(
        'twins',
        'CREATE TABLE Case1 (id INT PRIMARY KEY, a INT, KEY both_ways (a, id), UNIQUE KEY u (a, id))',
        'CREATE TABLE case1 (id INT PRIMARY KEY, b INT, KEY both_ways (b), UNIQUE KEY u (b))',
        'INSERT INTO Case1 VALUES (1, 1), (2, 2)',
        'INSERT INTO case1 VALUES (3, 3)',
        'CREATE VIEW V1 AS SELECT a FROM Case1',
        'CREATE VIEW v1 AS SELECT b FROM case1',
      );
    }, 240_000);

    afterAll(async () => {
      await Promise.all([exact?.stop(), folding?.stop()]);
    });

    const folded = () => ({ snapshot: { src_url: exact.url('Chinook'), dst_url: folding.url('Music_Dev') } });

    it('a load into a server that folds them restores, swaps, undoes and loads again', async () => {
      const context = contextOf(folded(), 'folding');
      await build(context, { target: 'app', cpus: 2 });
      expect((await loaded(context)).rows).toBe(5);
      expect(await tablesOf(folding, 'music_dev')).toEqual(['album', 'albumtitles', 'artist', 'ärger']);
      expect(await folding.sql('music_dev', 'SELECT Title, Name FROM AlbumTitles ORDER BY 1')).toEqual([
        { Title: 'One', Name: 'Ada' },
        { Title: 'Two', Name: 'Bob' },
      ]);
      await folding.sql('music_dev', "INSERT INTO Album VALUES (30, 1, 'three')");
      expect(await folding.sql('music_dev', 'SELECT AlbumCount() AS n')).toEqual([{ n: 3 }]);
      const { changes, unchanged } = await diff(context, { target: 'app', a: 0 });
      expect(changes).toMatchObject([{ table: 'Chinook.Album', change: 'changed' }]);
      expect(unchanged).toBe(2);
      await loaded(context);
      expect(await folding.sql('music_dev', 'SELECT AlbumCount() AS n')).toEqual([{ n: 2 }]);
      await applyUndo(context, await planUndo(context, { target: 'app' }));
      expect(await folding.sql('music_dev', 'SELECT Title FROM AlbumTitles ORDER BY 1')).toEqual(
        ['One', 'THREE', 'Two'].map((Title) => ({ Title })),
      );
      expect(await folding.databases()).toEqual(['music_dev', 'music_dev.tool-undo']);
      const some = await loaded(context, { tables: ['Chinook.Album'] });
      expect(some.selection?.needed).toMatchObject([{ table: 'Chinook.Artist' }]);
      expect(await folding.sql('music_dev', 'SELECT COUNT(*) AS n FROM Artist')).toEqual([{ n: 2 }]);
    });

    it('a reset brings back every row of a table with upper-case letters, from the base copy and from the spare', async () => {
      const snapshot = { src_url: exact.url('Chinook'), dst_url: folding.url('Reset_Dev') };
      const context = contextOf({ snapshot }, 'reset');
      await build(context, { target: 'app', cpus: 2 });
      await loaded(context, { keepBase: true });
      const rows = () =>
        folding.sql(
          'reset_dev',
          'SELECT (SELECT COUNT(*) FROM artist) AS artists, (SELECT COUNT(*) FROM album) AS albums, (SELECT COUNT(*) FROM ärger) AS others',
        );
      const dump = await folding.dump('reset_dev');
      for (const spare of [true, true, false]) {
        await folding.sql(
          'reset_dev',
          'DELETE FROM album',
          'DELETE FROM artist WHERE ArtistId = 1',
          'INSERT INTO ärger VALUES (9)',
        );
        await withDetails(applyReset(context, await planReset(context, { target: 'app', spare })));
        expect(await rows()).toEqual([{ artists: 2, albums: 2, others: 1 }]);
        expect(await folding.dump('reset_dev')).toBe(dump);
      }
    });

    it('such a server can be a source, with any case of the database in the URL', async () => {
      await folding.createDatabase('Lower');
      await folding.sql(
        'Lower',
        'CREATE TABLE Item (id INT PRIMARY KEY)',
        'INSERT INTO Item VALUES (1)',
        'CREATE VIEW Items AS SELECT id FROM Item',
        'CREATE TRIGGER Kept BEFORE DELETE ON item FOR EACH ROW SET @a = 1',
      );
      for (const source of ['Lower', 'lower']) {
        const snapshot = { src_url: folding.url(source), dst_url: exact.url('copied') };
        const context = contextOf({ snapshot }, source);
        await build(context, { target: 'app', cpus: 2 });
        await loaded(context);
        expect(await tablesOf(exact, 'copied')).toEqual(['item', 'items']);
        expect(await exact.sql('copied', 'SELECT id FROM items')).toEqual([{ id: 1 }]);
      }
    });

    it('sanitizing and a subset work in one too', async () => {
      const context = contextOf(
        {
          ...folded(),
          sanitize: { dst_url: folding.url('Safe'), override_query: "UPDATE Artist SET Name = CONCAT('n', ArtistId)" },
          subset: {
            src_url: exact.url('Chinook'),
            dst_url: folding.url('Small'),
            subset_tables: [{ table: 'Chinook.Album', where: 'AlbumId = 10' }],
          },
        },
        'folding',
      );
      await withDetails(applySanitize(context, await planSanitize(context, { target: 'app' })));
      expect(await folding.sql('safe', 'SELECT Name FROM Artist ORDER BY 1')).toEqual([{ Name: 'n1' }, { Name: 'n2' }]);
      await withDetails(applySubset(context, await planSubset(context, { target: 'app' })));
      expect(await folding.sql('small', 'SELECT Title, Name FROM AlbumTitles')).toEqual([
        { Title: 'One', Name: 'Ada' },
      ]);
    });

    it('two names that are one to the destination are refused before anything is made', async () => {
      const before = await folding.databases();
      const snapshot = { src_url: exact.url('twins'), dst_url: folding.url('twins_dev') };
      const context = contextOf(
        {
          snapshot,
          subset: {
            src_url: exact.url('twins'),
            dst_url: folding.url('twins_small'),
            copy_tables: ['twins.Case1'],
            subset_tables: [{ table: 'twins.case1', percent: 100 }],
          },
        },
        'twins',
      );
      await build(context, { target: 'app', cpus: 1 });
      const collide = { code: 'names_collide', exit: 5, message: expect.stringContaining('"Case1" and "case1"') };
      await expect(planLoad(context, { target: 'app' })).rejects.toMatchObject(collide);
      await expect(
        planSubset(context, { target: 'app' }).then((planned) => applySubset(context, planned)),
      ).rejects.toMatchObject(collide);
      expect(await folding.databases()).toEqual(before);
    });

    // To MySQL two triggers of these names are one everywhere.
    itIf(flavour === 'mariadb')('two triggers likewise', async () => {
      await exact.createDatabase('triggers');
      await exact.sql(
        'triggers',
        'CREATE TABLE a (id INT)',
        'CREATE TABLE b (id INT)',
        'CREATE TRIGGER T1 BEFORE INSERT ON a FOR EACH ROW SET @a = 1',
        'CREATE TRIGGER t1 BEFORE INSERT ON b FOR EACH ROW SET @a = 1',
      );
      const before = await folding.databases();
      const context = contextOf(
        { snapshot: { src_url: exact.url('triggers'), dst_url: folding.url('triggers_dev') } },
        'triggers',
      );
      await build(context, { target: 'app', cpus: 1 });
      await expect(loaded(context)).rejects.toThrow(/triggers "T1" and "t1"/);
      expect(await folding.databases()).toEqual(before);
    });

    it('two tables and two views that differ in case alone are kept apart by a server that does', async () => {
      const snapshot = { src_url: exact.url('twins'), dst_url: exact.url('twins_copy') };
      const sanitizing = { dst_url: exact.url('twins_safe'), override_query: 'UPDATE Case1 SET a = a + 10' };
      const context = contextOf({ snapshot, sanitize: sanitizing }, 'twins');
      await build(context, { target: 'app', cpus: 2 });
      for (let round = 0; round < 2; round += 1) {
        expect((await loaded(context, { original: true })).rows).toBe(3);
        expect(await exact.sql('twins_copy', 'SELECT a FROM V1 UNION ALL SELECT b FROM v1')).toEqual([
          ...[1, 2, 3].map((a) => ({ a })),
        ]);
      }
      await withDetails(applySanitize(context, await planSanitize(context, { target: 'app' })));
      expect(await exact.sql('twins_safe', 'SELECT a FROM Case1 UNION ALL SELECT b FROM case1')).toEqual([
        ...[11, 12, 3].map((a) => ({ a })),
      ]);
    });

    // Only macOS has servers that keep names as they are and compare them without case: a real one answers as if it were.
    it.each([0, 1, 2])('are compared without case where lower_case_table_names is not 0: %i', async (value) => {
      await using real = await openSession({ url: parseMysqlUrl(exact.url('')) });
      const asked = <Row>(sql: string) => real.query<Row>(sql.replaceAll('@@lower_case_table_names', String(value)));
      const session: MysqlSession = Object.create(real, { query: { value: asked } });
      const names = ['Artist', 'ARTIST', 'Album'];
      const nameCase = await readNameCase(session, names);
      expect(nameCase.folds).toBe(value > 0);
      expect(nameCase.fold('Artist') === nameCase.fold('ARTIST')).toBe(value > 0);
      if (value > 0) expect(() => assertNoNameCollision(nameCase, names)).toThrow(/"ARTIST" and "Artist"/);
      else expect(() => assertNoNameCollision(nameCase, names)).not.toThrow();
      expect(await destinationName(session, 'Music_Dev')).toBe(value > 0 ? 'music_dev' : 'Music_Dev');
      expect((await readRights(session)).fold('Music_Dev')).toBe(value > 0 ? 'music_dev' : 'Music_Dev');
      const [own] = await session.query<{ found: number }>(`SELECT ${inDatabase("'chinook'", 'Chinook')} AS found`);
      expect(own?.found).toBe(value > 0 ? 1 : 0);
    });

    itIf(process.env.TEST_FULL)('a server on Linux is never one that keeps and ignores case (2)', async () => {
      const started = await startMysql(flavour, ['--lower-case-table-names=2']).catch((error: Error) => error);
      if (started instanceof Error) return expect(started.message).toContain('did not start');
      try {
        expect(await started.sql('', 'SELECT @@lower_case_table_names AS value')).toEqual([{ value: 0 }]);
      } finally {
        await started.stop();
      }
    });

    it('are folded by the rules of the server', async () => {
      const names = ['ÄRGER', 'Ελλάς', "it's", 'a\\b', 'Ünïcode'];
      const folded = async (server: TestMysql): Promise<string[]> => {
        await using session = await openSession({ url: parseMysqlUrl(server.url('')) });
        const { fold } = await readNameCase(session, names);
        return names.map(fold);
      };
      expect(await folded(exact)).toEqual(names);
      await folding.createDatabase('folded');
      await folding.sql('folded', ...names.map((name) => `CREATE TABLE \`${name}\` (id INT)`));
      const made = await tablesOf(folding, 'folded');
      expect((await folded(folding)).sort()).toEqual(made);
    });
  });
}

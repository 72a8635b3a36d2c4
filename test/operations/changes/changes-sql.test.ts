import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { type ChangesRequest, readChanges } from '../../../src/operations/changes/changes.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

/** Foreign keys in a cycle and to the own table, unique values that swap, triggers, and types whose text is special. */
const POSTGRES = {
  fill: [
    'CREATE EXTENSION IF NOT EXISTS citext',
    "CREATE TYPE mood AS ENUM ('fine', 'it''s')",
    `CREATE TABLE "Odd ""name""" (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "text\\" text, bytes bytea, list text[], doc json,
      twice integer GENERATED ALWAYS AS (length("text\\") * 2) STORED, ratio double precision, at timestamptz, span interval, feeling mood, fixed char(6), flag boolean)`,
    `INSERT INTO "Odd ""name""" ("text\\", bytes, list, doc, ratio, at, span, feeling, fixed, flag) VALUES ('one', '\\x00ff', '{a,NULL,"b,c"}', '{"a": 1}', 0.1, '2026-01-01 10:00+02', '1 day -2 hours', 'fine', 'x', true), ('two', NULL, NULL, NULL, 'NaN', NULL, NULL, NULL, NULL, false)`,
    'CREATE TABLE pair (a citext, b integer, note text, PRIMARY KEY (b, a))',
    "INSERT INTO pair SELECT 'Key ' || i, i % 3, i::text FROM generate_series(1, 30) i",
    'CREATE TABLE person (id integer PRIMARY KEY, boss integer REFERENCES person, code text UNIQUE, team integer NOT NULL)',
    'CREATE TABLE team (id integer PRIMARY KEY, head integer REFERENCES person)',
    'INSERT INTO team VALUES (1, NULL), (2, NULL)',
    "INSERT INTO person VALUES (1, NULL, 'a', 1), (2, 1, 'b', 1), (3, 1, NULL, 2)",
    'UPDATE team SET head = id',
    'ALTER TABLE person ADD FOREIGN KEY (team) REFERENCES team ON DELETE CASCADE',
    'CREATE TABLE late (id integer PRIMARY KEY, person integer REFERENCES person DEFERRABLE INITIALLY DEFERRED)',
    'INSERT INTO late VALUES (1, 1)',
    'CREATE TABLE log (line text, doc json, f real, c char(4), b bool)',
    `INSERT INTO log VALUES ('same', '{"a":  1}', 0.1, 'a', true), ('same', '{"a":  1}', 0.1, 'a', true), ('Same', '{"a": 1}', 0.1, 'a', true), (NULL, NULL, NULL, NULL, NULL)`,
    "CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.log (line) VALUES ('trigger'); RETURN NULL; END $$",
    'CREATE TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON person FOR EACH ROW EXECUTE FUNCTION noted()',
    'CREATE TABLE part (id integer, day date NOT NULL) PARTITION BY RANGE (day)',
    "CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM ('2026-01-01') TO ('2026-02-01')",
    "CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM ('2026-02-01') TO ('2026-03-01')",
    "INSERT INTO part VALUES (1, '2026-01-05'), (2, '2026-02-05')",
    'CREATE SEQUENCE draws',
  ],
  change: [
    `UPDATE "Odd ""name""" SET "text\\" = E'it''s \\\\ :x\\n-- ;\\t' , bytes = '\\x5c27', list = '{"\\\\","''",NULL,""}', doc = '{"q":"\\""}', ratio = -1e-300, span = '-3 mons', feeling = 'it''s' WHERE id = 1`,
    `INSERT INTO "Odd ""name""" ("text\\", ratio, fixed) VALUES ('', 'Infinity', 'ü ')`,
    `DELETE FROM "Odd ""name""" WHERE id = 2`,
    'DELETE FROM pair WHERE b = 0',
    'UPDATE pair SET note = NULL, a = upper(a::text) WHERE b = 1',
    'INSERT INTO team VALUES (3, NULL)',
    "INSERT INTO person SELECT i, CASE WHEN i < 250 THEN i + 1 END, 'code ' || i, 3 FROM generate_series(250, 10, -1) i",
    'UPDATE team SET head = 10 WHERE id = 3',
    'UPDATE person SET team = 3 WHERE id = 3',
    "UPDATE person SET code = CASE code WHEN 'a' THEN NULL ELSE 'a' END WHERE id = 1",
    "UPDATE person SET code = 'a' WHERE id = 2",
    "UPDATE person SET code = 'b' WHERE id = 1",
    'DELETE FROM team WHERE id = 2',
    'INSERT INTO late VALUES (2, 20)',
    "DELETE FROM log WHERE ctid = (SELECT min(ctid) FROM log WHERE line = 'same')",
    'DELETE FROM log WHERE line IS NULL',
    'INSERT INTO log (line) VALUES (NULL), (NULL)',
    "UPDATE part SET day = '2026-02-06' WHERE id = 1",
    "SELECT nextval('draws'), nextval('draws')",
  ],
};

const MYSQL = {
  fill: [
    'CREATE TABLE `odd ``name``` (id BIGINT AUTO_INCREMENT PRIMARY KEY, `text\\` TEXT, bytes BLOB, old VARCHAR(20) CHARACTER SET latin1, wide VARCHAR(20) CHARACTER SET utf16, doc JSON, twice INT AS (CHAR_LENGTH(`text\\`) * 2) STORED, ratio DOUBLE, single FLOAT, amount DECIMAL(10,2), at TIMESTAMP NULL, bits BIT(9), kind ENUM("a", "ü"), place POINT) DEFAULT CHARSET utf8mb4',
    "INSERT INTO `odd ``name``` (`text\\`, bytes, old, wide, doc, ratio, single, amount, at, bits, kind, place) VALUES ('one', x'00ff', 'ä', 'ü', '{\"a\": 1}', 0.1, 0.1, 1.50, '2026-01-01 10:00:00', b'100000001', 'ü', ST_GeomFromText('POINT(1 2)')), ('two', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    'CREATE TABLE pair (a VARCHAR(20), b INT, note TEXT, PRIMARY KEY (b, a)) DEFAULT CHARSET utf8mb4',
    "INSERT INTO pair VALUES ('Key', 1, 'x'), ('Other', 1, 'y'), ('Key', 2, NULL)",
    'CREATE TABLE team (id INT PRIMARY KEY, head INT)',
    'CREATE TABLE person (id INT PRIMARY KEY, boss INT REFERENCES person (id), code VARCHAR(20) UNIQUE, team INT NOT NULL, FOREIGN KEY (team) REFERENCES team (id) ON DELETE CASCADE)',
    'INSERT INTO team VALUES (1, NULL), (2, NULL)',
    "INSERT INTO person VALUES (1, NULL, 'a', 1), (2, 1, 'b', 1), (3, 1, NULL, 2)",
    'ALTER TABLE team ADD FOREIGN KEY (head) REFERENCES person (id)',
    'UPDATE team SET head = id',
    'CREATE TABLE log (line VARCHAR(20), f FLOAT, bits BIT(3), b BLOB, d DATE) DEFAULT CHARSET utf8mb4',
    "INSERT INTO log VALUES ('same', 0.1, b'101', 'a', '2026-01-01'), ('same', 0.1, b'101', 'a', '2026-01-01'), ('Same', 0.1, b'101', 'a', '2026-01-01'), (NULL, NULL, NULL, NULL, NULL)",
    'CREATE TABLE flags (bits BIT(12), id INT, note INT, PRIMARY KEY (bits, id))',
    "INSERT INTO flags VALUES (b'1', 1, 1), (b'100000000001', 2, 1), (b'10', 3, 1)",
  ],
  change: [
    'DELETE FROM flags WHERE id = 1',
    'UPDATE flags SET note = 2 WHERE id = 2',
    "UPDATE `odd ``name``` SET `text\\` = 'it''s \\\\ 漢\\n-- ;\\t\\0\\Z', bytes = x'5c27', old = 'öß', wide = '䅁', doc = '{\"q\": \"\\\\\\\"\"}', ratio = -1e-300, single = 1e10, amount = -0.01, bits = b'1', kind = 'a', place = ST_GeomFromText('POINT(3 4)') WHERE id = 1",
    "INSERT INTO `odd ``name``` (`text\\`) VALUES (''), ('NULL')",
    'DELETE FROM `odd ``name``` WHERE id = 2',
    'DELETE FROM pair WHERE b = 2',
    "UPDATE pair SET a = 'KEY', note = NULL WHERE a = 'Key'",
    'INSERT INTO team VALUES (3, NULL)',
    "INSERT INTO person VALUES (10, NULL, 'new', 3)",
    'UPDATE person SET boss = 10, team = 3 WHERE id = 3',
    'UPDATE team SET head = 10 WHERE id = 3',
    'UPDATE person SET code = NULL WHERE id = 1',
    "UPDATE person SET code = 'a' WHERE id = 2",
    "UPDATE person SET code = 'b' WHERE id = 1",
    'DELETE FROM team WHERE id = 2',
    "DELETE FROM log WHERE CAST(line AS BINARY) = CAST('same' AS BINARY) LIMIT 1",
    'DELETE FROM log WHERE line IS NULL',
    'INSERT INTO log (line) VALUES (NULL), (NULL)',
  ],
};

for (const kind of process.env.TEST_FULL ? SERVER_KINDS : (['postgres', 'mariadb'] as const)) {
  describeWithKind(kind, 'changes as SQL', () => {
    const { fill, change } = kind === 'postgres' ? POSTGRES : MYSQL;
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      await server.create('source');
      await server.run('source', fill);
      await build(contextWith(), { target: 'app' });
      for (const target of ['app', 'again'])
        await applyLoad(
          contextWith(),
          await planLoad(contextWith(), { target: 'app', ...(target === 'again' && { destdb: server.url('again') }) }),
        );
    }, 60_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function contextWith(): Context {
      const app = { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } };
      const targets = { app };
      return testContext({
        settings: {
          working_directory: join(folder.path, 'work'),
          targets,
          saves: { keep: 20, max_duration: 10, before: [] },
        },
      });
    }

    const changes = (request: Partial<ChangesRequest> = {}) =>
      readChanges(contextWith(), { target: 'app', ...request });

    it('make equal data of the base, in a private file that is new', async () => {
      await server.run('copy', change);
      const sql = join(folder.path, 'changes.sql');
      const found = await changes({ sql, reveal: true });
      expect(statSync(sql).mode & 0o777).toBe(0o600);
      await expect(changes({ sql, reveal: true })).rejects.toMatchObject({ code: 'file_exists' });
      expect(found.sql?.statements).toBeGreaterThan(10);
      const request = { target: 'app', file: sql, noDrop: true, destdb: server.url('again') };
      await applyLoad(contextWith(), await planLoad(contextWith(), request));
      expect(await server.content('again')).toBe(await server.content('copy'));
    });

    it('are refused without --reveal, without their folder, and where definitions differ', async () => {
      const sql = join(folder.path, 'refused.sql');
      await server.run('copy', ["UPDATE pair SET note = 'ann@example.com'"]);
      await expect(changes({ sql })).rejects.toMatchObject({ code: 'flag_needs_flag' });
      await expect(changes({ sql: join(folder.path, 'none', 'x.sql'), reveal: true })).rejects.toMatchObject({
        message: expect.stringContaining('There is no folder'),
      });
      await server.run('copy', ['CREATE VIEW numbers AS SELECT b FROM pair']);
      await expect(changes({ sql, reveal: true })).rejects.toMatchObject({ code: 'changes_not_as_sql' });
      expect(() => statSync(sql)).toThrow();
    });
  });
}

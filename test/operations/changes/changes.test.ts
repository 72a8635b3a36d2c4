import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyBack, planBack } from '../../../src/operations/back/back.ts';
import { build } from '../../../src/operations/build/build.ts';
import { type ChangesRequest, readChanges, withChanges } from '../../../src/operations/changes/changes.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyRemove, planRemove } from '../../../src/operations/remove/remove.ts';
import { applySave, planSave } from '../../../src/operations/save/save.ts';
import { findSnapshot } from '../../../src/operations/snapshots/snapshots.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { itIf } from '../../helpers/it-if.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const FILL = [
  'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(64) NOT NULL, email VARCHAR(64))',
  "INSERT INTO item VALUES (1, 'one', 'ann@example.com'), (2, 'two', NULL), (3, 'three', 'bob@example.com')",
  'CREATE TABLE pair (a INT, b VARCHAR(8), amount INT, PRIMARY KEY (b, a))',
  "INSERT INTO pair VALUES (1, 'x', 1), (2, 'x', 2), (1, 'y', 3)",
  'CREATE TABLE log (line VARCHAR(64))',
  "INSERT INTO log VALUES ('same'), ('same'), ('same'), (NULL)",
  'CREATE TABLE calm (id INT PRIMARY KEY)',
  'INSERT INTO calm VALUES (1)',
  'CREATE TABLE old (id INT PRIMARY KEY)',
  'INSERT INTO old VALUES (1), (2)',
  'CREATE VIEW names AS SELECT name FROM item',
];

/** Objects beside tables, which a load may create in another way than they were. */
const OBJECTS = [
  'CREATE EXTENSION IF NOT EXISTS citext',
  'CREATE ROLE reader',
  'GRANT SELECT ON item TO reader',
  'ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO reader',
  "COMMENT ON TABLE item IS 'items'",
  "COMMENT ON DATABASE source IS 'the source'",
  'CREATE MATERIALIZED VIEW counted AS SELECT count(*) FROM item',
  "CREATE FUNCTION twice(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2'",
  "CREATE FUNCTION twice(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2'",
  'CREATE INDEX ON item (twice(id))',
  'ALTER TABLE pair ENABLE ROW LEVEL SECURITY',
  'CREATE POLICY own ON pair TO reader USING (a = 1)',
  'CREATE SCHEMA other',
  "CREATE TYPE other.mood AS ENUM ('fine')",
  'CREATE DOMAIN other.positive AS integer CHECK (VALUE > 0)',
  'CREATE TABLE other.part (id integer, at date) PARTITION BY RANGE (at)',
  "CREATE TABLE other.part_1 PARTITION OF other.part FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')",
  'CREATE SEQUENCE other.draws',
  "SELECT nextval('other.draws')",
  'CREATE PUBLICATION items FOR TABLE item',
  'CREATE FUNCTION noted() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$',
  'CREATE EVENT TRIGGER noted ON ddl_command_end EXECUTE FUNCTION noted()',
  "SELECT lo_from_bytea(17, 'large')",
  'CREATE STATISTICS both_ids ON a, b FROM pair',
  // pg_dump then names it, and does not create it.
  'ALTER SCHEMA public OWNER TO CURRENT_USER',
];

/** Code of another user, which becomes that of the loading one. */
const OTHERS = [
  'CREATE DEFINER = someone@localhost SQL SECURITY INVOKER VIEW others AS SELECT name FROM item',
  'CREATE DEFINER = someone@localhost PROCEDURE nothing() SELECT 1',
];

for (const kind of process.env.TEST_FULL ? SERVER_KINDS : (['postgres', 'mariadb'] as const)) {
  describeWithKind(kind, 'changes', () => {
    const isPostgres = kind === 'postgres';
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let snapshot: string;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      await server.create('source');
      await server.run('source', [...FILL, ...(isPostgres ? OBJECTS : OTHERS)]);
      ({ id: snapshot } = await build(contextWith(), { target: 'app' }));
    }, 60_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function contextWith(): Context {
      const app = {
        snapshot: {
          src_url: server.url('source'),
          dst_url: server.url('copy'),
          schema_config: { use_default_schema: false },
        },
      };
      return testContext({
        settings: {
          working_directory: join(folder.path, 'work'),
          targets: { app, dumped: { ...app, program: true } },
          saves: { keep: 20, max_duration: 10, before: [] },
        },
      });
    }

    const changes = (request: Partial<ChangesRequest> = {}) =>
      readChanges(contextWith(), { target: 'app', ...request });
    const named = (table: string): string => `${server.prefix('source')}.${table}`;
    const objects = (): string[] =>
      readdirSync(join(folder.path, 'work/objects'), { recursive: true })
        .map(String)
        .filter((name) => name.includes('/'))
        .sort();

    it('need a load, and show none right after it', async () => {
      await expect(changes()).rejects.toMatchObject({ code: 'load_unknown' });
      await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app' }));
      expect(await changes()).toMatchObject({
        since: { kind: 'load', snapshot: { id: snapshot } },
        ...{ tables: [], unchanged: isPostgres ? 6 : 5, definitions: [], sequences: [], large_objects: 0 },
      });
    });

    it('are counted by key, or by row without a key, and shown with personal values masked', async () => {
      const before = objects();
      await server.run('copy', [
        `UPDATE item SET name = 'it''s ${isPostgres ? '\\' : '\\\\'} ü', email = 'eve@example.com' WHERE id = 1`,
        'DELETE FROM item WHERE id = 2',
        "INSERT INTO item VALUES (4, 'new\tline', 'dan@example.com')",
        "UPDATE pair SET amount = 9 WHERE a = 1 AND b = 'y'",
        'DELETE FROM log WHERE line IS NULL',
        "INSERT INTO log VALUES ('same'), ('new')",
        'DROP TABLE old',
        'CREATE TABLE fresh (id INT PRIMARY KEY)',
        'INSERT INTO fresh VALUES (1), (2), (3)',
        'DROP VIEW names',
        'CREATE INDEX item_name ON item (name)',
      ]);
      const found = await changes({ tables: [named('item'), '*.log'] });
      expect(objects()).toEqual(before);
      expect(found.tables).toMatchObject([
        { table: named('fresh'), change: 'added', added: 3, changed: 0, removed: 0 },
        { table: named('item'), change: 'changed', added: 1, changed: 1, removed: 1 },
        { table: named('log'), change: 'changed', added: 2, changed: null, removed: 1 },
        { table: named('old'), change: 'gone', added: 0, changed: 0, removed: 2 },
        { table: named('pair'), change: 'changed', added: 0, changed: 1, removed: 0 },
      ]);
      expect(found.tables.map(({ rows }) => rows !== undefined)).toEqual([false, true, true, false, false]);
      expect(found.unchanged).toBe(isPostgres ? 2 : 1);
      const item = found.tables[1]?.rows;
      expect(item?.key).toEqual(['id']);
      expect(item?.samples).toEqual([
        { change: 'removed', values: ['2', 'two', null] },
        { change: 'added', values: ['4', 'new\tline', '***'] },
        { change: 'before', values: ['1', 'one', '***'] },
        { change: 'after', values: ['1', "it's \\ ü", '***'], changed_columns: ['name', 'email'] },
      ]);
      const revealed = await changes({ tables: ['*.item'], reveal: true, limit: 1 });
      expect(revealed.tables[1]?.rows?.samples.at(-1)?.values).toEqual(['1', "it's \\ ü", 'eve@example.com']);
      const definitions = Object.fromEntries(
        found.definitions.map(({ name, change }) => [name.split('.').at(-1), change]),
      );
      expect(definitions).toMatchObject({
        'fresh (table)': 'added',
        'old (table)': 'removed',
        'names (view)': 'removed',
        ...(isPostgres ? { 'item_name (index)': 'added' } : { 'item (table)': 'changed' }),
      });
    });

    it('stay readable while they are open, table by table; SQL is text, or a file where it is long', async () => {
      const type = isPostgres ? 'TEXT' : 'MEDIUMTEXT';
      // More than one frame of an object on each side.
      const values = Array.from({ length: 8 }, (_, id) => `(${id}, REPEAT('${id}', 300000), 'ann@example.com')`);
      await server.run('copy', [
        `CREATE TABLE wide (id INT PRIMARY KEY, filler ${type}, email VARCHAR(64))`,
        `INSERT INTO wide VALUES ${values.join(', ')}`,
      ]);
      await applySave(contextWith(), await planSave(contextWith(), { target: 'app', name: 'open' }));
      const before = objects();
      await server.run('copy', ["UPDATE wide SET filler = CONCAT('x', filler) WHERE id IN (0, 7)"]);
      const wide = `${server.prefix('copy')}.wide`;
      const file = join(folder.path, 'open.sql');
      await withChanges(contextWith(), { target: 'app', since: 'open' }, async ({ result, readTable, makeSql }) => {
        expect(result.tables).toMatchObject([{ table: wide, changed: 2, added: 0, removed: 0 }]);
        const { signal } = new AbortController();
        const shown = { table: wide, limit: 1, reveal: false };
        const masked = await readTable(shown, signal);
        expect(masked).toMatchObject({ changed: 2, key: ['id'] });
        expect(masked?.samples.map(({ values: [id, , email] }) => [id, email])).toEqual([
          ['0', '***'],
          ['0', '***'],
        ]);
        expect(masked?.cut).toEqual([
          { row: 0, column: 1, bytes: 300_000 },
          { row: 1, column: 1, bytes: 300_001 },
        ]);
        const revealed = await readTable({ ...shown, reveal: true }, signal);
        expect(revealed?.samples.at(-1)?.values[2]).toBe('ann@example.com');
        await expect(readTable(shown, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
        expect(await makeSql({ file, most: 100 })).toMatchObject({ file });
        expect(readFileSync(file, 'utf8')).toMatch(/UPDATE .*wide/);
        const short = await makeSql({ file, most: 2_000_000 });
        expect('text' in short && short.text).toBe(readFileSync(file, 'utf8'));
      });
      expect(objects()).toEqual(before);
      await server.run('copy', ['DROP TABLE wide']);
    });

    it('are those since a save, an older snapshot or the load that an undo has returned to', async () => {
      await applySave(contextWith(), await planSave(contextWith(), { target: 'app', name: 'here' }));
      expect(await changes({ since: 'here' })).toMatchObject({
        since: { kind: 'save', name: 'here' },
        ...{ tables: [], definitions: [], sequences: [] },
      });
      await server.run('copy', ['DELETE FROM pair']);
      expect((await changes({ since: 'here' })).tables).toMatchObject([{ removed: 3 }]);
      // Of other columns than before, those that both have.
      await server.run('copy', [
        'ALTER TABLE item ADD COLUMN extra INT DEFAULT 5',
        "UPDATE item SET name = 'x' WHERE id = 3",
      ]);
      if (isPostgres) await server.run('copy', ["SELECT lo_from_bytea(4242, 'large')"]);
      const altered = await changes({ since: 'here', tables: ['*.item'] });
      expect(altered.large_objects).toBe(isPostgres ? 1 : 0);
      expect(altered.tables[0]).toMatchObject({
        table: expect.stringContaining('item'),
        added: 0,
        changed: 1,
        removed: 0,
      });
      expect(altered.tables[0]?.rows?.columns.map(({ name }) => name)).toEqual(['id', 'name', 'email']);
      await applyBack(contextWith(), await planBack(contextWith(), { target: 'app', point: 'here' }));
      expect(await changes()).toMatchObject({ since: { kind: 'load', name: 'here' }, tables: [], definitions: [] });
      await server.run('source', ['INSERT INTO calm VALUES (2)']);
      const newer = await build(contextWith(), { target: 'app' });
      expect((await changes({ since: '0' })).since).toMatchObject({ kind: 'snapshot', snapshot: { id: newer.id } });
      await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app' }));
      expect(await changes()).toMatchObject({ since: { snapshot: { id: newer.id } }, tables: [] });
      const undo = async () => applyUndo(contextWith(), await planUndo(contextWith(), { target: 'app' }));
      await undo();
      expect((await changes()).since).toMatchObject({ kind: 'load', name: 'here' });
      await undo();
      expect((await changes()).since).toMatchObject({ kind: 'load', snapshot: { id: newer.id } });
      const { manifest } = await findSnapshot(contextWith(), { target: 'app', snapshot: newer.id });
      const { sha256 = '' } = manifest.tables.find(({ name }) => name.endsWith('item'))?.file ?? {};
      await server.run('copy', ['DELETE FROM item WHERE id = 1']);
      rmSync(join(folder.path, 'work/objects', sha256.slice(0, 2), sha256));
      await expect(changes()).rejects.toMatchObject({
        code: 'snapshot_damaged',
        details: [expect.stringContaining('item')],
      });
      await applyRemove(
        contextWith(),
        await planRemove(contextWith(), { target: 'app', snapshot: newer.id, from: 'local' }),
      );
      await expect(changes()).rejects.toMatchObject({ code: 'snapshot_missing' });
    });

    itIf(kind !== 'postgres')("are found in snapshots that the vendor's program made", async () => {
      await build(contextWith(), { target: 'dumped' });
      await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'dumped' }));
      const dumped = (tables: string[] = []) => readChanges(contextWith(), { target: 'dumped', tables });
      expect(await dumped()).toMatchObject({ tables: [], definitions: [], sequences: [] });
      await server.run('copy', ["UPDATE item SET name = CONCAT('a\\tb', CHAR(92), CHAR(10)) WHERE id = 1"]);
      const [item] = (await dumped(['*.item'])).tables;
      expect(item?.rows?.samples.at(-1)?.values[1]).toBe('a\tb\\\n');
      expect(item).toMatchObject({ added: 0, changed: 1, removed: 0 });
    });
  });
}

import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { readChanges } from '../../src/operations/changes/changes.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { applyReset, planReset } from '../../src/operations/reset/reset.ts';
import { applySave, planSave } from '../../src/operations/save/save.ts';
import { type AnyServer, startAnyServer } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';
import { type Round, trials } from '../helpers/trials.ts';

const part = trials('changes/postgres');

/** Keeps the present state in a schema of its own, which snapshots and saves have as well. */
const REMEMBER = [
  'DROP SCHEMA IF EXISTS before CASCADE',
  'CREATE SCHEMA before',
  'CREATE TABLE before.keyed AS TABLE keyed',
  'CREATE TABLE before.plain AS TABLE plain',
  'CREATE TABLE before.draws AS SELECT last_value, is_called FROM draws',
  'CREATE TABLE before.objects AS SELECT oid, lo_get(oid) AS content FROM pg_largeobject_metadata',
  `CREATE TABLE before.definitions AS ${definitionsQuery()}`,
];

const FILL = [
  'CREATE TABLE keyed (id bigint PRIMARY KEY, note text, n integer)',
  "INSERT INTO keyed SELECT i, repeat('x', i % 90), i FROM generate_series(1, 20000) i",
  'CREATE TABLE plain (line text, n integer)',
  "INSERT INTO plain SELECT 'line ' || i % 500, i % 3 FROM generate_series(1, 9000) i",
  'CREATE SEQUENCE draws',
  "SELECT lo_from_bytea(n, convert_to('object ' || n, 'UTF8')) FROM generate_series(70001, 70005) n",
  ...REMEMBER,
];

/** What the catalog says of the tables, indexes and sequences outside of `before`. */
function definitionsQuery(): string {
  return `SELECT c.relname::text AS relation, c.relkind::text AS kind, a.attname::text AS attribute, a.atttypid::int8 AS type,
      obj_description(c.oid, 'pg_class') AS comment, i.indisclustered AS clustered
    FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_index i ON i.indexrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace`;
}

/** Differences of the state from that in `before`, as the server itself finds them. */
const BRUTE = {
  keyed: `SELECT (SELECT count(*) FROM keyed k WHERE NOT EXISTS (SELECT FROM before.keyed b WHERE b.id = k.id)) || ' ' ||
      (SELECT count(*) FROM keyed k JOIN before.keyed b USING (id) WHERE (k.note, k.n) IS DISTINCT FROM (b.note, b.n)) || ' ' ||
      (SELECT count(*) FROM before.keyed b WHERE NOT EXISTS (SELECT FROM keyed k WHERE b.id = k.id))`,
  plain: `SELECT (SELECT count(*) FROM (SELECT line, n FROM plain EXCEPT ALL SELECT line, n FROM before.plain) x) || ' null ' ||
      (SELECT count(*) FROM (SELECT line, n FROM before.plain EXCEPT ALL SELECT line, n FROM plain) x)`,
  sequences:
    'SELECT count(*) FROM draws d JOIN before.draws b ON (d.last_value, d.is_called) <> (b.last_value, b.is_called)',
  objects: `SELECT count(*) FROM (SELECT oid, lo_get(oid) AS content FROM pg_largeobject_metadata) o
    FULL JOIN before.objects b USING (oid) WHERE o.content IS DISTINCT FROM b.content`,
  definitions: `SELECT count(*) FROM ((TABLE before.definitions EXCEPT ALL ${definitionsQuery()})
    UNION ALL (${definitionsQuery()} EXCEPT ALL TABLE before.definitions)) d`,
};

describeWithKind('postgres', 'changes in random rounds', () => {
  let server: AnyServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    if (part.isEmpty) return;
    [server, folder] = await Promise.all([startAnyServer('postgres'), temporaryFolder()]);
    await server.create('source');
    await server.run('source', FILL);
    await build(contextWith(), { target: 'app' });
    await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app', keepBase: true }));
  }, 120_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function contextWith() {
    const everything = { schema_config: { use_default_schema: false } };
    const app = { snapshot: { src_url: server.url('source'), dst_url: server.url('copy'), ...everything } };
    const settings = {
      working_directory: join(folder.path, 'work'),
      targets: { app },
      saves: { keep: 2, max_duration: 10, before: [] },
    };
    return testContext({ settings });
  }

  it.skipIf(part.isEmpty)(part.title('are those that the server finds'), { timeout: part.timeout }, async () => {
    await part.each(async (round) => {
      await work(round);
      await compare(round.oneOf([true, false, false]) ? await saved(round) : undefined);
      const copy = round.oneOf([true, false]);
      // A crash of the server empties its statistics, and the base copy stays.
      await applyReset(contextWith(), await planReset(contextWith(), { target: 'app', undo: false, copy }));
      if (round.oneOf([true, false, false])) await compare(undefined);
    });
  });

  async function work({ random, oneOf }: Round): Promise<void> {
    const below = (most: number): number => Math.floor(random() * most);
    for (let left = 1 + below(5); left > 0; left -= 1) {
      const statements = oneOf(CHANGES)(below);
      // Rows of a dropped column, say, cannot change.
      await server.run('copy', [statements.join('; ')]).catch(() => {});
    }
    if (below(20) === 0) await server.crash();
  }

  async function saved(round: Round): Promise<string> {
    await server.run('copy', REMEMBER);
    const name = `round ${round.number} ${round.seed}`;
    await applySave(contextWith(), await planSave(contextWith(), { target: 'app', name }));
    await work(round);
    return name;
  }

  async function compare(since: string | undefined): Promise<void> {
    const found = await readChanges(contextWith(), { target: 'app', ...(since !== undefined && { since }) });
    const brute = async (what: keyof typeof BRUTE): Promise<string> =>
      (await server.column('copy', BRUTE[what]))[0] ?? '';
    // Of columns that both sides have.
    for (const name of ['keyed', 'plain'] as const) {
      const none = { added: 0, changed: name === 'keyed' ? 0 : null, removed: 0 };
      const { added, changed, removed } = found.tables.find(({ table }) => table === `public.${name}`) ?? none;
      expect(`${added} ${changed} ${removed}`, name).toBe(await brute(name));
    }
    expect(found.sequences.length).toBe(Number(await brute('sequences')));
    expect(found.large_objects).toBe(Number(await brute('objects')));
    expect(found.definitions.length > 0).toBe(Number(await brute('definitions')) > 0);
  }
});

type Below = (most: number) => number;

const CHANGES: ((below: Below) => string[])[] = [
  (below) => [`UPDATE keyed SET note = note || '${below(9)}' WHERE id % ${2 + below(5000)} = 0`],
  (below) => [`UPDATE keyed SET note = note WHERE id % ${2 + below(5000)} = 0`],
  (below) => [`DELETE FROM keyed WHERE id BETWEEN ${below(20000)} AND ${below(20000)}`],
  (below) => [
    `INSERT INTO keyed SELECT i, NULL, ${below(9)} FROM generate_series(1, ${below(30000)}) i ON CONFLICT DO NOTHING`,
  ],
  (below) => [`UPDATE keyed SET id = id + (SELECT max(id) FROM keyed) WHERE id % ${2 + below(3000)} = 1`],
  (below) => [`DELETE FROM plain WHERE ctid IN (SELECT ctid FROM plain LIMIT ${below(200)})`],
  (below) => [`INSERT INTO plain SELECT line, n FROM plain LIMIT ${below(500)}`],
  () => ['TRUNCATE plain'],
  () => ['CREATE TEMP TABLE kept AS TABLE plain', 'TRUNCATE plain', 'INSERT INTO plain SELECT * FROM kept'],
  () => ['VACUUM FULL keyed'],
  () => ['VACUUM FREEZE plain'],
  () => ['CLUSTER keyed USING keyed_pkey'],
  () => ['BEGIN', 'DELETE FROM keyed', 'TRUNCATE plain', 'ALTER TABLE keyed ADD gone text', 'ROLLBACK'],
  (below) => [
    'BEGIN',
    'SAVEPOINT a',
    `UPDATE keyed SET n = n + 1 WHERE id < ${below(9000)}`,
    'ROLLBACK TO a',
    'SAVEPOINT b',
    `UPDATE keyed SET n = -1 WHERE id = ${below(20000)}`,
    'RELEASE b',
    'COMMIT',
  ],
  () => ["SELECT nextval('draws')"],
  () => ["BEGIN; SELECT nextval('draws'); ROLLBACK"],
  (below) => [`SELECT setval('draws', ${1 + below(50)})`],
  (below) => [`SELECT lo_put(${70001 + below(5)}, 0, '\\x${below(2)}0')`],
  (below) => [`SELECT lo_unlink(${70001 + below(5)})`],
  (below) => [`SELECT lo_from_bytea(${80001 + below(5)}, 'new')`],
  () => ['CREATE TABLE another (id integer)', 'INSERT INTO another VALUES (1)'],
  () => ["COMMENT ON TABLE plain IS 'changed'"],
  () => ['CREATE INDEX ON plain (n)'],
  () => ['ALTER TABLE plain ADD COLUMN more integer DEFAULT 7'],
  () => ['ALTER TABLE keyed ALTER n TYPE bigint'],
  () => ['ALTER TABLE plain ADD COLUMN more integer DEFAULT 7; ALTER TABLE plain DROP COLUMN more'],
];

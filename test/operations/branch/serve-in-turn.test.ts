import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OpenBranchReset } from '../../../src/engines/facets/branch.ts';
import { applyBranchCreate, planBranchCreate } from '../../../src/operations/branch/create/create.ts';
import { openBranches } from '../../../src/operations/branch/open-branches.ts';
import { applyBranchReset, planBranchReset } from '../../../src/operations/branch/reset/reset.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { type AnyServer, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { itIf } from '../../helpers/it-if.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { type Round, trials } from '../../helpers/trials.ts';

const part = trials('changes/served');

/** Tables with few and many blocks, without keys, with equal rows, without columns, with large and with computed values. */
const FILL = [
  'CREATE TABLE person (id serial PRIMARY KEY, name text)',
  "INSERT INTO person (name) SELECT 'person ' || i FROM generate_series(1, 3000) i",
  'CREATE TABLE twin (id integer PRIMARY KEY, name text)',
  "INSERT INTO twin SELECT i, 'person ' || i FROM generate_series(1, 3000) i",
  'CREATE TABLE wide (id integer PRIMARY KEY, name text, twice integer GENERATED ALWAYS AS (id * 2) STORED) WITH (fillfactor = 10)',
  "INSERT INTO wide SELECT i, repeat('x', 300) FROM generate_series(1, 900) i",
  'CREATE TABLE log (line text)',
  "INSERT INTO log SELECT 'line ' || i % 50 FROM generate_series(1, 500) i",
  'CREATE TABLE bare ()',
  'INSERT INTO bare SELECT FROM generate_series(1, 5)',
  'CREATE TABLE large (id integer, content text)',
  "INSERT INTO large SELECT i, (SELECT string_agg(md5(i::text || j), '') FROM generate_series(1, 300) j) FROM generate_series(1, 5) i",
];

/** Keys and unique values that rows exchange, and others that the server alone may set. */
const UNIQUE = [
  `CREATE TABLE coded (id integer PRIMARY KEY, code integer UNIQUE, seat integer GENERATED ALWAYS AS IDENTITY, note text,
    twice integer GENERATED ALWAYS AS (code * 2) STORED, UNIQUE (seat) INCLUDE (note))`,
  "INSERT INTO coded (id, code, note) SELECT i, i, 'note' FROM generate_series(1, 900) i",
  'CREATE INDEX ON coded (note)',
  'CREATE TABLE duty (name text, at numeric, is_on boolean, note text, PRIMARY KEY (at, name))',
  "INSERT INTO duty SELECT 'n' || i % 30, i / 30 + 1.5, i = 7, 'note' FROM generate_series(1, 900) i",
  'CREATE UNIQUE INDEX ON duty (is_on) WHERE is_on',
  'CREATE TABLE keyed (name text, at numeric, "a note" text, PRIMARY KEY (at, name)) WITH (fillfactor = 70)',
  'INSERT INTO keyed SELECT name, at, note FROM duty',
];

const TABLES = ['person', 'twin', 'wide', 'log', 'bare', 'large', 'coded', 'duty', 'keyed'];

const CONTENT = `${TABLES.map(
  (name) =>
    `SELECT '${name} ' || count(*) || ' ' || coalesce(md5(string_agg(t::text, chr(10) ORDER BY t::text COLLATE "C")), '') FROM ${name} t`,
).join(' UNION ALL ')} UNION ALL SELECT last_value || ' ' || is_called FROM person_id_seq`;

const BRANCH = 'copy_one';

describeWithKind('postgres', 'resets that follow each other over the same sessions', () => {
  let server: AnyServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let pristine: { rows: string[]; dump: string };

  beforeAll(async () => {
    if (part.isEmpty) return;
    [server, folder] = await Promise.all([startAnyServer('postgres'), temporaryFolder()]);
    // Visibility maps change by themselves.
    const vacuum = ['naptime = 1', 'vacuum_threshold = 20', 'vacuum_scale_factor = 0'];
    for (const one of vacuum) await server.run('', [`ALTER SYSTEM SET autovacuum_${one}`]);
    await server.run('', ['SELECT pg_reload_conf()']);
    await server.create('source');
    await server.run('source', [...FILL, ...UNIQUE]);
    await build(contextWith(), { target: 'app' });
    await applyBranchCreate(contextWith(), await planBranchCreate(contextWith(), { target: 'app', name: 'one' }));
    pristine = { rows: await server.column(BRANCH, CONTENT), dump: await server.content(BRANCH) };
  }, 120_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function contextWith() {
    const app = { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } };
    const settings = {
      working_directory: join(folder.path, 'work'),
      targets: { app },
      saves: { keep: 2, max_duration: 10, before: [] },
    };
    return testContext({ settings: { ...settings, defaults: { cpus: 2 } } });
  }

  itIf(!part.isEmpty)(part.title('leave the rows of the base copy'), { timeout: part.timeout }, async () => {
    const { database } = await openBranches(contextWith(), { target: 'app' });
    // Two programs that serve the same branch.
    await using first = await database.branches.keepOpen('one');
    await using second = await database.branches.keepOpen('one');
    const ways = { inPlace: 0, byCopy: 0 };
    await using elder = elderSession(() => server.url(BRANCH));
    await part.each(async (round) => {
      await work(round);
      const isElder = round.oneOf([true, false, false]) && (await elder.begin());
      const done = await reset(round.oneOf([first, first, first, second]));
      ways[done === 'in place' ? 'inPlace' : 'byCopy'] += 1;
      expect(await server.column(BRANCH, CONTENT), done).toEqual(pristine.rows);
      if (round.number % 10 === 0) expect(await server.content(BRANCH)).toBe(pristine.dump);
      // Older than the reset, and with rows of after it.
      if (isElder) await elder.write(CHANGES[Math.floor(round.random() * ROW_CHANGES)]?.(belowOf(round)) ?? []);
    });
    if (part.count > 0) expect(ways.inPlace).toBeGreaterThan(ways.byCopy);

    async function reset(open: OpenBranchReset): Promise<string> {
      const createdAt = (await database.branches.list())[0]?.createdAt ?? '';
      const done = await open.reset({ createdAt, accept: () => {} });
      if (typeof done !== 'string') return 'in place';
      const planned = await planBranchReset(contextWith(), { target: 'app', name: 'one' });
      await applyBranchReset(contextWith(), planned);
      return done;
    }
  });

  it('restore what a reset has written behind the end of a table, of which a VACUUM has cut that off again', async () => {
    const { database } = await openBranches(contextWith(), { target: 'app' });
    await using open = await database.branches.keepOpen('one');
    const createdAt = (await database.branches.list())[0]?.createdAt ?? '';
    const cutOff = [`DELETE FROM twin WHERE ctid >= '(9,0)'`, 'VACUUM twin'];
    for (let round = 0; round < 3; round += 1) {
      await server.run(BRANCH, cutOff);
      expect(typeof (await open.reset({ createdAt, accept: () => {} }))).toBe('object');
      expect(await server.column(BRANCH, CONTENT)).toEqual(pristine.rows);
    }
  });

  async function work(round: Round): Promise<void> {
    const below = belowOf(round);
    for (let left = below(4); left > 0; left -= 1) {
      await server.run(BRANCH, round.oneOf(CHANGES)(below)).catch(() => {});
    }
    const what = below(60);
    if (what === 0) await server.crash();
    if (what === 1) await server.killSession(below);
    if (what === 2) {
      const given = { target: 'app', name: 'one', copy: below(2) === 0 };
      await applyBranchReset(contextWith(), await planBranchReset(contextWith(), given));
    }
    if (what === 3) await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app', keepBase: true }));
  }
});

/** Has a transaction with a number before the reset begins, and writes behind it. */
function elderSession(url: () => string) {
  let client: pg.Client | null = null;
  const end = async (): Promise<void> => {
    await client?.end().catch(() => {});
    client = null;
  };
  return {
    async begin(): Promise<boolean> {
      client = new pg.Client({ connectionString: url() });
      client.on('error', () => {});
      await client.connect();
      await client.query('BEGIN; SELECT pg_current_xact_id()');
      return true;
    },
    async write(statements: string[]): Promise<void> {
      for (const statement of [...statements, 'COMMIT']) await client?.query(statement).catch(() => {});
      await end();
    },
    [Symbol.asyncDispose]: end,
  };
}

type Below = (most: number) => number;

function belowOf({ random }: Round): Below {
  return (most) => Math.floor(random() * most);
}

const some = (below: Below, most = 3000): string =>
  `id BETWEEN ${below(most)} AND ${below(most)} AND id % ${1 + below(9)} = 0`;

/** Rows in between get each other's values. */
function exchange(column: string, below: Below): string[] {
  const [first, last] = [1 + below(900), 1 + below(900)].sort((a, b) => a - b);
  return [
    `UPDATE coded SET ${column} = -${column} WHERE ${column} BETWEEN ${first} AND ${last}`,
    `UPDATE coded SET ${column} = ${column} + ${(first ?? 0) + (last ?? 0)} WHERE ${column} < 0`,
  ];
}

/** Changes that a transaction can hold come first. */
const CHANGES: ((below: Below) => string[])[] = [
  (below) => [`UPDATE person SET name = name || 'x' WHERE ${some(below)}`],
  (below) => [`UPDATE person SET name = name || 'x' WHERE id < ${1 + below(40)}`],
  (below) => [`UPDATE person SET name = name WHERE ${some(below)}`],
  (below) => [`UPDATE wide SET name = repeat('y', ${below(900)}) WHERE ${some(below, 900)}`],
  (below) => [`DELETE FROM wide WHERE ${some(below, 900)}`],
  (below) => [`DELETE FROM person WHERE ${some(below)}`],
  (below) => [`INSERT INTO person (name) SELECT 'new' FROM generate_series(1, ${below(300)})`],
  (below) => [`DELETE FROM log WHERE ctid IN (SELECT ctid FROM log LIMIT ${below(90)})`],
  (below) => [`INSERT INTO log SELECT line FROM log LIMIT ${below(90)}`],
  () => ['CREATE TEMP TABLE kept AS TABLE log', 'DELETE FROM log', 'INSERT INTO log TABLE kept', 'DROP TABLE kept'],
  (below) => [`UPDATE large SET content = content || 'x' WHERE id = ${below(6)}`],
  () => ['DELETE FROM bare', 'INSERT INTO bare SELECT FROM generate_series(1, 4)'],
  (below) => [`UPDATE coded SET note = 'changed' WHERE ${some(below, 900)}`],
  (below) => exchange('code', below),
  (below) => exchange('id', below),
  (below) => [
    `DELETE FROM coded WHERE id = ${1 + below(9)}`,
    `INSERT INTO coded (id, code) VALUES (${1 + below(9)}, 0)`,
  ],
  (below) => [
    'UPDATE duty SET is_on = NULL',
    `UPDATE duty SET is_on = true, note = 'on' WHERE at = ${below(30)}.5 AND name = 'n3'`,
  ],
  (below) => [`UPDATE keyed SET "a note" = 'changed' WHERE at < ${1 + below(30)}`],
  (below) => [`UPDATE keyed SET at = at + 0.00, name = upper(name) WHERE at < ${1 + below(30)}`],
  (below) => [
    'DELETE FROM keyed WHERE at < 4',
    `INSERT INTO keyed SELECT name, at, 'again' FROM duty WHERE at < ${below(4)}`,
  ],
  (below) => [`SAVEPOINT a`, `UPDATE twin SET name = 'y' WHERE ${some(below)}`, 'RELEASE a'],
  () => ["SELECT nextval('person_id_seq')"],
  (below) => [`SELECT count(*) FROM (SELECT FROM twin WHERE ${some(below)} FOR UPDATE) l`],
  // From here on, of sessions of their own.
  (below) => ['BEGIN', 'SAVEPOINT a', `UPDATE person SET name = 'y' WHERE ${some(below)}`, 'RELEASE a', 'COMMIT'],
  (below) => [
    'BEGIN',
    'SAVEPOINT a',
    'DELETE FROM person',
    'ROLLBACK TO a',
    `DELETE FROM wide WHERE id = ${below(900)}`,
    'COMMIT',
  ],
  () => ['BEGIN', 'DELETE FROM person', 'TRUNCATE log', 'ALTER TABLE wide ADD gone text', 'ROLLBACK'],
  () => ['TRUNCATE log'],
  () => ['VACUUM FULL person'],
  () => ['VACUUM'],
  () => ['VACUUM FREEZE'],
  (below) => [
    'VACUUM',
    `UPDATE person SET name = 'z' WHERE id = ${below(3000)}`,
    `DELETE FROM twin WHERE id < ${below(50)}`,
  ],
  (below) => [
    `DELETE FROM wide WHERE ${some(below, 900)}`,
    'VACUUM wide',
    'INSERT INTO wide SELECT i FROM generate_series(901, 960) i',
  ],
  () => ['BEGIN', 'TRUNCATE log', "COPY log FROM PROGRAM 'seq 1 90' (FREEZE)", 'COMMIT'],
  () => ['VACUUM (FREEZE, ANALYZE) person'],
  () => ['CLUSTER wide USING wide_pkey'],
  () => ['REINDEX TABLE person'],
  () => ['ALTER TABLE person RENAME TO other', 'ALTER TABLE other RENAME TO person'],
  () => [
    'BEGIN; ALTER TABLE twin RENAME TO o; ALTER TABLE person RENAME TO twin; ALTER TABLE o RENAME TO person; COMMIT',
  ],
  () => ['ALTER TABLE person RENAME name TO called', 'ALTER TABLE person RENAME called TO name'],
  () => ['ALTER TABLE log ADD COLUMN more integer DEFAULT 7', 'ALTER TABLE log DROP COLUMN more'],
  () => ['CREATE TABLE mine (id integer)'],
  () => ['CREATE TABLE mine (id integer)', 'DROP TABLE mine'],
];

const ROW_CHANGES = 23;

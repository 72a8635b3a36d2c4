import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { readChanges } from '../../../src/operations/changes/changes.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySave, planSave } from '../../../src/operations/save/save.ts';
import type { ChangesResult } from '../../../src/results/changes-results.ts';
import { type AnyServer, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { randomFrom } from '../../helpers/random.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 60);
const SEED = Number(process.env.SEED ?? 39);

const FILL = [
  'CREATE TABLE keyed (id bigint PRIMARY KEY, note text, n integer)',
  "INSERT INTO keyed SELECT i, repeat('x', i % 90), i FROM generate_series(1, 20000) i",
  'CREATE TABLE plain (line text, n integer)',
  "INSERT INTO plain SELECT 'line ' || i % 500, i % 3 FROM generate_series(1, 9000) i",
  'CREATE SEQUENCE draws',
];

/** Rows of before and after in one database, compared by the server itself. */
const BRUTE = {
  keyed: `SELECT (SELECT count(*) FROM keyed k WHERE NOT EXISTS (SELECT FROM before.keyed b WHERE b.id = k.id)) || ' ' ||
      (SELECT count(*) FROM keyed k JOIN before.keyed b USING (id) WHERE (k.note, k.n) IS DISTINCT FROM (b.note, b.n)) || ' ' ||
      (SELECT count(*) FROM before.keyed b WHERE NOT EXISTS (SELECT FROM keyed k WHERE b.id = k.id))`,
  plain: `SELECT (SELECT count(*) FROM (SELECT * FROM plain EXCEPT ALL SELECT * FROM before.plain) x) || ' null ' ||
      (SELECT count(*) FROM (SELECT * FROM before.plain EXCEPT ALL SELECT * FROM plain) x)`,
};

describeWithKind('postgres', 'changes in random rounds', () => {
  let server: AnyServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const random = randomFrom(SEED);
  const below = (most: number): number => Math.floor(random() * most);

  beforeAll(async () => {
    [server, folder] = await Promise.all([startAnyServer('postgres'), temporaryFolder()]);
    await server.create('source');
    await server.run('source', FILL);
    await build(contextWith(), { target: 'app' });
    await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app' }));
    await remember();
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
    return testContext({ settings });
  }

  /** Keeps a copy of the rows in another schema of the database, which each save has as well. */
  async function remember(): Promise<void> {
    await server.run('copy', [
      'DROP SCHEMA IF EXISTS before CASCADE',
      'CREATE SCHEMA before',
      'CREATE TABLE before.keyed AS TABLE keyed',
      'CREATE TABLE before.plain AS TABLE plain',
    ]);
  }

  const CHANGES: (() => string[])[] = [
    () => [`UPDATE keyed SET note = note || '${below(9)}' WHERE id % ${2 + below(5000)} = 0`],
    () => [`DELETE FROM keyed WHERE id BETWEEN ${below(20000)} AND ${below(20000)}`],
    () => [
      `INSERT INTO keyed SELECT i, NULL, ${below(9)} FROM generate_series(1, ${below(30000)}) i ON CONFLICT DO NOTHING`,
    ],
    () => [`UPDATE keyed SET id = id + (SELECT max(id) FROM keyed) WHERE id % ${2 + below(3000)} = 1`],
    () => [`DELETE FROM plain WHERE ctid IN (SELECT ctid FROM plain LIMIT ${below(200)})`],
    () => [`INSERT INTO plain SELECT line, n FROM plain LIMIT ${below(500)}`],
    () => ['TRUNCATE plain'],
    () => ['VACUUM FULL keyed'],
    () => ['VACUUM FREEZE plain'],
    () => ['CLUSTER keyed USING keyed_pkey'],
    () => ['BEGIN', 'DELETE FROM keyed', 'TRUNCATE plain', 'ROLLBACK'],
    () => [
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
  ];

  const countsOf = ({ tables }: ChangesResult, name: string): string => {
    const { added, changed, removed } = tables.find(({ table }) => table === name) ?? {
      added: 0,
      changed: name === 'public.plain' ? null : 0,
      removed: 0,
    };
    return `${added} ${changed} ${removed}`;
  };

  it('are those that the server finds', { timeout: 1_800_000 }, async () => {
    let saved: string | null = null;
    for (let round = 0; round < ROUNDS; round += 1) {
      const about = `seed ${SEED}, round ${round}`;
      for (let left = 1 + below(4); left > 0; left -= 1) {
        const statements = CHANGES[below(CHANGES.length)]?.() ?? [];
        for (const statement of statements[0] === 'BEGIN' ? [statements.join('; ')] : statements)
          await server.run('copy', [statement]);
      }
      if (below(20) === 0) await server.crash();
      const since = saved === null ? {} : { since: saved };
      const found = await readChanges(contextWith(), { target: 'app', ...since });
      for (const table of ['keyed', 'plain'] as const) {
        const [expected] = await server.column('copy', BRUTE[table]);
        expect(countsOf(found, `public.${table}`), `${about}: ${table}`).toBe(expected);
      }
      if (below(3) === 0) {
        await remember();
        await applySave(contextWith(), await planSave(contextWith(), { target: 'app', name: `round ${round}` }));
        saved = `round ${round}`;
      }
    }
  });
});

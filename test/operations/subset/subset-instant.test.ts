import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import { describeWithMysql, startMysql, type TestFlavour } from '../../helpers/mysql/mysql-server.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';

const FULL = process.env.TEST_FULL === '1';
const FLAVOURS: TestFlavour[] = FULL ? ['mariadb', 'mysql'] : ['mariadb'];
const ACCOUNTS = 3000;
const RUNS = FULL ? 10 : 2;
const LIMIT = 240_000;

/** A server on which others write while a subset is made of `books`. */
interface Written {
  /** With the schema, or the database. */
  prefix: string;
  url(database: string): string;
  /** All in one transaction. */
  write(statements: string[]): Promise<void>;
  /** The numbers of rows that the queries give. */
  count(database: string, query: string): Promise<number>;
  stop(): Promise<void>;
}

/** An account says how many letters it has: in every instant that is true, and in a mixture of two it is not. */
const TABLES = [
  'CREATE TABLE account (id INTEGER PRIMARY KEY, letters INTEGER NOT NULL)',
  'CREATE TABLE letter (id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL, FOREIGN KEY (account_id) REFERENCES account (id))',
  'CREATE INDEX letter_account ON letter (account_id)',
  `INSERT INTO account VALUES ${Array.from({ length: ACCOUNTS }, (_, id) => `(${id}, 3)`).join(',')}`,
  `INSERT INTO letter VALUES ${Array.from({ length: ACCOUNTS * 3 }, (_, id) => `(${id}, ${id % ACCOUNTS})`).join(',')}`,
];

/** Of each kind a change takes the accounts that leave the same rest. */
const KINDS = 20;

/** Whole accounts go with their letters, others get fewer letters, and those that had gone ten changes ago come back. */
function change(turn: number): string[] {
  const isOf = (column: string, kind: number): string => `${column} % ${KINDS} = ${kind % KINDS}`;
  const back = Array.from({ length: ACCOUNTS / KINDS }, (_, at) => at * KINDS + ((turn + 10) % KINDS));
  const first = ACCOUNTS * (3 + turn * 2);
  return [
    `DELETE FROM letter WHERE ${isOf('account_id', turn)} OR ${isOf('account_id', turn + 1)}`,
    `DELETE FROM account WHERE ${isOf('id', turn)}`,
    `UPDATE account SET letters = 1 WHERE ${isOf('id', turn + 1)}`,
    `INSERT INTO letter SELECT ${first} + id, id FROM account WHERE ${isOf('id', turn + 1)}`,
    ...(turn < 10
      ? []
      : [
          `INSERT INTO account VALUES ${back.map((id) => `(${id}, 1)`).join(',')}`,
          `INSERT INTO letter VALUES ${back.map((id) => `(${first + ACCOUNTS + id}, ${id})`).join(',')}`,
        ]),
  ];
}

async function check({ prefix, url, write, count }: Written): Promise<void> {
  await using folder = await temporaryFolder();
  const subset_tables = [{ table: `${prefix}.account`, percent: 60 }];
  const section = { src_url: url('books'), dst_url: url('books_small'), subset_tables };
  const settings = { working_directory: folder.path, targets: { t: { subset: section } } };
  let changes = 0;
  for (let run = 0; run < RUNS; run += 1) {
    let reading = true;
    const writing = (async () => {
      while (reading) {
        await write(change(changes));
        changes += 1;
      }
    })();
    const context = testContext({ settings });
    const seen: number[] = [];
    const report = (event: RunEvent): void => {
      if (event.event === 'step' && ['read', 'copy', 'prove'].includes(event.step)) seen.push(changes);
    };
    const planned = await planSubset(context, { target: 't', cpus: 2 });
    try {
      const { proof } = await applySubset({ ...context, report }, planned);
      expect(proof.every(({ orphans }) => orphans === 0)).toBe(true);
    } finally {
      reading = false;
      await writing;
    }
    expect(seen.at(-1), 'nobody wrote meanwhile').toBeGreaterThan(seen[0] ?? 0);
    const untrue = 'FROM account a WHERE letters <> (SELECT COUNT(*) FROM letter l WHERE l.account_id = a.id)';
    expect(await count('books_small', `SELECT COUNT(*) AS rows_ ${untrue}`)).toBe(0);
    expect(await count('books_small', 'SELECT COUNT(*) AS rows_ FROM letter')).toBeGreaterThan(0);
  }
}

const TITLE = `is of one instant while others insert and delete rows, in ${RUNS} runs`;

describeWithPostgres('a subset of PostgreSQL', () => {
  let written: Written;

  beforeAll(async () => {
    const server = await startPostgres();
    await server.createDatabase('books');
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'tables.sql');
    await writeFile(file, `${TABLES.join(';\n')};`);
    await server.psql('books', { file });
    written = {
      prefix: 'public',
      url: server.url,
      write: async (statements) => void (await server.psql('books', { sql: statements.join(';') })),
      count: async (database, query) => Number(await server.psql(database, { sql: query })),
      stop: server.stop,
    };
  }, LIMIT);

  afterAll(() => written?.stop());

  it(TITLE, { timeout: LIMIT }, () => check(written));
});

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a subset' }, () => {
    let written: Written;

    beforeAll(async () => {
      const server = await startMysql(flavour);
      await server.createDatabase('books');
      await server.sql('books', ...TABLES);
      written = {
        prefix: 'books',
        url: (database) => server.url(database),
        write: async (statements) => void (await server.sql('books', 'BEGIN', ...statements, 'COMMIT')),
        count: async (database, query) => Number((await server.sql<{ rows_: number }>(database, query))[0]?.rows_),
        stop: server.stop,
      };
    }, LIMIT);

    afterAll(async () => {
      await written?.stop();
    });

    it(TITLE, { timeout: LIMIT }, () => check(written));
  });
}

import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyBranchCreate, planBranchCreate } from '../../../../src/operations/branch/create/create.ts';
import { applyBranchReset, planBranchReset } from '../../../../src/operations/branch/reset/reset.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { applyReset, planReset } from '../../../../src/operations/reset/reset.ts';
import { withoutMark } from '../../../helpers/databases/branch-servers.ts';
import { dumpDifferences } from '../../../helpers/databases/dump-differences.ts';
import { doubtfulTables } from '../../../helpers/mysql/doubtful-tables.ts';
import { describeWithMysql, startMysql, type TestMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { DIGITS, randomTable } from '../../../helpers/mysql/random-changes.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { randomFrom } from '../../../helpers/random.ts';

const ROUNDS = Number(process.env.ROUNDS ?? (process.env.TEST_FULL ? 400 : 5));
const SEED = Number(process.env.SEED ?? 39);
/** After these a new schema comes. */
const ROUNDS_OF_SCHEMA = 25;
const TABLES = 8;

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'resets after random changes' }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    const random = randomFrom(SEED);
    const whole = (below: number): number => Math.floor(random() * below);
    const oneOf = <Item>(items: readonly Item[]): Item => items[whole(items.length)] as Item;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startMysql(flavour), temporaryFolder()]);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    /** What needs no value of a column. */
    const acts = (table: string, other: string): string[][] => [
      ...[[`TRUNCATE ${table}`], [`DELETE FROM ${table}`], ['DO 1'], [`OPTIMIZE TABLE ${table}`]],
      ['START TRANSACTION', `INSERT INTO ${table} SELECT * FROM ${table} LIMIT 0`, `DELETE FROM ${table}`, 'ROLLBACK'],
      [
        'START TRANSACTION',
        'SAVEPOINT s',
        `DELETE FROM ${table}`,
        'ROLLBACK TO s',
        `DELETE FROM ${other} LIMIT 3`,
        'COMMIT',
      ],
      [
        `XA START '${table}'`,
        `DELETE FROM ${table} LIMIT 2`,
        `XA END '${table}'`,
        `XA PREPARE '${table}'`,
        `XA COMMIT '${table}'`,
      ],
      [`RENAME TABLE ${table} TO aside, ${other} TO ${table}, aside TO ${other}`],
      [`ALTER TABLE ${table} ADD COLUMN late INT DEFAULT 5`, `ALTER TABLE ${table} DROP COLUMN late`],
      [`ALTER TABLE ${table} AUTO_INCREMENT = 90000`],
      [`CREATE TABLE aside LIKE ${table}`, `DROP TABLE ${table}`, `RENAME TABLE aside TO ${table}`],
    ];

    async function loaded(name: string) {
      const [source, copy] = [`source_${name}`, `copy_${name}`];
      const tables = Array.from({ length: TABLES }, (_, at) => randomTable(`t${at}`, { random, oneOf, plain: true }));
      await server.createDatabase(source);
      await server.sql(source, ...DIGITS, "SET sql_mode = ''", ...tables.flatMap(({ create }) => create));
      const snapshot = { src_url: server.url(source), dst_url: server.url(copy) };
      const context = testContext({
        settings: { working_directory: join(folder.path, name), targets: { app: { snapshot } } },
      });
      await build(context, { target: 'app' });
      await applyLoad(context, await planLoad(context, { target: 'app', keepBase: true }));
      await applyBranchCreate(context, await planBranchCreate(context, { target: 'app', name: 'one' }));
      const branch = `${copy}_one`;
      const resets: Record<string, () => Promise<'in_place' | 'copy'>> = {
        [copy]: async () => (await applyReset(context, await planReset(context, { target: 'app', undo: false }))).way,
        [branch]: async () => {
          const planned = await planBranchReset(context, { target: 'app', name: 'one' });
          return (await applyBranchReset(context, planned)).branches[0]?.way === 'in_place' ? 'in_place' : 'copy';
        },
      };
      return { tables, copy, resets, pristine: await server.dump(copy) };
    }

    async function countUnread(destination: string, database: string): Promise<number> {
      const found = await doubtfulTables(server, { destination, database });
      return typeof found === 'string' ? 0 : found.unwritten.size;
    }

    it('lead to the same database as a copy does', { timeout: 3_600_000 }, async () => {
      const seen = { in_place: 0, copy: 0, unread: 0 };
      for (let number = 0; number < ROUNDS; number += ROUNDS_OF_SCHEMA) {
        const { tables, copy, resets, pristine } = await loaded(`r${number}`);
        for (let round = number; round < Math.min(ROUNDS, number + ROUNDS_OF_SCHEMA); round += 1) {
          const [database, reset] = oneOf(Object.entries(resets));
          const done = [database];
          for (let changes = whole(4); changes > 0; changes -= 1) {
            const { name, change } = oneOf(tables);
            const statements =
              random() < 0.3
                ? oneOf(acts(name, oneOf(tables.filter((table) => table.name !== name)).name))
                : [oneOf([...change, 'DO 1'])];
            done.push(...statements);
            // What a key forbids does not happen.
            await server.sql(database, "SET sql_mode = ''", ...statements).catch(() => {});
          }
          seen.unread += await countUnread(copy, database);
          const way = await reset();
          seen[way] += 1;
          expect(
            dumpDifferences(pristine, withoutMark(await server.dump(database))),
            `seed ${SEED}, round ${round}, ${way}: ${done.join('; ')}`,
          ).toEqual([]);
        }
        for (const name of await server.databases()) await server.sql('', `DROP DATABASE \`${name}\``);
      }
      expect(seen.in_place, JSON.stringify(seen)).toBeGreaterThan(ROUNDS / 4);
      if (process.env.TEST_FULL) expect(seen.unread, JSON.stringify(seen)).toBeGreaterThan(ROUNDS);
    });
  });
}

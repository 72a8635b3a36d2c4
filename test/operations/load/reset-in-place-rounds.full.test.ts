import { join } from 'node:path';
import { expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyReset, planReset } from '../../../src/operations/reset/reset.ts';
import { normalized } from '../../helpers/databases/build-and-load.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { type ChangedTable, randomTable, SPOIL, TYPES } from '../../helpers/postgres/random-changes.ts';
import { SCHEMA, startWork } from '../../helpers/postgres/random-history.ts';
import { randomFrom } from '../../helpers/random.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 400);
const SEED = Number(process.env.SEED ?? 39);
/** After these a new schema comes. */
const ROUNDS_OF_SCHEMA = 25;

describeWithPostgres('resets after random changes', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres({ max_prepared_transactions: '20' }));
  const random = randomFrom(SEED);
  const whole = (below: number): number => Math.floor(random() * below);
  const oneOf = <Item>(items: readonly Item[]): Item => items[whole(items.length)] as Item;
  const draw = { random, oneOf };

  async function loaded(name: string, sql: string) {
    const [source, copy] = [`source_${name}`, `copy_${name}`];
    await server.createDatabase(source);
    await server.psql(source, { sql });
    const snapshot = { src_url: server.url(source), dst_url: server.url(copy) };
    const context = testContext({
      settings: { working_directory: join(folder.path, name), targets: { app: { snapshot } } },
    });
    await build(context, { target: 'app' });
    await applyLoad(context, await planLoad(context, { target: 'app', keepBase: true }));
    const content = async () => normalized(await server.dump(copy)).join(';\n');
    const pristine = await content();
    return {
      copy,
      async reset(at: string): Promise<'in_place' | 'copy'> {
        const { way } = await applyReset(context, await planReset(context, { target: 'app', undo: false }));
        expect((await content()) === pristine, `${at}: the database is not as after its load`).toBe(true);
        return way;
      },
      async drop() {
        for (const each of [source, copy, `${copy}.tool-base`, `${copy}.tool-undo`]) {
          await server.psql('postgres', { sql: `DROP DATABASE IF EXISTS "${each}" WITH (FORCE)` });
        }
      },
    };
  }

  it('lead to the same database as a copy does, with all types, keys and references', {
    timeout: 3_600_000,
  }, async () => {
    const ways = { in_place: 0, copy: 0 };
    for (let number = 0; number < ROUNDS; number += ROUNDS_OF_SCHEMA) {
      const tables: ChangedTable[] = [];
      for (let at = 0; at < 6; at += 1) {
        tables.push(randomTable(`t${at}`, draw, tables.findLast(({ isParent }) => isParent)?.name ?? null));
      }
      const sql = [...TYPES, SPOIL, ...tables.flatMap(({ create }) => create)].join(';\n');
      const database = await loaded(`types_${number}`, sql);
      for (let round = number; round < Math.min(ROUNDS, number + ROUNDS_OF_SCHEMA); round += 1) {
        for (let changes = whole(5); changes >= 0; changes -= 1) {
          // What a reference or a unique value forbids does not happen.
          const change = oneOf(oneOf(tables).change.concat(['SELECT 1']));
          await server.psql(database.copy, { sql: change }).catch(() => {});
        }
        ways[await database.reset(`seed ${SEED}, round ${round}`)] += 1;
      }
      await database.drop();
    }
    expect(ways.in_place, JSON.stringify(ways)).toBeGreaterThan(ROUNDS / 4);
  });

  it('lead there after rolled back work, subtransactions, TRUNCATE, VACUUM FULL and new definitions', {
    timeout: 3_600_000,
  }, async () => {
    const ways = { in_place: 0, copy: 0 };
    const database = await loaded('history', SCHEMA);
    for (let round = 0; round < ROUNDS; round += 1) {
      const options = { definitions: oneOf([0, 0, 0.02, 0.1]) };
      const history = { server, database: database.copy, round: { ...draw, number: round } };
      const work = await startWork(history, options);
      for (let acts = whole(8); acts >= 0; acts -= 1) await work.act();
      await work.settle();
      ways[await database.reset(`seed ${SEED}, round ${round}`)] += 1;
      await work.end();
    }
    expect(ways.in_place, JSON.stringify(ways)).toBeGreaterThan(ROUNDS / 4);
  });
});

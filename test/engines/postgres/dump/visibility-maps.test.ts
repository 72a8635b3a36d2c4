import { afterAll, beforeAll, expect, it } from 'vitest';
import { SETTINGS } from '../../../../src/engines/postgres/branches/in-place/open-base.ts';
import { idOf, pathOf, placeOf, within } from '../../../../src/engines/postgres/branches/in-place/row-places.ts';
import { connect } from '../../../../src/engines/postgres/connection/connect.ts';
import type { PostgresSession } from '../../../../src/engines/postgres/connection/session.ts';
import { parsePostgresUrl } from '../../../../src/engines/postgres/connection/url.ts';
import { readRelations } from '../../../../src/engines/postgres/dump/unchanged/fingerprint.ts';
import {
  changedBlocks,
  HAS_MAPS,
  readMaps,
  type VisibilityMaps,
} from '../../../../src/engines/postgres/dump/unchanged/visibility-maps.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { SCHEMA, startWork } from '../../../helpers/postgres/random-history.ts';
import { randomFrom } from '../../../helpers/random.ts';

const HISTORIES = Number(process.env.ROUNDS ?? (process.env.TEST_FULL ? 150 : 2));
const SEED = Number(process.env.SEED ?? 39);
const LOOKS = 8;

/** Versions of rows by oid of their relation, each as its place and transaction: both stay while it is there. */
type Versions = Map<number, Map<number, string>>;

interface Look {
  maps: VisibilityMaps;
  versions: Versions;
}

/** Locks of rows, rows that are frozen as they come, and tables that shrink. */
const MORE = [
  ['SELECT count(*) FROM (SELECT FROM plain WHERE id % 3 = 0 FOR SHARE) l'],
  ['BEGIN', 'SELECT count(*) FROM (SELECT FROM large WHERE id < 90 FOR KEY SHARE) l', 'ROLLBACK'],
  ['BEGIN', 'TRUNCATE low', `COPY low (id) FROM PROGRAM 'seq 1 900' (FREEZE)`, 'COMMIT'],
  ['DELETE FROM plain WHERE id > 1000', 'VACUUM plain', `INSERT INTO plain (id) SELECT generate_series(1, 700)`],
  ['VACUUM (FREEZE, DISABLE_PAGE_SKIPPING)', 'UPDATE typed SET s = s WHERE id < 9', 'VACUUM typed'],
  ['CREATE INDEX ON low (id)', 'CLUSTER low USING low_id_idx', 'DROP INDEX low_id_idx'],
  ['VACUUM'],
  ['CHECKPOINT'],
];

describeWithPostgres('visibility maps', () => {
  let server: TestPostgres;

  beforeAll(async () => {
    const vacuum = { autovacuum_naptime: '1s', autovacuum_vacuum_threshold: '5', autovacuum_vacuum_scale_factor: '0' };
    server = await startPostgres({ synchronous_commit: 'on', max_prepared_transactions: '20', ...vacuum });
  }, 60_000);

  afterAll(() => server?.stop());

  const connected = (url: string): Promise<PostgresSession> =>
    connect(testContext({ settings: {} }), parsePostgresUrl(url), { settings: { ...SETTINGS, lock_timeout: '200ms' } });

  it('are read without leaving anything, and not where the role or an event trigger is in the way', async () => {
    await server.createDatabase('app');
    await server.psql('app', { sql: 'CREATE TABLE item AS SELECT 1; CREATE ROLE guest' });
    await using session = await connected(server.url('app'));
    const relations = (await readRelations(session)) ?? [];
    const left = `SELECT (SELECT count(*) FROM pg_proc) AS functions, (SELECT count(*) FROM pg_namespace) AS schemas`;
    const before = await session.query(left);
    await session.execute('BEGIN');
    expect((await readMaps(session, relations)).size).toBe(relations.length);
    await session.execute('COMMIT');
    expect(await session.query(left)).toEqual(before);
    const has = (): Promise<{ maps: boolean }[]> => session.query(`SELECT ${HAS_MAPS} AS maps`);
    expect(await has()).toEqual([{ maps: true }]);
    await session.execute('BEGIN; SET LOCAL ROLE guest');
    expect((await readMaps(session, relations)).size).toBe(0);
    // The transaction goes on.
    expect(await session.query(left)).toEqual(before);
    await session.execute(`ROLLBACK; CREATE FUNCTION public.hear() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
      CREATE EVENT TRIGGER hears ON ddl_command_start EXECUTE FUNCTION public.hear()`);
    expect(await has()).toEqual([{ maps: false }]);
  });

  /** Reads as a reset does: the maps under locks, then the rows. */
  async function look(session: PostgresSession): Promise<Look> {
    const relations = (await readRelations(session)) ?? [];
    const maps = await readMaps(session, relations);
    const versions: Versions = new Map();
    for (const { oid, schema, name } of relations) {
      const rows = await session.query<{ id: string; xmin: string }>(
        `SELECT ctid::text AS id, xmin::text FROM ONLY ${pathOf({ schema, name })}`,
      );
      versions.set(oid, new Map(rows.map(({ id, xmin }) => [placeOf(id), xmin])));
    }
    return { maps, versions };
  }

  const LOCK =
    'LOCK TABLE ONLY public.plain, public.large, public.typed, public.low, public.high IN SHARE ROW EXCLUSIVE MODE';

  /** Compares all that has changed with the blocks that may have; returns the number of versions in the others. */
  function compare(before: Look, now: Look): number {
    let proved = 0;
    for (const [oid, versions] of now.versions) {
      const blocks = changedBlocks(before.maps.get(oid), now.maps.get(oid));
      if (blocks === null) continue;
      const earlier = before.versions.get(oid) ?? new Map();
      const places = [...new Set([...versions.keys(), ...earlier.keys()])];
      const changed = places.filter((place) => versions.get(place) !== earlier.get(place)).sort((a, b) => a - b);
      const found = within(Float64Array.from(changed), blocks);
      expect(Array.from(found, idOf), `relation ${oid}`).toEqual(changed.map(idOf));
      proved += versions.size - within(Float64Array.from([...versions.keys()].sort((a, b) => a - b)), blocks).length;
    }
    return proved;
  }

  it('tell every block whose rows have changed, whatever was done meanwhile', { timeout: 3_600_000 }, async () => {
    const random = randomFrom(SEED);
    const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
    let [proved, all] = [0, 0];
    for (let number = 0; number < HISTORIES; number += 1) {
      const database = `app_${number}`;
      await server.createDatabase(database);
      await server.psql(database, { sql: SCHEMA });
      await server.psql(database, { sql: 'VACUUM' });
      const history = { server, database, round: { number, random, oneOf } };
      const isCrashing = number % 2 === 1;
      const work = await startWork(history, { isLazy: isCrashing, definitions: 0.2 });
      const open = () => connected(server.url(database));
      let session = await open();
      let before: Look | null = null;
      for (let looks = 0; looks < LOOKS; looks += 1) {
        for (let acts = Math.floor(random() * 6); acts > 0; acts -= 1) {
          if (random() < 0.8) await work.act();
          else await work.run(...oneOf(MORE));
        }
        if (isCrashing && random() < 0.3) {
          await work.crash();
          await session.close().catch(() => {});
          session = await open();
          before = null;
        }
        if (random() < 0.5) await work.settle();
        // A bit that was cleared and set again.
        if (random() < 0.3)
          await work.run(`UPDATE ${oneOf(['plain', 'low'])} SET word = word WHERE id % 90 = 1`, 'VACUUM');
        await session.execute('BEGIN');
        const isLocked = await session.execute(LOCK).then(
          () => true,
          () => false,
        );
        const now: Look | null = isLocked ? await look(session) : null;
        await session.execute('ROLLBACK');
        if (!now) continue;
        if (before) {
          proved += compare(before, now);
          all += [...now.versions.values()].reduce((sum, { size }) => sum + size, 0);
        }
        before = now;
      }
      await session.close();
      await work.end();
      await server.psql('postgres', { sql: `DROP DATABASE ${database} WITH (FORCE)` });
    }
    // Otherwise nothing was tried.
    expect(proved / all).toBeGreaterThan(0.2);
  });
});

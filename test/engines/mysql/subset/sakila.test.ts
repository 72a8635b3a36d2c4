import { beforeAll, expect, it } from 'vitest';
import { explainSubset } from '../../../../src/operations/subset/explain-subset.ts';
import { applySubset, planSubset } from '../../../../src/operations/subset/subset.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { copiedRows } from '../../../helpers/postgres/copied-rows.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const SAKILA = new URL('../../../../../shared/data/sakila-mysql', import.meta.url).pathname;
/** Real servers on a busy machine take their time. */
const LIMIT = 240_000;
const FLAVOURS = testedFlavours('mariadb');

/**
 * Sakila's own rules, written by hand for 5 % of the customers: what each table must hold. `c` are the customers of the
 * share, `r` their rentals; a payment comes when its customer and its rental do, films with what their inventory says,
 * staff and stores by their circle.
 */
const EXPECTED = `
  WITH c AS (SELECT * FROM customer ORDER BY SHA2(CONCAT(customer_id, ' 1'), 256) LIMIT 30),
  r AS (SELECT * FROM rental WHERE customer_id IN (SELECT customer_id FROM c)),
  p AS (SELECT * FROM payment WHERE customer_id IN (SELECT customer_id FROM c)
    AND (rental_id IS NULL OR rental_id IN (SELECT rental_id FROM r))),
  i AS (SELECT * FROM inventory WHERE inventory_id IN (SELECT inventory_id FROM r)),
  f AS (SELECT * FROM film WHERE film_id IN (SELECT film_id FROM i)),
  a AS (SELECT * FROM address WHERE address_id IN
    (SELECT address_id FROM c UNION SELECT address_id FROM staff UNION SELECT address_id FROM store)),
  t AS (SELECT * FROM city WHERE city_id IN (SELECT city_id FROM a))
  SELECT 'actor' AS name, 0 AS counted UNION ALL SELECT 'address', COUNT(*) FROM a
  UNION ALL SELECT 'category', 0 UNION ALL SELECT 'city', COUNT(*) FROM t
  UNION ALL SELECT 'country', COUNT(*) FROM country WHERE country_id IN (SELECT country_id FROM t)
  UNION ALL SELECT 'customer', COUNT(*) FROM c
  UNION ALL SELECT 'film', COUNT(*) FROM f
  UNION ALL SELECT 'film_actor', 0 UNION ALL SELECT 'film_category', 0 UNION ALL SELECT 'film_text', 0
  UNION ALL SELECT 'inventory', COUNT(*) FROM i
  UNION ALL SELECT 'language', COUNT(*) FROM language WHERE language_id IN (SELECT language_id FROM f)
  UNION ALL SELECT 'payment', COUNT(*) FROM p
  UNION ALL SELECT 'rental', COUNT(*) FROM r
  UNION ALL SELECT 'staff', COUNT(*) FROM staff
  UNION ALL SELECT 'store', COUNT(*) FROM store`;

/** What that SQL says of the Sakila here. */
const COUNTS = [
  ...['actor|0', 'address|34', 'category|0', 'city|32', 'country|20', 'customer|30', 'film|551', 'film_actor|0'],
  ...[
    'film_category|0',
    'film_text|0',
    'inventory|787',
    'language|1',
    'payment|855',
    'rental|855',
    'staff|2',
    'store|2',
  ],
];

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a subset of Sakila by 5 % of its customers', files: SAKILA }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));

    beforeAll(async () => {
      await server.file('', `${SAKILA}/schema.sql`);
      await server.file('', `${SAKILA}/data.sql`);
    }, LIMIT);

    function context(events: RunEvent[] = []) {
      const section = {
        src_url: server.url('sakila'),
        dst_url: server.url('sakila_small'),
        subset_tables: [{ table: 'sakila.customer', percent: 5 }],
      };
      return testContext({
        events,
        settings: { working_directory: folder.path, targets: { sakila: { subset: section } } },
      });
    }

    it(
      'holds the rows that its references ask for and no others, and needs no word about its circle',
      async () => {
        const before = await server.dump('sakila');
        const planned = await planSubset(context(), { target: 'sakila', cpus: 2, count: true });
        expect(planned.plan.circles).toEqual([['sakila.staff', 'sakila.store']]);
        const events: RunEvent[] = [];
        const result = await applySubset(context(events), planned);
        const expected = await server.sql<{ name: string; counted: number }>('sakila', EXPECTED);
        const counts = expected.map(({ name }) => `SELECT '${name}' AS name, COUNT(*) AS counted FROM ${name}`);
        expect(await server.sql('sakila_small', counts.join(' UNION ALL '))).toEqual(expected);
        expect(expected.map(({ name, counted }) => `${name}|${counted}`)).toEqual(COUNTS);
        expect(result.proof).toHaveLength(22);
        expect(result.proof.every(({ orphans }) => orphans === 0)).toBe(true);
        expect(result.rows).toBe(expected.reduce((sum, { counted }) => sum + Number(counted), 0));
        const rows = Object.fromEntries(result.tables.map(({ table, rows: count }) => [table, count]));
        expect(copiedRows(events)).toEqual(rows);
        const planRows = planned.plan.tables.map(({ table, rows_expected }) => [table, rows_expected ?? 0]);
        expect(rows).toEqual(Object.fromEntries(planRows.filter(([, count]) => count !== 0)));
        expect(await server.dump('sakila')).toBe(before);
      },
      LIMIT,
    );

    it(
      'explains why a row is included by the chain of references to a requested row',
      async () => {
        const [rental] = await server.sql<{ id: number }>('sakila_small', 'SELECT MIN(rental_id) AS id FROM rental');
        const { chain } = await explainSubset(context(), { target: 'sakila', row: `sakila.rental:${rental?.id}` });
        expect(chain).toMatchObject([
          { table: 'sakila.rental', key: String(rental?.id), why: expect.stringMatching(/^refers by customer_id/) },
          { table: 'sakila.customer', why: 'among the 5 percent of subset_tables' },
        ]);
      },
      LIMIT,
    );
  });
}

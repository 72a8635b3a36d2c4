import { beforeAll, expect, it } from 'vitest';
import { applySubset, planSubset } from '../../../../src/operations/subset/subset.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import { copiedRows } from '../../../helpers/postgres/copied-rows.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const SAKILA = new URL('../../../../../shared/data/sakila-postgres', import.meta.url).pathname;

/**
 * Sakila's own rules, written by hand for 5 % of the customers: what each table must hold. `c` are the customers of the
 * share, `r` their rentals; one payment in Sakila is for another
 * customer's rental, and so comes only with both; films come with what their inventory says, staff and stores by their circle.
 */
const EXPECTED = `
  WITH c AS (SELECT * FROM customer ORDER BY md5(customer_id || ' 1') LIMIT 30),
  r AS (SELECT * FROM rental WHERE customer_id IN (SELECT customer_id FROM c)),
  p AS (SELECT * FROM payment WHERE customer_id IN (SELECT customer_id FROM c)
    AND (rental_id IS NULL OR rental_id IN (SELECT rental_id FROM r))),
  i AS (SELECT * FROM inventory WHERE inventory_id IN (SELECT inventory_id FROM r)),
  f AS (SELECT * FROM film WHERE film_id IN (SELECT film_id FROM i)),
  s AS (SELECT * FROM staff),
  o AS (SELECT * FROM store),
  a AS (SELECT * FROM address WHERE address_id IN
    (SELECT address_id FROM c UNION SELECT address_id FROM s UNION SELECT address_id FROM o)),
  t AS (SELECT * FROM city WHERE city_id IN (SELECT city_id FROM a))
  SELECT 'customer' AS name, count(*) FROM c
  UNION ALL SELECT 'rental', count(*) FROM r
  UNION ALL SELECT 'payment', count(*) FROM p
  UNION ALL SELECT 'inventory', count(*) FROM i
  UNION ALL SELECT 'film', count(*) FROM f
  UNION ALL SELECT 'language', count(*) FROM language WHERE language_id IN (SELECT language_id FROM f)
  UNION ALL SELECT 'staff', count(*) FROM s
  UNION ALL SELECT 'store', count(*) FROM o
  UNION ALL SELECT 'address', count(*) FROM a
  UNION ALL SELECT 'city', count(*) FROM t
  UNION ALL SELECT 'country', count(*) FROM country WHERE country_id IN (SELECT country_id FROM t)
  UNION ALL SELECT 'actor', 0 UNION ALL SELECT 'film_actor', 0
  UNION ALL SELECT 'category', 0 UNION ALL SELECT 'film_category', 0
  ORDER BY 1`;

/** What that SQL says of the Sakila here. */
const COUNTS = [
  ...['actor|0', 'address|34', 'category|0', 'city|32', 'country|24', 'customer|30', 'film|507'],
  ...[
    'film_actor|0',
    'film_category|0',
    'inventory|726',
    'language|1',
    'payment|782',
    'rental|782',
    'staff|2',
    'store|2',
  ],
];

describeWithPostgres(
  'a subset of Sakila by 5 % of its customers',
  () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startPostgres());

    beforeAll(async () => {
      await server.createDatabase('sakila');
      await server.psql('sakila', { file: `${SAKILA}/schema.sql` });
      await server.psql('sakila', { file: `${SAKILA}/data.sql` });
    }, 60_000);

    function context(subset_tables: { table: string; percent: number }[], events: RunEvent[]) {
      const subset = { src_url: server.url('sakila'), dst_url: server.url('sakila_small'), subset_tables };
      return testContext({ events, settings: { working_directory: folder.path, targets: { sakila: { subset } } } });
    }

    it('holds the rows that its references ask for and no others, and needs no word about its circle', async () => {
      const events: RunEvent[] = [];
      const running = context([{ table: 'public.customer', percent: 5 }], events);
      const planned = await planSubset(running, { target: 'sakila', count: true });
      expect(planned.plan.circles).toEqual([['public.staff', 'public.store']]);
      const result = await applySubset(running, planned);
      const expected = (await server.psql('sakila', { sql: EXPECTED })).trim().split('\n');
      const actual: string[] = [];
      for (const line of expected) {
        const name = line.split('|')[0] ?? '';
        actual.push(`${name}|${(await server.psql('sakila_small', { sql: `SELECT count(*) FROM ${name}` })).trim()}`);
      }
      expect(actual).toEqual(expected);
      expect(actual).toEqual(COUNTS);
      expect(result.proof.every(({ orphans }) => orphans === 0)).toBe(true);
      const rows = Object.fromEntries(result.tables.map(({ table, rows: count }) => [table, count]));
      expect(copiedRows(events)).toEqual(rows);
      const planRows = planned.plan.tables.map(({ table, rows_expected }) => [table, rows_expected ?? 0]);
      expect(rows).toEqual(Object.fromEntries(planRows.filter(([, count]) => count !== 0)));
    });
  },
  { files: SAKILA },
);

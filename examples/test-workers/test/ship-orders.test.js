import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });

beforeAll(() => client.connect());
afterAll(() => client.end());

test('every order is open, and then shipped', async () => {
  const { rows: before } = await client.query('SELECT DISTINCT state FROM orders');
  expect(before).toEqual([{ state: 'open' }]);
  await client.query("UPDATE orders SET state = 'shipped'");
  const { rows: after } = await client.query('SELECT DISTINCT state FROM orders');
  expect(after).toEqual([{ state: 'shipped' }]);
});

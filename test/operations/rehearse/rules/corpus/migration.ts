/** A migration of the corpus. It runs in a schema of its own with the tables of `SET_UP`, and begins with a lock_timeout. */
export interface CorpusMigration {
  name: string;
  /** Beside `SET_UP`. */
  setUp?: string;
  /** Each is sent alone. */
  statements: string[];
  /** `code table`; none for a harmless one. */
  warnings: string[];
  /** Tables written anew beside those of the warnings whose rule says so. */
  rewritten?: string[];
  /** The server refuses it: a table is locked, or cannot have the change. */
  fails?: true;
  /** Without lock_timeout. */
  unlimited?: true;
}

/** Every table has rows. */
export const SET_UP = `
CREATE TYPE status AS ENUM ('open', 'paid');
CREATE TABLE customers (
  id bigint PRIMARY KEY, email text, name varchar(50), country char(2), balance numeric(10, 2), address cidr,
  created timestamp(3), seen timestamptz, score int, tags varchar(10)[], payload json, note xml, bits bit varying(8));
CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint, total int, state status DEFAULT 'open', during int4range);
CREATE INDEX orders_total ON orders (total);
INSERT INTO customers SELECT n, 'a' || n, 'n', 'de', n, '10.0.0.0/8', now(), now(), n, '{a}', '{}', '<a/>', '101' FROM generate_series(1, 50) n;
INSERT INTO orders SELECT n, n, n, 'paid', int4range(n, n + 1) FROM generate_series(1, 50) n;
ANALYZE customers, orders`;

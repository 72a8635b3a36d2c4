import type { CorpusMigration } from './migration.ts';

const PARTITIONED = `CREATE TABLE logs (day int) PARTITION BY RANGE (day);
CREATE TABLE logs_1 PARTITION OF logs FOR VALUES FROM (0) TO (100); INSERT INTO logs SELECT 1 FROM generate_series(1, 50);
CREATE TABLE logs_2 AS SELECT 150 AS day FROM generate_series(1, 50);
ALTER TABLE logs_2 ADD CONSTRAINT bounds CHECK (day >= 100 AND day < 200 AND day IS NOT NULL); ANALYZE logs, logs_1, logs_2`;
const SUMMARY = `CREATE MATERIALIZED VIEW sums AS SELECT customer_id, total FROM orders;
CREATE UNIQUE INDEX ON sums (customer_id); ANALYZE sums`;

const STATEMENTS: Record<string, string[]> = {
  'a concurrent index': ['CREATE INDEX CONCURRENTLY orders_customer ON orders (customer_id)'],
  'a concurrent unique index': ['CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS by_mail ON customers (email)'],
  'an index dropped concurrently': ['DROP INDEX CONCURRENTLY IF EXISTS orders_total'],
  'an index built anew concurrently': ['REINDEX INDEX CONCURRENTLY orders_total'],
  'a table reindexed concurrently': ['REINDEX (CONCURRENTLY) TABLE orders'],
  'an index of a new table': ['CREATE TABLE notes (id bigint PRIMARY KEY, text text)', 'CREATE INDEX ON notes (text)'],
  'a foreign key that is not valid': [
    'ALTER TABLE orders ADD CONSTRAINT of FOREIGN KEY (customer_id) REFERENCES customers NOT VALID',
  ],
  'a foreign key validated later': [
    'ALTER TABLE orders ADD CONSTRAINT of FOREIGN KEY (customer_id) REFERENCES customers NOT VALID',
    'ALTER TABLE orders VALIDATE CONSTRAINT of',
  ],
  'a check that is not valid': ['ALTER TABLE orders ADD CONSTRAINT positive CHECK (total > 0) NOT VALID'],
  'NOT NULL with a validated check': [
    'ALTER TABLE customers ADD CONSTRAINT has_email CHECK (email IS NOT NULL) NOT VALID',
    'ALTER TABLE customers VALIDATE CONSTRAINT has_email',
    'ALTER TABLE customers ALTER COLUMN email SET NOT NULL',
    'ALTER TABLE customers DROP CONSTRAINT has_email',
  ],
  'a unique constraint from an index': [
    'CREATE UNIQUE INDEX CONCURRENTLY one_mail ON customers (email)',
    'ALTER TABLE customers ADD CONSTRAINT one_mail UNIQUE USING INDEX one_mail',
  ],
  'a longer text': ['ALTER TABLE customers ALTER name TYPE varchar(200)'],
  'a text without limit': ['ALTER TABLE customers ALTER COLUMN name TYPE text'],
  'a text that becomes varchar': ['ALTER TABLE customers ALTER COLUMN email TYPE varchar'],
  'a text with a plain USING': ['ALTER TABLE customers ALTER COLUMN name TYPE text USING name::text'],
  'more digits of a number': ['ALTER TABLE customers ALTER balance TYPE numeric(14, 2)'],
  'any number': ['ALTER TABLE customers ALTER balance TYPE decimal'],
  'addresses of hosts': ['ALTER TABLE customers ALTER address TYPE inet'],
  'more digits of a second': ['ALTER TABLE customers ALTER created TYPE timestamp(6)'],
  'a timestamp with a time zone under UTC': [
    "SET TimeZone = 'UTC'",
    'ALTER TABLE customers ALTER created TYPE timestamp with time zone',
  ],
  'a timestamp without a time zone under UTC': [
    "SET TIME ZONE 'UTC'",
    'ALTER TABLE customers ALTER seen TYPE timestamp without time zone',
  ],
  'XML that becomes text': ['ALTER TABLE customers ALTER note TYPE text'],
  'more bits': ['ALTER TABLE customers ALTER bits TYPE varbit(16)'],
  'the same type': ['ALTER TABLE customers ALTER score TYPE int4'],
  'a column without default': ['ALTER TABLE orders ADD COLUMN place text'],
  'a column with a constant default': ["ALTER TABLE orders ADD COLUMN place text NOT NULL DEFAULT 'here'"],
  'a column with the time of the statement': ['ALTER TABLE orders ADD COLUMN at timestamptz NOT NULL DEFAULT now()'],
  'a default for later rows': [
    'ALTER TABLE orders ADD COLUMN token uuid',
    'ALTER TABLE orders ALTER COLUMN token SET DEFAULT gen_random_uuid()',
  ],
  'a default dropped': ['ALTER TABLE orders ALTER COLUMN state DROP DEFAULT'],
  'NOT NULL dropped': ['ALTER TABLE orders ALTER COLUMN total DROP NOT NULL'],
  'NOT NULL of a column that is': ['ALTER TABLE orders ALTER COLUMN id SET NOT NULL'],
  'a jsonb column': ["ALTER TABLE orders ADD extra jsonb DEFAULT '{}'"],
  'an enum value added': ["ALTER TYPE status ADD VALUE IF NOT EXISTS 'lost' BEFORE 'paid'"],
  'an enum value used later': ["ALTER TYPE status ADD VALUE 'lost'", "UPDATE orders SET state = 'lost' WHERE id = 1"],
  'a new table': [
    'CREATE TABLE notes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer_id bigint REFERENCES customers, text text)',
  ],
  'a new table of three bytes of key': ['CREATE TABLE codes (code text PRIMARY KEY, number int)'],
  'a new table dropped': ['CREATE TABLE notes (id bigint PRIMARY KEY)', 'DROP TABLE notes'],
  'a view': ['CREATE VIEW mails AS SELECT id, email FROM customers', 'DROP VIEW mails'],
  'a function with dangerous text': [
    'CREATE FUNCTION clear() RETURNS void LANGUAGE sql BEGIN ATOMIC DELETE FROM orders; DELETE FROM customers; END',
    "COMMENT ON FUNCTION clear() IS 'TRUNCATE orders; DROP TABLE customers'",
  ],
  'dangerous text in quotes and comments': [
    "/* DROP TABLE orders; /* nested */ TRUNCATE orders */ SELECT 'DROP TABLE orders', $a$; DROP TABLE orders;$a$ -- ; DROP TABLE orders",
  ],
  'rows in batches': ['UPDATE orders SET total = 0 WHERE id BETWEEN 1 AND 10', 'DELETE FROM orders WHERE id = 1'],
  'all rows of a small table': ['UPDATE orders SET total = 0'],
  'rows inserted': ['INSERT INTO orders (id) VALUES (1000)'],
  'statistics and storage': [
    'ALTER TABLE orders ALTER total SET STATISTICS 500',
    'ALTER TABLE orders SET (fillfactor = 90)',
    'ANALYZE orders',
  ],
  'a vacuum': ['VACUUM (ANALYZE) orders'],
  'a constraint renamed': ['ALTER TABLE orders RENAME CONSTRAINT orders_pkey TO orders_key'],
  'a weak lock': ['BEGIN', 'LOCK TABLE orders IN ROW EXCLUSIVE MODE', 'COMMIT'],
  'two changes of one table': [
    'BEGIN',
    'ALTER TABLE orders ADD a int',
    'ALTER TABLE orders ADD b int, ADD c text',
    'COMMIT',
  ],
};

export const HARMLESS: CorpusMigration[] = [
  ...Object.entries(STATEMENTS).map(([name, statements]) => ({ name, statements, warnings: [] })),
  {
    name: 'a materialized view refreshed concurrently',
    setUp: SUMMARY,
    statements: ['REFRESH MATERIALIZED VIEW CONCURRENTLY sums'],
    warnings: [],
  },
  {
    name: 'a partition with its bounds attached',
    setUp: PARTITIONED,
    statements: ['ALTER TABLE logs ATTACH PARTITION logs_2 FOR VALUES FROM (100) TO (200)'],
    warnings: [],
  },
  {
    name: 'a partition detached concurrently',
    setUp: PARTITIONED,
    statements: ['ALTER TABLE logs DETACH PARTITION logs_1 CONCURRENTLY'],
    warnings: [],
  },
  {
    name: 'grants, and an extension of this database',
    statements: ['GRANT SELECT ON orders TO PUBLIC', 'CREATE EXTENSION IF NOT EXISTS plpgsql'],
    warnings: [],
  },
];

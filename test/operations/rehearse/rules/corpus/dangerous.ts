import type { CorpusMigration } from './migration.ts';

const MANY = 'CREATE TABLE events AS SELECT n AS id, 0 AS kind FROM generate_series(1, 10001) n; ANALYZE events';
const VIEW = 'CREATE VIEW names AS SELECT id, name FROM customers';
const PARTITIONED = `CREATE TABLE logs (day int) PARTITION BY RANGE (day);
CREATE TABLE logs_1 PARTITION OF logs FOR VALUES FROM (0) TO (100); INSERT INTO logs SELECT 1 FROM generate_series(1, 50);
CREATE TABLE logs_2 AS SELECT 150 AS day FROM generate_series(1, 50); ANALYZE logs, logs_1, logs_2`;
const SUMMARY = 'CREATE MATERIALIZED VIEW sums AS SELECT customer_id, total FROM orders; ANALYZE sums';
const TRIGGER = `CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER same BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION same()`;

export const DANGEROUS: CorpusMigration[] = [
  {
    name: 'an index that blocks writes',
    statements: ['CREATE INDEX ON customers (email)'],
    warnings: ['index_not_concurrent customers'],
  },
  {
    name: 'a unique index that blocks writes',
    statements: ['CREATE UNIQUE INDEX IF NOT EXISTS by_mail ON ONLY customers USING btree (lower(email))'],
    warnings: ['index_not_concurrent customers'],
  },
  {
    name: 'an index dropped',
    statements: ['DROP INDEX orders_total'],
    warnings: ['index_dropped_not_concurrent orders'],
  },
  {
    name: 'a table reindexed',
    statements: ['REINDEX TABLE orders'],
    warnings: ['reindex_not_concurrent orders'],
  },
  {
    name: 'an index reindexed',
    statements: ['REINDEX (VERBOSE) INDEX orders_total'],
    warnings: ['reindex_not_concurrent orders'],
  },
  {
    name: 'a concurrent index in a transaction',
    statements: ['BEGIN', 'CREATE INDEX CONCURRENTLY ON orders (customer_id)', 'ROLLBACK'],
    warnings: ['concurrently_in_transaction orders'],
    fails: true,
  },
  {
    name: 'a foreign key that is validated',
    statements: ['ALTER TABLE orders ADD CONSTRAINT of FOREIGN KEY (customer_id) REFERENCES customers (id)'],
    warnings: ['foreign_key_validated orders'],
  },
  {
    name: 'a check that is validated',
    statements: ['ALTER TABLE orders ADD CONSTRAINT positive CHECK (total > 0)'],
    warnings: ['check_validated orders'],
  },
  {
    name: 'a column with a check',
    statements: ['ALTER TABLE orders ADD COLUMN discount int CHECK (discount < 100)'],
    warnings: ['check_validated orders'],
  },
  {
    name: 'a foreign key validated in its transaction',
    statements: [
      'BEGIN',
      'ALTER TABLE orders ADD CONSTRAINT of FOREIGN KEY (customer_id) REFERENCES customers (id) NOT VALID',
      'ALTER TABLE orders VALIDATE CONSTRAINT of',
      'COMMIT',
    ],
    warnings: ['validated_in_transaction orders'],
  },
  {
    name: 'a column that becomes NOT NULL',
    statements: ['ALTER TABLE customers ALTER email SET NOT NULL'],
    warnings: ['not_null_scan customers'],
  },
  {
    name: 'a column that becomes NOT NULL with a check that is not validated',
    statements: [
      'ALTER TABLE customers ADD CONSTRAINT has_email CHECK (email IS NOT NULL) NOT VALID',
      'ALTER TABLE customers ALTER COLUMN email SET NOT NULL',
    ],
    warnings: ['not_null_scan customers'],
  },
  {
    name: 'a unique constraint',
    statements: ['ALTER TABLE customers ADD CONSTRAINT one_mail UNIQUE (email)'],
    warnings: ['unique_not_using_index customers'],
  },
  {
    name: 'a primary key',
    setUp: 'CREATE TABLE plain AS SELECT n AS id FROM generate_series(1, 50) n; ANALYZE plain',
    statements: ['ALTER TABLE plain ADD PRIMARY KEY (id)'],
    warnings: ['unique_not_using_index plain'],
  },
  {
    name: 'a unique column',
    statements: ['ALTER TABLE customers ADD phone text UNIQUE'],
    warnings: ['unique_not_using_index customers'],
  },
  {
    name: 'an exclusion constraint',
    statements: ['ALTER TABLE orders ADD CONSTRAINT apart EXCLUDE USING gist (during WITH &&)'],
    warnings: ['exclusion_constraint orders'],
  },
  {
    name: 'a wider number',
    statements: ['ALTER TABLE orders ALTER COLUMN total TYPE bigint'],
    warnings: ['column_type_rewrite orders'],
  },
  {
    name: 'a shorter text',
    statements: ['ALTER TABLE customers ALTER COLUMN name SET DATA TYPE varchar(20)'],
    warnings: ['column_type_rewrite customers'],
  },
  {
    name: 'a text of limited length',
    statements: ['ALTER TABLE customers ALTER email TYPE character varying(200)'],
    warnings: ['column_type_rewrite customers'],
  },
  {
    name: 'another scale of a number',
    statements: ['ALTER TABLE customers ALTER balance TYPE numeric(12, 4)'],
    warnings: ['column_type_rewrite customers'],
  },
  {
    name: 'json that becomes jsonb',
    statements: ['ALTER TABLE customers ALTER payload TYPE jsonb USING payload::jsonb'],
    warnings: ['column_type_rewrite customers'],
  },
  {
    name: 'a number that becomes text',
    statements: ['ALTER TABLE customers ALTER score TYPE text USING score::text'],
    warnings: ['column_type_rewrite customers'],
  },
  {
    name: 'an enum replaced',
    statements: [
      "CREATE TYPE status_2 AS ENUM ('open', 'paid', 'lost')",
      'ALTER TABLE orders ALTER state DROP DEFAULT, ALTER state TYPE status_2 USING state::text::status_2',
    ],
    warnings: ['column_type_rewrite orders'],
  },
  {
    name: 'a timestamp in another time zone',
    statements: ["SET TimeZone = 'Europe/Berlin'", 'ALTER TABLE customers ALTER created TYPE timestamptz'],
    warnings: ['column_type_rewrite customers'],
  },
  {
    name: 'a default that differs from row to row',
    statements: ['ALTER TABLE orders ADD COLUMN token uuid DEFAULT gen_random_uuid()'],
    warnings: ['volatile_default orders'],
  },
  {
    name: 'a default of clock_timestamp',
    statements: ['ALTER TABLE orders ADD COLUMN IF NOT EXISTS at timestamptz NOT NULL DEFAULT clock_timestamp()'],
    warnings: ['volatile_default orders'],
  },
  {
    name: 'a stored column',
    statements: ['ALTER TABLE orders ADD twice int GENERATED ALWAYS AS (total * 2) STORED'],
    warnings: ['generated_column orders'],
  },
  {
    name: 'a serial column',
    statements: ['ALTER TABLE orders ADD number bigserial'],
    warnings: ['numbered_column orders'],
  },
  {
    name: 'an identity column',
    statements: ['ALTER TABLE orders ADD number bigint GENERATED BY DEFAULT AS IDENTITY (START 5)'],
    warnings: ['numbered_column orders'],
  },
  {
    name: 'a column without values for its NOT NULL',
    statements: ['ALTER TABLE orders ADD COLUMN place text NOT NULL'],
    warnings: ['not_null_without_default orders'],
    fails: true,
  },
  {
    name: 'a column that a view uses',
    setUp: VIEW,
    statements: ['ALTER TABLE customers DROP COLUMN name CASCADE'],
    warnings: ['column_dropped customers', 'column_in_view customers'],
  },
  {
    name: 'the type of a column that a view uses',
    setUp: VIEW,
    statements: ['ALTER TABLE customers ALTER name TYPE text'],
    warnings: ['column_in_view customers'],
    fails: true,
  },
  { name: 'a column dropped', statements: ['ALTER TABLE orders DROP total'], warnings: ['column_dropped orders'] },
  {
    name: 'a column renamed',
    statements: ['ALTER TABLE orders RENAME total TO amount'],
    warnings: ['column_renamed orders'],
  },
  {
    name: 'a table renamed',
    statements: ['ALTER TABLE IF EXISTS orders RENAME TO purchases'],
    warnings: ['table_renamed orders'],
  },
  { name: 'a table dropped', statements: ['DROP TABLE IF EXISTS orders'], warnings: ['table_dropped orders'] },
  { name: 'a table truncated', statements: ['TRUNCATE orders'], warnings: ['table_truncated orders'] },
  {
    name: 'a table truncated with those that reference it',
    setUp: 'ALTER TABLE orders ADD FOREIGN KEY (customer_id) REFERENCES customers',
    statements: ['TRUNCATE TABLE customers CASCADE'],
    warnings: ['truncate_cascade customers'],
    rewritten: ['orders'],
  },
  {
    name: 'a table without a log',
    statements: ['ALTER TABLE orders SET UNLOGGED'],
    warnings: ['logging_changed orders'],
  },
  {
    name: 'a table in another tablespace',
    statements: ['ALTER TABLE orders SET TABLESPACE other'],
    warnings: ['tablespace_changed orders'],
  },
  {
    name: 'a column of a domain with a check',
    setUp: 'CREATE DOMAIN positive AS int CHECK (VALUE > 0)',
    statements: ['ALTER TABLE orders ADD COLUMN count positive DEFAULT 1'],
    warnings: ['table_rewritten orders'],
  },
  {
    name: 'a table renamed, then changed',
    statements: ['ALTER TABLE orders RENAME TO purchases', 'ALTER TABLE purchases ALTER total TYPE bigint'],
    warnings: ['column_type_rewrite orders', 'table_renamed orders'],
  },
  {
    name: 'a table in the order of an index',
    statements: ['CLUSTER orders USING orders_total'],
    warnings: ['table_clustered orders'],
  },
  { name: 'a full vacuum', statements: ['VACUUM (FULL, ANALYZE) orders'], warnings: ['vacuum_full orders'] },
  {
    name: 'a materialized view refreshed',
    setUp: SUMMARY,
    statements: ['REFRESH MATERIALIZED VIEW sums'],
    warnings: ['refresh_not_concurrent sums'],
  },
  {
    name: 'an enum value used in its transaction',
    statements: [
      'BEGIN',
      "ALTER TYPE status ADD VALUE 'lost'",
      "UPDATE orders SET state = 'lost' WHERE id = 1",
      'ROLLBACK',
    ],
    warnings: ['enum_value_in_transaction orders'],
    fails: true,
  },
  {
    name: 'an enum value renamed',
    statements: ["ALTER TYPE status RENAME VALUE 'open' TO 'new'"],
    warnings: ['enum_value_renamed orders'],
  },
  {
    name: 'all rows updated',
    setUp: MANY,
    statements: ['UPDATE events SET kind = 1'],
    warnings: ['all_rows_changed events'],
  },
  {
    name: 'all rows deleted',
    setUp: MANY,
    statements: ['DELETE FROM ONLY events WHERE true'],
    warnings: ['all_rows_changed events'],
  },
  {
    name: 'a table locked',
    statements: ['BEGIN', 'LOCK TABLE orders IN SHARE ROW EXCLUSIVE MODE', 'COMMIT'],
    warnings: ['table_locked orders'],
  },
  {
    name: 'a trigger created',
    setUp: TRIGGER,
    statements: ['CREATE TRIGGER again AFTER INSERT ON customers FOR EACH ROW EXECUTE FUNCTION same()'],
    warnings: ['trigger_created customers'],
  },
  {
    name: 'triggers disabled',
    setUp: TRIGGER,
    statements: ['ALTER TABLE orders DISABLE TRIGGER same'],
    warnings: ['trigger_created orders'],
  },
  {
    name: 'a trigger dropped',
    setUp: TRIGGER,
    statements: ['DROP TRIGGER same ON orders'],
    warnings: ['trigger_dropped orders'],
  },
  {
    name: 'a partition attached',
    setUp: PARTITIONED,
    statements: ['ALTER TABLE logs ATTACH PARTITION logs_2 FOR VALUES FROM (100) TO (200)'],
    warnings: ['partition_attached_unchecked logs_2'],
  },
  {
    name: 'a partition detached',
    setUp: PARTITIONED,
    statements: ['ALTER TABLE logs DETACH PARTITION logs_1'],
    warnings: ['partition_detached_not_concurrent logs'],
  },
  {
    name: 'a change without lock_timeout',
    statements: ['ALTER TABLE orders ADD COLUMN place text'],
    warnings: ['lock_timeout_missing orders'],
    unlimited: true,
  },
  {
    name: 'two tables in one transaction',
    statements: ['BEGIN', 'ALTER TABLE orders ADD a int', 'ALTER TABLE customers ADD a int', 'COMMIT'],
    warnings: ['several_tables_locked customers'],
  },
  {
    name: 'rows changed while the table is locked',
    statements: ['ALTER TABLE orders ADD a int; UPDATE orders SET a = 1 WHERE id > 1'],
    warnings: ['rows_changed_under_lock orders'],
  },
  {
    name: 'a json column',
    statements: ['ALTER TABLE orders ADD extra json'],
    warnings: ['json_column orders'],
  },
  { name: 'a padded column', statements: ['ALTER TABLE orders ADD zip char(5)'], warnings: ['char_column orders'] },
  {
    name: 'a key of four bytes',
    statements: ['CREATE TABLE notes (id serial PRIMARY KEY, text text)'],
    warnings: ['narrow_key notes'],
  },
  {
    name: 'a foreign key in a block',
    statements: [
      'DO $$ BEGIN ALTER TABLE "orders" ADD CONSTRAINT "of" FOREIGN KEY ("customer_id") REFERENCES "customers"("id") ON DELETE no action; EXCEPTION WHEN duplicate_object THEN null; END $$',
    ],
    warnings: ['foreign_key_validated orders'],
  },
  {
    name: 'a role, which all databases share',
    statements: [
      'CREATE ROLE reporter',
      'GRANT SELECT ON orders TO reporter',
      'DROP OWNED BY reporter',
      'DROP ROLE reporter',
    ],
    warnings: ['beyond_branch none', 'beyond_branch none'],
  },
  {
    name: 'another server',
    statements: [
      'CREATE FOREIGN DATA WRAPPER elsewhere',
      'CREATE SERVER elsewhere FOREIGN DATA WRAPPER elsewhere',
      'DROP FOREIGN DATA WRAPPER elsewhere CASCADE',
    ],
    warnings: ['beyond_branch none'],
  },
  {
    name: 'a program of the server',
    statements: ["COPY (SELECT 1 FROM orders) TO PROGRAM 'cat > /dev/null'"],
    warnings: ['beyond_branch none'],
  },
  {
    name: 'another database by dblink',
    statements: ["SELECT public.dblink_exec('dbname=shop', 'DELETE FROM orders')"],
    warnings: ['beyond_branch none'],
    fails: true,
  },
  {
    name: 'another database in a block',
    statements: ["DO $$ BEGIN PERFORM dblink_connect('dbname=shop'); END $$"],
    warnings: ['beyond_branch none'],
    fails: true,
  },
  {
    name: 'members of a role, and a program, in a block',
    statements: [
      'DO $$ BEGIN GRANT pg_monitor TO CURRENT_USER; END $$',
      "DO $$ BEGIN IF true THEN COPY orders TO PROGRAM 'cat > /dev/null'; END IF; END $$",
    ],
    warnings: ['beyond_branch none', 'beyond_branch none'],
  },
  {
    name: 'the settings of the server',
    statements: ['SELECT pg_reload_conf()'],
    warnings: ['beyond_branch none'],
  },
];

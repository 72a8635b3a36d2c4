/** The tables as the programs create them, as far as both engines agree; `SCHEMA.` before each name. */
export const MIGRATION_TABLES = `
  CREATE TABLE a.schema_migrations (version varchar(128) PRIMARY KEY);
  INSERT INTO a.schema_migrations VALUES ('20260102'), ('20260101');
  CREATE TABLE b.schema_migrations (version bigint PRIMARY KEY, dirty boolean NOT NULL);
  INSERT INTO b.schema_migrations VALUES (12, false);
  CREATE TABLE a.django_migrations (id integer PRIMARY KEY, app varchar(255), name varchar(255), applied timestamp NOT NULL);
  INSERT INTO a.django_migrations VALUES
    (2, 'shop', '0002_price', '2026-01-01'), (10, 'shop', '0001_initial', '2026-01-01'), (1, 'auth', '0001_initial', '2026-01-01');
  CREATE TABLE a._prisma_migrations (id varchar(36) PRIMARY KEY, migration_name varchar(255), finished_at timestamp NULL, rolled_back_at timestamp NULL);
  INSERT INTO a._prisma_migrations VALUES ('z', '1_init', '2026-01-01', NULL), ('a', '2_names', '2026-01-02', NULL),
    ('b', '3_failed', NULL, NULL), ('c', '4_reverted', '2026-01-03', '2026-01-04');
  CREATE TABLE a.__drizzle_migrations (id integer PRIMARY KEY, hash text NOT NULL, created_at bigint);
  INSERT INTO a.__drizzle_migrations VALUES (1, 'aa', 1700000000000), (2, 'bb', 1800000000000);
  CREATE TABLE a.flyway_schema_history (installed_rank integer PRIMARY KEY, version varchar(50), description varchar(200), success boolean NOT NULL);
  INSERT INTO a.flyway_schema_history VALUES (1, '1', 'init', true), (2, '1.2', 'names', true), (3, NULL, 'again', true), (4, '2', 'bad', false);
  CREATE TABLE a.databasechangelog (id varchar(255), author varchar(255), filename varchar(255), orderexecuted integer);
  INSERT INTO a.databasechangelog VALUES ('2', 'ann', 'db/b.xml', 2), ('1', 'ann', 'db/a.xml', 1);
  CREATE TABLE a.alembic_version (version_num varchar(32) PRIMARY KEY);
  INSERT INTO a.alembic_version VALUES ('ae1027a6acf');
  CREATE TABLE a.knex_migrations (id integer PRIMARY KEY, name varchar(255), batch integer, migration_time timestamp);
  INSERT INTO a.knex_migrations VALUES (1, '20260101_init.js', 1, NULL), (2, '20260102_it''s\tok.js', 1, NULL), (3, '20260103_names.js', 1, NULL);
  CREATE TABLE a.migrations (id integer PRIMARY KEY, timestamp bigint NOT NULL, name varchar(255) NOT NULL);
  INSERT INTO a.migrations VALUES (1, 1700000000000, 'Init1700000000000')`;

/** Of nobody, of others, or hostile: ignored, and no reason to fail. */
export const OTHER_TABLES = `
  CREATE TABLE b.knex_migrations (something integer);
  INSERT INTO b.knex_migrations VALUES (1);
  CREATE TABLE b.migrations (id integer PRIMARY KEY, migration varchar(255), batch integer);
  INSERT INTO b.migrations VALUES (1, '2026_create_users', 1);
  CREATE TABLE b.alembic_version (version_num varchar(999));
  CREATE TABLE b.django_migrations (id integer, app varchar(255), name text)`;

export const EXPECTED_MIGRATIONS = [
  ['a', '__drizzle_migrations', 'drizzle', ['1700000000000', '1800000000000']],
  ['a', '_prisma_migrations', 'prisma', ['1_init', '2_names']],
  ['a', 'alembic_version', 'alembic', ['ae1027a6acf']],
  ['a', 'databasechangelog', 'liquibase', ['db/a.xml::1::ann', 'db/b.xml::2::ann']],
  ['a', 'django_migrations', 'django', ['auth.0001_initial', 'shop.0002_price', 'shop.0001_initial']],
  ['a', 'flyway_schema_history', 'flyway', ['1', '1.2']],
  ['a', 'knex_migrations', 'knex', ['20260101_init.js', '20260103_names.js']],
  ['a', 'migrations', 'typeorm', ['Init1700000000000']],
  ['a', 'schema_migrations', 'rails', ['20260101', '20260102']],
  ['b', 'schema_migrations', 'golang-migrate', ['12']],
] as const;

import type { MysqlMigration } from './migration.ts';

const PARTITIONED = `CREATE TABLE logs (day int NOT NULL) PARTITION BY RANGE (day)
  (PARTITION p1 VALUES LESS THAN (100), PARTITION p2 VALUES LESS THAN (200));
INSERT INTO logs SELECT id FROM plain;
CREATE TABLE hashed (id int NOT NULL) PARTITION BY HASH (id) PARTITIONS 4; INSERT INTO hashed SELECT id FROM plain`;
const MANY = `CREATE TABLE events (id int NOT NULL PRIMARY KEY AUTO_INCREMENT, kind int);
INSERT INTO events (kind) SELECT a.id FROM plain a, plain b, plain c, plain d, plain e`;
const TRIGGER = 'CREATE TRIGGER same BEFORE UPDATE ON orders FOR EACH ROW SET NEW.total = NEW.total';
const COPY = (table: string, ...codes: string[]) => [...codes, 'algorithm_missing'].map((code) => `${code} ${table}`);

export const DANGEROUS: MysqlMigration[] = [
  {
    name: 'a full-text index',
    statements: ['CREATE FULLTEXT INDEX notes ON customers (note)'],
    warnings: ['fulltext_index customers'],
  },
  {
    name: 'a full-text index of ALTER TABLE',
    statements: ['ALTER TABLE customers ADD FULLTEXT KEY notes (note)'],
    warnings: ['fulltext_index customers'],
  },
  {
    name: 'a spatial index',
    statements: ['ALTER TABLE customers ADD SPATIAL INDEX places (place)'],
    warnings: ['spatial_index customers'],
  },
  {
    name: 'a unique index',
    statements: ['CREATE UNIQUE INDEX one_mail ON customers (email)'],
    warnings: ['unique_index customers'],
  },
  {
    name: 'a unique constraint with a name',
    statements: ['ALTER TABLE customers ADD CONSTRAINT one_mail UNIQUE (email)'],
    warnings: ['unique_index customers'],
  },
  {
    name: 'an index of MyISAM',
    setUp: 'CREATE TABLE old (id int NOT NULL) ENGINE=MyISAM; INSERT INTO old SELECT id FROM plain',
    statements: ['ALTER TABLE old ADD INDEX (id)'],
    warnings: COPY('old', 'index_copied'),
  },
  { name: 'an index dropped', statements: ['DROP INDEX orders_total ON orders'], warnings: ['index_dropped orders'] },
  {
    name: 'an index dropped by ALTER TABLE',
    statements: ['ALTER TABLE orders DROP KEY orders_total'],
    warnings: ['index_dropped orders'],
  },
  {
    name: 'a primary key',
    statements: ['ALTER TABLE plain ADD PRIMARY KEY (id)'],
    warnings: ['primary_key_added plain'],
  },
  {
    name: 'a primary key dropped',
    statements: ['ALTER TABLE orders DROP PRIMARY KEY'],
    warnings: COPY('orders', 'primary_key_dropped'),
  },
  {
    name: 'a foreign key',
    statements: ['ALTER TABLE orders ADD CONSTRAINT its_customer FOREIGN KEY (customer_id) REFERENCES customers (id)'],
    warnings: COPY('orders', 'foreign_key_copied'),
  },
  {
    name: 'a foreign key that is not checked',
    statements: [
      'SET SESSION foreign_key_checks = 0',
      'ALTER TABLE orders ADD FOREIGN KEY customer (customer_id) REFERENCES customers (id)',
    ],
    warnings: ['foreign_key_unchecked orders'],
  },
  {
    name: 'a check',
    statements: ['ALTER TABLE orders ADD CONSTRAINT positive CHECK (total > 0)'],
    warnings: COPY('orders', 'check_copied'),
  },
  {
    name: 'a wider number',
    statements: ['ALTER TABLE orders MODIFY COLUMN total bigint'],
    warnings: COPY('orders', 'column_type_copied'),
  },
  {
    name: 'a number that becomes text',
    statements: ['ALTER TABLE orders CHANGE total total varchar(20)'],
    warnings: COPY('orders', 'column_type_copied'),
  },
  {
    name: 'a text that crosses 255 bytes',
    statements: ['ALTER TABLE customers MODIFY email varchar(100)'],
    only: 'mysql',
    warnings: COPY('customers', 'column_type_copied'),
  },
  {
    name: 'a shorter text',
    statements: ['ALTER TABLE customers MODIFY email varchar(20)'],
    warnings: COPY('customers', 'column_type_copied'),
  },
  {
    name: 'another scale of a number',
    statements: ['ALTER TABLE customers MODIFY balance decimal(12, 4)'],
    warnings: COPY('customers', 'column_type_copied'),
  },
  {
    name: 'a text that becomes JSON',
    statements: ['ALTER TABLE plain MODIFY code json'],
    warnings: COPY('plain', 'column_type_copied'),
  },
  {
    name: 'a column type in the copying way, as asked for',
    statements: ['ALTER TABLE orders MODIFY total bigint, ALGORITHM=COPY, LOCK=SHARED'],
    warnings: ['column_type_copied orders'],
  },
  {
    name: 'an enum in another order',
    statements: ["ALTER TABLE customers MODIFY kind enum('b', 'a') NOT NULL"],
    warnings: COPY('customers', 'enum_reordered'),
  },
  {
    name: 'an enum with a member in front',
    statements: ["ALTER TABLE customers CHANGE COLUMN kind kind ENUM('0', 'a', 'b') NOT NULL"],
    warnings: COPY('customers', 'enum_reordered'),
  },
  {
    name: 'a column that becomes NOT NULL',
    statements: ['ALTER TABLE customers MODIFY score int NOT NULL'],
    warnings: ['not_null_added customers'],
  },
  {
    name: 'a column that moves',
    statements: ['ALTER TABLE customers MODIFY score int AFTER id'],
    warnings: ['column_moved customers'],
  },
  {
    name: 'another character set',
    statements: ['ALTER TABLE customers CONVERT TO CHARACTER SET latin1'],
    warnings: COPY('customers', 'charset_converted'),
  },
  {
    name: 'a numbered column',
    statements: ['ALTER TABLE plain ADD COLUMN number int NOT NULL AUTO_INCREMENT UNIQUE'],
    warnings: ['auto_increment_column plain', 'unique_index plain'],
  },
  {
    name: 'a stored column',
    statements: ['ALTER TABLE orders ADD double_total int AS (total * 2) STORED'],
    warnings: COPY('orders', 'stored_column'),
  },
  {
    name: 'a default that is computed',
    statements: ['ALTER TABLE orders ADD COLUMN token varchar(36) DEFAULT (uuid())'],
    only: 'mariadb',
    warnings: COPY('orders', 'default_expression'),
  },
  {
    name: 'a column without a default',
    statements: ['ALTER TABLE orders ADD place varchar(10) NOT NULL'],
    warnings: ['implicit_default orders'],
  },
  {
    name: 'a column dropped',
    statements: ['ALTER TABLE orders DROP COLUMN state'],
    warnings: ['column_dropped orders'],
  },
  {
    name: 'a column renamed',
    statements: ['ALTER TABLE orders RENAME COLUMN total TO amount'],
    warnings: ['column_renamed orders'],
  },
  {
    name: 'a column renamed by CHANGE',
    statements: ['ALTER TABLE orders CHANGE total amount int'],
    warnings: ['column_renamed orders'],
  },
  {
    name: 'a narrow key',
    statements: ['CREATE TABLE notes (id int UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, text text)'],
    warnings: ['narrow_key notes'],
  },
  { name: 'a table rebuilt', statements: ['ALTER TABLE orders ENGINE=InnoDB'], warnings: ['table_rebuilt orders'] },
  { name: 'a table rebuilt by force', statements: ['ALTER TABLE orders FORCE'], warnings: ['table_rebuilt orders'] },
  {
    name: 'another format of rows',
    statements: ['ALTER TABLE orders ROW_FORMAT=COMPRESSED, KEY_BLOCK_SIZE=8'],
    warnings: ['table_rebuilt orders'],
  },
  {
    name: 'another engine',
    statements: ['ALTER TABLE orders ENGINE = MyISAM'],
    warnings: COPY('orders', 'table_rebuilt'),
  },
  {
    name: 'a table optimized',
    statements: ['OPTIMIZE TABLE orders, plain'],
    warnings: ['table_optimized orders', 'table_optimized plain'],
  },
  { name: 'a table renamed', statements: ['RENAME TABLE orders TO sales'], warnings: ['table_renamed orders'] },
  {
    name: 'tables that change places',
    statements: ['RENAME TABLE orders TO spare, plain TO orders'],
    warnings: ['table_renamed orders', 'table_renamed plain'],
  },
  {
    name: 'a table renamed by ALTER TABLE',
    statements: ['ALTER TABLE orders RENAME AS sales'],
    warnings: ['table_renamed orders'],
  },
  {
    name: 'tables dropped',
    statements: ['DROP TABLE IF EXISTS orders, nothing, plain'],
    warnings: ['table_dropped orders', 'table_dropped plain'],
  },
  { name: 'a table truncated', statements: ['TRUNCATE orders'], warnings: ['table_truncated orders'] },
  {
    name: 'a table divided into partitions',
    statements: ['ALTER TABLE plain PARTITION BY HASH (id) PARTITIONS 4'],
    warnings: COPY('plain', 'table_partitioned'),
  },
  {
    name: 'a table without partitions',
    setUp: PARTITIONED,
    statements: ['ALTER TABLE logs REMOVE PARTITIONING'],
    warnings: COPY('logs', 'table_partitioned'),
  },
  {
    name: 'a partition divided',
    setUp: PARTITIONED,
    statements: [
      'ALTER TABLE logs REORGANIZE PARTITION p1 INTO (PARTITION a VALUES LESS THAN (5), PARTITION b VALUES LESS THAN (100))',
    ],
    warnings: ['partition_rebuilt logs'],
  },
  {
    name: 'partitions merged',
    setUp: PARTITIONED,
    statements: ['ALTER TABLE hashed COALESCE PARTITION 2'],
    warnings: ['partition_rebuilt hashed'],
  },
  {
    name: 'a partition dropped',
    setUp: PARTITIONED,
    statements: ['ALTER TABLE logs DROP PARTITION p1'],
    warnings: ['partition_dropped logs'],
  },
  {
    name: 'a partition exchanged',
    setUp: `${PARTITIONED}; CREATE TABLE logs_2 (day int NOT NULL); INSERT INTO logs_2 VALUES (150)`,
    statements: ['ALTER TABLE logs EXCHANGE PARTITION p2 WITH TABLE logs_2'],
    warnings: ['partition_exchanged logs'],
  },
  {
    name: 'all rows changed',
    setUp: MANY,
    statements: ['UPDATE events SET kind = 2'],
    warnings: ['all_rows_changed events'],
  },
  { name: 'all rows deleted', setUp: MANY, statements: ['DELETE FROM events'], warnings: ['all_rows_changed events'] },
  {
    name: 'tables locked',
    statements: ['LOCK TABLES orders WRITE, plain READ', 'UNLOCK TABLES'],
    warnings: ['table_locked orders', 'table_locked plain'],
  },
  {
    name: 'tables flushed with a lock',
    statements: ['FLUSH TABLES orders WITH READ LOCK', 'UNLOCK TABLES'],
    warnings: ['tables_flushed orders'],
  },
  { name: 'a trigger', statements: [TRIGGER], warnings: ['trigger_created orders'] },
  {
    name: 'a trigger dropped',
    setUp: TRIGGER,
    statements: ['DROP TRIGGER IF EXISTS same'],
    warnings: ['trigger_dropped orders'],
  },
  {
    name: 'a definition in a transaction',
    statements: [
      'START TRANSACTION',
      'UPDATE orders SET total = 1 WHERE id = 1',
      'ALTER TABLE orders ADD place int',
      'COMMIT',
    ],
    warnings: ['definition_commits orders'],
  },
  {
    name: 'a definition without a limit for its wait',
    statements: ['ALTER TABLE orders ADD COLUMN place text'],
    warnings: ['lock_wait_timeout_missing orders'],
    unlimited: true,
  },
  {
    name: 'a table that a routine rebuilds',
    setUp: 'CREATE PROCEDURE rebuild() ALTER TABLE orders FORCE',
    statements: ['CALL rebuild()', 'ALTER TABLE orders COMMENT = "rebuilt"'],
    warnings: ['table_rewritten orders'],
    rewritten: ['orders'],
  },
  {
    name: 'two changes in one statement',
    statements: ['ALTER TABLE orders ADD COLUMN place int, DROP COLUMN state, MODIFY total bigint'],
    warnings: COPY('orders', 'column_dropped', 'column_type_copied'),
  },
  {
    name: 'a user, which all databases share',
    statements: ['CREATE USER reporter', 'GRANT SELECT ON orders TO reporter', 'DROP USER reporter'],
    warnings: ['beyond_branch none', 'beyond_branch none', 'beyond_branch none'],
  },
  {
    name: 'variables of the server',
    statements: ['SET GLOBAL max_connections = 151', 'SET @a = 1, @@GLOBAL.max_connections = 151'],
    warnings: ['beyond_branch none', 'beyond_branch none'],
  },
  {
    name: 'replication',
    statements: ['STOP REPLICA'],
    warnings: ['beyond_branch none'],
  },
];

import type { CorpusMigration } from '../migration.ts';

/** A migration of the corpus of MySQL and MariaDB. It runs in a database of its own, and begins with a lock_wait_timeout. */
export interface MysqlMigration extends CorpusMigration {
  /** The other one refuses it, or does it in another way. */
  only?: 'mariadb' | 'mysql';
}

/** Every table has rows. */
export const SET_UP = [
  `CREATE TABLE customers (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, email varchar(50), name varchar(50) NOT NULL, country char(2),
    balance decimal(10, 2), note text, kind enum('a', 'b') NOT NULL, score int, place point NOT NULL, payload json)`,
  `CREATE TABLE orders (id bigint NOT NULL PRIMARY KEY, customer_id bigint, total int, state varchar(10) DEFAULT 'open',
    KEY orders_total (total))`,
  'CREATE TABLE plain (id int NOT NULL, code int)',
  ...['CREATE TABLE numbers (n int PRIMARY KEY)', 'INSERT INTO numbers VALUES (1), (2), (3), (4), (5), (6), (7), (8)'],
  `INSERT INTO customers (email, name, country, balance, note, kind, score, place, payload)
    SELECT concat('a', n), 'n', 'de', n, 'text', 'a', n, point(n, n), '{}' FROM numbers`,
  "INSERT INTO orders SELECT n, n, n, 'paid' FROM numbers",
  'INSERT INTO plain SELECT n, n FROM numbers',
  'DROP TABLE numbers',
];

/**
 * `npm run bench -- postgres-tables [TABLES] [ROWS]`: many tables (default 500), each with so many rows (default 100; 0 is
 * possible).
 */
import { benchPostgres } from '../helpers/postgres/postgres-bench.ts';

const tables = Number(process.argv[2] ?? 500);
const rows = Number(process.argv[3] ?? 100);
const statements = Array.from(
  { length: tables },
  (_, at) => `CREATE TABLE t_${at} (id serial PRIMARY KEY, name text NOT NULL, changed timestamptz);
    INSERT INTO t_${at} (name, changed) SELECT md5('${at} ' || i), now() FROM generate_series(1, ${rows}) i`,
);
const atOnce = 100;

await benchPostgres({
  statements: Array.from({ length: Math.ceil(tables / atOnce) }, (_, at) =>
    statements.slice(at * atOnce, (at + 1) * atOnce).join(';\n'),
  ),
  build: rows === 0 ? 1 : 1.3,
  load: rows === 0 ? 1 : 1.2,
});

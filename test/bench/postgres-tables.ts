/**
 * `npm run bench -- postgres-tables [TABLES] [ROWS]`: many tables (default 500), each with so many rows (default 100; 0 is
 * possible).
 */
import { manyTables } from '../helpers/databases/bench-data.ts';
import { benchPostgres } from '../helpers/postgres/postgres-bench.ts';

const tables = Number(process.argv[2] ?? 500);
const rows = Number(process.argv[3] ?? 100);

await benchPostgres({
  statements: manyTables({ tables, rows }),
  build: rows === 0 ? 1 : 1.3,
  load: rows === 0 ? 1 : 1.2,
});
